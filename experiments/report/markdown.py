"""A report as Markdown (with GitHub's tables); drawings become tables of their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from experiments.report.blocks import (
    Block,
    Bullets,
    Difference,
    Document,
    Folded,
    Notice,
    Pairs,
    Paragraph,
    Pictures,
    Table,
    Verbatim,
)


def markdown(document: Document) -> str:
    """The whole file, ending in a line end."""
    over = document.over or f"Holdgate report of campaign {document.name}"
    lines = [f"# {_inline(document.title)}", "", f"{_inline(over)}.", ""]
    for part in document.lead:
        lines += _block(part)
    for section in document.sections:
        lines += [f"## {_inline(section.title)}", ""]
        for part in section.parts:
            lines += _block(part)
    return "\n".join(lines).rstrip("\n") + "\n"


def _block(part: Block) -> Iterator[str]:
    match part:
        case Paragraph(text):
            yield from (_inline(text), "")
        case Notice(text):
            yield from (f"> **{_inline(text)}**", "")
        case Bullets(items):
            yield from (f"- {_inline(item)}" for item in items)
            yield ""
        case Pairs(items):
            yield from (f"- {_inline(name)}: {_inline(value)}" for name, value in items)
            yield ""
        case Table():
            yield from _table(part)
        case Verbatim(label, text):
            yield from (f"{_inline(label)}:", "", *_fenced(text), "")
        case Difference(label, parts):
            marks = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
            text = " ".join(marks[kind][0] + words + marks[kind][1] for kind, words in parts)
            yield from (f"{_inline(label)} ([-removed-], {{+added+}}):", "", *_fenced(text), "")
        case Pictures(items):
            for picture in items:
                yield from (f"### {_inline(picture.title)}", "")
                yield from _table(picture.table)
        case Folded(summary, parts):
            yield from ("<details>", f"<summary>{escape(summary)}</summary>", "")
            for inner in parts:
                yield from _block(inner)
            yield from ("</details>", "")


def _table(table: Table) -> Iterator[str]:
    yield from (_inline(table.caption), "")
    yield "| " + " | ".join(_inline(cell) for cell in table.head) + " |"
    yield "|" + " --- |" * len(table.head)
    yield from ("| " + " | ".join(_inline(cell) for cell in row) + " |" for row in table.rows)
    yield ""


def _fenced(text: str) -> Iterator[str]:
    """A code block whose fence is longer than any run of backticks in the text."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    yield from (f"{fence}text", *text.split("\n"), fence)


def _inline(text: str) -> str:
    """Text on one line in which no character is read as markup."""
    return re.sub(r"([\\`*_|#~\[\]])", r"\\\1", escape(" ".join(text.split()), quote=False))
