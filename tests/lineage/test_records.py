"""Candidates, usage and judgements, and what may differ on resumption."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.canonical import canonical_json, digest
from lineage.records import (
    REASONS,
    VOLATILE,
    Candidate,
    FactVerdict,
    Judgement,
    Usage,
    candidate_id,
    judgement_lines,
    stable,
)

finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.text(min_size=1, max_size=8)
counts = st.integers(0, 10**6)
usages = st.builds(Usage, counts, counts, counts, counts, counts, st.none() | st.floats(0, 1e3))
verdicts = st.builds(FactVerdict, names, st.floats(0, 1), finite | st.none(), st.booleans())
common = {
    "example": names,
    "candidate": names,
    "student": names,
    "seed": st.none() | st.integers(0, 2**40),
    "sample": st.integers(0, 9),
    "replicate": st.integers(0, 3),
    "facts": st.lists(verdicts, max_size=3).map(tuple),
    "flags": st.lists(names, max_size=2).map(tuple),
    "usage": usages,
    "finish": st.lists(names, max_size=2).map(tuple),
    "raw": st.lists(st.text(), max_size=2).map(tuple),
    "sent": st.dictionaries(names, finite | names, max_size=3),
    "latency_s": st.floats(0, 100),
    "paid": st.integers(0, 20),
}
judgements = (
    st.builds(Judgement, status=st.just("scored"), score=finite, **common)
    | st.builds(
        Judgement,
        status=st.just("failed"),
        score=st.none(),
        reason=st.builds("{}: {}".format, st.sampled_from(REASONS), st.text()),
        **common,
    )
    | st.builds(
        Judgement, status=st.just("abstained"), score=st.none(), reason=st.text().map("abstained: {}".format), **common
    )
)


def judgement(**changes: Any) -> Judgement:
    made = Judgement("g1.clean", "c" * 64, "s" * 64, "scored", 0.5)
    return replace(made, **changes)


@given(made=judgements)
def test_a_judgement_comes_back_from_its_row_through_json(made: Judgement) -> None:
    assert Judgement.from_row(json.loads(canonical_json(made.row()))) == made


@pytest.mark.parametrize("status", ["failed", "abstained"])
def test_a_judgement_that_is_not_scored_cannot_have_a_score(status: Any) -> None:
    with pytest.raises(ValueError, match=f"a {status} judgement cannot have the score 0"):
        judgement(status=status, score=0.0, reason="cut off")


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("failed", "why"),
        ("failed", "malformed: not JSON"),
        ("failed", "abstained: ABSTAIN"),
        ("failed", "truncatedly"),
        ("failed", ""),
        ("abstained", "empty: no text"),
    ],
)
def test_a_reason_outside_the_closed_set_is_refused(status: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=f"the reason of a {status} judgement begins with"):
        judgement(status=status, score=None, reason=reason)


@pytest.mark.parametrize("reason", REASONS)
def test_the_first_word_of_a_reason_says_why_a_judgement_failed(reason: str) -> None:
    assert judgement(status="failed", score=None, reason=f"{reason}: detail").reason == f"{reason}: detail"


def test_a_scored_judgement_needs_a_score() -> None:
    with pytest.raises(ValueError, match="a scored judgement cannot have the score None"):
        judgement(score=None)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_a_number_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match="cannot have the score"):
        judgement(score=score)


@pytest.mark.parametrize(
    "changes", [{"reason": "why"}, {"status": "failed", "score": None}, {"status": "abstained", "score": None}]
)
def test_a_judgement_has_a_reason_exactly_when_it_is_not_scored(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="has a reason exactly when it is not scored"):
        judgement(**changes)


def test_a_score_of_zero_and_a_seed_of_zero_are_values() -> None:
    row = judgement(score=0.0, seed=0).row()
    assert (row["score"], row["seed"]) == (0.0, 0)
    assert Judgement.from_row(row).seed == 0


def test_a_nan_in_a_fact_verdict_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        judgement_lines([judgement(facts=(FactVerdict("f1", math.nan, 0.0, False),))])


@given(made=st.lists(judgements, max_size=6, unique_by=lambda made: made.key), data=st.data())
def test_lines_of_judgements_do_not_depend_on_their_order(made: list[Judgement], data: st.DataObject) -> None:
    assert judgement_lines(data.draw(st.permutations(made))) == judgement_lines(made)


@given(made=judgements, latency=st.floats(0, 9), paid=st.integers(0, 9))
def test_latency_and_payment_are_volatile_and_nothing_else_is(made: Judgement, latency: float, paid: int) -> None:
    assert stable(replace(made, latency_s=latency, paid=paid).row()) == stable(made.row())
    assert set(made.row()) - set(stable(made.row())) == {VOLATILE}


def test_volatile_parts_are_left_out_at_any_depth() -> None:
    value = {"a": [{"volatile": 1, "b": ({"volatile": 2, "c": 3},)}], "volatile": {"d": 4}}
    assert stable(value) == {"a": [{"b": [{"c": 3}]}]}


def test_a_candidate_is_identified_by_its_named_texts_alone() -> None:
    seed = Candidate({"instruction": "Judge.", "rubric": "Strictly."}, "seed")
    child = Candidate({"rubric": "Strictly.", "instruction": "Judge."}, "mutation", parents=("p",), iteration=3)
    assert seed.id == child.id == candidate_id(child.texts) == digest(dict(seed.texts))
    assert Candidate({"instruction": "Judge"}, "seed").id != seed.id


@given(left=usages, right=usages)
def test_usage_adds_field_by_field_and_an_unknown_price_stays_unknown(left: Usage, right: Usage) -> None:
    total = left + right
    assert total.prompt_tokens == left.prompt_tokens + right.prompt_tokens
    assert total.reasoning_tokens == left.reasoning_tokens + right.reasoning_tokens
    assert (total.cost_usd is None) == (left.cost_usd is None and right.cost_usd is None)
    assert (right + left) == total
    assert set(total.row()) == set(Usage.__dataclass_fields__)
