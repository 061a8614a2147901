"""One pre-registered run: a plan, its corpus and its lock, in a run directory that can be resumed at any time."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NoReturn

from lineage.canonical import digest, digest_bytes, pretty_json, write_atomic
from lineage.errors import BudgetError, CallError, PlanError, SealError
from lineage.ledger import Ledger
from lineage.records import VOLATILE
from optimize.calling import CallLayer, check_limits
from optimize.evaluation import Evaluator
from optimize.models import build_student, capabilities_of, open_model
from optimize.opening import open_bench
from optimize.plan import Plan
from optimize.protocol import Decided, Protocol
from optimize.registering import register
from optimize.watching import Unwatched, Watcher
from reflectors import LlmReflector, OperatorReflector, Reflector, reflector_sending
from splits.corpus import Corpus
from splits.lock import SplitLock
from students import Bench, Capabilities, ReasoningBudget
from students.transport import CallFailure, CallRequest, CallResult, LimitError, Tags

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
        if plan.reflector.kind == "operators":
            OperatorReflector(plan.student.clauses)  # a design without clauses is refused before anything is paid for
        if plan.student.needs_facts:
            missing = sorted({group for groups in lock.splits.values() for group in groups} - set(corpus.facts))
            if missing:
                raise PlanError(f"a per-fact student needs facts for every group; none for {', '.join(missing[:5])}")

    def __repr__(self) -> str:
        return f"Campaign({self.plan.name!r}, {str(self.directory)!r})"

    def __reduce__(self) -> NoReturn:
        raise SealError("a campaign cannot be pickled or copied: it holds the corpus, held-out text with it")

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
            register(
                ledger,
                self.directory,
                plan=self.plan,
                corpus=self._corpus,
                lock=self.lock,
                baseline=self._baseline,
                exploratory=self._exploratory,
                models_hash=self._models_hash,
            )
            (self.directory / STOPPED).unlink(missing_ok=True)
            opened = stack.enter_context(
                open_bench(
                    self.plan,
                    self._models,
                    cache=self._cache_path,
                    campaign=ledger.campaign,
                    progress=self._watcher.judged,
                )
            )
            layer, calls, bench = opened.layer, opened.calls, opened.bench
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
            return OperatorReflector(self.plan.student.clauses)
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
