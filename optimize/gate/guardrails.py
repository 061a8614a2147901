"""The guardrails: what must not get worse for a gain on omissions, each with what was seen in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from optimize.gate.arms import Arm, CleanCounts, FlagCount
from optimize.gate.cost import CostRatio
from optimize.gate.rules import Finding
from optimize.gate.unscored import Bounds, lowest_end
from optimize.objectives import Comparison
from optimize.stats import NO_VARIATION


@dataclass(frozen=True, slots=True)
class Guardrails:
    """Conditions beside the rule, all of which must hold; None leaves one out.

    They are read at the error rate of the whole family of comparisons: a guardrail that must hold needs no correction.
    A bound must also hold whatever the failed judgements would have been.

    Args:
        false_alarm_margin: the most by which the share of clean documents that are flagged may rise (upper end).
        commission_margin: the most by which paired discrimination on commissions may fall (lower end).
        prompt_words: most words of the instruction.
        false_alarm_cap: share of clean documents flagged, in [0, 1]. It is printed with its Wilson interval, and blocks
            only where the low end exceeds it: a judge that keeps to it exactly is above it half of the time.
        cost_ratio: most times the baseline's cost a document.
    """

    false_alarm_margin: float | None = 0.10
    commission_margin: float | None = 0.10
    prompt_words: int | None = 400
    false_alarm_cap: float | None = 0.10
    cost_ratio: float | None = 2.0


@dataclass(frozen=True, slots=True)
class Observed:
    """What the guardrails look at.

    Attributes:
        candidate: the candidate's arm.
        baseline: the baseline's arm.
        clean: verified and candidate clean documents among the held-out ones.
        flags: flags of the candidate on clean documents.
        false_alarms: candidate less baseline on the clean documents scored in both.
        flag_bounds: what that difference may be on every clean document.
        commissions: candidate less baseline on the commissions scored in both.
        commission_bounds: what that difference may be on every planned commission.
        cost: cost a document.
    """

    candidate: Arm
    baseline: Arm
    clean: CleanCounts
    flags: FlagCount
    false_alarms: Comparison
    flag_bounds: Bounds
    commissions: Comparison
    commission_bounds: Bounds
    cost: CostRatio


def check(guardrails: Guardrails, seen: Observed, *, level: float) -> Iterator[Finding]:
    """One finding a guardrail, in a fixed order.

    Args:
        guardrails: the plan's.
        seen: both arms on held-out data.
        level: in (0, 1), of the two-sided intervals.
    """
    if guardrails.false_alarm_margin is not None:
        yield _false_alarms(seen, guardrails.false_alarm_margin, level)
    if guardrails.false_alarm_cap is not None:
        yield _cap(seen, guardrails.false_alarm_cap)
    if guardrails.commission_margin is not None:
        yield _commissions(seen, guardrails.commission_margin, level)
    if guardrails.prompt_words is not None:
        words = seen.candidate.words
        yield Finding(
            "prompt length", words <= guardrails.prompt_words, f"{words} words; at most {guardrails.prompt_words}"
        )
    if guardrails.cost_ratio is not None:
        most = guardrails.cost_ratio
        yield Finding("cost a document", seen.cost.ratio <= most, f"{seen.cost}; at most {most:g} times")


def _false_alarms(seen: Observed, margin: float, level: float) -> Finding:
    if unset := _no_threshold(seen):
        return Finding(seen.clean.flags, False, unset)
    if seen.false_alarms.n == 0:
        return Finding(seen.clean.flags, False, "no clean document is scored in both arms: not shown")
    holds, words = _bounded(seen.false_alarms, margin, upper=True)
    worst, counted = _worst(seen.flag_bounds.negated(), margin, level, sign=-1)
    said = f"rise of the {seen.clean.rate} {words}; its upper end must not exceed {margin:+g}{counted}"
    return Finding(seen.clean.flags, holds and worst, said)


def _cap(seen: Observed, cap: float) -> Finding:
    name = f"cap on {seen.clean.flags}"
    if math.isnan(seen.candidate.threshold):
        return Finding(name, False, _no_threshold(seen))
    if not seen.flags.of:
        return Finding(name, False, "no clean document of the candidate is scored: not shown")
    holds = seen.flags.interval.low <= cap and seen.flags.highest.low <= cap
    above = "" if seen.flags.rate <= cap else ", above the cap"
    words = f"{seen.clean.rate} {seen.flags}{above}; it blocks only where the low end exceeds {cap:g}"
    if seen.flags.documents > seen.flags.of:
        words += (
            f" (with {seen.flags.documents - seen.flags.of} unscored counted as flagged, {seen.flags.highest.low:.3f})"
        )
    return Finding(name, holds, words)


def _commissions(seen: Observed, margin: float, level: float) -> Finding:
    if not seen.commission_bounds.groups:
        return Finding("commissions", True, "the held-out split has no commission: nothing to hold to")
    if seen.commissions.n == 0:
        return Finding("commissions", False, "no commission pair is scored in both arms: not shown")
    holds, words = _bounded(seen.commissions, margin, upper=False)
    worst, counted = _worst(seen.commission_bounds, margin, level, sign=1)
    said = f"change {words}; its low end must not fall below {0 - margin:+g}{counted}"
    return Finding("commissions", holds and worst, said)


def _no_threshold(seen: Observed) -> str:
    unset = [
        name for name, arm in (("candidate", seen.candidate), ("baseline", seen.baseline)) if math.isnan(arm.threshold)
    ]
    return f"no threshold of the {' and the '.join(unset)} could be set on accept: not shown" if unset else ""


def _bounded(comparison: Comparison, margin: float, *, upper: bool) -> tuple[bool, str]:
    """Whether the interval's end stays within the margin; arms that agree in every group have nothing to bound."""
    value, interval = comparison.difference.value, comparison.difference.interval
    if not interval.defined:
        same = interval.reason == NO_VARIATION and value == 0
        return (
            same,
            f"{value:+z.4f} (the same in every group)" if same else f"{value:+z.4f}, no interval ({interval.reason})",
        )
    holds = interval.high <= margin if upper else interval.low >= -margin
    ends = f"{100 * interval.level:g}% interval [{interval.low:+z.4f}, {interval.high:+z.4f}]"
    return holds, f"{value:+z.4f}, {ends}"


def _worst(bounds: Bounds, margin: float, level: float, *, sign: int) -> tuple[bool, str]:
    """Whether the bound holds whatever failed judgements would have been; true where none failed."""
    if bounds.least == bounds.most:
        return True, ""
    low, reason = lowest_end(bounds, level=level, level_arms=True)
    seen = f"no interval ({reason})" if reason else f"{sign * low:+z.4f}"
    return not reason and low >= -margin, f" (with failed judgements counted worst-case {seen})"
