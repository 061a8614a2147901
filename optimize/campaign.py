"""One pre-registered run: a plan, its corpus and its lock, in a run directory that can be resumed at any time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from lineage.canonical import digest, digest_bytes, pretty_json, write_atomic
from lineage.errors import BudgetError, CallError, PlanError, SealError
from lineage.ledger import Ledger
from lineage.records import VOLATILE
from optimize.calling import CallLayer, check_limits
from optimize.evaluation import Evaluator
from optimize.model_plan import ModelPlan
from optimize.models import Model, build_student, open_model
from optimize.opening import Opened, open_bench
from optimize.plan import Plan
from optimize.protocol import Decided, Protocol, Searched
from optimize.reflecting import build_reflector, check_reflector
from optimize.registering import register
from optimize.watching import Unwatched, Watcher
from reflectors import Reflector
from splits.corpus import Corpus
from splits.lock import SplitLock
from students import Bench
from students.transport import LimitError

Done = TypeVar("Done")
Reflecting = Callable[[], Reflector]

STOPPED: Final = "stopped.md"
"""File of a run directory that says where a limit stopped it; gone as soon as it goes on."""


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """A finished campaign: its verdict as in ``verdict.json``, and what it cost in this process."""

    directory: Path
    verdict: Mapping[str, Any]
    paid: int
    cached: int


@dataclass(frozen=True, slots=True)
class SearchedCampaign:
    """A campaign that has chosen its winner, and confirms nothing by itself.

    Attributes:
        directory: the run directory.
        campaign: its identity.
        head: hash of its ledger at the choice.
        searched: what was chosen, and by which student.
        spend: what it paid for so far by role and phase, limits and prices.
    """

    directory: Path
    campaign: str
    head: str
    searched: Searched
    spend: Mapping[str, Any]


class Campaign:
    """A plan on a corpus with a split lock, in a run directory of its own.

    Args:
        plan: the plan.
        corpus: the whole corpus.
        lock: its split lock, loaded from a file.
        directory: the run directory; one that holds a campaign of the same plan is resumed.
        baseline: text of the incumbent instruction, where the search starts.
        seeds: the texts of the plan's further seeds, by the names that the plan has for them.
        cache: path of the call cache; by default beside the run directory, shared by its neighbours.
        exploratory: why the campaign confirms nothing, or None.
        watcher: follows the campaign.
        models_hash: hash of the model lock that the plan's models were resolved through, or None.
        wait: whether the answers of a person who reflects are waited for; else a missing one stops the campaign.
        opened: opens the model that a part of the plan names; by default the model itself.

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
        seeds: Mapping[str, str] | None = None,
        cache: Path | None = None,
        exploratory: str | None = None,
        watcher: Watcher | None = None,
        models_hash: str | None = None,
        wait: bool = True,
        opened: Callable[[ModelPlan], Model] | None = None,
    ) -> None:
        if plan.replayed and exploratory is None:
            raise PlanError(
                f"{', '.join(plan.replayed)}: a replay of recorded answers confirms nothing: give --exploratory REASON"
            )
        if (control := plan.controls.reason) is not None:
            exploratory = control if exploratory in (None, control) else f"{control}; {exploratory}"
        # What is simulated spends nothing of the held-out split's alpha: its register stays in the run directory.
        self.lock = replace(lock, path=directory / "split.lock.json") if plan.simulated else lock
        self.plan, self.directory = plan, directory
        self._corpus = corpus
        self._baseline, self._seeds = baseline, dict(seeds or {})
        if tuple(self._seeds) != plan.search.seeds:
            raise PlanError(
                f"search.seeds names {', '.join(plan.search.seeds) or 'none'}, and the texts given are of "
                f"{', '.join(self._seeds) or 'none'}; give the text of each, in order, as load_plan does"
            )
        self._cache_path = cache or directory.parent / "calls.sqlite"
        self._exploratory, self._models_hash = exploratory, models_hash
        self._watcher = watcher or Unwatched()
        opened = opened or open_model
        self._model = opened(plan.student.model)
        self._student = build_student(plan, self._model)
        asked = plan.reflector.model
        self._reflector_model = self._model if asked in (None, plan.student.model) else opened(asked)
        self._models = {"student": self._model} | ({} if asked is None else {"reflector": self._reflector_model})
        check_limits(plan, self._models)
        self._wait = wait
        check_reflector(plan)  # a design without clauses is refused before anything is paid for
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

        def decided(ledger: Ledger, opened: Opened, protocol: Protocol, reflector: Reflecting) -> CampaignResult:
            verdict = self._record_verdict(ledger, protocol.run(self._student, reflector))
            self._finish(ledger, opened.layer, verdict)
            return CampaignResult(self.directory, verdict, opened.calls.paid, opened.calls.found)

        return self._at_work(decided)

    def search(self) -> SearchedCampaign:
        """Run, or resume, to the choice of the winner; held-out data are opened to measure the baseline, and no more.

        Whatever compares the winner then, such as a crossed experiment, opens them for that. :meth:`run` in the same
        directory would go on to the verdict of the campaign alone.

        Raises:
            HoldgateError: with what stopped the campaign; everything paid for is kept.
        """

        def chosen(ledger: Ledger, opened: Opened, protocol: Protocol, reflector: Reflecting) -> SearchedCampaign:
            searched = protocol.search(self._student, reflector)
            choice = next(event for event in ledger.events if event.type == "choice")
            return SearchedCampaign(self.directory, ledger.campaign, choice.hash, searched, opened.layer.record())

        return self._at_work(chosen)

    def _at_work(self, work: Callable[[Ledger, Opened, Protocol, Reflecting], Done]) -> Done:
        """Open ledger, cache and bench, do some work with them, and record what stops it."""
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
                seeds=self._seeds,
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
            layer, bench = opened.layer, opened.bench
            try:
                evaluator = Evaluator(ledger, self.directory / "judgements", bench)
                protocol = Protocol(
                    self.plan,
                    self._corpus,
                    self.lock,
                    self._baseline,
                    self._seeds,
                    self._exploratory,
                    ledger,
                    evaluator,
                    self._watcher,
                )
                return work(ledger, opened, protocol, lambda: self._reflector(stack, bench, layer, ledger))
            except (BudgetError, CallError) as error:
                limit = error.limit if isinstance(error, LimitError) else None
                ledger.operational("stopped", {"reason": str(error), "limit": limit, **layer.record()})
                raise

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
        model = self._models.get("reflector")
        if model is not None and model is not self._model:
            stack.callback(lambda: bench.run(model.transport.aclose()))
        return build_reflector(
            self.plan, model, bench=bench, layer=layer, ledger=ledger, watcher=self._watcher, wait=self._wait
        )
