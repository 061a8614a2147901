"""Flag rules: what makes a judge flag a document, fixed in its design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from lineage.errors import PlanError
from students.answers import Reading

Comparison = Literal["<", "<="]


class FlagRule(Protocol):
    """A rule that reads one combined judgement; it prints itself.

    ``swept`` says whether a threshold other than the rule's own makes sense, so that detection at a false-alarm rate is
    reported beside it.
    """

    @property
    def swept(self) -> bool:
        """Whether thresholds may be swept over the scores."""
        ...

    def flags(self, reading: Reading) -> tuple[str, ...]:
        """What flags the document, a text each; none where it is not flagged, or was not scored."""
        ...

    def row(self) -> dict[str, Any]:
        """The JSON form, part of the student's hash."""
        ...


@dataclass(frozen=True, slots=True)
class ScoreRule:
    """Flags a document whose score is below a limit, or at it.

    Args:
        measure: what the score is, in words: ``score``, or ``winsorised mean``.
        comparison: ``<`` or ``<=``.
        limit: on the student's scale.
        swept: whether other limits make sense: not where the score has two values, or is made of such.
    """

    measure: str
    comparison: Comparison
    limit: float
    swept: bool = True

    def __post_init__(self) -> None:
        if self.comparison not in ("<", "<="):
            raise PlanError(f"comparison must be < or <=, got {self.comparison!r}")

    def __str__(self) -> str:
        return f"{self.measure} {self.comparison} {self.limit:g}"

    def flags(self, reading: Reading) -> tuple[str, ...]:
        """The rule's own words where it holds."""
        score = reading.score
        if score is None or not (score < self.limit or (self.comparison == "<=" and score == self.limit)):
            return ()
        return (str(self),)

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"rule": str(self), "swept": self.swept}


@dataclass(frozen=True, slots=True)
class FailRule:
    """Flags a document whose one verdict is FAIL, which scores 0."""

    swept: bool = False

    def __str__(self) -> str:
        return "FAIL"

    def flags(self, reading: Reading) -> tuple[str, ...]:
        """``FAIL`` where that is the verdict."""
        return (str(self),) if reading.score == 0 else ()

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"rule": str(self), "swept": self.swept}


SINGLE_SCORE: Final = ScoreRule("score", "<=", 7.0)
EIGHT_SCORES: Final = ScoreRule("winsorised mean", "<", 8.0)
SINGLE_VERDICT: Final = FailRule()
EIGHT_VERDICTS: Final = ScoreRule("winsorised mean", "<=", 5.0, swept=False)
