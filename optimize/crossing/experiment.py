"""A crossed experiment: searched once under each setting, then seed and winners judged under all of them, held out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NoReturn

from lineage.canonical import digest, pretty_json, write_atomic
from lineage.errors import BudgetError, CallError, PlanError, SealError
from lineage.ledger import Ledger
from lineage.records import VOLATILE, Candidate
from optimize.calibration import fact_threshold
from optimize.calling import check_limits
from optimize.campaign import Campaign, SearchedCampaign
from optimize.controls import accept_part
from optimize.crossing.plan import CrossedPlan
from optimize.crossing.reading import Family
from optimize.crossing.registering import afford, register_experiment
from optimize.crossing.result import result_row
from optimize.crossing.targets import SEED, Cell, targets
from optimize.evaluation import Evaluation, Evaluator
from optimize.measured import record_measures
from optimize.models import build_student, open_model
from optimize.opening import Opened, open_bench
from optimize.plan import Plan
from optimize.search import candidate_row
from optimize.texts import candidate_of
from optimize.watching import Unwatched, Watcher
from splits.corpus import Corpus
from splits.lock import SplitLock
from splits.seal import Seal
from students import PerFactChecker, Student, student_hash

CALLER: Final = "optimize.crossing"
"""Who opens the seal, for the record."""
SEARCHES: Final = "searches"
"""Folder of the experiment's directory with the campaign directories of its searches, by setting."""
RESULT: Final = "experiment.json"
"""File with what the experiment found, and the head of its ledger."""

Watching = Callable[[str, Plan], Watcher]


@dataclass(frozen=True, slots=True)
class CrossedResult:
    """A finished experiment: what it found as in ``experiment.json``, and what it cost in this process."""

    directory: Path
    result: Mapping[str, Any]
    paid: int
    cached: int


@dataclass(frozen=True, slots=True)
class _Arm:
    """One setting: its campaign plan, and the student that its threshold was set for."""

    plan: Plan
    student: Student


class CrossedExperiment:
    """An experiment in a directory of its own, which can be resumed at any time.

    Its ledger holds the plan before anything is called, the seed under every setting on held-out data before any
    search, what each search chose, and the crossed cells after all of them. Each search is a campaign directory under
    it, which ends at its choice. Every registered comparison has two planned openings of the seal and a place in the
    register.

    Args:
        plan: the experiment's plan.
        base: the campaign that is searched, with its models resolved.
        corpus: the whole corpus.
        lock: its split lock, loaded from a file.
        directory: the experiment's directory; one that holds the same experiment is resumed.
        baseline: text of the seed instruction.
        seeds: texts of the base campaign's further seeds, by name.
        cache: path of the call cache; by default beside the directory.
        exploratory: why the experiment confirms nothing, or None.
        watching: makes what follows each search, from its setting and its plan; by default nothing does.
        progress: is told of each step in words.
        models_hash: hash of the model lock that the plan's models were resolved through, or None.

    Raises:
        PlanError: a setting does not go with the base campaign, or a replay is not said to be exploratory.
    """

    def __init__(
        self,
        plan: CrossedPlan,
        base: Plan,
        corpus: Corpus,
        lock: SplitLock,
        directory: Path,
        *,
        baseline: str,
        seeds: Mapping[str, str] | None = None,
        cache: Path | None = None,
        exploratory: str | None = None,
        watching: Watching | None = None,
        progress: Callable[[str], None] | None = None,
        models_hash: str | None = None,
    ) -> None:
        if base.replayed and exploratory is None:
            raise PlanError(
                f"{', '.join(base.replayed)}: a replay of recorded answers confirms nothing: give --exploratory REASON"
            )
        if (control := base.controls.reason) is not None:
            exploratory = control if exploratory in (None, control) else f"{control}; {exploratory}"
        # What is simulated spends nothing of the held-out split's alpha: its register stays in the directory.
        self.lock = replace(lock, path=directory / "split.lock.json") if base.simulated else lock
        self.plan, self.base, self.directory = plan, base, directory
        self._committed, self._corpus, self._baseline, self._seeds = lock, corpus, baseline, seeds
        self._cache = cache or directory.parent / "calls.sqlite"
        self._exploratory, self._models_hash = exploratory, models_hash
        self._watching: Watching = watching or (lambda _setting, _plan: Unwatched())
        self._progress = progress or (lambda _words: None)
        self._model = open_model(base.student.model)
        check_limits(base, {"student": self._model})
        self.targets = targets(list(plan.settings), plan.compared)
        self._arms = {
            setting: _Arm(arm, build_student(arm, self._model))
            for setting, arm in ((setting, plan.arm(base, setting)) for setting in plan.settings)
        }
        for setting in plan.settings:
            self._campaign(setting)  # refuses what a search would refuse, before anything is called

    def __repr__(self) -> str:
        return f"CrossedExperiment({self.plan.name!r}, {str(self.directory)!r})"

    def __reduce__(self) -> NoReturn:
        raise SealError("an experiment cannot be pickled or copied: it holds the corpus, held-out text with it")

    def run(self) -> CrossedResult:
        """Run, or resume, to the result.

        Raises:
            SealError: the held-out split has fewer comparisons left than the plan registers.
            HoldgateError: with what stopped the experiment; everything paid for is kept.
        """
        with Ledger(self.directory / "ledger.jsonl") as ledger:
            if not any(event.type == "finished" for event in ledger.events):
                self._model.check()
            register_experiment(
                ledger,
                self.directory,
                plan=self.plan,
                base=self.base,
                corpus=self._corpus,
                lock=self.lock,
                baseline=self._baseline,
                exploratory=self._exploratory,
                models_hash=self._models_hash,
                compared=self.targets,
            )
            models = {"student": self._model}
            with open_bench(self.base, models, cache=self._cache, campaign=ledger.campaign) as opened:
                try:
                    row = self._performed(ledger, opened)
                except (BudgetError, CallError) as error:
                    ledger.operational("stopped", {"reason": str(error), **opened.layer.record()})
                    raise
                ledger.perform("spend", {}, lambda: {VOLATILE: opened.layer.record()})
                ledger.perform("finished", {}, dict)
                finished = next(event for event in ledger.events if event.type == "finished")
                head = {"count": finished.seq + 1, "hash": finished.hash}
                write_atomic(self.directory / RESULT, pretty_json({**row, "ledger_head": head}))
                return CrossedResult(self.directory, row, opened.calls.paid, opened.calls.found)

    def _performed(self, ledger: Ledger, opened: Opened) -> Mapping[str, Any]:
        if self._exploratory is None:
            afford(self.lock, self.targets, campaign=ledger.campaign)
        evaluator = Evaluator(ledger, self.directory / "judgements", opened.bench)
        seals = {
            target.name: Seal(
                self._corpus, self.lock, ledger, target=target.name, caller=CALLER, exploratory=self._exploratory
            )
            for target in self.targets
        }
        seed = candidate_of(next(iter(self._arms.values())).student, self._baseline)
        ledger.perform("candidate", candidate_row(seed, None), dict)
        students = {setting: self._calibrated(ledger, evaluator, setting, seed) for setting in self._arms}

        self._progress("the seed under every setting on held-out groups, before any search")
        measured = _Once(lambda heldout: self._measure(evaluator, ledger, students, [seed], heldout, "baseline"))
        for target in self.targets:
            seals[target.name].open("baseline", measured)
        # A search may have a model server of its own: that of the crossing need not stand beside it.
        opened.bench.run(opened.bench.calls.transport.aclose())

        found = {setting: self._searched(ledger, setting) for setting in self._arms}
        prompts = {SEED: seed, **found}
        winners = {prompt: candidate.id for prompt, candidate in prompts.items()}
        for candidate in _distinct(found.values(), seed):
            ledger.perform("candidate", candidate_row(candidate, None), dict)

        self._progress("winners and seed crossed over all settings on held-out groups")
        judged: dict[Cell, Evaluation] = {}
        crossed = _Once(lambda heldout: judged.update(self._crossed(evaluator, ledger, students, prompts, heldout)))
        for target in self.targets:
            if not target.void(winners):
                seals[target.name].open("confirm", crossed)
        return self._result(ledger, seals, judged, winners)

    # -- steps ---------------------------------------------------------------------------------------------------------

    def _calibrated(self, ledger: Ledger, evaluator: Evaluator, setting: str, seed: Candidate) -> Student:
        """The student of a setting as its search has it: its per-fact threshold is set on accept with the seed."""
        student = self._arms[setting].student
        if isinstance(student, PerFactChecker):
            part = accept_part(self.base.controls, self._committed, self._corpus)
            accept = self._corpus.part(part.examples)
            (raw,) = evaluator.evaluate(student, [seed], accept, purpose="calibrate", split=part.split)
            student = student.at_threshold(fact_threshold(raw).threshold)
        row = {"setting": setting, "student": student_hash(student), "settings": student.settings()}
        ledger.perform("setting", row, dict)
        return student

    def _measure(
        self,
        evaluator: Evaluator,
        ledger: Ledger,
        students: Mapping[str, Student],
        candidates: Sequence[Candidate],
        heldout: Corpus,
        purpose: str,
    ) -> dict[str, tuple[Evaluation, ...]]:
        """Candidates under every setting, interleaved within it; each setting is a step of its own."""
        count = self.base.replicates
        drifts = not (self.base.simulated or self.base.student.prompt_cache == "exact")
        fresh = purpose == "confirm" and drifts
        found = {}
        for setting, student in students.items():
            found[setting] = evaluator.evaluate(
                student,
                candidates,
                heldout,
                purpose=purpose,
                split="heldout",
                replicates=range(count, 2 * count) if fresh else range(count),
            )
            for evaluation in found[setting]:
                record_measures(ledger, purpose, evaluation)
        return found

    def _searched(self, ledger: Ledger, setting: str) -> Candidate:
        """The winner of the search under a setting."""
        self._progress(f"searching at {setting}")
        watcher = self._watching(setting, self._arms[setting].plan)
        found: SearchedCampaign = self._campaign(setting, watcher).search()
        winner, result = found.searched.winner, found.searched.result
        ledger.perform(
            "searched",
            {
                "setting": setting,
                "plan_hash": self._arms[setting].plan.hash,
                "student": student_hash(found.searched.student),
                "winner": winner.entry.candidate.id,
                "texts": dict(winner.entry.candidate.texts),
                "accept": winner.row(),
                "proposals": result.proposals,
                "accepted": len(result.pool) - 1,
            },
            lambda: {VOLATILE: {"campaign": found.campaign, "choice": found.head, "spend": dict(found.spend)}},
        )
        return winner.entry.candidate

    def _campaign(self, setting: str, watcher: Watcher | None = None) -> Campaign:
        return Campaign(
            self._arms[setting].plan,
            self._corpus,
            self._committed,
            self.directory / SEARCHES / setting,
            baseline=self._baseline,
            seeds=self._seeds,
            cache=self._cache,
            exploratory=self._exploratory,
            watcher=watcher,
            models_hash=self._models_hash,
        )

    def _crossed(
        self,
        evaluator: Evaluator,
        ledger: Ledger,
        students: Mapping[str, Student],
        prompts: Mapping[str, Candidate],
        heldout: Corpus,
    ) -> dict[Cell, Evaluation]:
        candidates = list({candidate.id: candidate for candidate in prompts.values()}.values())
        found = self._measure(evaluator, ledger, students, candidates, heldout, "confirm")
        return {
            Cell(prompt, setting): next(e for e in evaluations if e.candidate == candidate.id)
            for setting, evaluations in found.items()
            for prompt, candidate in prompts.items()
        }

    def _result(
        self, ledger: Ledger, seals: Mapping[str, Seal], judged: Mapping[Cell, Evaluation], winners: Mapping[str, str]
    ) -> Mapping[str, Any]:
        places = {name: seal.comparison for name, seal in seals.items()}
        row = result_row(
            self.targets,
            judged,
            winners,
            family=Family(len(self.targets), self.lock.spend, self.base.gate.coverage),
            facts={
                "name": self.plan.name,
                "plan_hash": self.plan.hash(self.base),
                "lock_hash": self.lock.hash,
                "corpus_hash": self._corpus.hash,
                "simulated": self.base.simulated,
                "exploratory": next((seal.tainted for seal in seals.values()), None),
                "groups": len(self.lock.splits["heldout"]),
                "places": {name: None if place is None else place.k for name, place in places.items()},
            },
        )
        body = ledger.perform("crossed", {"result": row, "result_hash": digest(row)}, dict)
        return dict(body["result"])


class _Once:
    """Looks at held-out examples at the first of several openings; the later ones are of the same examples."""

    def __init__(self, look: Callable[[Corpus], object]) -> None:
        self._look, self._seen = look, False

    def __call__(self, heldout: Corpus) -> None:
        if not self._seen:
            self._seen = True
            self._look(heldout)


def _distinct(found: Iterable[Candidate], seed: Candidate) -> list[Candidate]:
    """Winners other than the seed, each once, without parents: those are in the ledgers of their searches."""
    distinct = {candidate.id: candidate for candidate in found if candidate.id != seed.id}
    return [replace(candidate, parents=()) for candidate in distinct.values()]
