from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage import Judgement
from lineage.errors import InputError
from lineage.records import Usage
from optimize.equal_budget import MOST_SAMPLES, EqualBudget, equal_budget, no_equal_budget, read_equal_budget
from optimize.evaluation import Evaluation
from optimize.student_plan import StudentPlan
from splits import Example


def evaluation(tokens: int, *, omission: float = 0.1, samples: int = 1, groups: int = 3) -> Evaluation:
    examples, judgements = [], []
    for group in (f"g{index}" for index in range(groups)):
        for label, kind, score in (("clean", "clean", 0.9), ("omission", "omit", omission)):
            name = f"{group}.{kind}"
            twin = None if label == "clean" else f"{group}.clean"
            examples.append(Example(name, group, "s", "", "", label, kind, twin=twin))
            usage = Usage(calls=samples, prompt_tokens=100, completion_tokens=tokens)
            judgements.append(Judgement(name, "c", "s", "scored", score, usage=usage, sent={"samples": samples}))
    return Evaluation("c", tuple(examples), tuple(judgements))


@pytest.mark.parametrize(
    ("samples", "winner", "baseline", "status", "raised"),
    [
        (1, 100, 50, "bought", 2),
        (1, 101, 50, "bought", 3),
        (2, 100, 50, "bought", 4),
        (1, 50, 50, "not-more", None),
        (1, 49, 50, "not-more", None),
        (1, 5000, 50, "bought", MOST_SAMPLES),
        (1, 50, 0, "unknown", None),
    ],
)
def test_samples_are_raised_until_the_baseline_has_the_winners_tokens(
    samples: int, winner: int, baseline: int, status: str, raised: int | None
) -> None:
    found = equal_budget("whole-note", samples, winner=evaluation(winner), baseline=evaluation(baseline))
    assert (found.status, found.samples) == (status, raised)
    assert found.words


@given(samples=st.integers(1, 9), winner=st.integers(1, 500), baseline=st.integers(1, 500))
def test_the_samples_are_the_fewest_that_reach_the_budget(samples: int, winner: int, baseline: int) -> None:
    found = equal_budget("whole-note", samples, winner=evaluation(winner), baseline=evaluation(baseline))
    raised = found.samples or samples
    if raised < MOST_SAMPLES:
        assert baseline * raised >= winner * samples
    if found.samples is not None:
        assert baseline * (raised - 1) < winner * samples


def test_one_token_answers_have_the_same_budget_by_construction() -> None:
    found = equal_budget("per-fact", 1, winner=evaluation(5), baseline=evaluation(5))
    assert (found.status, found.samples) == ("equal", None)
    assert "by construction" in found.words


def test_calls_that_were_not_answered_have_no_tokens_to_count() -> None:
    some = evaluation(100)
    lost = tuple(
        replace(judgement, usage=Usage()) if judgement.example == "g0.omit" else judgement
        for judgement in some.judgements
    )
    found = equal_budget("whole-note", 1, winner=replace(some, judgements=lost), baseline=evaluation(100))
    assert found.winner == 100.0


def test_the_arm_is_compared_with_the_winner_and_its_tokens_are_said() -> None:
    budget = equal_budget("whole-note", 1, winner=evaluation(100), baseline=evaluation(60))
    arm = evaluation(120, omission=0.95, samples=2)
    found = read_equal_budget(budget, evaluation(100), arm, level=0.95, rng=np.random.default_rng(0))
    assert found.comparison is not None
    assert found.comparison.difference.value == 1.0
    assert found.reached
    assert found.row()["heldout_tokens"] == {"winner": 100.0, "arm": 120.0}
    short = read_equal_budget(budget, evaluation(130), arm, level=0.95, rng=np.random.default_rng(0))
    assert not short.reached


def test_an_arm_of_other_samples_than_the_budget_asks_for_is_refused() -> None:
    budget = equal_budget("whole-note", 1, winner=evaluation(100), baseline=evaluation(60))
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=r"judged with samples \{3\}, and the budget asks for 2"):
        read_equal_budget(budget, evaluation(100), evaluation(180, samples=3), level=0.95, rng=rng)
    with pytest.raises(InputError, match="exactly where the budget asks"):
        read_equal_budget(budget, evaluation(100), None, level=0.95, rng=rng)
    none = EqualBudget("equal", None, math.nan, math.nan)
    assert read_equal_budget(none, evaluation(100), None, level=0.95, rng=rng).row()["heldout_tokens"] == {
        "winner": None,
        "arm": None,
    }


@pytest.mark.parametrize(
    ("student", "why"),
    [
        ({"shape": "per-fact"}, ""),
        ({"shape": "whole-note", "temperature": 1.0}, ""),
        ({"shape": "whole-note", "temperature": None}, ""),
        ({"shape": "whole-note"}, "more samples at temperature 0"),
        ({"shape": "whole-note", "temperature": 1.0, "samples": 10}, "10 samples already"),
        ({"shape": "per-fact", "budget": {"thinking_tokens": 50}}, "no samples to raise"),
        ({"shape": "per-fact-keyed"}, "no samples to raise"),
    ],
)
def test_designs_without_samples_to_raise_say_why(student: dict[str, object], why: str) -> None:
    plan = StudentPlan.model_validate({"model": {"local": "some-model"}, **student})
    assert why in no_equal_budget(plan)
    assert bool(why) == bool(no_equal_budget(plan))
