"""What a text changed of another, word by word, as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The named texts that differ, each with removed words as ``[-words-]`` and added ones as ``{+words+}``."""
    changed = [name for name in sorted({*before, *after}) if before.get(name, "") != after.get(name, "")]
    parts = [f"## {name}\n{_marked(before.get(name, ''), after.get(name, ''))}" for name in changed]
    return "\n\n".join(parts or ["nothing is different"]) + "\n"


def _marked(before: str, after: str) -> str:
    """Line by line first: words are compared only where lines differ, which is quick for long texts."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    found: list[str] = []
    for kind, i, j, k, n in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            found += old[i:j]
        else:
            found += _runs(_words("".join(old[i:j])), _words("".join(new[k:n])))
    return "".join(found)


def _runs(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for kind, i, j, k, n in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "".join(old[i:j])
            continue
        if removed := "".join(old[i:j]):
            yield f"[-{removed}-]"
        if added := "".join(new[k:n]):
            yield f"{{+{added}+}}"


def _words(text: str) -> list[str]:
    """Words, each with the white space after it; together they are the text."""
    return re.findall(r"\S+\s*|\s+", text)
