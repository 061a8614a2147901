"""Decision rules over verdicts: they read which facts are absent, whatever the score is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lineage.errors import PlanError
from lineage.records import FactVerdict
from students.answers import Reading
from students.pipeline.scoring import grade_of

FactRuleName = Literal["critical-absent", "any-absent", "count-absent"]


@dataclass(frozen=True, slots=True)
class FactRule:
    """Flags a document that lacks facts; a fact stated in part is not absent.

    A flag names the fact, its severity and the words of the source it rests on. ``critical-absent`` flags a document
    that lacks any critical fact, ``any-absent`` any fact, ``count-absent`` at least ``count`` facts. The score is
    another reading of the verdicts, so thresholds on it may be swept beside the rule.

    Raises:
        PlanError: there is no such rule, or the count has no effect or is out of range.
    """

    name: FactRuleName
    count: int | None = None
    swept: bool = True

    def __post_init__(self) -> None:
        if self.name not in ("critical-absent", "any-absent", "count-absent"):
            raise PlanError(f"rule must be critical-absent, any-absent or count-absent, got {self.name!r}")
        if (self.name == "count-absent") != (self.count is not None) or (self.count is not None and self.count < 1):
            raise PlanError(f"count-absent, and only it, takes a count of at least 1; got {self.name} and {self.count}")

    def __str__(self) -> str:
        return {
            "critical-absent": "any critical fact absent",
            "any-absent": "any fact absent",
            "count-absent": f"at least {self.count} facts absent",
        }[self.name]

    def flags(self, reading: Reading) -> tuple[str, ...]:
        """One text for each fact that the flag is for; none where the document is not flagged or was not scored."""
        if reading.score is None:
            return ()
        absent = [verdict for verdict in reading.facts if grade_of(verdict) == "absent"]
        if self.name == "critical-absent":
            absent = [verdict for verdict in absent if verdict.severity == "critical"]
        return tuple(_said(verdict) for verdict in absent) if len(absent) >= (self.count or 1) else ()

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"rule": str(self), "swept": self.swept}


def _said(verdict: FactVerdict) -> str:
    quote = "no quote" if verdict.quote is None else f'source: "{verdict.quote}"'
    return f"absent ({verdict.severity or 'no severity'}): {verdict.text or verdict.fact}; {quote}"
