"""One pre-registered run: a plan, its corpus and its lock, in a run directory that can be resumed at any time."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from lineage._version import __version__
from lineage.canonical import canonical_json, digest, digest_bytes, pretty_json, write_atomic
from lineage.errors import BudgetError, CallError, LedgerError, PlanError
from lineage.ledger import Ledger
from lineage.records import VOLATILE
from optimize.calling import CallLayer, check_limits
from optimize.evaluation import Evaluator
from optimize.models import build_student, capabilities_of, open_model
from optimize.plan import Plan
from optimize.protocol import Decided, Protocol
from optimize.watching import Unwatched, Watcher
from reflectors import LlmReflector, OperatorReflector, Reflector, reflector_sending
from splits.corpus import Corpus
from splits.lock import SplitLock, split_structure
from students import Bench, Capabilities, KeyedFactChecker, PerFactChecker, ReasoningBudget
from students.transport import CallCache, CallFailure, CallRequest, CallResult, LimitError, Tags

STOPPED: Final = "stopped.md"
"""File of a run directory that says where a limit stopped it; gone as soon as it goes on."""


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
        models_hash: hash of the model lock that the plan's models were resolved through, or None.

    Raises:
        PlanError: plan, corpus and lock do not fit together, or a replay is not said to be exploratory.
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
        models_hash: str | None = None,
    ) -> None:
        if plan.replayed and exploratory is None:
            raise PlanError(
                f"{', '.join(plan.replayed)}: a replay of recorded answers confirms nothing: give --exploratory REASON"
            )
        # What is simulated spends nothing of the held-out split's alpha: its register stays in the run directory.
        self.lock = replace(lock, path=directory / "split.lock.json") if plan.simulated else lock
        self.plan, self.directory = plan, directory
        self._corpus = corpus
        self._baseline = baseline
        self._cache_path = cache or directory.parent / "calls.sqlite"
        self._exploratory, self._models_hash = exploratory, models_hash
        self._watcher = watcher or Unwatched()
        self._model = open_model(plan.student.model)
        self._student = build_student(plan, self._model)
        asked = plan.reflector.model
        self._reflector_model = self._model if asked in (None, plan.student.model) else open_model(asked)
        self._models = {"student": self._model} | ({} if asked is None else {"reflector": self._reflector_model})
        check_limits(plan, self._models)
        if asked is not None:
            reflector_sending(*self._reflector_settings(), temperature=plan.reflector.temperature)
        if isinstance(self._student, PerFactChecker | KeyedFactChecker):
            missing = sorted({group for groups in lock.splits.values() for group in groups} - set(corpus.facts))
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
            (self.directory / STOPPED).unlink(missing_ok=True)
            asked = (self._model.recorded, self._reflector_model.recorded)
            recorded = tuple(answers for answers in asked if answers is not None)
            cache = stack.enter_context(CallCache(self._cache_path, recorded=recorded))
            layer = CallLayer(self.plan, self._models, cache=cache, campaign=ledger.campaign)
            calls = layer.calls("student")
            bench = Bench(
                calls, run_seed=self.plan.search.seed, campaign=ledger.campaign, progress=self._watcher.judged
            )
            stack.callback(bench.close)
            try:
                evaluator = Evaluator(ledger, self.directory / "judgements", bench)
                protocol = Protocol(
                    self.plan,
                    self._corpus,
                    self.lock,
                    self._baseline,
                    self._exploratory,
                    ledger,
                    evaluator,
                    self._watcher,
                )
                decided = protocol.run(self._student, lambda: self._reflector(stack, bench, layer, ledger))
            except (BudgetError, CallError) as error:
                limit = error.limit if isinstance(error, LimitError) else None
                ledger.operational("stopped", {"reason": str(error), "limit": limit, **layer.record()})
                raise
            verdict = self._record_verdict(ledger, decided)
            self._finish(ledger, layer, verdict)
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
                    "models_hash": self._models_hash,
                    "replayed": list(self.plan.replayed),
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

    def _record_verdict(self, ledger: Ledger, decided: Decided) -> Mapping[str, Any]:
        verdict, prompt = decided.verdict, decided.prompt
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

    def _finish(self, ledger: Ledger, layer: CallLayer, verdict: Mapping[str, Any]) -> None:
        ledger.perform("spend", {}, lambda: {VOLATILE: layer.record()})
        ledger.perform("finished", {"decision": verdict["decision"]}, dict)
        finished = next(event for event in ledger.events if event.type == "finished")
        head = {"count": finished.seq + 1, "hash": finished.hash}
        write_atomic(self.directory / "verdict.json", pretty_json({**verdict, "ledger_head": head}))

    def _reflector(self, stack: ExitStack, bench: Bench, layer: CallLayer, ledger: Ledger) -> Reflector:
        plan = self.plan.reflector
        if plan.kind == "operators":
            return OperatorReflector(self.plan.student.shape)
        model = self._reflector_model
        if model is not self._model:
            stack.callback(lambda: bench.run(model.transport.aclose()))
        calls = layer.calls("reflector", concurrency=1)
        tags = Tags(ledger.campaign, "reflector", "search")

        async def asked(request: CallRequest) -> CallResult | CallFailure:
            try:
                return (await calls.run([request], tags))[0]
            finally:
                await calls.finish()

        budget, capabilities = self._reflector_settings()
        return LlmReflector(
            lambda request: bench.run(asked(request)),
            model=model.identity,
            budget=budget,
            temperature=plan.temperature,
            capabilities=capabilities,
        )

    def _reflector_settings(self) -> tuple[ReasoningBudget, Capabilities]:
        plan = self.plan.reflector
        budget = ReasoningBudget(**plan.budget.model_dump())
        return budget, Capabilities() if plan.model is None else capabilities_of(plan.model)


def _environment() -> dict[str, Any]:
    """Versions and host, which may differ between a run and its resumption."""
    packages = ("dspy", "gepa", "litellm", "mlflow", "numpy", "scipy", "xllamacpp")
    return {
        "holdgate": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: version(name) for name in packages},
    }
