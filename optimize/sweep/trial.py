"""One trial: a search on reflect and accept at one point of a study, in a run directory with a ledger of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from lineage.canonical import digest_bytes, pretty_json, write_atomic
from lineage.errors import CampaignError, LedgerError, PlanError
from lineage.ledger import Ledger
from lineage.records import VOLATILE, Candidate
from optimize.calibration import fact_threshold
from optimize.choice import Standing, choice_row, choose
from optimize.contamination import ContaminationRecord
from optimize.evaluation import Evaluation, Evaluator
from optimize.measured import record_measures
from optimize.models import Model
from optimize.objectives import coverage
from optimize.plan import Plan
from optimize.search import SearchResult, candidate_row
from optimize.sweep.calls import TrialCalls
from optimize.sweep.data import StudyData
from optimize.sweep.objectives import CostUnit, Reading, read
from optimize.sweep.outcome import Outcome
from optimize.sweep.plan import Measure
from optimize.sweep.pruning import Halving
from optimize.sweep.searching import Resolved, engine_of, search_space, searchable
from optimize.texts import candidate_of
from splits.corpus import Corpus
from students import Bench, KeyedFactChecker, PerFactChecker, Progress, Student
from students.transport import CallCache

MARK: Final = "a trial of a study: it confirms nothing, and no held-out example is judged"
"""What the ledger of a trial says of itself; a campaign is never resumed in its directory."""


@dataclass(frozen=True, slots=True)
class TrialSetting:
    """What a trial shares with the others of its study.

    Attributes:
        study: fingerprint of the study.
        data: the examples.
        objectives: what is read of the winner.
        unit: of the cost.
        sets: nested sets of accept groups for pruning; none prunes nothing.
        cache: the call cache, open.
        calls: what makes the calls of a trial, from its plan, its models by role, its number and its identity.
    """

    study: str
    data: StudyData
    objectives: tuple[Measure, ...]
    unit: CostUnit
    sets: tuple[tuple[str, ...], ...]
    cache: CallCache
    calls: Callable[[Plan, Mapping[str, Model], int, str], TrialCalls]


class Trial:
    """A search at one point, which is resumed where it stopped.

    Args:
        number: of the trial.
        resolved: the campaign plan at its point.
        setting: what it shares with the others.
        directory: its run directory.
        halve: decides on a value on a set of groups, by size of the set.
        judged: called after each judgement.

    Raises:
        PlanError: the model does not take what the plan asks of it, or a limit cannot be held.
    """

    def __init__(
        self,
        number: int,
        resolved: Resolved,
        setting: TrialSetting,
        directory: Path,
        *,
        halve: Callable[[int, float], Halving],
        judged: Callable[[Progress], None] | None = None,
    ) -> None:
        self.number, self.directory = number, directory
        self._resolved, self._setting, self._halve, self._judged = resolved, setting, halve, judged
        found = searchable(resolved)
        self._models, self._student = found.models, found.student
        if isinstance(self._student, PerFactChecker | KeyedFactChecker):
            parts = (setting.data.reflect, setting.data.accept)
            missing = sorted({group for part in parts for group in part.groups if group not in part.facts})
            if missing:
                raise PlanError(f"a per-fact student needs facts for every group; none for {', '.join(missing[:5])}")

    def reach(self) -> None:
        """Make sure of its models before any of them is asked.

        Raises:
            CallError: one of them cannot be reached, or refuses the key.
        """
        for model in self._models.values():
            model.check()

    def run(self) -> Outcome:
        """Run, or resume, to the outcome.

        Raises:
            HoldgateError: with what stopped it; everything paid for is kept.
        """
        plan, setting = self._resolved.plan, self._setting
        with ExitStack() as stack:
            ledger = stack.enter_context(Ledger(self.directory / "ledger.jsonl"))
            self._register(ledger)
            layer = setting.calls(plan, self._models, self.number, ledger.campaign)
            bench = Bench(
                layer.calls("student"), run_seed=plan.search.seed, campaign=ledger.campaign, progress=self._judged
            )
            stack.callback(bench.close)
            asked = self._models.get("reflector")
            if asked is not None and asked is not self._models["student"]:
                stack.callback(lambda: bench.run(asked.transport.aclose()))
            evaluator = Evaluator(ledger, self.directory / "judgements", bench)
            return self._outcome(ledger, evaluator, bench, layer)

    def _register(self, ledger: Ledger) -> None:
        """Put the plan at this point into the ledger, and beside it as a file; the same again on resumption."""
        plan, data = self._resolved.plan, self._setting.data
        try:
            ledger.perform(
                "plan",
                {
                    "plan": plan.row(),
                    "plan_hash": plan.hash,
                    "baseline": self._resolved.baseline,
                    "seeds": self._resolved.seeds,
                    "simulated": plan.simulated,
                    "exploratory": MARK,
                    "corpus_hash": data.corpus_hash,
                    "lock_hash": data.lock_hash,
                    "models_hash": self._resolved.models_hash,
                    "replayed": list(plan.replayed),
                    "study": self._setting.study,
                    "trial": self.number,
                },
                dict,
            )
        except LedgerError as error:
            raise PlanError(
                f"{self.directory} holds another trial ({error}); give another --out, or restore what was changed"
            ) from error
        write_atomic(self.directory / "plan.json", pretty_json(plan.row()))
        write_atomic(self.directory / "examples.jsonl", data.structure)
        groups = {"reflect": len(data.reflect.groups), "accept": len(data.accept.groups)}
        examples = digest_bytes(data.structure.encode("utf-8"))
        ledger.perform("splits", {"lock_hash": data.lock_hash, "groups": groups, "examples": examples}, dict)

    def _outcome(self, ledger: Ledger, evaluator: Evaluator, bench: Bench, layer: TrialCalls) -> Outcome:
        plan, setting = self._resolved.plan, self._setting
        seed = candidate_of(self._student, self._resolved.baseline)
        ledger.perform("candidate", candidate_row(seed, None), dict)
        contamination = ContaminationRecord(ledger, setting.data.check)
        contamination.candidate(seed)
        halvings: list[Halving] = []
        for groups in setting.sets:
            reading, halving = self._halved(ledger, evaluator, seed, groups)
            halvings.append(halving)
            if not halving.keeps:
                why = (
                    f"{halving.above} of {halving.judged} trials judged on {halving.groups} groups rank above it"
                    if reading.undefined == ""
                    else reading.undefined
                )
                return self._finished(ledger, "pruned", why, halvings, reading=reading)
        student, on_accept = self._calibrated(ledger, evaluator, seed, setting.data.accept)
        before = read(setting.objectives, seed, on_accept, unit=setting.unit)
        space = search_space(
            self._resolved,
            self._models.get("reflector"),
            student=student,
            seed=seed,
            data=setting.data,
            contamination=contamination,
            bench=bench,
            layer=layer,
            ledger=ledger,
        )
        result = engine_of(plan)(space, evaluator=evaluator, ledger=ledger, seed_evaluation=on_accept)
        winner, ranked = choose(result.pool)
        ledger.perform("choice", choice_row(result, winner, ranked), dict)
        found = read(setting.objectives, winner.entry.candidate, winner.entry.accept, unit=setting.unit)
        state = "failed" if found.undefined else "complete"
        return self._finished(
            ledger, state, found.undefined, halvings, reading=found, baseline=before, winner=winner, result=result
        )

    def _halved(
        self, ledger: Ledger, evaluator: Evaluator, seed: Candidate, groups: Sequence[str]
    ) -> tuple[Reading, Halving]:
        """The baseline on a set of accept groups, and whether the trial goes on."""
        accept = self._setting.data.accept
        part = accept.part(example for group in groups for example in accept.groups[group])
        student = self._student
        if isinstance(student, PerFactChecker):
            (raw,) = evaluator.evaluate(student, [seed], part, purpose="calibrate-part", split="accept")
            student = student.at_threshold(fact_threshold(raw).threshold)
        (evaluation,) = evaluator.evaluate(student, [seed], part, purpose="part", split="accept")
        reading = read(self._setting.objectives, seed, evaluation, unit=self._setting.unit)
        first = reading.values[self._setting.objectives[0]]
        body = ledger.perform(
            "halving", {"groups": list(groups)}, lambda: {"halving": self._halve(len(groups), first).row()}
        )["halving"]
        value = float("nan") if body["value"] is None else body["value"]
        return reading, Halving(body["groups"], value, body["judged"], body["above"], body["keeps"])

    def _calibrated(
        self, ledger: Ledger, evaluator: Evaluator, seed: Candidate, accept: Corpus
    ) -> tuple[Student, Evaluation]:
        """The student with its per-fact threshold set on accept, and the baseline's evaluation there."""
        student = self._student
        if isinstance(student, PerFactChecker):
            (raw,) = evaluator.evaluate(student, [seed], accept, purpose="calibrate", split="accept")
            threshold = fact_threshold(raw)
            ledger.perform("calibration", threshold.row(), dict)
            student = student.at_threshold(threshold.threshold)
        (on_accept,) = evaluator.evaluate(student, [seed], accept, purpose="accept", split="accept", iteration=0)
        record_measures(ledger, "accept", on_accept)
        share = coverage(len(on_accept.judgements) - len(on_accept.unscored), len(on_accept.judgements))
        if share < self._resolved.plan.gate.coverage:
            reasons = sorted({judgement.reason or "" for judgement in on_accept.unscored})
            raise CampaignError(f"only {share:.0%} of the baseline's judgements on accept have a score ({reasons[0]})")
        return student, on_accept

    def _finished(
        self,
        ledger: Ledger,
        state: str,
        reason: str,
        halvings: Sequence[Halving],
        *,
        reading: Reading,
        baseline: Reading | None = None,
        winner: Standing | None = None,
        result: SearchResult | None = None,
    ) -> Outcome:
        texts = None if winner is None else winner.entry.candidate.texts.values()
        outcome = Outcome(
            state,
            reason,
            reading,
            baseline,
            None if winner is None else winner.entry.candidate.id,
            None if texts is None else sum(len(text.split()) for text in texts),
            1 + (0 if result is None else result.proposals),
            tuple(halvings),
            "",
        )
        row = {name: value for name, value in outcome.row().items() if name != VOLATILE}
        ledger.perform("finished", {"decision": state, "outcome": row}, dict)
        finished = next(event for event in ledger.events if event.type == "finished")
        return replace(outcome, head=finished.hash)
