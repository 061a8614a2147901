"""A student's prompt: its shape, what is sent with it, and where its instruction comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from students.sending import Sending
from students.shape import PromptShape
from students.student import instruction_of


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt of a student.

    Args:
        shape: preamble, slots and contract.
        sending: what is sent with it.
        fixed: its instruction, where another prompt's is the block that evolves; None takes the candidate's.
    """

    shape: PromptShape
    sending: Sending
    fixed: str | None = None

    @classmethod
    def load(cls, name: str, sending: Sending, *, fixed: str | None = None) -> Prompt:
        """A bundled prompt.

        Raises:
            PlanError: there is no such shape, or it breaks its format.
        """
        return cls(PromptShape.load(name, thinks=sending.scratchpad is not None), sending, fixed)

    def row(self) -> dict[str, Any]:
        """The JSON form: hash of the shape, parameters, and the instruction unless it evolves."""
        return {"shape": self.shape.hash, "sent": self.sending.row(), "instruction": self.fixed}

    def instruction(self, texts: Mapping[str, str]) -> str:
        """The instruction for a candidate.

        Raises:
            PlanError: the candidate's blocks are not the student's.
        """
        evolving = instruction_of(texts)
        return evolving if self.fixed is None else self.fixed
