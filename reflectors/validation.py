"""Rules that a proposed instruction must keep to be evaluated at all."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from splits.contamination import Kind, NgramIndex, Overlap

MAX_WORDS: Final = 1_500
_PLACEHOLDER = re.compile(r"\$\{?([a-z_]\w*)\}?|\{([a-z_]\w*)\}")

_OVERLAPS: Final[Mapping[Kind, str]] = {
    "ngram": "repeats text",
    "passage": "nearly repeats a passage",
    "answer_key": "states a fact or a changed sentence",
    "name": "gives names",
}


def invalid_reason(
    text: str,
    *,
    parents: Collection[str],
    earlier: Collection[str],
    forbidden: NgramIndex,
    overlaps: Collection[Overlap] = (),
    max_words: int = MAX_WORDS,
) -> str | None:
    """Why an instruction cannot become a candidate, or None.

    Args:
        text: the proposed instruction.
        parents: the instructions it was made from.
        earlier: every instruction tried before.
        forbidden: n-grams of accept and held-out text, as hashes.
        overlaps: what else was found in it of accept or held-out examples.
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
    if overlaps:
        said = "; ".join(dict.fromkeys(_OVERLAPS[overlap.kind] for overlap in overlaps))
        return f"{said} of accept or held-out examples"
    return None


def placeholders(text: str) -> set[str]:
    """Names of the ``$slot``, ``${slot}`` and ``{slot}`` placeholders of a text."""
    return {first or second for first, second in _PLACEHOLDER.findall(text)}
