"""What is sent to a model besides messages and seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from students.budget import ReasoningBudget
from students.capabilities import Capabilities


@dataclass(frozen=True, slots=True)
class Sending:
    """What a student sends to its model besides messages and seed.

    Args:
        answer: parameters of the calls that answer.
        scratchpad: parameters of the calls that write a scratchpad first, or None where there is none.
        scratchpad_tokens: most tokens of a scratchpad, or None.
        seeded: whether the model takes a seed.
        others: parameters of other calls that answer, by the names of their prompts, where a student has several.
    """

    answer: Mapping[str, Any]
    scratchpad: Mapping[str, Any] | None
    scratchpad_tokens: int | None
    seeded: bool
    others: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        budget: ReasoningBudget,
        capabilities: Capabilities,
        *,
        temperature: float | None,
        logprobs: bool = False,
    ) -> Sending:
        """What a budget and a temperature come to with a model.

        Raises:
            PlanError: the model does not take them.
        """
        reasoning = budget.reasons(capabilities)
        sampling = capabilities.sampling(temperature, reasoning=reasoning)
        read = capabilities.logprobs(reasoning=reasoning) if logprobs else {}
        tokens = budget.scratchpad(capabilities)
        return cls(
            {**sampling, **read, **budget.parameters(capabilities)},
            None if tokens is None else {**sampling, capabilities.cap: tokens},
            tokens,
            capabilities.seed,
        )

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        scratchpad = None if self.scratchpad is None else dict(self.scratchpad)
        row = {"answer": dict(self.answer), "scratchpad": scratchpad, "seeded": self.seeded}
        return row | ({"others": {name: dict(sent) for name, sent in self.others.items()}} if self.others else {})
