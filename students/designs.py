"""The designs that a plan can name: how each is built, which settings have an effect on it, and where they begin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from students.budget import ReasoningBudget
from students.capabilities import Capabilities
from students.checklist import ChecklistJudge
from students.coverage import CoverageJudge
from students.criterion import ANSWER_FORMS, CRITERIA, SAMPLES, CriterionJudge
from students.fact_list import FactListScorer
from students.g_eval import GEvalJudge
from students.grounding.student import GROUNDING, GroundingGate
from students.keyed_facts import KeyedFactChecker
from students.per_fact import PerFactChecker
from students.pipeline import FactPipeline
from students.reporting import WORDINGS, DeployedJudge, EngineeredJudge
from students.steps import StepVerifier
from students.student import PromptCache, Student
from students.whole_note import WholeNoteScorer


@dataclass(frozen=True, slots=True)
class Design:
    """One kind of judge, by the name that a plan gives it.

    Args:
        name: the name.
        judge: makes one, from the settings that all have and its own.
        scale: score of a flawless document.
        options: plan settings that have an effect on it, by the name of the judge's own setting that each is.
        answer_tokens: cap of the answer where the plan gives none.
        temperature: where the plan gives none, and there is an effect.
        samples: answers a judgement where the plan gives none, and there is an effect.
        block: the block that evolves where the plan names none, and there are several.
        defaults: further settings where the plan is silent.
        facts: whether it checks the facts of the corpus.
        clauses: name of the operator reflector's clause bank for it, or None where there is none.
        simulated: whether the simulated judge answers it.
    """

    name: str
    judge: Callable[..., Student]
    scale: float
    options: Mapping[str, str]
    answer_tokens: int = 64
    temperature: float = 0.0
    samples: int = 1
    block: str | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    facts: bool = False
    clauses: str | None = None
    simulated: bool = True

    def build(
        self,
        options: Mapping[str, Any],
        *,
        model: Mapping[str, Any],
        budget: ReasoningBudget,
        prompt_cache: PromptCache = "unset",
        capabilities: Capabilities | None = None,
    ) -> Student:
        """A judge of this design.

        Args:
            options: plan settings by name; those without an effect are left out.
            model: identity of the model.
            budget: reasoning budget and answer cap.
            prompt_cache: how the server's prompt cache is used.
            capabilities: what the model accepts.

        Raises:
            PlanError: a setting is out of range, or the model does not take it.
        """
        return self.judge(
            model=model,
            budget=budget,
            prompt_cache=prompt_cache,
            capabilities=capabilities or Capabilities(),
            **{own: options[name] for name, own in self.options.items() if name in options},
        )


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_LISTING: Final = _same("block", "list_tokens", "temperature")
_PIPELINE: Final = {
    **_LISTING,
    **_same("facts_from", "second_look", "sections", "rule", "rule_count", "max_facts"),
}


def _program(*, program: str, state: str | None = None, **settings: Any) -> Student:
    """A dspy program by its place; dspy is imported where one is asked for."""
    from students.programs import ProgramStudent, load_program

    made = load_program(program, state=None if state is None else Path(state))
    return ProgramStudent(program=made, title="program", **settings)


DESIGNS: Final[Mapping[str, Design]] = {
    design.name: design
    for design in (
        Design(
            "per-fact",
            PerFactChecker,
            PerFactChecker.scale,
            _same("aggregator", "max_facts"),
            facts=True,
            clauses="per-fact",
        ),
        Design(
            "per-fact-keyed",
            KeyedFactChecker,
            KeyedFactChecker.scale,
            _same("max_facts", "temperature"),
            facts=True,
            clauses="per-fact-keyed",
        ),
        Design(
            "whole-note", WholeNoteScorer, WholeNoteScorer.scale, _same("samples", "temperature"), clauses="whole-note"
        ),
        *(
            Design(
                f"{criterion}-{answer}-{samples}",
                partial(CriterionJudge, criterion=criterion, answer=answer, samples=samples),
                CriterionJudge.scale,
                _same("temperature"),
                temperature=0.0 if samples == 1 else 1.0,
                clauses="whole-note" if answer == "score" else "yes-no",
            )
            for criterion in CRITERIA
            for answer in ANSWER_FORMS
            for samples in SAMPLES
        ),
        *(
            Design(
                f"deployed-{wording}",
                partial(DeployedJudge, wording=wording),
                DeployedJudge.scale,
                _same("temperature"),
                answer_tokens=512,
                clauses="whole-note",
                simulated=False,
            )
            for wording in WORDINGS
        ),
        Design(
            "engineered",
            EngineeredJudge,
            EngineeredJudge.scale,
            _same("temperature"),
            answer_tokens=512,
            clauses="whole-note",
            simulated=False,
        ),
        Design("checklist", ChecklistJudge, ChecklistJudge.scale, _LISTING, answer_tokens=512, block="answers"),
        Design("coverage", CoverageJudge, CoverageJudge.scale, _LISTING, answer_tokens=512, block="stated"),
        Design(
            "g-eval",
            GEvalJudge,
            GEvalJudge.scale,
            {"block": "block", "samples": "draws", "temperature": "temperature"},
            answer_tokens=4,
            temperature=1.0,
            samples=8,
            block="completeness",
        ),
        Design(
            "step-verifier",
            StepVerifier,
            StepVerifier.scale,
            {
                **_same("block", "granularity", "most_steps", "temperature"),
                "samples": "votes",
                "step_aggregation": "aggregation",
                "step_read": "reading",
                "step_threshold": "threshold",
            },
            answer_tokens=4,
            temperature=1.0,
            samples=8,
            block="content",
            clauses="step",
        ),
        *(
            Design(
                f"{GROUNDING}{whole}{score}",
                partial(
                    GroundingGate, per="answer" if whole else "sentence", answer="score" if score else "probability"
                ),
                GroundingGate.scale,
                _same("pass_mark", *(["temperature"] if score else [])),
                answer_tokens=16 if score else 1,
                clauses="grounding",
            )
            for whole in ("", "-whole")
            for score in ("", "-score")
        ),
        Design(
            "fact-list",
            FactListScorer,
            FactListScorer.scale,
            _same("max_facts", "temperature"),
            facts=True,
            clauses="whole-note",
        ),
        Design(
            "two-stage",
            partial(FactPipeline, stages=2),
            FactPipeline.scale,
            {**_PIPELINE, **_same("audit")},
            answer_tokens=512,
            block="check",
            defaults={"max_facts": 25},
        ),
        Design(
            "three-stage",
            partial(FactPipeline, stages=3),
            FactPipeline.scale,
            {**_PIPELINE, **_same("weights", "credits")},
            answer_tokens=512,
            block="check",
            defaults={"max_facts": 25, "rule": "critical-absent"},
        ),
        Design(
            "program",
            _program,
            10.0,
            {**_same("program", "temperature", "samples", "inputs", "output", "flag_below"), "program_state": "state"},
            answer_tokens=512,
            simulated=False,
        ),
    )
}
"""All designs by name."""
