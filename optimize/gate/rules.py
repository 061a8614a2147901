"""The rules of the gate: conditions on the held-out difference, each fixed in the plan before the search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from optimize.gate.unscored import WorstCase
from optimize.noise import NoiseFloor
from optimize.objectives import Comparison

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
        """Whether the rule passes on what is scored in both arms."""
        ...

    def survive(self, worst: WorstCase, alpha: float) -> Finding:
        """Whether the rule passes whatever the failed judgements would have been."""
        ...


class _Monotone(ABC):
    """A rule that no lower difference of any pair can help: the outcome that counts against the candidate is the worst.

    That holds for the mean, and for the sign-flip test: its p is the share of sets of groups whose differences sum to
    zero or less, and no such sum falls when a difference rises.
    """

    __slots__ = ()

    @abstractmethod
    def read(self, comparison: Comparison, alpha: float) -> Finding:
        """Whether the rule passes."""

    def survive(self, worst: WorstCase, alpha: float) -> Finding:
        """Whether the rule passes with every failed pair counted against the candidate."""
        return self.read(worst.against, alpha)


@dataclass(frozen=True, slots=True)
class LowerBound:
    """The low end of the two-sided interval exceeds the margin; below 20 groups, the sign-flip test at alpha/2.

    With few groups the interval's coverage rests on too few degrees of freedom, while the sign-flip test stays exact.
    That test is of no difference, so a margin other than 0 asks for the low end too. Where every group has the same
    difference there is no interval, and what needs one does not pass.
    """

    margin: float = 0.0
    name: Literal["lower-bound"] = "lower-bound"

    def read(self, comparison: Comparison, alpha: float) -> Finding:
        """Whether the rule passes."""
        interval = comparison.difference.interval
        return self._read(comparison, interval.low, interval.reason, alpha)

    def survive(self, worst: WorstCase, alpha: float) -> Finding:
        """Whether the rule passes at the lowest low end over all that the failed judgements may have been.

        A failed pair far above the others widens the interval when it is counted for the candidate, so counting all
        against it need not be the worst.
        """
        return self._read(worst.against, worst.low, worst.reason, alpha)

    def _read(self, comparison: Comparison, low: float, reason: str, alpha: float) -> Finding:
        above = not reason and low > self.margin
        seen = f"no interval ({reason})" if reason else f"low end {low:+z.4f}"
        seen += f"; it must exceed {self.margin:+z.4f}"
        if comparison.n_groups >= SMALL:
            return Finding(self.name, above, seen)
        p, margin = comparison.sign_flip.p, self.margin != 0.0
        return Finding(
            self.name,
            p < alpha / 2 and (above or not margin),
            f"with {comparison.n_groups} held-out groups (fewer than {SMALL}) the rule reads the one-sided sign-flip "
            f"test: p = {p:.4f}; it must be below {alpha / 2:g}" + (f"; and, for the margin, {seen}" if margin else ""),
        )


@dataclass(frozen=True, slots=True)
class Permutation(_Monotone):
    """The one-sided group-level sign-flip test is below alpha/2."""

    name: Literal["permutation"] = "permutation"

    def read(self, comparison: Comparison, alpha: float) -> Finding:
        """Whether the rule passes."""
        p = comparison.sign_flip.p
        return Finding(self.name, p < alpha / 2, f"one-sided sign-flip p = {p:.4f}; it must be below {alpha / 2:g}")


@dataclass(frozen=True, slots=True)
class Point(_Monotone):
    """The difference exceeds the margin. Under the null this passes every second time; it is here to compare with."""

    margin: float = 0.0
    name: Literal["point"] = "point"

    def read(self, comparison: Comparison, alpha: float) -> Finding:
        """Whether the rule passes."""
        del alpha
        value = comparison.difference.value
        return Finding(self.name, value > self.margin, f"difference {value:+z.4f}; it must exceed {self.margin:+z.4f}")


@dataclass(frozen=True, slots=True)
class BeyondNoise(_Monotone):
    """The difference exceeds a multiple of what the baseline differs from itself between replicates.

    It asks whether the difference is more than the noise of judging. It does not ask whether other groups would show
    it too, and knows no alpha: with many replicates and few groups it passes chance.

    Args:
        floor: the baseline against itself on held-out data, measured before the search. Without one, or where it is 0,
            the rule does not pass.
        multiple: standard deviations of the difference between two replicates.
    """

    floor: NoiseFloor
    multiple: float = 2.0
    name: Literal["beyond-noise"] = "beyond-noise"

    def read(self, comparison: Comparison, alpha: float) -> Finding:
        """Whether the rule passes."""
        del alpha
        value, sd = comparison.difference.value, self.floor.difference_sd
        if not sd > 0.0:
            why = "is 0, and every difference is beyond it" if self.floor.defined else f"is {self.floor.words}"
            return Finding(self.name, False, f"the noise floor {why}: the rule cannot be read; use lower-bound")
        least = self.multiple * sd
        return Finding(
            self.name,
            value > least,
            f"difference {value:+z.4f}; it must exceed {self.multiple:g} times the noise floor of {sd:.4f}: "
            f"{least:.4f}",
        )
