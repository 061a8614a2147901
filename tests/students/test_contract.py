"""Every student keeps the promises of the contract."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import dspy
import pytest

from students import Capabilities, PerFactChecker, ReasoningBudget, Student
from students.designs import DESIGNS
from students.pipeline import FactPipeline
from students.programs import ProgramStudent
from students.testing import StudentContract, said, yes_no
from students.transport import CallRequest, CallResult

MODEL = {"name": "m"}


def sign(p: float) -> CallResult:
    """A first token with the log-probabilities of ``+`` and ``-``."""
    return said("+" if p >= 0.5 else "-", top=(("+", math.log(p)), ("-", math.log1p(-p))))


LISTS = {
    "checklist-items": "1. Does the note say for how long?\n2. Does the note name the allergy?",
    "coverage-statements": "1. It has hurt for seven days.\n2. An antibiotic caused a rash.",
    "pipeline-facts": "1. It has hurt for seven days. || for a week\n2. An antibiotic caused a rash. || gave me a rash",
}
SCORES = {
    "per-fact": (yes_no(0.97), yes_no(0.02)),
    "whole-note": (said("Score: 10"), said("Score: 1")),
    "criterion-score": (said("Score: 10"), said("Score: 1")),
    "fact-list": (said("Score: 10"), said("Score: 1")),
    "criterion-yes-no": (said("Verdict: PASS"), said("Verdict: FAIL")),
    "deployed": (said("All of it is there.\nScore: 10"), said("Much is missing.\nScore: 2")),
    "engineered": (said("OMISSIONS:\n- none\nScore: 10"), said("OMISSIONS:\n- [critical] the allergy\nScore: 1")),
    "grounding": (yes_no(0.97), yes_no(0.02)),
    "grounding-score": (said("Score: 10"), said("Score: 1")),
    "step-content": (sign(0.97), sign(0.02)),
    "step-complete": (sign(0.97), sign(0.02)),
    "step-end": (sign(0.97), sign(0.02)),
    "g-eval": (said("5", top=(("5", -0.01), ("1", -5.0))), said("1", top=(("1", -0.01), ("5", -5.0)))),
}
WORDS = {
    "per-fact-keyed": ("present", "absent"),
    "checklist-answers": ("yes", "no"),
    "coverage-stated": ("yes", "no"),
    "pipeline-check": ("present", "absent"),
    "pipeline-check-graded": ("full", "absent"),
    "pipeline-audit": ("critical", "critical"),
    "pipeline-second-look": ("NONE", "NONE"),
}


def answer(request: CallRequest, *, good: bool) -> CallResult:
    """What a model says to any prompt of ours that finds nothing wrong, or everything."""
    if request.thinks:
        return said("First the history, then the allergies.")
    prompt = request.prompt.removesuffix("-scratchpad")
    if prompt in LISTS:
        return said(LISTS[prompt])
    if prompt in SCORES:
        return SCORES[prompt][0 if good else 1]
    if prompt not in WORDS:
        score = "[[ ## score ## ]]\n9.5" if good else "[[ ## score ## ]]\n0.5"
        return said(f"{score}\n\n[[ ## completed ## ]]")
    listed = next(request.inputs[slot] for slot in ("facts", "items", "statements") if slot in request.inputs)
    word = WORDS[prompt][0 if good else 1]
    return said("\n".join(f"{line.partition(':')[0]}: {word}" for line in listed.splitlines()))


class Scripted(StudentContract):
    """Answers for all prompts."""

    __test__ = False

    def good(self, request: CallRequest) -> CallResult:
        return answer(request, good=True)

    def poor(self, request: CallRequest) -> CallResult:
        return answer(request, good=False)


class Rating(dspy.Module):  # type: ignore[misc]  # dspy has no types
    """A program of one step."""

    def __init__(self) -> None:
        super().__init__()
        self.judge = dspy.Predict("source, document -> score: float")

    def forward(self, source: str, document: str) -> Any:
        return self.judge(source=source, document=document)


PLAIN = ReasoningBudget(answer_tokens=512)
THINKING = ReasoningBudget(thinking_tokens=64, answer_tokens=512)


def made(name: str, budget: ReasoningBudget, options: Mapping[str, Any]) -> Student:
    design = DESIGNS[name]
    answer_tokens = 1 if name == "per-fact" else budget.answer_tokens
    own = ReasoningBudget(thinking_tokens=budget.thinking_tokens, answer_tokens=answer_tokens)
    return design.build(options, model=MODEL, budget=own, capabilities=Capabilities())


STUDENTS: dict[str, Student] = {
    f"{name} {kind}": made(name, budget, {"temperature": design.temperature, "samples": design.samples})
    for name, design in DESIGNS.items()
    if name != "program"  # below
    for kind, budget in (("plain", PLAIN), ("thinking", THINKING))
} | {
    "per-fact share": PerFactChecker(model=MODEL, aggregator="share"),
    "pipeline of two stages": FactPipeline(model=MODEL, second_look=True, rule="any-absent"),
    "pipeline of two stages audited by section": FactPipeline(model=MODEL, audit=True, sections=True),
    "pipeline on given facts": FactPipeline(model=MODEL, facts_from="corpus", rule="critical-absent"),
    "pipeline of three stages": FactPipeline(
        model=MODEL, stages=3, second_look=True, rule="critical-absent", budget=THINKING
    ),
    "program of dspy": ProgramStudent(program=Rating(), title="rating", model=MODEL, flag_below=5.0),
}

for _label, _student in STUDENTS.items():
    _title = "Test" + "".join(part.capitalize() for part in _label.replace(",", "").replace("-", " ").split())
    globals()[_title] = type(_title, (Scripted,), {"student": _student, "__test__": True, "__module__": __name__})


def test_every_design_is_under_contract() -> None:
    assert set(DESIGNS) - {"program"} <= {label.rsplit(" ", 1)[0] for label in STUDENTS}


@pytest.mark.parametrize("text", ["", "Score: 11"])
def test_a_contract_broken_is_noticed(text: str) -> None:
    class Broken(Scripted):
        student = DESIGNS["whole-note"].build({}, model=MODEL, budget=PLAIN)

        def good(self, request: CallRequest) -> CallResult:
            return said(text)

    with pytest.raises(AssertionError, match="were not read"):
        Broken().test_a_good_document_scores_above_a_bad_one_on_the_stated_scale()
