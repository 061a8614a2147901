"""A grounding gate that understands "no": what an answer denies must be denied by the source itself."""

from students.grounding.gate import (
    NOT_DOCUMENTED,
    PASS_MARK,
    Gated,
    GatedSentence,
    Judge,
    Outcome,
    Rating,
    gate,
)
from students.grounding.support import Span

__all__ = ["NOT_DOCUMENTED", "PASS_MARK", "Gated", "GatedSentence", "Judge", "Outcome", "Rating", "Span", "gate"]
