"""The gate: a rule fixed before the search reads the held-out comparison and decides whether a prompt is emitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np

from optimize.evaluation import Evaluation
from optimize.objectives import Comparison, compare, coverage, worst_case
from optimize.stats import NO_VARIATION, compare_values
from optimize.stats import Comparison as ArmComparison

Decision = Literal["emit", "refuse", "undecided", "nothing-found"]

SMALL: Final = 20
"""Below this number of held-out groups the default rule uses the sign-flip test instead of the interval."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether one condition holds, with what was seen in words."""

    name: str
    holds: bool
    words: str


class Rule(Protocol):
    """A condition on the held-out difference; ``alpha`` is two-sided."""

    @property
    def name(self) -> str:
        """Name of the rule, as in the plan."""
        ...

    def read(self, comparison: Comparison, alpha: float) -> Finding:
        """Whether the rule passes."""
        ...


@dataclass(frozen=True, slots=True)
class LowerBound:
    """The low end of the two-sided interval exceeds the margin; below 20 groups, the sign-flip test at alpha/2.

    With few groups the interval's coverage rests on too few degrees of freedom, while the sign-flip test stays exact.
    """

    margin: float = 0.0
    name: Literal["lower-bound"] = "lower-bound"

    def read(self, comparison: Comparison, alpha: float) -> Finding:
        """Whether the rule passes."""
        interval = comparison.difference.interval
        above = interval.defined and interval.low > self.margin
        if comparison.n_groups >= SMALL:
            seen = f"low end {interval.low:+.4f}" if interval.defined else f"no interval ({interval.reason})"
            return Finding(self.name, above, f"{seen}; it must exceed {self.margin:+.4f}")
        p = comparison.sign_flip.p
        holds = p < alpha / 2 and (self.margin == 0.0 or above)
        return Finding(
            self.name,
            holds,
            f"with {comparison.n_groups} held-out groups (fewer than {SMALL}) the rule reads the one-sided sign-flip "
            f"test: p = {p:.4f}; it must be below {alpha / 2:g}",
        )


@dataclass(frozen=True, slots=True)
class Permutation:
    """The one-sided group-level sign-flip test is below alpha/2."""

    name: Literal["permutation"] = "permutation"

    def read(self, comparison: Comparison, alpha: float) -> Finding:
        """Whether the rule passes."""
        p = comparison.sign_flip.p
        return Finding(self.name, p < alpha / 2, f"one-sided sign-flip p = {p:.4f}; it must be below {alpha / 2:g}")


@dataclass(frozen=True, slots=True)
class Point:
    """The difference exceeds the margin. Under the null this passes every second time; it is here to compare with."""

    margin: float = 0.0
    name: Literal["point"] = "point"

    def read(self, comparison: Comparison, alpha: float) -> Finding:
        """Whether the rule passes."""
        del alpha
        value = comparison.difference.value
        return Finding(self.name, value > self.margin, f"difference {value:+.4f}; it must exceed {self.margin:+.4f}")


@dataclass(frozen=True, slots=True)
class Guardrails:
    """Conditions beside the rule, all of which must hold; None leaves one out.

    Margins are in rates: the most by which false alarms may rise (upper end), and paired discrimination on commissions
    may fall (lower end).
    """

    false_alarm_margin: float | None = 0.10
    commission_margin: float | None = 0.10
    prompt_words: int | None = 400


@dataclass(frozen=True, slots=True)
class Arm:
    """One side of the held-out comparison: its evaluation and its flag threshold, set on accept (flag if below)."""

    evaluation: Evaluation
    threshold: float
    words: int


@dataclass(frozen=True, slots=True)
class GateReading:
    """Everything the gate read, and its decision with the reason in words."""

    decision: Decision
    reason: str
    omissions: Comparison
    worst: Comparison | None
    rule: Finding
    guardrails: tuple[Finding, ...]
    coverage: float
    false_alarms: ArmComparison
    commissions: Comparison


@dataclass(frozen=True, slots=True)
class Gate:
    """A rule and its guardrails at a two-sided error rate.

    Args:
        rule: condition on the difference in paired discrimination on omissions.
        guardrails: what must not get worse.
        coverage: least share of omission pairs that are scored in both arms.
        alpha: two-sided error rate of this comparison, from the split lock.
    """

    rule: Rule
    guardrails: Guardrails
    coverage: float
    alpha: float

    def read(self, candidate: Arm, baseline: Arm, *, rng: np.random.Generator) -> GateReading:
        """Compare two arms on the same held-out examples and decide.

        Raises:
            InputError: the arms are not of equal replicates.
        """
        level = 1 - self.alpha
        ours, theirs = candidate.evaluation, baseline.evaluation
        planned = theirs.planned_pairs("omission")
        omissions = compare(
            ours.pairs("omission"), theirs.pairs("omission"), level=level, bootstrap_resamples=10_000, rng=rng
        )
        both = {(p.example, p.replicate) for p in ours.pairs("omission")}
        both &= {(p.example, p.replicate) for p in theirs.pairs("omission")}
        share = coverage(len(both), len(planned) * len(theirs.replicates))
        worst = None
        if share < 1:
            worst = worst_case(
                ours.pairs("omission"),
                theirs.pairs("omission"),
                planned=planned,
                replicates=theirs.replicates,
                level=level,
                rng=rng,
            )
        false_alarms = compare_flags(candidate, baseline, level=level, rng=rng)
        commissions = compare(ours.pairs("commission"), theirs.pairs("commission"), level=level, rng=rng)
        rule = self.rule.read(omissions, self.alpha)
        findings = tuple(self._guard(candidate, false_alarms, commissions))
        decision, reason = self._decide(rule, findings, share, worst)
        return GateReading(decision, reason, omissions, worst, rule, findings, share, false_alarms, commissions)

    def _guard(self, candidate: Arm, false_alarms: ArmComparison, commissions: Comparison) -> Sequence[Finding]:
        found = []
        if (margin := self.guardrails.false_alarm_margin) is not None:
            holds, seen = _bounded(false_alarms, margin, upper=True)
            found.append(Finding("false alarms", holds, f"rise {seen}; its upper end must not exceed {margin:+.2f}"))
        if (margin := self.guardrails.commission_margin) is not None:
            if commissions.n == 0:
                found.append(Finding("commissions", False, "no commission pair is scored in both arms: not shown"))
            else:
                holds, seen = _bounded(commissions, margin, upper=False)
                found.append(
                    Finding("commissions", holds, f"change {seen}; its low end must not fall below {-margin:+.2f}")
                )
        if (most := self.guardrails.prompt_words) is not None:
            words = candidate.words
            found.append(Finding("prompt length", words <= most, f"{words} words; at most {most}"))
        return found

    def _decide(
        self, rule: Finding, guardrails: Sequence[Finding], share: float, worst: Comparison | None
    ) -> tuple[Decision, str]:
        if share < self.coverage:
            return (
                "undecided",
                f"only {share:.1%} of omission pairs are scored in both arms; the floor is {self.coverage:.1%}",
            )
        if not rule.holds:
            return "refuse", f"the rule {rule.name} is not met: {rule.words}"
        if worst is not None and not (bound := self.rule.read(worst, self.alpha)).holds:
            return "refuse", f"the rule holds only without the failed pairs: counted worst-case, {bound.words}"
        broken = [finding for finding in guardrails if not finding.holds]
        if broken:
            return "refuse", "; ".join(f"guardrail {finding.name}: {finding.words}" for finding in broken)
        return "emit", f"the rule {rule.name} is met: {rule.words}; every guardrail holds"


def compare_flags(candidate: Arm, baseline: Arm, *, level: float, rng: np.random.Generator) -> ArmComparison:
    """False alarms of both arms on the clean examples scored in both, each at its own threshold.

    With replicates, a document is flagged if a strict majority of them flags it.
    """
    ours, theirs = _flags(candidate), _flags(baseline)
    common = sorted(ours.keys() & theirs.keys())
    group = {example.id: example.group for example in baseline.evaluation.examples}
    return compare_values(
        [float(ours[example]) for example in common],
        [float(theirs[example]) for example in common],
        [group[example] for example in common],
        level=level,
        rng=rng,
    )


def _flags(arm: Arm) -> dict[str, bool]:
    clean = [example.id for example in arm.evaluation.examples if example.label == "clean"]
    found = {}
    for example in clean:
        scores = [arm.evaluation.score(example, replicate) for replicate in arm.evaluation.replicates]
        if None not in scores:
            flagged = sum(score < arm.threshold for score in scores if score is not None)
            found[example] = 2 * flagged > len(scores)
    return found


def _bounded(comparison: Comparison, margin: float, *, upper: bool) -> tuple[bool, str]:
    """Whether the interval's end stays within the margin; arms that agree in every group have nothing to bound."""
    value, interval = comparison.difference.value, comparison.difference.interval
    if not interval.defined:
        same = interval.reason == NO_VARIATION and value == 0
        return (
            same,
            f"{value:+.4f} (the same in every group)" if same else f"{value:+.4f}, no interval ({interval.reason})",
        )
    holds = interval.high <= margin if upper else interval.low >= -margin
    return holds, f"{value:+.4f} [{interval.low:+.4f}, {interval.high:+.4f}]"
