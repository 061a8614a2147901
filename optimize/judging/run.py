"""A judging run: every judge of a plan on the same examples, in a run directory that can be resumed at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol

from lineage.canonical import pretty_json, write_atomic
from lineage.errors import BudgetError, CallError, PlanError, SealError
from lineage.ledger import Ledger
from lineage.records import VOLATILE
from optimize.evaluation import Evaluation, Evaluator
from optimize.judging.calling import JudgingCalls, open_calls
from optimize.judging.costs import JudgePrices
from optimize.judging.judges import baselines, judges_of, open_models, prices_of
from optimize.judging.part import JudgedPart, judged_part
from optimize.judging.plan import JudgingPlan
from optimize.judging.registering import register_judging
from optimize.judging.table import Judged, table_row
from optimize.search import candidate_row
from splits.corpus import Corpus
from splits.lock import SplitLock
from splits.seal import Seal
from students import Progress
from students.transport import LimitError

PURPOSE: Final = "judge"
"""What the seal is opened for, where held-out examples are judged."""
TARGET: Final = "judges"
CALLER: Final = "optimize.judging"
TABLE: Final = "table.json"
STOPPED: Final = "stopped.md"
"""File of a run directory that says where a limit stopped it; gone as soon as it goes on."""


class JudgingFollower(Protocol):
    """Follows a judging run."""

    def judge(self, name: str, number: int, of: int) -> None:
        """A judge's turn begins; counted from 1."""
        ...

    def judged(self, progress: Progress) -> None:
        """It has come further."""
        ...


class Unfollowed:
    """A follower that looks away."""

    def judge(self, name: str, number: int, of: int) -> None:
        """Look away."""

    def judged(self, progress: Progress) -> None:
        """Look away."""


@dataclass(frozen=True, slots=True)
class JudgingResult:
    """A finished judging run: its table as in ``table.json``, and what it cost in this process."""

    directory: Path
    table: Mapping[str, Any]
    paid: int
    found: int


class JudgingRun:
    """The judges of a plan on one part of a corpus.

    Each judge is a step of a ledger, as are the baselines without a language model. A killed run goes on where it
    stopped; calls are found in the cache that runs beside the directory share.

    Args:
        plan: the plan.
        corpus: the whole corpus.
        directory: the run directory; one that holds a run of the same plan is resumed.
        texts: the instruction of each student that names one, by the student's name.
        lock: the split lock that the plan names, loaded from its file, or None.
        cache: path of the call cache; by default beside the run directory.
        exploratory: why held-out examples are looked at; needed there, and nowhere else.
        follower: follows the run.
        models_hash: hash of the model lock that the plan's models were resolved through, or None.

    Raises:
        PlanError: plan, corpus and lock do not fit together, or a model does not take what a student asks for.
        SealError: held-out examples are to be judged without a reason.
    """

    def __init__(
        self,
        plan: JudgingPlan,
        corpus: Corpus,
        directory: Path,
        *,
        texts: Mapping[str, str],
        lock: SplitLock | None = None,
        cache: Path | None = None,
        exploratory: str | None = None,
        follower: JudgingFollower | None = None,
        models_hash: str | None = None,
    ) -> None:
        if (lock is None) != (plan.splits is None):
            raise PlanError("a judging run needs the split lock that its plan names, and no other")
        if plan.split == "heldout" and not (exploratory or "").strip():
            raise SealError(
                "held-out examples are judged behind the seal only, in an exploratory opening that states why: give "
                "--exploratory REASON"
            )
        if plan.split != "heldout" and exploratory is not None:
            raise PlanError(f"--exploratory has no effect on split: {plan.split}, which is not sealed; leave it out")
        self.plan, self.directory = plan, directory
        self._corpus, self._lock, self._exploratory = corpus, lock, exploratory
        self._cache = cache or directory.parent / "calls.sqlite"
        self._follower, self._models_hash = follower or Unfollowed(), models_hash
        self._models = open_models(plan)
        self.part: JudgedPart = judged_part(plan, corpus, lock)
        judges = judges_of(plan, self._models, texts)
        for judge in judges:
            if judge.needs_facts and self.part.without_facts:
                shown = ", ".join(self.part.without_facts[:5])
                raise PlanError(f"student {judge.name} needs facts for every group; none for {shown}")
        self.judges = judges if self.part.without_facts else (*judges, *baselines())

    def __repr__(self) -> str:
        return f"JudgingRun({self.plan.name!r}, {str(self.directory)!r})"

    def __reduce__(self) -> NoReturn:
        raise SealError("a judging run cannot be pickled or copied: it holds the corpus, held-out text with it")

    def run(self) -> JudgingResult:
        """Judge, or go on judging, to the table.

        Raises:
            HoldgateError: with what stopped it; everything paid for is kept.
        """
        with Ledger(self.directory / "ledger.jsonl") as ledger:
            if not any(event.type == "finished" for event in ledger.events):
                for model in self._models.values():
                    model.check()
            prices = register_judging(
                ledger,
                self.directory,
                plan=self.plan,
                part=self.part,
                judges=self.judges,
                prices={judge.name: prices_of(judge, self._models) for judge in self.judges},
                exploratory=self._exploratory,
                models_hash=self._models_hash,
            )
            (self.directory / STOPPED).unlink(missing_ok=True)
            with open_calls(
                self._models,
                limits=self.plan.limits,
                seed=self.plan.seed,
                cache=self._cache,
                run=ledger.campaign,
                progress=self._follower.judged,
            ) as calls:
                with _stops_recorded(ledger, calls):
                    evaluations = self._within(ledger, lambda part: self._all(ledger, calls, part))
                table = self._finish(ledger, calls, evaluations, prices)
                return JudgingResult(self.directory, table, calls.paid, calls.found)

    def _within(self, ledger: Ledger, judge: Callable[[Corpus], list[Evaluation]]) -> list[Evaluation]:
        """The evaluations of the judged part; held-out examples are handed out by the seal, to nothing else."""
        if self._lock is None or self._exploratory is None:
            return judge(self._corpus.part(self.part.examples))
        seal = Seal(self._corpus, self._lock, ledger, target=TARGET, caller=CALLER, exploratory=self._exploratory)
        return seal.open_exploratory(PURPOSE, judge, reason=self._exploratory)

    def _all(self, ledger: Ledger, calls: JudgingCalls, part: Corpus) -> list[Evaluation]:
        evaluator = Evaluator(ledger, self.directory / "judgements", calls.bench)
        recorded: set[str] = set()
        found: list[Evaluation] = []
        for number, judge in enumerate(self.judges, start=1):
            self._follower.judge(judge.name, number, len(self.judges))
            if judge.candidate.id not in recorded:
                ledger.perform("candidate", candidate_row(judge.candidate, None), dict)
                recorded.add(judge.candidate.id)
            calls.turn(judge)
            found += evaluator.evaluate(
                judge.student,
                [judge.candidate],
                part,
                purpose=judge.name,
                split=self.plan.split,
                replicates=range(self.plan.replicates),
            )
        return found

    def _finish(
        self,
        ledger: Ledger,
        calls: JudgingCalls,
        evaluations: Sequence[Evaluation],
        prices: Mapping[str, JudgePrices],
    ) -> Mapping[str, Any]:
        about = ledger.events[0].body["about"]
        judged = [
            Judged(judge.row(), evaluation, prices[judge.name])
            for judge, evaluation in zip(self.judges, evaluations, strict=True)
        ]
        body = ledger.perform("table", {}, lambda: {"table": table_row(judged, about=about)})
        ledger.perform("spend", {}, lambda: {VOLATILE: calls.record()})
        ledger.perform("finished", {"judges": len(self.judges)}, dict)
        finished = next(event for event in ledger.events if event.type == "finished")
        table = {**body["table"], "ledger_head": {"count": finished.seq + 1, "hash": finished.hash}}
        write_atomic(self.directory / TABLE, pretty_json(table))
        return table


@contextmanager
def _stops_recorded(ledger: Ledger, calls: JudgingCalls) -> Iterator[None]:
    """Put what stopped a run into its ledger."""
    try:
        yield
    except (BudgetError, CallError) as error:
        limit = error.limit if isinstance(error, LimitError) else None
        ledger.operational("stopped", {"reason": str(error), "limit": limit, **calls.record()})
        raise
