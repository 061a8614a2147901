"""The evaluation: the gate and the call on the whole answer on the same cases, with one cache and one spend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from lineage.canonical import digest
from lineage.errors import PlanError
from lineage.records import Candidate, Judgement
from lineage.spelling import suggestion
from optimize.calling import is_free
from optimize.grounding.cases import Case, Equivalents
from optimize.grounding.measures import Part, estimate_row, handled_difference, measures_by
from optimize.grounding.outcomes import CaseOutcome, case_corpus, gate_outcomes, whole_outcomes
from optimize.grounding.stress import Stress, equivalents_corpus, stress_of
from optimize.judging.calling import JudgingCalls, open_calls
from optimize.model_plan import ModelPlan
from optimize.models import Model, capabilities_of, open_model
from optimize.plan import RoleLimitsPlan
from splits.corpus import Corpus
from students import Bench, Progress, ReasoningBudget, Student, student_hash
from students.designs import DESIGNS
from students.grounding import PASS_MARK
from students.grounding.student import GROUNDING

PARTS: Final[tuple[Part, ...]] = ("type", "kind", "family", "cohort", "all")
BEFORE: Final = "before"
AFTER: Final = "after"
Followed = Callable[[str, Progress], None]
"""Told of an arm's progress."""


@dataclass(frozen=True, slots=True)
class GroundingSettings:
    """How the evaluation is made.

    Attributes:
        model: the judge's model.
        scored: whether it answers with a score in words, as a model without log-probabilities must.
        pass_mark: least rating that passes.
        instruction: text of the evolving block; None: the bundled one.
        limits: hard limits of the whole run.
        seed: of the calls.
    """

    model: ModelPlan
    scored: bool = False
    pass_mark: float = PASS_MARK
    instruction: str | None = None
    limits: RoleLimitsPlan = field(default_factory=RoleLimitsPlan)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class GroundingResult:
    """What the evaluation found.

    Attributes:
        before: what one call on the whole answer did with each case.
        after: what the gate did.
        stress: the stress test of both, by arm.
        students: hash of each arm's settings.
        instruction: SHA-256 of the candidate that both judged with.
        simulated: whether a formula answered.
        calls: calls of each arm, cached ones among them.
        paid: calls sent in this process.
        found: calls found in the cache.
    """

    before: tuple[CaseOutcome, ...]
    after: tuple[CaseOutcome, ...]
    stress: Mapping[str, Stress]
    students: Mapping[str, str]
    instruction: str
    simulated: bool
    calls: Mapping[str, int]
    paid: int
    found: int

    @property
    def rejected(self) -> tuple[CaseOutcome, ...]:
        """What the gate rejected."""
        return tuple(outcome for outcome in self.after if outcome.outcome == "rejected")

    def row(self) -> dict[str, Any]:
        """The JSON form; the same for the same answers."""
        arms = {BEFORE: self.before, AFTER: self.after}
        return {
            "cases": {"count": len(self.after), "hash": digest([outcome.case.id for outcome in self.after])},
            "simulated": self.simulated,
            "students": dict(self.students),
            "instruction": self.instruction,
            "calls": dict(self.calls),
            "measures": {
                arm: {part: [each.row() for each in measures_by(outcomes, part)] for part in PARTS}
                for arm, outcomes in arms.items()
            },
            "handled_difference": estimate_row(handled_difference(self.before, self.after)),
            "rejected": [outcome.row() for outcome in self.rejected],
            "outcomes": {arm: [outcome.row() for outcome in outcomes] for arm, outcomes in arms.items()},
            "stress": {arm: stress.row() for arm, stress in self.stress.items()},
        }


def run_grounding(
    cases: Sequence[Case],
    families: Sequence[Equivalents],
    settings: GroundingSettings,
    *,
    cache: Path,
    progress: Followed | None = None,
) -> GroundingResult:
    """Judge the cases in both arms; calls that the cache holds are not paid for again.

    Args:
        cases: the cases.
        families: the stress test's phrasings; none leaves it out.
        settings: how.
        cache: path of the call cache.
        progress: told of each arm's progress.

    Raises:
        PlanError: the model does not take what is asked for, or a limit would limit nothing.
        BudgetError: a limit was reached; what was paid for is kept.
        CallError: the endpoint refuses or is gone.
    """
    model = open_model(settings.model)
    check_dollars(settings, model)
    model.check()
    students = {
        arm: build_design(f"{GROUNDING}{whole}{'-score' if settings.scored else ''}", settings, model)
        for arm, whole in ((BEFORE, "-whole"), (AFTER, ""))
    }
    texts = dict(students[AFTER].seed_texts)
    if settings.instruction is not None:
        texts = dict.fromkeys(texts, settings.instruction)
    candidate = Candidate(texts, "seed")
    judged: dict[str, dict[str, Judgement]] = {}
    stress: dict[str, Stress] = {}
    with opened(settings, model, cache, "grounding", progress) as (calls, turn):
        for arm, student in students.items():
            judged[arm] = judge_with(calls.bench, student, case_corpus(cases), candidate, turn(arm))
            if families:
                name = f"{arm}, equivalent phrasings"
                found = judge_with(calls.bench, student, equivalents_corpus(families), candidate, turn(name))
                stress[arm] = stress_of(
                    families, list(found.values()), scale=student.scale, pass_mark=settings.pass_mark
                )
        paid, cached = calls.paid, calls.found
    return GroundingResult(
        whole_outcomes(cases, judged[BEFORE], pass_mark=settings.pass_mark),
        gate_outcomes(cases, judged[AFTER], pass_mark=settings.pass_mark),
        stress,
        {arm: student_hash(student) for arm, student in students.items()},
        candidate.id,
        model.transport.simulated,
        {arm: sum(judgement.usage.calls for judgement in found.values()) for arm, found in judged.items()},
        paid,
        cached,
    )


def run_stress(
    families: Sequence[Equivalents],
    shape: str,
    settings: GroundingSettings,
    *,
    cache: Path,
    progress: Followed | None = None,
) -> Stress:
    """The stress test of any design that a plan can name.

    Raises:
        PlanError: there is no such design, or the model does not take what it asks for.
    """
    model = open_model(settings.model)
    check_dollars(settings, model)
    model.check()
    student = build_design(shape, settings, model)
    texts = dict(student.seed_texts)
    if settings.instruction is not None and len(texts) == 1:
        texts = dict.fromkeys(texts, settings.instruction)
    with opened(settings, model, cache, "stress", progress) as (calls, turn):
        found = judge_with(calls.bench, student, equivalents_corpus(families), Candidate(texts, "seed"), turn(shape))
    return stress_of(families, list(found.values()), scale=student.scale, pass_mark=settings.pass_mark)


def build_design(name: str, settings: GroundingSettings, model: Model) -> Student:
    """A design with the settings of the evaluation, and its own where there are none.

    Raises:
        PlanError: there is no such design, it needs more than a model, or the model does not take what it asks for.
    """
    design = DESIGNS.get(name)
    if design is None or name == "program":
        raise PlanError(f"there is no design {name!r} to test; {suggestion(name, set(DESIGNS) - {'program'})}")
    if model.transport.simulated and not design.simulated:
        raise PlanError(f"word overlap answers no prompt of {name}; name a model")
    options = {
        "temperature": design.temperature,
        "samples": design.samples,
        "pass_mark": settings.pass_mark,
        **design.defaults,
        **({} if design.block is None else {"block": design.block}),
    }
    return design.build(
        options,
        model=model.identity,
        budget=ReasoningBudget(answer_tokens=1 if name == "per-fact" else design.answer_tokens),
        prompt_cache="exact" if model.transport.serial else "unset",
        capabilities=capabilities_of(settings.model),
    )


@contextmanager
def opened(
    settings: GroundingSettings, model: Model, cache: Path, run: str, progress: Followed | None
) -> Iterator[tuple[JudgingCalls, Callable[[str], str]]]:
    """The open calls, and what is told whose turn it is."""
    turn = [""]

    def begin(name: str) -> str:
        turn[0] = name
        return name

    def follow(so_far: Progress) -> None:
        if progress is not None:
            progress(turn[0], so_far)

    cache.parent.mkdir(parents=True, exist_ok=True)
    models = {settings.model: model}
    with open_calls(models, limits=settings.limits, seed=settings.seed, cache=cache, run=run, progress=follow) as calls:
        yield calls, begin


def judge_with(bench: Bench, student: Student, corpus: Corpus, candidate: Candidate, name: str) -> dict[str, Judgement]:
    """Every example judged, by its id; calls are charged to a phase of this name."""
    found = bench.judge(student, corpus, [candidate], phase=name)
    return {judgement.example: judgement for judgement in found}


def check_dollars(settings: GroundingSettings, model: Model) -> None:
    """Refuse a limit in US dollars where it could not be held, or would limit nothing.

    Raises:
        PlanError: the model has no price.
    """
    if settings.limits.usd is not None and model.price is None:
        why = "has no effect on a model without a price" if is_free(settings.model) else "needs the model's price"
        raise PlanError(f"a limit in US dollars {why}; limit calls or tokens instead, or pin the model with its price")
