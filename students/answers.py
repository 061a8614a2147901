"""What is read from answers: a judgement, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lineage.records import FactVerdict, Status
from students.parsing import Abstained, Unread
from students.transport.base import CallFailure, CallResult

Answers = Sequence[CallResult | CallFailure]
"""What came back for the calls about one example, in the order in which they were asked."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a student reads from the answers about one example; ``score`` is on the student's scale.

    ``parts`` are named numbers that the score is made of, or that stand beside it. ``flags`` holds what the student's
    flag rule found, a text each; a document without any is not flagged.
    """

    status: Status
    score: float | None
    reason: str | None = None
    facts: tuple[FactVerdict, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    flags: tuple[str, ...] = ()


def unusable(answer: CallResult | CallFailure, *, one_token: bool = False, scratchpad: bool = False) -> Unread | None:
    """Why an answer can be no judgement: transport, refusal, truncation, reasoning without an answer, or emptiness.

    A read of one token's log-probabilities ends with ``length`` by design and is not truncated, unless reasoning took
    that token. A scratchpad may fill its cap.
    """
    if isinstance(answer, CallFailure):
        return Unread("transport", f"{'' if answer.reason == 'transport' else f'{answer.reason}: '}{answer.message}")
    if answer.finish in ("content_filter", "refusal"):
        return Unread("refused", answer.finish)
    said = bool(answer.top) if one_token else bool((answer.text or "").strip())
    thought = answer.usage.reasoning_tokens > 0 or bool(answer.reasoning)
    if answer.finish == "length" and not scratchpad and not (one_token and (said or not thought)):
        return Unread("truncated", f"after {answer.usage.reasoning_tokens} reasoning tokens")
    if not said:
        return Unread(
            "reasoning_only" if answer.reasoning else "empty", "no log-probabilities" if one_token else "no text"
        )
    return None


def unread(found: Unread | Abstained, *, about: str = "") -> Reading:
    """The judgement that an answer without a score amounts to; ``about`` says which answer, where there are several."""
    detail = f"{about}: {found.seen}" if about else found.seen
    if isinstance(found, Abstained):
        return Reading("abstained", None, f"abstained: {detail}"[:300])
    return Reading("failed", None, f"{found.reason}: {detail}"[:300])


def scratchpad_text(answer: CallResult | CallFailure) -> str | Unread:
    """The text of a scratchpad, without white space around it, or why there is none."""
    bad = unusable(answer, scratchpad=True)
    return bad if bad is not None else str(answer.text if isinstance(answer, CallResult) else "").strip()
