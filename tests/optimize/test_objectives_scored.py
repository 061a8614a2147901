"""Scored examples as arrays: from columns and evaluations, and what is refused on the way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lineage.errors import InputError
from lineage.records import Judgement
from optimize.evaluation import Evaluation
from optimize.objectives import (
    ScoredExamples,
    discrimination_measure,
    paired_discrimination,
    scored_evaluation,
)
from splits.corpus import Example


def example(name: str, label: str = "clean", *, group: str = "g", twin: str | None = None, **more: Any) -> Example:
    kind = {"clean": "clean", "omission": "omit", "commission": "add"}[label]
    return Example(name, group, "site-a", "source", f"text of {name}", label, kind, twin=twin, **more)


EXAMPLES = (
    example("c1"),
    example("o1", "omission", twin="c1", trace="complete", severity="critical", cohort="first"),
    example("c2", group="h"),
    example("o2", "omission", group="h", twin="c2", severity="peripheral", cohort="second"),
    example("a2", "commission", group="h", twin="c2", severity="supporting"),
)


def judged(scores: dict[str, list[float | None]], *, samples: int = 1) -> Evaluation:
    """One candidate's judgements on `EXAMPLES`, None where a judgement failed."""
    judgements = tuple(
        Judgement(
            name,
            "candidate",
            "student",
            "failed" if score is None else "scored",
            score,
            replicate=replicate,
            reason="empty: no text" if score is None else None,
            sent={"samples": samples},
        )
        for name, given in scores.items()
        for replicate, score in enumerate(given)
    )
    return Evaluation("candidate", EXAMPLES, judgements)


SCORES: dict[str, list[float | None]] = {
    "c1": [0.9, 0.8, 0.9],
    "o1": [0.4, 0.8, None],
    "c2": [0.7, None, 0.7],
    "o2": [0.7, 0.1, 0.9],
    "a2": [0.2, 0.2, 0.2],
}


def test_an_evaluation_becomes_arrays_with_its_failures_missing() -> None:
    scored = scored_evaluation(judged(SCORES, samples=3))
    assert len(scored) == 5
    assert scored.scores.shape == (5, 3)
    assert scored.samples == 3
    assert np.isnan(scored.scores).sum() == 2
    assert scored.twin_scores[1].tolist() == [0.9, 0.8, 0.9]
    assert np.isnan(scored.twin_scores[0]).all()
    credit = scored.credit.tolist()
    assert credit[1][:2] == [1.0, 0.5]
    assert math.isnan(credit[1][2])
    assert credit[3][0] == 0.5
    assert math.isnan(credit[3][1])
    assert credit[3][2] == 0.0


def test_arrays_and_pairs_of_an_evaluation_give_one_paired_discrimination() -> None:
    evaluation = judged(SCORES)
    pairs = evaluation.pairs()
    there = paired_discrimination(pairs)
    here = discrimination_measure(scored_evaluation(evaluation))
    assert here.value == pytest.approx(there.value)
    assert [count for _, count in here.counted] == [there.wins, there.ties, there.losses]
    assert (here.n, here.n_groups) == (there.n, there.n_groups)
    assert here.method == there.method
    assert here.interval.low == pytest.approx(there.interval.low)


def test_pairs_carry_cohort_and_samples() -> None:
    pairs = {(pair.example, pair.replicate): pair for pair in judged(SCORES, samples=5).pairs("omission")}
    assert pairs["o1", 0].cohort == "first"
    assert pairs["o2", 0].cohort == "second"
    assert {pair.samples for pair in pairs.values()} == {5}


def test_a_part_keeps_the_twins_scores_and_the_ranks() -> None:
    scored = scored_evaluation(judged(SCORES))
    rows = scored.attributes["label"].equal_to("omission")
    before = scored.where(rows)
    assert before.ids == ("o1", "o2")
    assert before.credit.shape == (2, 3)
    ranks = scored.ranks[rows]
    assert scored.where(rows).ranks.tolist() == ranks.tolist()


def test_columns_give_a_twin_its_score_and_an_absent_twin_none() -> None:
    scored = ScoredExamples.of_columns(
        ids=["c", "o", "p"],
        groups=["g", "g", "g"],
        labels=["clean", "omission", "omission"],
        scores=[0.9, 0.1, 0.2],
        twins=[None, "c", "elsewhere"],
    )
    assert scored.twin_scores[1, 0] == 0.9
    assert np.isnan(scored.twin_scores[[0, 2], 0]).all()
    assert scored.paired.tolist() == [False, True, True]
    assert scored.attributes["severity"].names == ("unknown",)


def test_no_example_is_legal_and_empty() -> None:
    scored = ScoredExamples.of_columns(ids=[], groups=[], labels=[], scores=np.empty((0, 1)))
    assert len(scored) == 0
    assert scored.scores.shape == (0, 1)


def test_columns_that_do_not_fit_are_refused() -> None:
    one: dict[str, Any] = {"ids": ["c"], "groups": ["g"], "labels": ["clean"]}
    with pytest.raises(InputError, match="scores must have one entry an example, got 2 for 1 examples"):
        ScoredExamples.of_columns(**one, scores=[0.1, 0.2])
    with pytest.raises(InputError, match="kind must have one entry an example, got 0 for 1 examples"):
        ScoredExamples.of_columns(**one, scores=[0.1], attributes={"kind": []})
    with pytest.raises(InputError, match="scores must be finite, or NaN"):
        ScoredExamples.of_columns(**one, scores=[math.inf])
    with pytest.raises(InputError, match=r"labels must be clean, omission or commission, got \['dirty'\]"):
        ScoredExamples.of_columns(ids=["c"], groups=["g"], labels=["dirty"], scores=[0.1])
    with pytest.raises(InputError, match="ids must be unique, got 1 that occur again"):
        ScoredExamples.of_columns(ids=["c", "c"], groups=["g", "g"], labels=["clean", "clean"], scores=[0.1, 0.2])


def test_what_is_judged_twice_or_with_mixed_samples_is_refused() -> None:
    evaluation = judged(SCORES)
    twice = Evaluation("candidate", EXAMPLES, (*evaluation.judgements, evaluation.judgements[0]))
    with pytest.raises(InputError, match="example 'c1' is judged twice in replicate 0"):
        scored_evaluation(twice)
    with pytest.raises(InputError, match="'a2' is judged and is not among the examples"):
        scored_evaluation(Evaluation("candidate", EXAMPLES[:-1], evaluation.judgements))
    others = judged({"a2": [None] * 4}, samples=3).judgements[3:]
    mixed = Evaluation("candidate", EXAMPLES, (*evaluation.judgements, *others))
    with pytest.raises(InputError, match=r"the same number of samples, got \[1, 3\]"):
        scored_evaluation(mixed)
