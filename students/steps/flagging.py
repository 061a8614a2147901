"""The flag rule of a step verifier: a note is flagged at its first bad step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from students.answers import Reading


@dataclass(frozen=True, slots=True)
class StepRule:
    """Flags a note with a step whose P(+) is below a threshold, and names the first such step by its place.

    Args:
        threshold: in (0, 1).
        swept: a threshold of steps is not swept over the scores of notes.
    """

    threshold: float = 0.5
    swept: bool = True

    def __str__(self) -> str:
        return f"P(+) of a step < {self.threshold:g}"

    def flags(self, reading: Reading) -> tuple[str, ...]:
        """The first bad step, in words that hold nothing of the note."""
        for verdict in reading.facts:
            if verdict.p_yes < self.threshold:
                return (f"{verdict.fact}: {verdict.text}, P(+) = {verdict.p_yes:.3f}",)
        return ()

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"rule": str(self), "swept": self.swept}
