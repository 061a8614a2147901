from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage import Candidate, Judgement
from lineage.records import Usage
from optimize.engine.vectors import OBJECTIVES, Objectives, front_of, undominated
from optimize.evaluation import Evaluation
from splits import Example

LABELS = {"clean": "clean", "omit": "omission", "add": "commission"}


def evaluation(scores: Mapping[str, float], *, cost: float | None = None, tokens: int = 100) -> Evaluation:
    """Documents named ``group.kind``, as in ``g0.omit``."""
    examples, judged = [], []
    for name, score in sorted(scores.items()):
        group, kind = name.split(".")
        twin = None if kind == "clean" else f"{group}.clean"
        examples.append(Example(name, group, "s", "", "", LABELS[kind], kind, twin=twin))
        judged.append(Judgement(name, "c", "s", "scored", score, usage=Usage(1, tokens, 1, cost_usd=cost)))
    return Evaluation("c", tuple(examples), tuple(judged))


def scores(clean: float = 0.9, omit: float = 0.5, add: float = 0.5, groups: int = 10) -> dict[str, float]:
    return {
        f"g{n}.{kind}": score for n in range(groups) for kind, score in (("clean", clean), ("omit", omit), ("add", add))
    }


def candidate(text: str = "four words of text") -> Candidate:
    return Candidate({"instruction": text}, "mutation", ("p",), 1)


def test_objectives_are_higher_where_better_in_the_baseline_s_measures() -> None:
    found = Objectives(evaluation(scores())).of(candidate(), evaluation(scores(omit=0.5, add=0.9), tokens=300))
    assert found == {"omissions": 1.0, "commissions": 0.5, "false_alarms": -1.0, "cost": -301.0, "length": -4.0}
    assert tuple(found) == OBJECTIVES


def test_cost_is_in_millionths_of_a_dollar_where_a_price_applies() -> None:
    priced = Objectives(evaluation(scores(), cost=0.002))
    assert priced.of(candidate(), evaluation(scores(), cost=0.0015))["cost"] == -1500.0


def test_what_is_undefined_is_left_out() -> None:
    only = {name: score for name, score in scores().items() if not name.endswith("add")}
    assert "commissions" not in Objectives(evaluation(only)).of(candidate(), evaluation(only))
    clean = {name: score for name, score in only.items() if name.endswith("clean")}
    assert set(Objectives(evaluation(clean)).of(candidate(), evaluation(clean))) == {"cost", "length"}


def test_moving_every_score_changes_no_false_alarms() -> None:
    spread = {f"g{n}.{kind}": 0.05 * n + shift for n in range(10) for kind, shift in (("clean", 0.2), ("omit", 0.0))}
    objectives = Objectives(evaluation(spread))
    moved = {name: score + 0.25 for name, score in spread.items()}
    found = {objectives.of(candidate(), evaluation(made))["false_alarms"] for made in (spread, moved)}
    assert len(found) == 1


def test_false_alarms_are_those_at_the_baseline_s_share_of_detections() -> None:
    """The baseline detects half without a false alarm; the other has to flag two of ten clean notes for as many."""
    baseline = {
        f"g{n}.{kind}": score for n in range(10) for kind, score in (("clean", 0.9), ("omit", 0.1 if n < 5 else 0.9))
    }
    other = {**baseline, "g0.clean": 0.05, "g1.clean": 0.05}
    objectives = Objectives(evaluation(baseline))
    assert objectives.of(candidate(), evaluation(baseline))["false_alarms"] == 0.0
    assert objectives.of(candidate(), evaluation(other))["false_alarms"] == pytest.approx(-0.2, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(value=st.floats(0, 1), count=st.integers(1, 500))
def test_the_mean_that_gepa_takes_of_an_objective_over_all_examples_is_the_objective(value: float, count: int) -> None:
    objectives = Objectives(evaluation(scores()))
    objective = objectives.of(candidate(), evaluation(scores(omit=round(value, 3)), tokens=round(1e4 * value)))
    for found in objective.values():
        assert sum([found] * count) / count == found


def test_a_candidate_is_dominated_by_one_as_good_in_all_and_better_in_one() -> None:
    def vector(**changes: float) -> dict[str, float]:
        return dict.fromkeys(OBJECTIVES, 0.5) | changes

    assert undominated([vector(), vector(cost=0.6)]) == {1}
    assert undominated([vector(), vector()]) == {0, 1}
    assert undominated([vector(length=0.9), vector(cost=0.9), vector()]) == {0, 1}
    assert undominated([vector(), {"omissions": 0.5}]) == {0}, "what is missing is worst"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.5, 1.0])] * len(OBJECTIVES)), min_size=1, max_size=8))
def test_the_undominated_are_those_of_the_definition(rows: list[tuple[float, ...]]) -> None:
    vectors = [dict(zip(OBJECTIVES, row, strict=True)) for row in rows]
    expected = {
        place
        for place, row in enumerate(rows)
        if not any(all(b >= a for a, b in zip(row, other, strict=True)) and other != row for other in rows)
    }
    assert undominated(vectors) == expected


def state(leaders: Mapping[Any, set[int]], vectors: list[dict[str, float]]) -> Any:
    return SimpleNamespace(get_pareto_front_mapping=lambda: leaders, prog_candidate_objective_scores=vectors)


def test_a_front_of_examples_is_gepa_s() -> None:
    leaders = {0: {0, 1}, 1: {1}}
    assert front_of(state(leaders, []), [0.1, 0.2], whole=False).leaders == leaders


def test_no_dominated_candidate_leads_an_objective_and_what_none_dominates_has_a_place() -> None:
    vectors = [
        {"omissions": 0.8, "cost": -5.0},
        {"omissions": 0.8, "cost": -4.0},
        {"omissions": 0.7, "cost": -3.0},
        {"omissions": 0.1, "cost": -1.0},
    ]
    leaders = {("val_id", 0): {0}, ("objective", "omissions"): {0, 1}, ("objective", "cost"): {3}}
    found = front_of(state(leaders, vectors), [0.1] * 4, whole=True).leaders
    assert found == {
        ("val_id", 0): {0},
        ("objective", "omissions"): {1},
        ("objective", "cost"): {3},
        ("undominated", 1): {1},
        ("undominated", 2): {2},
        ("undominated", 3): {3},
    }
    alone = front_of(state({"omissions": {0, 1}, "cost": {3}}, vectors), [0.1] * 4, whole=True).undominated()
    assert alone.leads() == {1: 2, 2: 1, 3: 2}


def test_a_judgement_that_came_to_nothing_does_not_make_its_judge_cheap() -> None:
    whole = evaluation(scores(), cost=0.002)
    lost = Judgement("g0.omit", "c", "s", "failed", None, reason="transport: gone")
    failing = Evaluation("c", whole.examples, (*(j for j in whole.judgements if j.example != "g0.omit"), lost))
    assert Objectives(whole).of(candidate(), failing)["cost"] == -2000.0
    assert Objectives(failing).of(candidate(), whole)["cost"] == -2000.0, "one failure does not take the price away"
    cut = replace(lost, reason="truncated: cut off", usage=Usage(1, 100, 900, cost_usd=0.032))
    dear = replace(failing, judgements=(*failing.judgements[:-1], cut))
    assert Objectives(whole).of(candidate(), dear)["cost"] == -3000.0, "what was paid for a cut answer is counted"
