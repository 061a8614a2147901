"""Scores of a checked fact list, as exact fractions: the share present, severity-weighted capture, and mentions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from lineage.errors import PlanError
from lineage.records import FactVerdict
from splits.corpus import SEVERITIES

GRADES: Final = ("full", "partial", "absent")
WEIGHTS: Final[Mapping[str, float]] = {"critical": 4.0, "supporting": 2.0, "peripheral": 1.0}
CREDITS: Final[Mapping[str, float]] = {"full": 1.0, "partial": 0.5, "absent": 0.0}


@dataclass(frozen=True, slots=True)
class Capture:
    """Severity-weighted capture: the mean credit of the facts, each with the weight of its severity; in [0, 1].

    It says how much of a source a document carries by this list of facts. A fact that the list lacks counts for
    nothing, and a wrong statement in the document costs nothing.

    Args:
        weights: weight of each severity, at least 0, not all 0; None weighs every fact alike.
        credits: credit of each grade, in [0, 1], ``full`` at least ``partial`` at least ``absent``.

    Raises:
        PlanError: a name is missing or unknown, or a number is out of its range.
    """

    weights: Mapping[str, float] | None = field(default_factory=lambda: dict(WEIGHTS))
    credits: Mapping[str, float] = field(default_factory=lambda: dict(CREDITS))

    def __post_init__(self) -> None:
        if self.weights is not None:
            _named("weights", self.weights, SEVERITIES)
            if min(self.weights.values()) < 0 or not any(self.weights.values()):
                raise PlanError(f"weights must be at least 0 and not all 0, got {dict(self.weights)}")
        _named("credits", self.credits, GRADES)
        if not 1 >= self.credits["full"] >= self.credits["partial"] >= self.credits["absent"] >= 0:
            raise PlanError(
                f"credits must be in [0, 1], full at least partial at least absent, got {dict(self.credits)}"
            )

    def score(self, verdicts: Sequence[FactVerdict]) -> Fraction | None:
        """Weighted mean credit; None where every fact has weight 0."""
        return self._mean(verdicts, weighted=True)

    def unweighted(self, verdicts: Sequence[FactVerdict]) -> Fraction:
        """Mean credit, every fact alike."""
        found = self._mean(verdicts, weighted=False)
        assert found is not None, "there are facts"
        return found

    def mentions(self, verdicts: Sequence[FactVerdict]) -> Fraction | None:
        """Weighted mean of ``1 - 2^-k`` over the facts, k the sections that state each; one in part counts its credit.

        A fact stated once has 1/2, stated twice 3/4: leaving one mention out lowers it, though another survives. With
        k not whole the power is taken to nine decimals.
        """
        return self._mean(verdicts, weighted=True, of=self._repeated)

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"weights": None if self.weights is None else dict(self.weights), "credits": dict(self.credits)}

    def _mean(
        self,
        verdicts: Sequence[FactVerdict],
        *,
        weighted: bool,
        of: Callable[[FactVerdict], Fraction] | None = None,
    ) -> Fraction | None:
        weights = [self._weight(verdict) if weighted else Fraction(1) for verdict in verdicts]
        values = [(of or self._credit)(verdict) for verdict in verdicts]
        total = sum(weights, Fraction(0))
        return sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0)) / total if total else None

    def _weight(self, verdict: FactVerdict) -> Fraction:
        if self.weights is None or verdict.severity is None:
            return Fraction(1)
        return _exact(self.weights[verdict.severity])

    def _credit(self, verdict: FactVerdict) -> Fraction:
        return _exact(self.credits[grade_of(verdict)])

    def _repeated(self, verdict: FactVerdict) -> Fraction:
        count = sum((_exact(self.credits[grade]) for grade in verdict.mentions), Fraction(0))
        if not count and verdict.rescue is not None:
            count = Fraction(1)  # a second look found one mention that no section was credited with
        if count.denominator == 1:
            return 1 - Fraction(1, 2**count.numerator)
        return 1 - Fraction(str(round(2 ** -float(count), 9)))


def grade_of(verdict: FactVerdict) -> str:
    """The grade of a verdict, which has one or is present or absent."""
    return verdict.grade or ("full" if verdict.present else "absent")


def _exact(number: float) -> Fraction:
    return Fraction(str(number))


def _named(what: str, given: Mapping[str, float], names: Sequence[str]) -> None:
    if set(given) != set(names):
        raise PlanError(f"{what} must name exactly {', '.join(names)}, got {', '.join(sorted(given)) or 'nothing'}")
