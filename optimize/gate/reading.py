"""The gate: both arms on the same held-out examples are read, and a decision comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lineage.errors import InputError
from optimize.gate.arms import Arm, CleanCounts, FlagCount, clean_counts, compare_flags, count_flags, flag_bounds
from optimize.gate.cost import CostRatio, cost_ratio
from optimize.gate.guardrails import Guardrails, Observed, check
from optimize.gate.rules import Finding, Rule
from optimize.gate.subgroups import Subgroups, compare_subgroups
from optimize.gate.unscored import WorstCase, lowest_end, pair_bounds
from optimize.objectives import Comparison, compare, coverage, worst_case
from optimize.stats import Comparison as ArmComparison

Decision = Literal["emit", "refuse", "undecided", "nothing-found", "not-confirmed"]
"""The last two are made on accept: the baseline itself won, or the winner fell short of the plan's rule there."""


@dataclass(frozen=True, slots=True)
class GateReading:
    """Everything the gate read, and its decision with the reason in words.

    Attributes:
        decision: emit, refuse or undecided.
        reason: why, in words.
        omissions: the comparison that the rule reads.
        worst: the same with failed pairs counted; None where no omission pair failed.
        rule: whether the rule holds.
        guardrails: the plan's guardrails, and pair coverage.
        coverage: share of planned omission pairs scored in both arms.
        false_alarms: flags on clean documents, candidate less baseline.
        commissions: the comparison on commissions.
        clean: verified and candidate clean documents; with candidates, ``false_alarms`` are flags and no more.
        flags: flags on clean documents of the candidate and of the baseline.
        cost: cost a document.
        subgroups: differences in sub-groups; None where they were not tested because the gate did not pass.
    """

    decision: Decision
    reason: str
    omissions: Comparison
    worst: WorstCase | None
    rule: Finding
    guardrails: tuple[Finding, ...]
    coverage: float
    false_alarms: ArmComparison
    commissions: Comparison
    clean: CleanCounts
    flags: tuple[FlagCount, FlagCount]
    cost: CostRatio
    subgroups: Subgroups | None


@dataclass(frozen=True, slots=True)
class Gate:
    """A rule and its guardrails at a two-sided error rate.

    Args:
        rule: condition on the difference in paired discrimination on omissions.
        guardrails: what must not get worse.
        coverage: least share of omission pairs that are scored in both arms.
        alpha: two-sided error rate of this comparison, from the split lock: its share of the family's.
        family_alpha: two-sided error rate of all comparisons together, at which guardrails are read, as they are not
            corrected; None where this comparison is the only one.
    """

    rule: Rule
    guardrails: Guardrails
    coverage: float
    alpha: float
    family_alpha: float | None = None

    def read(self, candidate: Arm, baseline: Arm, *, rng: np.random.Generator) -> GateReading:
        """Compare two arms on the same held-out examples and decide.

        Raises:
            InputError: the arms are not of equal replicates, or were judged with other settings, such as samples.
        """
        ours, theirs = candidate.evaluation, baseline.evaluation
        _check_equal(candidate, baseline)
        level, guard_level = 1 - self.alpha, 1 - (self.family_alpha or self.alpha)
        planned = theirs.planned_pairs("omission")
        omissions = compare(
            ours.pairs("omission"), theirs.pairs("omission"), level=level, bootstrap_resamples=10_000, rng=rng
        )
        both = {(p.example, p.replicate) for p in ours.pairs("omission")}
        both &= {(p.example, p.replicate) for p in theirs.pairs("omission")}
        share = coverage(len(both), len(planned) * len(theirs.replicates))
        worst = self._worst(candidate, baseline, rng) if share < 1 else None
        false_alarms = compare_flags(candidate, baseline, level=guard_level, rng=rng)
        commissions = compare(ours.pairs("commission"), theirs.pairs("commission"), level=guard_level, rng=rng)
        flags = count_flags(candidate, level=guard_level), count_flags(baseline, level=guard_level)
        clean, cost = clean_counts(theirs.examples), cost_ratio(ours, theirs)
        seen = Observed(
            candidate=candidate,
            baseline=baseline,
            clean=clean,
            flags=flags[0],
            false_alarms=false_alarms,
            flag_bounds=flag_bounds(candidate, baseline),
            commissions=commissions,
            commission_bounds=pair_bounds(
                ours.pairs("commission"),
                theirs.pairs("commission"),
                planned=theirs.planned_pairs("commission"),
                replicates=theirs.replicates,
            ),
            cost=cost,
        )
        rule = self.rule.read(omissions, self.alpha)
        covered = Finding(
            "pair coverage",
            share >= self.coverage,
            f"{share:.1%} of omission pairs are scored in both arms; the floor is {self.coverage:.1%}",
        )
        findings = (covered, *check(self.guardrails, seen, level=guard_level))
        decision, reason = self._decide(rule, findings, worst)
        subgroups = compare_subgroups(ours, theirs, alpha=self.alpha, rng=rng) if decision == "emit" else None
        return GateReading(
            decision,
            reason,
            omissions,
            worst,
            rule,
            findings,
            share,
            false_alarms,
            commissions,
            clean,
            flags,
            cost,
            subgroups,
        )

    def _worst(self, candidate: Arm, baseline: Arm, rng: np.random.Generator) -> WorstCase:
        ours, theirs = (arm.evaluation.pairs("omission") for arm in (candidate, baseline))
        planned, replicates = baseline.evaluation.planned_pairs("omission"), baseline.evaluation.replicates
        level = 1 - self.alpha
        against = worst_case(ours, theirs, planned=planned, replicates=replicates, level=level, rng=rng)
        bounds = pair_bounds(ours, theirs, planned=planned, replicates=replicates)
        return WorstCase(against, *lowest_end(bounds, level=level))

    def _decide(self, rule: Finding, guardrails: Sequence[Finding], worst: WorstCase | None) -> tuple[Decision, str]:
        covered, *others = guardrails
        if not covered.holds:
            return "undecided", f"only {covered.words}"
        if not rule.holds:
            return "refuse", f"the rule {rule.name} is not met: {rule.words}"
        if worst is not None and not (bound := self.rule.survive(worst, self.alpha)).holds:
            return "refuse", f"the rule holds only without the failed pairs: counted worst-case, {bound.words}"
        broken = [finding for finding in others if not finding.holds]
        if broken:
            return "refuse", "; ".join(f"guardrail {finding.name}: {finding.words}" for finding in broken)
        return "emit", f"the rule {rule.name} is met: {rule.words}; every guardrail holds"


def _check_equal(candidate: Arm, baseline: Arm) -> None:
    """Both arms are judged equally often and with the same settings.

    Raises:
        InputError: they are not; what differs must not be read as a difference of the prompts.
    """
    counts = [list(arm.evaluation.replicates) for arm in (candidate, baseline)]
    if counts[0] != counts[1]:
        raise InputError(
            f"both arms must be of the same replicates, got {counts[0]} for the candidate and {counts[1]} for the "
            "baseline; score both arms equally often"
        )
    if candidate.settings != baseline.settings:
        raise InputError(
            "both arms must be judged by one student with the same settings, samples and budget among them; judge the "
            "candidate again with the baseline's settings"
        )
