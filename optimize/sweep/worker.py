"""One worker of a study: it takes a trial, runs it, and records what came of it, one after the other."""

from __future__ import annotations

import fcntl
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import optuna
from optuna.trial import TrialState

from lineage.errors import CallError, CampaignError, HoldgateError, PlanError
from lineage.ledger import Event, Ledger
from lineage.records import VOLATILE
from optimize.models import Model
from optimize.plan import Plan
from optimize.sweep.calls import Claims, StudyCache, TrialCalls
from optimize.sweep.data import StudyData
from optimize.sweep.following import Follower
from optimize.sweep.inputs import StudyInputs
from optimize.sweep.objectives import GREATEST
from optimize.sweep.outcome import Outcome
from optimize.sweep.pruning import Halving, halve, nested_groups
from optimize.sweep.sampling import point_key, sampler_of
from optimize.sweep.searching import Resolved
from optimize.sweep.space import Label
from optimize.sweep.spend import OF_STUDY, SpendBook, spent
from optimize.sweep.storage import StudyStorage
from optimize.sweep.trial import Trial, TrialSetting
from optimize.sweep.trials import Claim, TrialBook, trial_rows
from students.transport import LimitError, Limits

TRIALS: Final = "trials"
"""Folder of a study's directory with the run directories of its trials."""
OF_OPTUNA: Final = "holdgate trial"
"""Attribute of Optuna's trials: the number of ours that each is for."""


class Worker:
    """Runs trials, as long as there are any for it. No held-out example can be reached from here.

    Args:
        inputs: what the study is about.
        data: its examples.
        directory: of the study on this machine.
        identity: fingerprint of the study.
        ledger: of this worker, with what it did before caught up.
        storage: of the study.
        cache: the call cache, open.
        follower: follows this worker.
        grace_s: seconds without a sign of life after which another worker counts as dead.

    Raises:
        PlanError: the study would prune by a set of groups that is no part of accept.
    """

    def __init__(
        self,
        inputs: StudyInputs,
        data: StudyData,
        directory: Path,
        *,
        identity: str,
        ledger: Ledger,
        storage: StudyStorage,
        cache: StudyCache,
        follower: Follower,
        grace_s: float,
    ) -> None:
        self._inputs, self._directory, self._follower = inputs, directory, follower
        self._ledger, self._storage = ledger, storage
        plan, name = inputs.plan, ledger.campaign
        sets = () if plan.pruning is None else nested_groups(data.accept, plan.pruning, seed=plan.sampler.seed)
        self.book = TrialBook(storage, name, grace_s=grace_s)
        limits = Limits(plan.limits.calls, plan.limits.tokens, plan.limits.usd)
        self.spend = SpendBook(storage, name, limits, grace_s=grace_s)
        claims = Claims(storage, name, grace_s=grace_s)

        def calls(point: Plan, models: Mapping[str, Model], number: int, campaign: str) -> TrialCalls:
            return TrialCalls(
                point, models, cache=cache, book=self.spend, claims=claims, number=number, campaign=campaign
            )

        self._setting = TrialSetting(identity, data, plan.objectives, inputs.unit, sets, cache, calls)
        self._greatest = [measure in GREATEST for measure in plan.objectives]
        self._optuna = storage.optuna_study(["maximize" if greatest else "minimize" for greatest in self._greatest])

    def step(self, of: int) -> tuple[int, ...] | None:
        """One trial.

        Returns:
            The trials that others have under way, where none is left for this worker; None once all have an outcome.
        """
        claim = self.book.claim(of)
        if claim is None:
            return tuple(self.book.under_way()) or None
        if held(self._place(claim.number)):  # a process that was given up as dead, and is not
            self.book.leave(claim.number)
            return (claim.number,)
        try:
            claim, parameters = self._chosen(claim)
            self._follower.begun(claim.number, of, parameters, claim.attempts)
            self._end(claim, self._tried(claim, parameters))
        except (HoldgateError, KeyboardInterrupt):
            self.book.leave(claim.number)
            raise
        return ()

    def _chosen(self, claim: Claim) -> tuple[Claim, Mapping[str, Label]]:
        """The claim with its point, which is chosen now if it was not before."""
        if claim.parameters is None or claim.optuna is None:
            self._optuna.sampler = self._sampler(claim.number)
            trial = self._asked(claim.number)
            parameters = self._inputs.space.suggest(trial)
            self.book.choose(claim.number, optuna=trial.number, parameters=parameters)
            claim = Claim(claim.number, claim.attempts, trial.number, parameters)
        parameters = dict(claim.parameters or {})
        begun = {"trial": claim.number, "parameters": parameters}
        if not any(event.type == "begun" and event.body == begun for event in self._ledger.events):
            self._ledger.perform("begun", begun, dict)
        return claim, parameters

    def _sampler(self, number: int) -> Any:
        """What chooses the point of a trial, with all that is known of the others."""
        others = [row for row in trial_rows(self._storage) if row.number != number and row.parameters is not None]
        found = self._optuna.get_trials(deepcopy=False)
        return sampler_of(
            self._inputs.plan.sampler,
            self._inputs.space,
            number,
            tried={point_key(row.parameters or {}) for row in others},
            known=[each for each in found if each.state.is_finished() or each.user_attrs.get(OF_OPTUNA) != number],
            directions=self._optuna.directions,
        )

    def _asked(self, number: int) -> Any:
        """Optuna's trial for one of ours; where a worker died while it chose a point, the one that it had begun."""
        for frozen in self._optuna.get_trials(deepcopy=False):
            if frozen.user_attrs.get(OF_OPTUNA) == number and not frozen.state.is_finished():
                return optuna.trial.Trial(self._optuna, frozen._trial_id)
        trial = self._optuna.ask()
        trial.set_user_attr(OF_OPTUNA, number)
        return trial

    def _tried(self, claim: Claim, parameters: Mapping[str, Label]) -> Mapping[str, Any]:
        """The outcome of a trial as its event has it."""
        if (known := self._recorded(claim.number)) is not None:
            return known.row()
        most = self._inputs.plan.attempts
        plan_hash = None
        try:
            if claim.attempts > most:
                raise CampaignError(f"it was begun {most} times, and its worker died each time")
            plan = self._inputs.space.plan_at(parameters)
            plan_hash = plan.hash
            row = self._run(claim.number, self._inputs.resolve(plan))
        except (PlanError, CampaignError) as error:
            row = _failed(str(error))
        except LimitError as error:
            if error.limit.startswith(OF_STUDY):
                raise
            row = _failed(f"the campaign plan's own {error.limit} was reached")
        body = {"trial": claim.number, "parameters": dict(parameters), "plan_hash": plan_hash, "outcome": row}
        paid = spent(self._storage, number=claim.number).row()
        self._ledger.perform("trial", body, lambda: {VOLATILE: {"spend": paid}})
        event = self._recorded(claim.number)
        assert event is not None, "it was just recorded"
        return event.row()

    def _run(self, number: int, resolved: Resolved) -> dict[str, Any]:
        trial = Trial(
            number,
            resolved,
            self._setting,
            self._place(number),
            halve=lambda groups, value: self._halve(number, groups, value),
            judged=self._follower.judged,
        )
        trial.reach()
        try:
            return trial.run().row()
        except CallError as error:
            if error.transient or error.reason == "transport":
                raise
            raise CampaignError(f"a call was refused: {error}") from error

    def _place(self, number: int) -> Path:
        return self._directory / TRIALS / f"{number:04d}"

    def _halve(self, number: int, groups: int, value: float) -> Halving:
        pruning = self._inputs.plan.pruning
        assert pruning is not None, "only a study that prunes has sets of groups"
        others = self.book.rung(number, groups, value) if value == value else []
        found = halve(value, others, groups=groups, reduction=pruning.reduction, greatest=self._greatest[0])
        self._follower.halved(found)
        return found

    def _end(self, claim: Claim, record: Mapping[str, Any]) -> None:
        """Tell Optuna and the other workers; a trial that another has taken over in the meantime is that one's."""
        outcome = record["body"]["outcome"]
        reading = outcome["reading"]
        assert claim.optuna is not None
        if outcome["state"] == "complete":
            told = {"values": [reading["values"][measure] for measure in self._inputs.plan.objectives]}
        else:
            told = {"state": TrialState.PRUNED if outcome["state"] == "pruned" else TrialState.FAIL}
        if len(self._greatest) == 1:
            self._report(claim.optuna, outcome["halvings"])
        self._optuna.tell(claim.optuna, **told, skip_if_finished=True)
        if self.book.finish(claim.number, outcome["state"], record):
            self._follower.ended(claim.number, record["body"])

    def _report(self, number: int, halvings: list[Mapping[str, Any]]) -> None:
        """Intermediate values, which Optuna keeps of studies with one objective only."""
        frozen = self._optuna.get_trials(deepcopy=False)[number]
        if not frozen.state.is_finished():
            trial = optuna.trial.Trial(self._optuna, frozen._trial_id)
            for halving in halvings:
                if halving["value"] is not None:
                    trial.report(halving["value"], halving["groups"])

    def _recorded(self, number: int) -> Event | None:
        """The outcome of a trial, if this worker recorded it."""
        return next((e for e in self._ledger.events if e.type == "trial" and e.body["trial"] == number), None)


def held(directory: Path) -> bool:
    """Whether a process holds the ledger of a directory."""
    path = directory / "run.lock"
    if not path.exists():
        return False
    with path.open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _failed(reason: str) -> dict[str, Any]:
    return Outcome("failed", reason, None, None, None, None, 0, (), "").row()
