"""The reasoning budget: how much a student may think, and how long its answer may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from lineage.errors import PlanError

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
EFFORTS: Final[tuple[str, ...]] = get_args(Effort)


@dataclass(frozen=True, slots=True)
class ReasoningBudget:
    """A property of the student, recorded on every judgement.

    Args:
        effort: reasoning effort; ``none`` sends no reasoning parameter.
        thinking_tokens: thinking budget in tokens where a provider takes one; excludes an effort.
        answer_tokens: cap of the answer in tokens.
    """

    effort: Effort = "none"
    thinking_tokens: int | None = None
    answer_tokens: int = 64

    def __post_init__(self) -> None:
        if self.effort not in EFFORTS:
            raise PlanError(f"budget.effort must be one of {', '.join(EFFORTS)}, got {self.effort!r}")
        if self.thinking_tokens is not None and (self.thinking_tokens < 1 or self.effort != "none"):
            raise PlanError("budget.thinking_tokens must be at least 1, and goes with effort: none")
        if self.answer_tokens < 1:
            raise PlanError(f"budget.answer_tokens must be at least 1, got {self.answer_tokens}")

    def parameters(self) -> dict[str, Any]:
        """What is sent to a chat endpoint for this budget."""
        sent: dict[str, Any] = {"max_tokens": self.answer_tokens}
        if self.effort != "none":
            sent["reasoning_effort"] = self.effort
        if self.thinking_tokens is not None:
            sent["thinking"] = {"type": "enabled", "budget_tokens": self.thinking_tokens}
            sent["max_tokens"] = self.answer_tokens + self.thinking_tokens
        return sent

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"effort": self.effort, "thinking_tokens": self.thinking_tokens, "answer_tokens": self.answer_tokens}
