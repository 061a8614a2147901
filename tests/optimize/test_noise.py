from __future__ import annotations

import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage import Judgement
from optimize.evaluation import Evaluation
from optimize.noise import NO_COMMON_PAIR, ONE_REPLICATE, NoiseFloor, Spread, noise_floor
from splits import Example

KINDS = (("clean", "clean"), ("omission", "omit"), ("commission", "add"))
Scores = dict[str, tuple[list[float | None], list[float | None], list[float | None]]]


def evaluated(scores: Scores) -> Evaluation:
    """One group an entry: scores by replicate of its clean note, an omission and a commission; None failed."""
    examples: list[Example] = []
    judgements: list[Judgement] = []
    for group, columns in scores.items():
        for (label, kind), column in zip(KINDS, columns, strict=True):
            name = f"{group}.{kind}"
            twin = None if label == "clean" else f"{group}.clean"
            examples.append(Example(name, group, "s", "", "", label, kind, twin=twin))
            for replicate, score in enumerate(column):
                status, reason = ("failed", "transport") if score is None else ("scored", None)
                judgements.append(
                    Judgement(name, "c", "s", status, score, replicate=replicate, reason=reason)  # type: ignore[arg-type]
                )
    return Evaluation("c", tuple(examples), tuple(judgements))


def without(evaluation: Evaluation, label: str) -> Evaluation:
    """The evaluation without the examples of a label."""
    kept = {example.id: example for example in evaluation.examples if example.label != label}
    return Evaluation("c", tuple(kept.values()), tuple(j for j in evaluation.judgements if j.example in kept))


def drawn(rng: np.random.Generator, *, groups: int, replicates: int, noise: float) -> Evaluation:
    """Scores of whole steps, with noise drawn anew for every document in every replicate."""

    def column(centre: float) -> list[float | None]:
        return [float(round(centre + noise * rng.normal())) for _ in range(replicates)]

    return evaluated({f"g{number:03d}": (column(8), column(7), column(6)) for number in range(groups)})


levels = st.sampled_from([0.0, 0.5, 1.0])
columns = st.integers(2, 4).flatmap(
    lambda replicates: st.lists(
        st.tuples(*[st.lists(levels, min_size=replicates, max_size=replicates) for _ in KINDS]), min_size=1, max_size=8
    )
)


@settings(deadline=None)
@given(columns=columns)
def test_every_number_is_within_its_range_and_agrees_with_its_definition(
    columns: list[tuple[list[float], ...]],
) -> None:
    floor = noise_floor(evaluated({f"g{number}": column for number, column in enumerate(columns)}))  # type: ignore[misc]
    spread = floor.measures["omissions"]
    assert 0.0 <= floor.flips <= 1.0
    assert 0.0 <= floor.tie_mass <= 1.0
    apart = [one - other for one, other in combinations(spread.values, 2)]
    assert floor.difference_sd == pytest.approx(math.sqrt(np.mean(np.square(apart))), abs=1e-12)
    assert floor.spread == max(spread.values) - min(spread.values)
    if floor.deterministic:
        assert floor.flipped == 0
        assert floor.by_group_sd == floor.difference_sd == 0.0
    json.dumps(floor.row(), allow_nan=False)


@settings(deadline=None)
@given(columns=columns, turn=st.integers(1, 3))
def test_the_order_of_replicates_and_groups_changes_nothing(columns: list[tuple[list[float], ...]], turn: int) -> None:
    turned = [tuple(column[turn % len(column) :] + column[: turn % len(column)] for column in row) for row in columns]
    one = noise_floor(evaluated({f"g{number}": row for number, row in enumerate(columns)}))  # type: ignore[misc]
    other = noise_floor(evaluated({f"g{len(turned) - n}": row for n, row in enumerate(turned)}))  # type: ignore[misc]
    assert (one.flipped, one.tie_mass, one.deterministic) == (other.flipped, other.tie_mass, other.deterministic)
    assert one.spread == pytest.approx(other.spread)
    assert one.difference_sd == pytest.approx(other.difference_sd)
    assert one.by_group_sd == pytest.approx(other.by_group_sd)


def test_identical_replicates_are_deterministic_and_their_noise_is_exactly_zero() -> None:
    floor = noise_floor(evaluated({f"g{n}": ([0.9] * 3, [0.1 * n] * 3, [0.3] * 3) for n in range(7)}))
    assert floor.deterministic
    assert floor.words == "deterministic: replicates are identical"
    assert (floor.flips, floor.spread, floor.difference_sd, floor.by_group_sd) == (0.0, 0.0, 0.0, 0.0)
    assert math.isnan(floor.multiple(0.1)), "no difference is so many times nothing"
    assert floor.beside(0.1) == "replicates are identical: the noise of judging is 0"


def test_scores_that_move_without_a_flip_are_not_called_deterministic() -> None:
    floor = noise_floor(
        evaluated({"g": ([0.9, 0.8], [0.1, 0.2], [0.1, 0.1]), "h": ([0.9, 0.9], [0.1, 0.1], [0.1, 0.1])})
    )
    assert not floor.deterministic
    assert floor.flipped == 0
    assert floor.difference_sd == 0.0
    assert "0 pairs flip between replicates, but the measure came out the same" in floor.beside(0.1)


def test_flips_that_cancel_in_the_measure_show_in_the_groups() -> None:
    floor = noise_floor(
        evaluated({"g": ([0.5, 0.5], [0.1, 0.9], [0.1, 0.1]), "h": ([0.5, 0.5], [0.9, 0.1], [0.1, 0.1])})
    )
    assert (floor.flips, floor.difference_sd) == (1.0, 0.0)
    assert floor.by_group_sd > 0.0


def test_the_published_replicates_spread_by_twelve_points() -> None:
    spread = Spread((0.6221, 0.6489, 0.5305), 131)
    assert spread.spread == pytest.approx(0.1184)
    assert spread.difference_sd == pytest.approx(math.sqrt(2) * np.std(spread.values, ddof=1))
    floor = NoiseFloor(replicates=3, pairs=131, flipped=60, measures={"omissions": spread}, tie_mass=0.4)
    assert floor.multiple(0.0039) == pytest.approx(0.0446, abs=0.0005)
    assert floor.beside(0.0039).startswith("0.0 times the noise floor (8.8 points")


def test_the_floor_from_groups_is_that_of_the_measure_on_average() -> None:
    rng = np.random.default_rng(8)
    floors = [noise_floor(drawn(rng, groups=30, replicates=3, noise=1.0)) for _ in range(60)]
    values, groups = ([getattr(floor, name) ** 2 for floor in floors] for name in ("difference_sd", "by_group_sd"))
    assert np.mean(groups) == pytest.approx(np.mean(values), rel=0.25)
    assert np.std(groups) < np.std(values) / 2, "thirty groups tell more than three values"


def test_a_failed_judgement_takes_its_pair_out_of_every_replicate() -> None:
    whole: Scores = {f"g{n}": ([0.9, 0.9], [0.1, 0.1], [0.1, 0.1]) for n in range(3)}
    floor = noise_floor(evaluated({**whole, "h": ([0.9, 0.9], [0.95, None], [0.1, 0.1])}))
    assert (floor.pairs, floor.documents, floor.unscored) == (3, 11, 1)
    assert floor.measures["omissions"].values == (1.0, 1.0)
    assert floor.measures["commissions"].n == 4
    assert not floor.deterministic, "one replicate judged what the other did not"


def test_false_alarms_are_counted_at_the_threshold_of_the_first_replicate() -> None:
    scores: Scores = {f"g{n:02d}": ([0.8, 0.4], [0.5, 0.5], [0.5, 0.5]) for n in range(10)}
    floor = noise_floor(evaluated(scores))
    assert floor.measures["false_alarms"].values == (0.0, 1.0)
    assert floor.measures["detection"].values == (1.0, 0.0)


def test_commissions_alone_have_no_floor() -> None:
    evaluation = evaluated({f"g{n}": ([0.9, 0.9], [0.1, 0.1], [0.1, 0.1]) for n in range(3)})
    floor = noise_floor(without(evaluation, "omission"))
    assert floor.reason == NO_COMMON_PAIR


def test_without_a_commission_their_measure_is_undefined_and_the_rest_is_not() -> None:
    evaluation = evaluated({f"g{n}": ([0.9, 0.8], [0.1, 0.1], [0.1, 0.1]) for n in range(3)})
    floor = noise_floor(without(evaluation, "commission"))
    assert floor.defined
    assert not floor.measures["commissions"].defined
    assert floor.row()["measures"]["commissions"]["spread"] is None


@pytest.mark.parametrize("replicates", [0, 1])
def test_fewer_than_two_replicates_have_no_floor_and_say_so(replicates: int) -> None:
    floor = noise_floor(evaluated({"g": ([0.9] * replicates, [0.1] * replicates, [0.1] * replicates)}))
    assert floor.reason == ONE_REPLICATE
    assert all(math.isnan(value) for value in (floor.flips, floor.spread, floor.difference_sd, floor.multiple(0.1)))
    assert floor.row() == {"replicates": replicates, "words": "not measured: one replicate"}
    assert "no noise floor" in floor.beside(0.1)


def test_without_a_common_pair_there_is_no_floor() -> None:
    floor = noise_floor(evaluated({"g": ([0.9, 0.9], [0.1, None], [0.1, 0.1])}))
    assert floor.reason == NO_COMMON_PAIR
    assert not floor.deterministic
