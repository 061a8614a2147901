"""Rules that a proposed instruction must keep to be evaluated at all."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from splits.contamination import NgramIndex

MAX_WORDS: Final = 1_500
_PLACEHOLDER = re.compile(r"\$\{?([a-z_]\w*)\}?|\{([a-z_]\w*)\}")


def invalid_reason(
    text: str, *, parents: Collection[str], earlier: Collection[str], forbidden: NgramIndex, max_words: int = MAX_WORDS
) -> str | None:
    """Why an instruction cannot become a candidate, or None.

    Args:
        text: the proposed instruction.
        parents: the instructions it was made from.
        earlier: every instruction tried before.
        forbidden: n-grams of accept and held-out text, as hashes.
        max_words: most words.
    """
    if not text.strip():
        return "empty"
    if text.strip() in {old.strip() for old in earlier}:
        return "duplicate of an earlier candidate"
    if lost := sorted(set.union(set(), *(placeholders(parent) for parent in parents)) - placeholders(text)):
        return f"lost placeholder {', '.join(lost)}"
    if (words := len(text.split())) > max_words:
        return f"{words} words, more than {max_words}"
    if text.count("```") % 2:
        return "truncated: an open code fence"
    if copied := forbidden.copied(text):
        return f"repeats {len(copied)} run(s) of {forbidden.size} words of accept or held-out text"
    return None


def placeholders(text: str) -> set[str]:
    """Names of the ``$slot``, ``${slot}`` and ``{slot}`` placeholders of a text."""
    return {first or second for first, second in _PLACEHOLDER.findall(text)}
