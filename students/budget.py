"""The reasoning budget: how much a student may think, and how long its answer may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from lineage.errors import PlanError
from students.capabilities import Capabilities

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
EFFORTS: Final[tuple[str, ...]] = get_args(Effort)


@dataclass(frozen=True, slots=True)
class ReasoningBudget:
    """A property of the student, recorded on every judgement.

    Args:
        effort: reasoning effort. ``none`` means no reasoning: a model that reasons unasked is sent ``none``, any other
            no parameter.
        thinking_tokens: thinking budget in tokens, with ``effort: none``. A model that takes no such budget writes a
            scratchpad of at most so many tokens before it answers.
        answer_tokens: cap of the answer in tokens. Where an effort is set, providers count reasoning into the cap, so
            it must leave room for both; thinking tokens are added to it.
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

    def parameters(self, capabilities: Capabilities) -> dict[str, Any]:
        """What is sent to a model with the call that answers.

        Raises:
            PlanError: the model does not take this budget; names model, parameter and what is accepted.
        """
        native = self.thinking_tokens if capabilities.thinking is not None else None
        sent: dict[str, Any] = {capabilities.cap: self._capped(self.answer_tokens + (native or 0), capabilities)}
        if native is not None:
            least, most = capabilities.thinking or (0, 0)
            if not least <= native <= most:
                raise PlanError(
                    f"{capabilities.model} does not accept budget.thinking_tokens = {native}, accepted: "
                    f"{least} to {most}"
                )
            return {**sent, "thinking": {"type": "enabled", "budget_tokens": native}}
        self.scratchpad(capabilities)
        return {**sent, **self._effort(capabilities)}

    def scratchpad(self, capabilities: Capabilities) -> int | None:
        """Most tokens of the scratchpad before the answer, or None where the model thinks by itself or not at all.

        Raises:
            PlanError: a scratchpad is needed and cannot be had.
        """
        if self.thinking_tokens is None or capabilities.thinking is not None:
            return None
        if not capabilities.scratchpad:
            efforts = ", ".join(capabilities.efforts)
            remedy = f"give one of budget.effort: {efforts} instead" if efforts else "leave it out"
            raise PlanError(
                f"{capabilities.model} does not accept budget.thinking_tokens = {self.thinking_tokens}, accepted: "
                f"none; {remedy}"
            )
        return self._capped(self.thinking_tokens, capabilities)

    def reasons(self, capabilities: Capabilities) -> bool:
        """Whether the model reasons by itself under this budget."""
        return self.effort != "none" or (self.thinking_tokens is not None and capabilities.thinking is not None)

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"effort": self.effort, "thinking_tokens": self.thinking_tokens, "answer_tokens": self.answer_tokens}

    def _effort(self, capabilities: Capabilities) -> dict[str, Any]:
        if self.effort in capabilities.efforts:
            return {"reasoning_effort": self.effort}
        if self.effort == "none" and not capabilities.reasons_unasked:
            return {}
        accepted = ", ".join(capabilities.efforts)
        if capabilities.thinking is not None:
            least, most = capabilities.thinking
            remedy = f"give one of these, or budget.thinking_tokens: {least} to {most} with effort: none"
        elif accepted or not capabilities.scratchpad:
            remedy = "give one of these" if accepted else "leave it out"
        else:
            remedy = "give budget.thinking_tokens with effort: none for a scratchpad before the answer"
        why = "" if self.effort != "none" else " (it always reasons)"
        raise PlanError(
            f"{capabilities.model} does not accept budget.effort = {self.effort}{why}, accepted: "
            f"{accepted or 'none but the default'}; {remedy}"
        )

    def _capped(self, tokens: int, capabilities: Capabilities) -> int:
        most = capabilities.completion_tokens
        if most is not None and tokens > most:
            raise PlanError(
                f"{capabilities.model} does not accept {capabilities.cap} = {tokens}, accepted: at most {most}; lower "
                "budget.answer_tokens or budget.thinking_tokens"
            )
        return tokens
