"""Two candidates word by word, for each of their named texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from experiments.report.blocks import Operation
from experiments.report.wording import word_difference

MARKS: Final[Mapping[Operation, tuple[str, str]]] = {
    "same": ("{}", ""),
    "removed": ("[-{}-]", "red strike"),
    "added": ("{{+{}+}}", "green bold"),
}
"""How each run of words is marked, so that it can be told without colour, and its style."""


@dataclass(frozen=True, slots=True)
class TextDifference:
    """One named text of two candidates.

    Attributes:
        name: of the text.
        parts: runs of words in order, each the same, removed or added.
    """

    name: str
    parts: tuple[tuple[Operation, str], ...]

    @property
    def changed(self) -> bool:
        """Whether any word differs; line ends count as words, other white space does not count."""
        return any(kind != "same" for kind, _ in self.parts)

    @property
    def counts(self) -> tuple[int, int]:
        """Words removed and words added."""
        removed, added = (
            sum(len(words.split()) for kind, words in self.parts if kind == wanted) for wanted in ("removed", "added")
        )
        return removed, added

    def text(self) -> Text:
        """For a terminal: removed words as ``[-words-]``, added ones as ``{+words+}``."""
        found = Text()
        for number, (kind, words) in enumerate(self.parts):
            mark, style = MARKS[kind]
            found.append(" " if number and not words.startswith("\n") and not found.plain.endswith("\n") else "")
            found.append(mark.format(words.replace(" \n ", "\n").replace("\n ", "\n")), style=style)
        return found


def text_differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[TextDifference]:
    """The difference of each named text, in the order of their names; one that a side lacks is empty there."""
    for name in sorted({*before, *after}):
        yield TextDifference(name, word_difference(before.get(name, ""), after.get(name, "")))
