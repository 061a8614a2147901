"""Which block of a judge with several prompts evolves, and what the others say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from lineage.errors import PlanError
from students.shape import load_instruction


def block_texts(
    design: str, blocks: Sequence[str], evolving: str, *, files: Mapping[str, str] | None = None
) -> dict[str, str | None]:
    """The instruction of each block: None for the one that evolves, for the others the bundled text.

    Args:
        design: the judge's name; its bundled texts are named after it and the block.
        blocks: names of all blocks.
        evolving: the one that takes the candidate's instruction.
        files: what the bundled texts are named after, where it is not the block.

    Raises:
        PlanError: there is no such block; suggests the near name.
    """
    if evolving not in blocks:
        near = get_close_matches(evolving, blocks, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(blocks)}"
        raise PlanError(f"{design} has no block {evolving!r}; {hint}")
    named = files or {block: block for block in blocks}
    return {block: None if block == evolving else load_instruction(f"{design}-{named[block]}") for block in blocks}
