"""Prompt shapes: fixed preamble and contract around the one block that evolves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Template
from typing import Final

from lineage.canonical import digest_bytes
from lineage.errors import PlanError

PROMPTS: Final = Path(__file__).parent / "prompts"
INSTRUCTION: Final = "instruction"
"""Name of the evolving block."""

_SECTION = re.compile(r"^## (system|user|cue|think|answer)$", re.MULTILINE)
_PLAIN: Final = ["system", "user"]
_THINKING: Final = ["system", "user", "think", "answer"]
_BOTH: Final = ["system", "user", "cue", "think", "answer"]


@dataclass(frozen=True, slots=True)
class PromptShape:
    """Messages with named slots, read from a prompt file with one ``## system`` and one ``## user`` section.

    A shape with a scratchpad also has ``## think``, which asks for it, and ``## answer``, which holds the contract. One
    with ``## cue`` serves without a scratchpad too: the contract then ends the first message, and the cue the second.
    What repeats stands first: judgements of one document begin with the same bytes. ``slots`` are the names that
    :meth:`messages` must be given, ``instruction`` among them; ``hash`` is the SHA-256 of the file.
    """

    name: str
    sections: tuple[tuple[str, str], ...]
    hash: str

    @classmethod
    def load(cls, name: str, *, thinks: bool = False) -> PromptShape:
        """Read a bundled shape; where there is a scratchpad, the file of its own that some have for that.

        Raises:
            PlanError: there is no such shape, or the file lacks a section or the instruction slot.
        """
        if thinks and (PROMPTS / f"{name}-scratchpad.md").is_file():
            name = f"{name}-scratchpad"
        path = PROMPTS / f"{name}.md"
        if not path.is_file():
            raise PlanError(f"there is no prompt shape {name!r} in {PROMPTS}")
        text = path.read_text(encoding="utf-8")
        parts = _SECTION.split(text)[1:]
        sections = tuple((role, body.strip()) for role, body in zip(parts[::2], parts[1::2], strict=True))
        shape = cls(name, sections, digest_bytes(text.encode("utf-8")))
        if [role for role, _ in sections] not in (_PLAIN, _THINKING, _BOTH) or INSTRUCTION not in shape.slots:
            raise PlanError(
                f"{path}: a shape has one ## system and one ## user section, perhaps ## think and ## answer after "
                "them and ## cue before these, and the slot $instruction"
            )
        return shape

    @property
    def slots(self) -> frozenset[str]:
        """Names of all slots."""
        return _slots(self.sections[:2])

    def messages(self, values: Mapping[str, str]) -> tuple[dict[str, str], ...]:
        """Fill every slot.

        Raises:
            PlanError: a slot is missing, or a value has no slot.
        """
        if wrong := self.slots ^ set(values):
            raise PlanError(f"prompt shape {self.name}: slots and values differ in {', '.join(sorted(wrong))}")
        return tuple({"role": role, "content": Template(body).substitute(values)} for role, body in self.sections[:2])

    def plain(self, values: Mapping[str, str]) -> tuple[dict[str, str], ...]:
        """The messages that ask for the answer at once."""
        system, user = self.messages(values)
        sections = dict(self.sections)
        if "cue" not in sections:
            return system, user
        return (
            {**system, "content": f"{system['content']}\n{sections['answer']}"},
            {**user, "content": f"{user['content']}\n\n{sections['cue']}"},
        )

    def think(self, values: Mapping[str, str], *, tokens: int) -> tuple[dict[str, str], ...]:
        """The messages that ask for a scratchpad of at most so many tokens."""
        system, user = self.messages(values)
        asked = Template(dict(self.sections)["think"]).substitute(tokens=str(tokens))
        return system, {**user, "content": f"{user['content']}\n\n{asked}"}

    def answer(self, values: Mapping[str, str], *, scratchpad: str) -> tuple[dict[str, str], ...]:
        """The messages that ask for the answer after a scratchpad, which stands as the assistant's turn.

        What asked for the scratchpad is left out. A server that keeps its prompt cache then shares the inputs and
        reads the scratchpad anew, never the tokens that it generated: the answer is the same after a resumption.
        """
        contract = {"role": "user", "content": dict(self.sections)["answer"]}
        return (*self.messages(values), {"role": "assistant", "content": scratchpad}, contract)


@lru_cache(maxsize=64)
def _slots(sections: tuple[tuple[str, str], ...]) -> frozenset[str]:
    """Names in a shape's sections, which every call fills."""
    return frozenset(name for _, body in sections for name in Template(body).get_identifiers())


def load_instruction(name: str) -> str:
    """A bundled seed instruction, or the text of a file of the user's.

    Raises:
        PlanError: neither exists, or the text is empty or not UTF-8.
    """
    for path in (PROMPTS / "seeds" / f"{name}.md", Path(name)):
        if path.is_file():
            try:
                text = path.read_text(encoding="utf-8-sig").strip()
            except UnicodeDecodeError as error:
                raise PlanError(f"{path}: the instruction is not UTF-8 ({error.reason}); save it as UTF-8") from error
            if not text:
                raise PlanError(f"{path}: the instruction is empty")
            return text
    known = ", ".join(sorted(path.stem for path in (PROMPTS / "seeds").glob("*.md")))
    raise PlanError(f"there is no instruction {name!r}: give a file, or one of the bundled seeds: {known}")
