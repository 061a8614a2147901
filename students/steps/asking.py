"""What a verifier is asked about a step: the values of its prompt, which training data and judging share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from splits.corpus import Example
from splits.steps.cutting import Step, SteppedNote
from splits.steps.granularity import StepKind
from students.shape import PromptShape, load_instruction

Block = Literal["content", "complete", "end"]
BLOCKS: Final[tuple[Block, ...]] = ("content", "complete", "end")
"""Prompts of a verifier: about what a step says, about completeness, and about the note at its end."""
BLOCK_OF: Final[Mapping[StepKind, Block]] = {
    "problem": "content",
    "sentence": "content",
    "problem-complete": "complete",
    "note-complete": "complete",
    "end": "end",
}
NO_SOURCE: Final = "(There is none. Judge by medical knowledge and by what the note itself says.)"
NOTHING_YET: Final = "(nothing)"
_NAMES: Final = {"problem": "a heading", "sentence": "a sentence"}


def step_values(example: Example, note: SteppedNote, step: Step) -> dict[str, str]:
    """Values of the slots of a step's prompt, but for the instruction.

    A step is read after what was written before it, and never after what comes later.

    Args:
        example: gives the source.
        note: its document, cut.
        step: one of its steps.
    """
    source = example.source.strip() or NO_SOURCE
    written = note.document if step.kind == "end" else note.document[: step.start]
    values = {"source": source, "written": written.strip() or NOTHING_YET}
    block = BLOCK_OF[step.kind]
    if block == "complete":
        return values | {"part": "the whole note" if step.problem is None else "the part that was written last"}
    if block == "end":
        return values
    whole = step.kind == "problem" and "sentence" not in note.granularity
    return values | {"kind": "a part" if whole else _NAMES[step.kind], "step": step.text}


def step_messages(example: Example, note: SteppedNote, step: Step) -> tuple[dict[str, str], ...]:
    """The messages that a verifier with the bundled instructions is sent about a step: what a trainer is to show it."""
    name = f"step-{BLOCK_OF[step.kind]}"
    values = {"instruction": load_instruction(name), **step_values(example, note, step)}
    return PromptShape.load(name).plain(values)


def prompt_hashes() -> dict[str, dict[str, str]]:
    """Hash of each prompt's shape and its bundled instruction, for the record of what was trained on."""
    return {
        block: {"shape": PromptShape.load(f"step-{block}").hash, "instruction": load_instruction(f"step-{block}")}
        for block in BLOCKS
    }
