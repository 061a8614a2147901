from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimize.gate import Arm, Gate, Guardrails, LowerBound, lowest_end, unscored
from optimize.gate.unscored import Bounds, pair_bounds
from optimize.stats import NO_PAIRS, NO_VARIATION, ONE_GROUP, linearised_interval

MakeArm = Callable[..., Arm]
ALL = Guardrails(cost_ratio=None)
halves = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])
ranges = st.lists(
    st.tuples(halves, halves, st.integers(0, 7)).map(lambda row: (min(row[:2]), max(row[:2]), f"g{row[2]}")),
    min_size=2,
    max_size=8,
)


def bounds(rows: list[tuple[float, float, str]]) -> Bounds:
    least, most, groups = zip(*rows, strict=True)
    return Bounds(least, most, groups)


@settings(max_examples=80, deadline=None)
@given(rows=ranges)
def test_the_lowest_end_is_the_lowest_of_all_outcomes(rows: list[tuple[float, float, str]]) -> None:
    found, reason = lowest_end(bounds(rows), level=0.95)
    groups = [group for _, _, group in rows]
    intervals = [
        linearised_interval(list(values), groups)
        for values in itertools.product(*[(low, high) for low, high, _ in rows])
    ]
    if len(set(groups)) == 1:
        assert reason == ONE_GROUP
    elif all(interval.defined for interval in intervals):
        assert found == pytest.approx(min(interval.low for interval in intervals), abs=1e-9)
    elif reason:
        assert reason == NO_VARIATION
        assert math.isnan(found)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(halves, min_size=2, max_size=30))
def test_where_nothing_failed_the_lowest_end_is_that_of_the_interval(values: list[float]) -> None:
    groups = [f"g{index % 7}" for index in range(len(values))]
    found, reason = lowest_end(bounds(list(zip(values, values, groups, strict=True))), level=0.9)
    interval = linearised_interval(values, groups, level=0.9)
    assert bool(reason) == (not interval.defined)
    assert interval.low == pytest.approx(found, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(rows=ranges)
def test_beyond_the_listed_groups_a_descent_is_at_most_as_high_as_either_extreme(
    rows: list[tuple[float, float, str]],
) -> None:
    rows = [*rows, (-1.0, -1.0, "fixed"), (1.0, 1.0, "other")]
    listed, _ = lowest_end(bounds(rows), level=0.95)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unscored, "LISTED", 0)
        searched, _ = lowest_end(bounds(rows), level=0.95)
    groups = [group for _, _, group in rows]
    ends = [linearised_interval([row[end] for row in rows], groups).low for end in (0, 1)]
    assert listed - 1e-9 <= searched <= min(ends) + 1e-9


def test_nothing_to_bound_says_why() -> None:
    assert lowest_end(Bounds((), (), ()), level=0.95)[1] == NO_PAIRS
    assert lowest_end(Bounds((0.5,), (0.5,), ("g",)), level=0.95)[1] == ONE_GROUP


def test_arms_that_agree_everywhere_differ_by_nothing_where_that_is_asked_for() -> None:
    same = Bounds((0.0, 0.0), (0.0, 0.0), ("a", "b"))
    assert lowest_end(same, level=0.95)[1] == NO_VARIATION
    assert lowest_end(same, level=0.95, level_arms=True) == (0.0, "")


def test_a_failed_credit_may_be_anything_in_either_arm(make_arm: MakeArm) -> None:
    ours = make_arm({"g": {"clean": (0.9, 0.9, 0.9), "omit": (0.1, None, 0.9)}}).evaluation.pairs()
    theirs = make_arm({"g": {"clean": (0.9, 0.9, None), "omit": (0.95, 0.1, 0.1)}}).evaluation.pairs()
    found = pair_bounds(ours, theirs, planned={"g.omit": "g"}, replicates=(0, 1, 2))
    # Credits of 1, unknown and 0.5 against 0, 1 and unknown.
    assert found == Bounds(((1 + 0 + 0.5 - 0 - 1 - 1) / 3,), ((1 + 1 + 0.5 - 0 - 1 - 0) / 3,), ("g",))


def test_a_far_pair_that_fails_does_not_turn_a_refusal_into_a_pass(make_arm: MakeArm) -> None:
    """Counting all against the candidate would: without the far pair the interval is much narrower."""
    groups = [f"g{index:02d}" for index in range(20)]
    third = {"clean": (0.9, 0.9, 0.9), "omit": (0.1, 0.9, 0.9)}
    level = {"clean": (0.9, 0.9, 0.9), "omit": (0.9, 0.9, 0.9)}
    far = {"clean": (0.9, 0.9, 0.9), "omit": (0.1, 0.1, 0.1)}
    behind = {"clean": (0.9, 0.9, 0.9), "omit": (0.95, 0.95, 0.95)}
    baseline = make_arm({name: (behind if name == "g00" else level) for name in groups})
    ours = {name: (third if index <= 7 else level) for index, name in enumerate(groups)} | {"g00": far}
    gate = Gate(LowerBound(0.0), Guardrails(None, None, None, None, None), 0.9, 0.02)

    def decision(scores: dict[str, dict[str, tuple[float | None, ...]]]) -> str:
        reading = gate.read(make_arm(scores), baseline, rng=np.random.default_rng(0))
        if reading.worst is not None:
            assert gate.rule.read(reading.worst.against, 0.02).holds, "which is why it is not the worst"
        return reading.decision

    assert decision(ours) == "refuse"
    failed = {"clean": (0.9, 0.9, 0.9), "omit": (None, None, None)}
    assert decision(ours | {"g00": failed}) == "refuse"


score = st.sampled_from([0.1, 0.5, 0.9])


@settings(max_examples=15, deadline=None)
@given(data=st.data(), n=st.integers(20, 24), replicates=st.sampled_from([1, 3]))
def test_a_refusal_never_becomes_a_pass_by_failing_more_judgements(
    make_arm: MakeArm, data: st.DataObject, n: int, replicates: int
) -> None:
    def drawn(gain: bool) -> dict[str, dict[str, list[float | None]]]:
        flaw = st.sampled_from([0.1, 0.1, 0.1, 0.9]) if gain else score
        return {
            f"g{index:02d}": {
                kind: data.draw(st.lists(flaw if kind != "clean" else score, min_size=replicates, max_size=replicates))
                for kind in ("clean", "omit", "add")
            }
            for index in range(n)
        }

    ours, theirs = drawn(True), make_arm(drawn(False))
    gate = Gate(LowerBound(), ALL, 0.5, 0.05)
    before = gate.read(make_arm(ours), theirs, rng=np.random.default_rng(0))
    for _ in range(data.draw(st.integers(1, 4))):
        group, kind = data.draw(st.sampled_from(sorted(ours))), data.draw(st.sampled_from(("clean", "omit", "add")))
        ours[group][kind][data.draw(st.integers(0, replicates - 1))] = None
    after = gate.read(make_arm(ours), theirs, rng=np.random.default_rng(0))
    assert after.decision != "emit" or before.decision == "emit"
