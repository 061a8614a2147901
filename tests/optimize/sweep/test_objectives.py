from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from lineage.records import Candidate, Usage
from optimize.gate import Arm
from optimize.sweep.objectives import document_cost, read

SCORES = {
    "g1": {"clean": 0.9, "omit": 0.2, "add": 0.95},
    "g2": {"clean": 0.8, "omit": 0.8, "add": 0.1},
    "g3": {"clean": 0.7, "omit": 0.1, "add": 0.7},
}
PRICED = Usage(calls=1, prompt_tokens=100, completion_tokens=20, cost_usd=0.004)
SEED = Candidate({"instruction": "four words of it"}, "seed")


def test_every_objective_is_read_of_the_same_judgements(make_arm: Callable[..., Arm]) -> None:
    evaluation = make_arm(SCORES, usage=PRICED).evaluation
    found = read(("paired", "commissions", "detection", "cost", "tokens", "words"), SEED, evaluation, unit="usd")
    assert found.undefined == ""
    assert found.values["paired"] == pytest.approx(2.5 / 3)
    assert found.values["commissions"] == pytest.approx(1.5 / 3)
    assert found.values["detection"] == pytest.approx(3 / 6)
    assert found.values["cost"] == pytest.approx(0.004)
    assert (found.values["tokens"], found.values["words"]) == (120.0, 4.0)
    assert found.row()["paired"]["groups"] == 3


def test_a_judgement_without_a_score_costs_as_much_as_the_dearest(make_arm: Callable[..., Arm]) -> None:
    evaluation = make_arm({"g1": {"clean": 0.9, "omit": None}}, usage=PRICED).evaluation
    assert document_cost(evaluation, "usd") == pytest.approx(0.004)
    assert document_cost(evaluation, "tokens") == pytest.approx(120.0)


def test_what_was_paid_for_an_answer_that_was_cut_is_counted(make_arm: Callable[..., Arm]) -> None:
    evaluation = make_arm({"g1": {"clean": 0.9, "omit": None}}, usage=PRICED).evaluation
    cut = Usage(calls=1, prompt_tokens=100, completion_tokens=400, cost_usd=0.012)
    judged = tuple(replace(j, usage=cut if j.score is None else j.usage) for j in evaluation.judgements)
    found = replace(evaluation, judgements=judged)
    assert document_cost(found, "usd") == pytest.approx(0.008)
    assert document_cost(found, "tokens") == pytest.approx((120 + 500) / 2)


def test_what_is_undefined_is_said_with_its_reason_and_is_no_number(make_arm: Callable[..., Arm]) -> None:
    evaluation = make_arm({"g1": {"clean": 0.9, "omit": None}}, usage=PRICED).evaluation
    found = read(("paired", "tokens"), SEED, evaluation, unit="tokens")
    assert math.isnan(found.values["paired"])
    assert found.undefined.startswith("paired discrimination on omissions is undefined on accept: ")
    assert found.row()["values"]["paired"] is None
    unjudged = make_arm({"g1": {"clean": None}}).evaluation
    assert math.isnan(document_cost(unjudged, "usd"))
