"""The part of a plan that says what reads the student's failures, and what it is told of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field, model_validator

from optimize.model_plan import ModelPlan, Section
from optimize.student_plan import BudgetPlan
from reflectors.feedback import LEAST_TOKENS, TOKENS, Feedback
from reflectors.human import POLL_S

ReflectorKind = Literal["operators", "llm", "human", "replay", "random-edits", "simulated-diagnosis"]

OFFLINE: Final[Mapping[str, str]] = {
    "operators": "offline edit operators",
    "human": "a person, asked in files",
    "replay": "the recorded reflections of another campaign",
    "random-edits": "CONTROL: blind edits from a bank of clauses, which read no trace",
    "simulated-diagnosis": "SIMULATED: a rule that reads the feedback",
}
"""Reflectors without a model, in words."""
_TAKEN: Final[Mapping[str, frozenset[str]]] = {
    "operators": frozenset(),
    "llm": frozenset({"model", "budget", "temperature", "feedback", "memory"}),
    "human": frozenset({"feedback", "memory", "wait", "poll_s"}),
    "replay": frozenset({"ledger", "traces", "feedback"}),
    "random-edits": frozenset(),
    "simulated-diagnosis": frozenset({"feedback"}),
}
"""Settings that have an effect, by the kind of reflector."""
_ANYWHERE: Final = frozenset({"model", "budget", "temperature"})
"""Settings that stand in the row of every kind."""
_UNHASHED: Final = frozenset({"wait", "poll_s", "ledger"})
"""Settings that change no answer: how a person is waited for, and where a recording lies, whose hash the record has."""


class FeedbackPlan(Section):
    """What the reflector is told of each minibatch; each part can be left out."""

    truth: bool = Field(True, description="What is true of the example: correct, or which flaw it has.")
    fact: bool = Field(True, description="The fact that was left out or changed.")
    mention: bool = Field(True, description="What survives of an omitted fact: heading, offset, strength, words.")
    severity: bool = Field(True, description="Severity of the flaw, why, and what the source says.")
    said: bool = Field(True, description="What the judge said: score, verdict on the fact, its own words.")
    rank: bool = Field(True, description="Rank against its own twin, and by how much.")
    differences: bool = Field(True, description="Other facts judged differently than on the twin.")
    constant_absences: bool = Field(True, description="Facts called absent on every document of the group.")
    right: bool = Field(True, description="What is judged right already.")
    document: bool = Field(True, description="The document around the flaw, for failures.")
    rule: bool = Field(True, description="That moving every score gains nothing.")
    tokens: int = Field(
        TOKENS,
        ge=LEAST_TOKENS,
        description="Most tokens of the feedback, estimated. Beyond it documents are cut around the flaw, then left "
        "out, then whole examples, first those judged right; ground truth is never cut, and what was cut is said.",
    )

    def feedback(self) -> Feedback:
        """The feedback itself."""
        return Feedback(**self.model_dump())


class ReflectorPlan(Section):
    """What reads the failures: offline edit operators, a model, a person, a recording, blind edits, or a simulation."""

    kind: ReflectorKind = "operators"
    model: ModelPlan | None = None
    budget: BudgetPlan = BudgetPlan(answer_tokens=4096)
    temperature: float | None = Field(1.0, ge=0)
    feedback: FeedbackPlan = FeedbackPlan()
    memory: int = Field(0, ge=0, description="How many of the latest failed edits are told (llm, human).")
    ledger: str | None = Field(
        None,
        description="Run directory or ledger whose reflections are given again (replay), from the plan's directory.",
    )
    traces: bool = Field(True, description="Whether a replay must come to the recorded traces, not to the texts alone.")
    wait: bool = Field(True, description="Whether a person's answer is waited for; else the campaign stops, resumable.")
    poll_s: float = Field(POLL_S, gt=0, description="Seconds between two looks for a person's answer.")

    @model_validator(mode="after")
    def _model_for_llm(self) -> ReflectorPlan:
        if (self.kind == "llm") != (self.model is not None):
            raise ValueError("kind llm needs a model, and only it takes one")
        if (self.kind == "replay") != (self.ledger is not None):
            raise ValueError("kind replay needs a ledger, and only it takes one")
        idle = self.model_fields_set - _TAKEN[self.kind] - {"kind", "model", "ledger"}
        if idle:
            verb = "has" if len(idle) == 1 else "have"
            raise ValueError(f"{' and '.join(sorted(idle))} {verb} no effect on kind {self.kind}; remove it")
        return self

    def row(self) -> dict[str, Any]:
        """The JSON form: what the kind takes, but for what changes no answer."""
        kept = (_TAKEN[self.kind] | _ANYWHERE | {"kind"}) - _UNHASHED
        return {name: value for name, value in self.model_dump(mode="json").items() if name in kept}
