"""One pre-registered run: plan, commit, baseline, search, choice, confirmation, gate, report."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from lineage._version import __version__
from lineage.canonical import canonical_json, digest, digest_bytes, pretty_json, write_atomic
from lineage.errors import BudgetError, CallError, LedgerError, PlanError
from lineage.ledger import Event, Ledger
from lineage.records import VOLATILE, Candidate
from optimize.calibration import fact_threshold
from optimize.choice import Standing, choose, number, standing
from optimize.engine import candidate_row, run_search
from optimize.evaluation import Evaluation, Evaluator
from optimize.gate import Arm, Gate
from optimize.models import Model, open_model
from optimize.objectives import paired_credit
from optimize.plan import Plan
from optimize.planned_gate import gate_of
from optimize.search import PoolEntry, SearchResult, SearchSpace
from optimize.verdict import noise_floor, nothing_found_row, prompt_text, record_measures, verdict_row
from reflectors import LlmReflector, OperatorReflector, Reflector
from splits.contamination import NgramIndex
from splits.corpus import Corpus, Example
from splits.lock import SplitLock, split_examples, split_structure
from splits.seal import Seal
from students import (
    INSTRUCTION,
    Bench,
    PerFactChecker,
    Progress,
    ReasoningBudget,
    Student,
    WholeNoteScorer,
    student_hash,
)
from students.overlap import overlap_score
from students.transport import CallCache, CallFailure, CallRequest, CallResult, Calls, Limits, Spend, Tags

PHASES: Final = ("calibrate", "baseline", "search", "choose", "confirm", "gate")
TARGET: Final = "instruction"


class Watcher(Protocol):
    """Follows a campaign: phases, judgements under way and events of the ledger, replayed ones included."""

    def phase(self, name: str) -> None:
        """A phase begins."""
        ...

    def judged(self, progress: Progress) -> None:
        """An evaluation has come further."""
        ...

    def event(self, event: Event) -> None:
        """An event is in the ledger."""
        ...


class Unwatched:
    """A watcher that looks away."""

    def phase(self, name: str) -> None:
        """Look away."""

    def judged(self, progress: Progress) -> None:
        """Look away."""

    def event(self, event: Event) -> None:
        """Look away."""


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """A finished campaign: its verdict as in ``verdict.json``, and what it cost in this process."""

    directory: Path
    verdict: Mapping[str, Any]
    paid: int
    cached: int


class Campaign:
    """A plan on a corpus with a split lock, in a run directory of its own.

    Args:
        plan: the plan.
        corpus: the whole corpus.
        lock: its split lock, loaded from a file.
        directory: the run directory; one that holds a campaign of the same plan is resumed.
        baseline: text of the incumbent instruction, where the search starts.
        cache: path of the call cache; by default beside the run directory, shared by its neighbours.
        exploratory: why the campaign confirms nothing, or None.
        watcher: follows the campaign.

    Raises:
        PlanError: plan, corpus and lock do not fit together.
    """

    def __init__(
        self,
        plan: Plan,
        corpus: Corpus,
        lock: SplitLock,
        directory: Path,
        *,
        baseline: str,
        cache: Path | None = None,
        exploratory: str | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        # What is simulated spends nothing of the held-out split's alpha: its register stays in the run directory.
        self.lock = replace(lock, path=directory / "split.lock.json") if plan.simulated else lock
        self.plan, self.directory = plan, directory
        self._corpus = corpus
        self._baseline = baseline
        self._cache_path = cache or directory.parent / "calls.sqlite"
        self._exploratory = exploratory
        self._watcher = watcher or Unwatched()
        self._model = open_model(plan.student.model)
        if plan.limits.usd is not None and self._model.price is None and plan.reflector.model is None:
            raise PlanError("limits.usd has no effect on models without a price; limit calls, tokens or wall_s instead")
        self._student = build_student(plan, self._model)
        asked = plan.reflector.model
        self._reflector_model = self._model if asked in (None, plan.student.model) else open_model(asked)
        if isinstance(self._student, PerFactChecker):
            missing = sorted(
                {ex.group for s in ("reflect", "accept") for ex in split_examples(lock, corpus, s)} - set(corpus.facts)
            )
            if missing:
                raise PlanError(f"a per-fact student needs facts for every group; none for {', '.join(missing[:5])}")

    def run(self) -> CampaignResult:
        """Run, or resume, to the verdict.

        Raises:
            HoldgateError: with what stopped the campaign; everything paid for is kept.
        """
        path = self.directory / "ledger.jsonl"
        with ExitStack() as stack:
            ledger = stack.enter_context(Ledger(path, listen=self._watcher.event))
            if not any(event.type == "finished" for event in ledger.events):
                self._model.check()
                self._reflector_model.check()
            self._register(ledger)
            cache = stack.enter_context(CallCache(self._cache_path))
            limits = Limits(**self.plan.limits.model_dump())
            spend = Spend(limits, spent=cache.paid(ledger.campaign))
            calls = Calls(
                self._model.transport,
                cache=cache,
                spend=spend,
                concurrency=self._model.concurrency,
                price=self._model.price,
            )
            bench = Bench(
                calls, run_seed=self.plan.search.seed, campaign=ledger.campaign, progress=self._watcher.judged
            )
            stack.callback(bench.close)
            try:
                evaluator = Evaluator(ledger, self.directory / "judgements", bench)
                verdict = self._protocol(stack, ledger, evaluator, bench, cache, spend)
            except (BudgetError, CallError) as error:
                ledger.operational("stopped", {"reason": str(error), "paid": calls.paid})
                raise
            self._finish(ledger, cache, verdict)
            return CampaignResult(self.directory, verdict, calls.paid, calls.found)

    def _register(self, ledger: Ledger) -> None:
        """Plan and splits go into the ledger before anything else."""
        try:
            ledger.perform(
                "plan",
                {
                    "plan": self.plan.row(),
                    "plan_hash": self.plan.hash,
                    "baseline": self._baseline,
                    "simulated": self.plan.simulated,
                    "exploratory": self._exploratory,
                    "corpus_hash": self._corpus.hash,
                    "lock_hash": self.lock.hash,
                },
                lambda: {VOLATILE: _environment()},
            )
        except LedgerError as error:
            raise PlanError(
                f"{self.directory} holds a campaign of another plan, baseline, corpus or split lock ({error}); "
                "give another --out, or restore what was changed"
            ) from error
        structure = "".join(canonical_json(row) + "\n" for row in split_structure(self.lock, self._corpus))
        write_atomic(self.directory / "plan.json", pretty_json(self.plan.row()))
        write_atomic(self.directory / "split.lock.json", pretty_json(self.lock.row()))
        write_atomic(self.directory / "examples.jsonl", structure)
        ledger.perform(
            "splits",
            {
                "lock_hash": self.lock.hash,
                "groups": {name: len(groups) for name, groups in self.lock.splits.items()},
                "counts": self.lock.row()["counts"],
                "examples": digest_bytes(structure.encode("utf-8")),
            },
            dict,
        )

    def _protocol(
        self, stack: ExitStack, ledger: Ledger, evaluator: Evaluator, bench: Bench, cache: CallCache, spend: Spend
    ) -> Mapping[str, Any]:
        plan = self.plan
        seal = Seal(self._corpus, self.lock, ledger, target=TARGET, exploratory=self._exploratory)
        forbidden = seal.ngrams()
        reflect = self._corpus.part(split_examples(self.lock, self._corpus, "reflect"))
        accept = self._corpus.part(split_examples(self.lock, self._corpus, "accept"))
        texts = {example.document for example in accept.examples} | {example.source for example in accept.examples}
        forbidden = NgramIndex(forbidden.size, forbidden.hashes | NgramIndex.of(texts, size=forbidden.size).hashes)
        seed = Candidate({INSTRUCTION: self._baseline}, "seed")
        ledger.perform("candidate", candidate_row(seed, None), dict)

        self._watcher.phase("calibrate")
        student, on_accept = self._calibrated(ledger, evaluator, seed, accept)

        self._watcher.phase("baseline")
        first = tuple(range(plan.replicates))
        before = seal.open(
            "baseline", lambda heldout: self._measure(ledger, evaluator, student, seed, heldout, "baseline", first)
        )

        self._watcher.phase("search")
        reflector = self._reflector(stack, bench, cache, spend, ledger)
        space = SearchSpace(
            student=student,
            seed_candidate=seed,
            reflect=reflect,
            accept=accept,
            reflector=reflector,
            forbidden=forbidden,
            iterations=plan.search.iterations,
            minibatch_groups=plan.search.minibatch_groups,
            seed=plan.search.seed,
            margin=plan.objective.margin,
            clean_weight=plan.objective.clean_weight,
            coverage=plan.gate.coverage,
        )
        result = run_search(space, evaluator=evaluator, ledger=ledger, seed_evaluation=on_accept)

        self._watcher.phase("choose")
        winner, ranked = choose(result.pool)
        baseline = standing(result.pool[0])
        self._record_choice(ledger, result, winner, ranked)
        hashes = {
            "plan": plan.hash,
            "lock": self.lock.hash,
            "corpus": self._corpus.hash,
            "student": student_hash(student),
        }
        shared: dict[str, Any] = {
            "baseline": baseline,
            "lock": self.lock,
            "exploratory": self._exploratory,
            "simulated": plan.simulated,
            "candidates": 1 + result.proposals,
            "accepted": len(result.pool) - 1,
            "noise": noise_floor(before),
            "hashes": hashes,
        }
        if winner.entry.candidate.id == seed.id:
            verdict = nothing_found_row(**shared)
            return self._record_verdict(ledger, verdict, None)

        self._watcher.phase("confirm")
        fresh = not (plan.simulated or plan.student.prompt_cache == "exact")
        arms = seal.open(
            "confirm",
            lambda heldout: self._confirm(
                ledger, evaluator, student, winner.entry.candidate, seed, heldout, before, fresh
            ),
        )

        self._watcher.phase("gate")
        winner_arm = Arm(arms[0], winner.detection.threshold, _words(winner.entry))
        baseline_arm = Arm(arms[1], baseline.detection.threshold, _words(baseline.entry))
        rng = np.random.default_rng(int(digest(["gate", plan.hash])[:16], 16))
        reading = self._gate().read(winner_arm, baseline_arm, rng=rng)
        verdict = verdict_row(reading, winner=winner, place=seal.comparison, **shared)
        front = {
            "student": student.settings(),
            "student_hash": hashes["student"],
            "split_lock": hashes["lock"],
            "corpus": hashes["corpus"],
            "plan": hashes["plan"],
            "simulated": plan.simulated,
        }
        prompt = None
        if verdict["decision"] == "emit":
            prompt = prompt_text(verdict, winner=winner.entry.candidate, front=front, arm=winner_arm)
        return self._record_verdict(ledger, verdict, prompt)

    def _calibrated(
        self, ledger: Ledger, evaluator: Evaluator, seed: Candidate, accept: Corpus
    ) -> tuple[Student, Evaluation]:
        """The student with its per-fact threshold set on accept, and the seed's evaluation there."""
        student = self._student
        if isinstance(student, PerFactChecker):
            (raw,) = evaluator.evaluate(student, [seed], accept, purpose="calibrate", split="accept")
            found = fact_threshold(raw)
            body = ledger.perform(
                "calibration",
                {
                    "threshold": found.threshold,
                    "balanced_accuracy": number(found.balanced_accuracy),
                    "n_present": found.n_present,
                    "n_absent": found.n_absent,
                },
                dict,
            )
            student = student.at_threshold(float(body["threshold"]))
        (on_accept,) = evaluator.evaluate(student, [seed], accept, purpose="accept", split="accept", iteration=0)
        record_measures(ledger, "accept", on_accept)
        return student, on_accept

    def _measure(
        self,
        ledger: Ledger,
        evaluator: Evaluator,
        student: Student,
        candidate: Candidate,
        heldout: Corpus,
        purpose: str,
        replicates: tuple[int, ...],
    ) -> Evaluation:
        (evaluation,) = evaluator.evaluate(
            student, [candidate], heldout, purpose=purpose, split="heldout", replicates=replicates
        )
        record_measures(ledger, purpose, evaluation)
        if heldout.facts:
            ledger.perform("word_overlap", {"split": "heldout", "omissions": self._overlap(heldout)}, dict)
        return evaluation

    def _confirm(
        self,
        ledger: Ledger,
        evaluator: Evaluator,
        student: Student,
        winner: Candidate,
        seed: Candidate,
        heldout: Corpus,
        before: Evaluation,
        fresh: bool,
    ) -> tuple[Evaluation, Evaluation]:
        """Winner and baseline on the same examples; where answers may drift, both anew and interleaved."""
        count = self.plan.replicates
        replicates = tuple(range(count, 2 * count)) if fresh else tuple(range(count))
        candidates = [winner, seed] if fresh else [winner]
        found = evaluator.evaluate(
            student, candidates, heldout, purpose="confirm", split="heldout", replicates=replicates
        )
        arms = (found[0], found[1] if fresh else before)
        for evaluation in arms:
            record_measures(ledger, "confirm", evaluation)
        return arms

    def _overlap(self, heldout: Corpus) -> dict[str, Any]:
        """Paired discrimination of plain word overlap over the facts that the student checks, by trace."""
        student = self._student
        checked = student.checked if isinstance(student, PerFactChecker) else lambda facts: facts
        scores = {
            example.id: overlap_score(checked(heldout.facts[example.group]), example.document)
            for example in heldout.examples
            if example.group in heldout.facts
        }

        def paired(examples: list[Example]) -> dict[str, Any]:
            credit = [
                paired_credit(scores[example.id], scores[example.twin])
                for example in examples
                if example.twin in scores and example.id in scores
            ]
            return {"value": sum(credit) / len(credit) if credit else None, "pairs": len(credit)}

        omissions = [example for example in heldout.examples if example.label == "omission" and example.twin]
        traces = sorted({example.trace or "unknown" for example in omissions})
        return {
            "all": paired(omissions),
            "by_trace": {
                trace: paired([ex for ex in omissions if (ex.trace or "unknown") == trace]) for trace in traces
            },
        }

    def _record_choice(self, ledger: Ledger, result: SearchResult, winner: Standing, ranked: list[Standing]) -> None:
        frontier = result.frontier()
        leads = {entry.candidate.id: 0 for entry in result.pool}
        for leaders in frontier.values():
            for leader in leaders:
                leads[leader] += 1
        ledger.perform(
            "choice",
            {
                "winner": winner.entry.candidate.id,
                "ranking": [place.row() for place in ranked],
                "leads": leads,
                "accepted": len(result.pool) - 1,
                "rejected": result.rejected,
                "invalid": result.invalid,
            },
            dict,
        )

    def _record_verdict(self, ledger: Ledger, verdict: Mapping[str, Any], prompt: str | None) -> Mapping[str, Any]:
        body = ledger.perform(
            "verdict",
            {
                "verdict": dict(verdict),
                "verdict_hash": digest(dict(verdict)),
                "prompt": None if prompt is None else digest_bytes(prompt.encode("utf-8")),
            },
            dict,
        )
        if prompt is not None:
            write_atomic(self.directory / "prompt.md", prompt)
        return dict(body["verdict"])

    def _finish(self, ledger: Ledger, cache: CallCache, verdict: Mapping[str, Any]) -> None:
        def spent() -> dict[str, Any]:
            phases = cache.paid_by_phase(ledger.campaign)
            return {VOLATILE: {"paid": {f"{role} {phase}": usage.row() for (role, phase), usage in phases.items()}}}

        ledger.perform("spend", {"limits": self.plan.limits.model_dump()}, spent)
        ledger.perform("finished", {"decision": verdict["decision"]}, dict)
        finished = next(event for event in ledger.events if event.type == "finished")
        head = {"count": finished.seq + 1, "hash": finished.hash}
        write_atomic(self.directory / "verdict.json", pretty_json({**verdict, "ledger_head": head}))

    def _gate(self) -> Gate:
        return gate_of(self.plan.gate, self.plan.guardrails.model_dump(), alpha=self.lock.spend)

    def _reflector(self, stack: ExitStack, bench: Bench, cache: CallCache, spend: Spend, ledger: Ledger) -> Reflector:
        plan = self.plan.reflector
        if plan.kind == "operators":
            return OperatorReflector(self.plan.student.shape)
        model = self._reflector_model
        if model is not self._model:
            stack.callback(lambda: bench.run(model.transport.aclose()))
        calls = Calls(model.transport, cache=cache, spend=spend, concurrency=1, price=model.price)
        tags = Tags(ledger.campaign, "reflector", "search")

        async def asked(request: CallRequest) -> CallResult | CallFailure:
            return (await calls.run([request], tags))[0]

        return LlmReflector(
            lambda request: bench.run(asked(request)),
            model=model.identity,
            budget=ReasoningBudget(**plan.budget.model_dump()),
            temperature=plan.temperature,
        )


def build_student(plan: Plan, model: Model) -> Student:
    """The student that a plan describes."""
    settings = plan.student
    budget = ReasoningBudget(**settings.budget.model_dump())
    if settings.shape == "per-fact":
        return PerFactChecker(
            model=model.identity,
            aggregator=settings.aggregator,
            max_facts=settings.max_facts,
            budget=budget,
            prompt_cache=settings.prompt_cache,
        )
    return WholeNoteScorer(
        model=model.identity,
        budget=budget,
        temperature=settings.temperature,
        samples=settings.samples,
        prompt_cache=settings.prompt_cache,
    )


def _words(entry: PoolEntry) -> int:
    return sum(len(text.split()) for text in entry.candidate.texts.values())


def _environment() -> dict[str, Any]:
    """Versions and host, which may differ between a run and its resumption."""
    packages = ("dspy", "gepa", "litellm", "mlflow", "numpy", "scipy", "xllamacpp")
    return {
        "holdgate": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: version(name) for name in packages},
    }
