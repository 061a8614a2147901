"""Recorded answers read again: the same score, without a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lineage.records import Candidate, Judgement, Usage
from splits import Corpus
from students import Bench, ReasoningBudget
from students.designs import DESIGNS
from students.grounding.student import NAMES as GROUNDING
from students.rereading import score_again
from students.transport import CallCache, Calls, Limits, SimulatedTransport, Spend
from students.transport.base import CallRequest, CallResult

OWN = ("per-fact", "per-fact-keyed", "whole-note", "fact-list", "two-stage", "three-stage", "step-verifier", *GROUNDING)
"""Designs whose scores are computed again from their verdicts or by a rule of their own."""
AGAIN = [name for name in DESIGNS if name not in (*OWN, "program")]


class Talkative(SimulatedTransport):
    """Writes thoughts and reports as well."""

    async def complete(self, request: CallRequest) -> CallResult:
        if request.thinks:
            return CallResult("First the allergies.", "length", Usage(calls=1))
        if request.prompt in ("deployed", "engineered"):
            return CallResult("Score: 6\nIt lacks a dose.", "stop", Usage(calls=1))
        return await super().complete(request)


def judged(name: str, settings: dict[str, Any], corpus: Corpus, path: Path) -> tuple[Judgement, ...]:
    budget = ReasoningBudget(**settings["budget"])
    student = DESIGNS[name].build(settings, model={}, budget=budget)
    with CallCache(path / "calls.sqlite") as kept:
        bench = Bench(Calls(Talkative(noise=1.0), cache=kept, spend=Spend(Limits())), run_seed=1, campaign="c")
        try:
            return bench.judge(student, corpus, [Candidate(dict(student.seed_texts), "seed")], phase="test")
        finally:
            bench.close()


@pytest.mark.parametrize("thinking", [None, 50])
@pytest.mark.parametrize("name", AGAIN)
def test_a_recorded_judgement_has_the_score_that_its_answers_amount_to(
    name: str, thinking: int | None, consults: Corpus, tmp_path: Path
) -> None:
    design = DESIGNS[name]
    settings = {
        "shape": name,
        "temperature": design.temperature,
        "samples": design.samples,
        "list_tokens": 1024,
        "budget": {"effort": "none", "thinking_tokens": thinking, "answer_tokens": 64},
    } | ({"block": design.block} if design.block else {})
    found = judged(name, settings, consults.part(consults.examples[:3]), tmp_path)
    assert {judgement.status for judgement in found} == {"scored"}
    for judgement in found:
        assert score_again(judgement, settings) == pytest.approx(judgement.score, abs=1e-9)


def test_another_answer_is_another_score(consults: Corpus, tmp_path: Path) -> None:
    settings = {
        "shape": "faithfulness-score-1",
        "temperature": 0.0,
        "budget": {"effort": "none", "thinking_tokens": None, "answer_tokens": 64},
    }
    (judgement,) = judged("faithfulness-score-1", settings, consults.part(consults.examples[:1]), tmp_path)
    assert score_again(replace(judgement, raw=("Score: 1",)), settings) == 1.0
    assert score_again(replace(judgement, raw=("no score",)), settings) is None
