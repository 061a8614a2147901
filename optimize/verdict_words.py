"""The verdict in words: what was shown, what is excluded, and how far accept and its search may be believed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from optimize.equal_budget import EqualBudgetReading
from optimize.gate import SMALL, GateReading, LowerBound, Subgroups
from optimize.gate.subgroups import NOT_TESTED
from optimize.noise import NoiseFloor
from optimize.objectives import Comparison
from optimize.stats import Interval, sign_test


@dataclass(frozen=True, slots=True)
class AcceptReading:
    """The winner against the baseline on accept, where it was chosen, so that all of it is optimistic.

    Attributes:
        gain: difference of their paired discrimination, each on all of its pairs.
        comparison: on the omissions scored for both.
        candidates: how many candidates the search looked at, the baseline among them.
    """

    gain: float
    comparison: Comparison
    candidates: int

    @property
    def told_from_noise(self) -> bool:
        """Whether the default rule would have passed on accept, as if nothing had been chosen there."""
        return LowerBound().read(self.comparison, 1 - self.comparison.difference.interval.level).holds

    @property
    def sign_p(self) -> float:
        """Two-sided p of the exact sign test, which takes pairs for independent."""
        return sign_test(self.comparison.wins, self.comparison.losses).p


def heldout_words(
    reading: GateReading,
    *,
    accept: AcceptReading,
    noise: NoiseFloor,
    comparisons: int,
    equal_budget: EqualBudgetReading | None,
) -> list[str]:
    """Sentences on a comparison that was made.

    Args:
        reading: what the gate read.
        accept: the same two on accept.
        noise: the baseline against itself on held-out data.
        comparisons: confirmatory comparisons that share the lock's error rate.
        equal_budget: the second reading, where the plan asks for one.
    """
    value = reading.omissions.difference.value
    said = [*_shown(reading, comparisons), *_noise(noise, value), _flags(reading)]
    said.append(
        f"On accept, which chose the winner among {count_of(accept.candidates, 'candidate')}, it gained "
        f"{in_points(accept.gain)} points: {_optimism(accept.gain - value)}."
    )
    said.append(accept_words(accept))
    if equal_budget is not None:
        said.append(_equal_budget(equal_budget))
    said.append(_subgroups(reading.subgroups))
    if reading.omissions.n_groups < SMALL:
        said.append(f"{count_of(reading.omissions.n_groups, 'held-out group')} cannot confirm a moderate gain.")
    return said


def accept_words(accept: AcceptReading) -> str:
    """Whether the gain could be told from noise where it was chosen."""
    found = accept.comparison
    can = "could be told" if accept.told_from_noise else "could not be told"
    return (
        f"On accept itself the gain {can} from noise: {_interval(found.difference.interval)} over "
        f"{count_of(found.n_groups, 'group')}, {count_of(found.wins, 'pair')} better and {found.losses} worse (sign "
        f"test p = {accept.sign_p:.3g}). Both are optimistic, because the winner was chosen there."
    )


def _shown(reading: GateReading, comparisons: int) -> Iterator[str]:
    heldout = reading.omissions
    value, interval = heldout.difference.value, heldout.difference.interval
    if heldout.difference.reason:
        yield f"Nothing could be compared on held-out data: {heldout.difference.reason} that is scored in both arms."
        return
    where = f"On {count_of(heldout.n_groups, 'held-out group')} ({count_of(heldout.n, 'omission pair')})"
    if not interval.defined:
        yield (
            f"{where} the difference is {in_points(value)} points; it has no interval, and shows nothing: "
            f"{interval.reason}."
        )
        return
    shared = f", simultaneous over {comparisons} comparisons" if comparisons > 1 else ""
    yield f"{where} the winner differs from the baseline by {in_points(value)} points, {_interval(interval)}{shared}."
    low, high = 100 * interval.low, 100 * interval.high
    if LowerBound().read(heldout, 1 - interval.level).holds:
        yield "That shows a gain."
    elif high < 0 and heldout.n_groups >= SMALL:
        yield "That shows a loss."
    else:
        yield "That shows neither a gain nor a loss."
    if low >= 0:
        yield f"Gains above {high:.1f} and below {low:.1f} points are excluded."
    elif high > 0:
        yield f"Gains above {high:.1f} points and losses above {-low:.1f} are excluded."
    else:
        yield f"Every gain is excluded, and losses above {-low:.1f} and below {-high:.1f} points."


def _optimism(off: float) -> str:
    """How far accept was off, as a difference of shares; NaN where one of both is undefined."""
    if off != off:
        return "how optimistic accept was is not known"
    return f"accept was {'optimistic' if off >= 0 else 'pessimistic'} by {100 * abs(off):.1f}"


def _noise(noise: NoiseFloor, value: float) -> Iterator[str]:
    if noise.deterministic:
        yield "Replicates of the baseline are identical: the judge is deterministic, and has no noise of its own."
    elif noise.defined and value == value:
        yield f"The difference beside the baseline's difference from itself: {noise.beside(value)}."
    elif not noise.defined:
        yield f"How far the baseline differs from itself was {noise.words}."


def _flags(reading: GateReading) -> str:
    ours, theirs = reading.flags
    rate = reading.clean.rate[0].upper() + reading.clean.rate[1:]
    said = f"{rate} on held-out data: winner {ours}, baseline {theirs}."
    if reading.clean.candidates:
        said += " A flag on a clean candidate may be right: people wrote it, and nobody verified that it is clean."
    return said


def _equal_budget(reading: EqualBudgetReading) -> str:
    budget, found = reading.budget, reading.comparison
    if found is None:
        return f"The baseline at equal budget was not judged: {budget.words}."
    interval = found.difference.interval
    won = LowerBound().read(found, 1 - interval.level).holds
    said = (
        f"Given the winner's completion tokens ({budget.samples} samples, {reading.arm:.1f} a judgement against "
        f"{reading.winner:.1f}), the baseline {'is still beaten' if won else 'is not shown to be beaten'}: the winner "
        f"differs from it by {in_points(found.difference.value)} points, {_interval(interval)}. This second reading "
        "decides nothing."
    )
    if not reading.reached:
        said += f" Its budget stays below the winner's: {budget.samples} samples is what it was given, 10 is the most."
    return said


def _subgroups(found: Subgroups | None) -> str:
    if found is None:
        return f"Sub-groups: {NOT_TESTED}."
    if not found.rows:
        return "Sub-groups: there are none to test."
    better = [row for row in found.rows if row.adjusted < found.alpha / 2]
    names = ", ".join(
        f"{row.field} {row.value} ({in_points(row.comparison.difference.value)} points, p = {row.adjusted:.3g})"
        for row in better
    )
    return f"Of {len(found.rows)} sub-groups, tested with Holm's correction, a gain is shown in: {names or 'none'}."


def _interval(interval: Interval) -> str:
    if not interval.defined:
        return f"no interval ({interval.reason})"
    return f"{100 * interval.level:g}% interval [{in_points(interval.low)}, {in_points(interval.high)}]"


def in_points(share: float) -> str:
    """A difference of shares in points, signed; what rounds to 0 is +0.0, and NaN is undefined."""
    return f"{100 * share:+z.1f}" if share == share else "undefined"


def count_of(n: int, noun: str) -> str:
    """So many of something: 1 pair, 2 pairs."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
