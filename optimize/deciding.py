"""From the choice of a winner to a verdict, the same in a campaign and in the audit that computes it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lineage.canonical import digest
from optimize.choice import Standing
from optimize.confirm_rule import read_accept
from optimize.equal_budget import EqualBudget, equal_budget, read_equal_budget
from optimize.evaluation import Evaluation
from optimize.gate import Arm, Finding
from optimize.gate_plan import GatePlan
from optimize.objectives import compare
from optimize.planned_gate import gate_of
from optimize.verdict import Setting, not_confirmed_row, nothing_found_row, verdict_row
from optimize.verdict_words import AcceptReading
from splits.register import Comparison as Place


@dataclass(frozen=True, slots=True)
class ConfirmedArms:
    """What the opening ``confirm`` came to: both arms, and the baseline at equal budget where it was bought."""

    winner: Evaluation
    baseline: Evaluation
    equal_budget: Evaluation | None = None


@dataclass(frozen=True, slots=True)
class Deciding:
    """A winner, and everything the plan fixed about what becomes of it.

    Args:
        gate: the plan's rule, with what may be asked of accept before it.
        guardrails: the plan's guardrails in their JSON form.
        shape: of the student.
        samples: answers a judgement of the student.
        plan_hash: of the plan, from which all randomness derives.
        setting: of the campaign.
        winner: the choice, on accept.
    """

    gate: GatePlan
    guardrails: Mapping[str, Any]
    shape: str
    samples: int
    plan_hash: str
    setting: Setting
    winner: Standing

    def shut(self) -> dict[str, Any] | None:
        """The verdict that leaves held-out data shut; None where they are to be opened."""
        if self.winner.entry.candidate.id == self.setting.baseline.entry.candidate.id:
            return self._with_study(nothing_found_row(self.setting))
        asked = self._asked()
        if asked is None or asked.holds:
            return None
        row = not_confirmed_row(self.setting, winner=self.winner, accept=self._accept(), confirmed=asked)
        return self._with_study(row)

    def budget(self) -> EqualBudget | None:
        """How the baseline at equal budget is to be judged, where the plan asks for it."""
        if not self.gate.equal_budget:
            return None
        return equal_budget(
            self.shape,
            self.samples,
            winner=self.winner.entry.accept,
            baseline=self.setting.baseline.entry.accept,
        )

    def verdict(self, arms: ConfirmedArms, place: Place | None) -> dict[str, Any]:
        """The verdict on a winner that was compared with its baseline on held-out data."""
        lock = self.setting.lock
        gate = gate_of(self.gate, self.guardrails, alpha=lock.spend, family_alpha=lock.alpha, noise=self.setting.noise)
        reading = gate.read(
            self.arm(self.winner, arms.winner), self.arm(self.setting.baseline, arms.baseline), rng=self._rng("gate")
        )
        budget = self.budget()
        second = None
        if budget is not None:
            second = read_equal_budget(
                budget, arms.winner, arms.equal_budget, level=1 - lock.spend, rng=self._rng("equal budget")
            )
        row = verdict_row(
            reading,
            winner=self.winner,
            place=place,
            setting=self.setting,
            accept=self._accept(),
            confirmed=self._asked(),
            equal_budget=second,
        )
        return self._with_study(row)

    def _with_study(self, row: dict[str, Any]) -> dict[str, Any]:
        """A verdict that says which study chose the campaign's settings on accept."""
        studied = self.setting.studied
        return row if studied is None else {**row, "words": [*row["words"], studied.words]}

    @staticmethod
    def arm(place: Standing, evaluation: Evaluation) -> Arm:
        """A candidate's side of the held-out comparison, with its threshold from accept."""
        words = sum(len(text.split()) for text in place.entry.candidate.texts.values())
        return Arm(evaluation, place.detection.threshold, words)

    def _asked(self) -> Finding | None:
        rule = self.gate.confirm_on_accept
        return None if rule is None else read_accept(rule, winner=self.winner, baseline=self.setting.baseline)

    def _accept(self) -> AcceptReading:
        ours, theirs = (place.entry.accept.pairs("omission") for place in (self.winner, self.setting.baseline))
        found = compare(ours, theirs, level=1 - self.setting.lock.spend, rng=self._rng("accept"))
        gain = self.winner.paired.value - self.setting.baseline.paired.value
        return AcceptReading(gain, found, 1 + self.setting.proposed)

    def _rng(self, purpose: str) -> np.random.Generator:
        return np.random.default_rng(int(digest([purpose, self.plan_hash])[:16], 16))
