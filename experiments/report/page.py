"""A report as one HTML page that requests nothing when it is opened."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final

from experiments.report.blocks import (
    Block,
    Bullets,
    Difference,
    Document,
    Folded,
    Notice,
    Pairs,
    Paragraph,
    Picture,
    Pictures,
    Table,
    Verbatim,
)

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Even a text that slipped through unescaped could load or run nothing."""
NUMBER: Final = re.compile(r"[+-]?[\d,]+(\.\d+)?")
LONG: Final = 14


def page(document: Document) -> str:
    """The whole file."""
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    over = document.over or f"Holdgate report of campaign {document.name}"
    lead = "".join(_joined(part) for part in document.lead)
    links = "".join(f'<li><a href="#{part.anchor}">{escape(part.title)}</a></li>' for part in document.sections)
    sections = "".join(
        f'<section aria-labelledby="{part.anchor}">\n<h2 id="{part.anchor}">{escape(part.title)}</h2>\n'
        f"{''.join(_joined(block) for block in part.parts)}</section>\n"
        for part in document.sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(document.name)}: {escape(document.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#content">Skip to the numbers</a>\n'
        f'<header>\n<p class="over">{escape(over)}</p>\n'
        f"<h1>{escape(document.title)}</h1>\n{lead}</header>\n"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n<main id="content">\n{sections}</main>\n</body>\n</html>\n'
    )


def _joined(part: Block) -> str:
    return "".join(f"{line}\n" for line in _block(part))


def _block(part: Block) -> Iterator[str]:
    match part:
        case Paragraph(text):
            yield f"<p>{escape(text)}</p>"
        case Notice(text):
            yield f'<p class="notice"><strong>{escape(text)}</strong></p>'
        case Bullets(items):
            yield f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
        case Pairs(items):
            rows = (f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in items)
            yield f"<dl>{''.join(rows)}</dl>"
        case Table():
            yield _table(part)
        case Verbatim(label, text):
            yield f'<p class="label">{escape(label)}</p>\n<pre>{escape(text)}</pre>'
        case Difference(label, parts):
            marks = {"same": "{}", "removed": "<del>[-{}-]</del>", "added": "<ins>{{+{}+}}</ins>"}
            text = " ".join(marks[kind].format(escape(words)) for kind, words in parts)
            yield f'<p class="label">{escape(label)}: [-removed-], {{+added+}}</p>\n<pre>{text}</pre>'
        case Pictures(items):
            yield f'<div class="pictures">{"".join(_picture(picture) for picture in items)}</div>'
        case Folded(summary, parts):
            yield f"<details><summary>{escape(summary)}</summary>"
            yield from (_joined(inner) for inner in parts)
            yield "</details>"


def _picture(picture: Picture) -> str:
    return (
        f"<figure><h3>{escape(picture.title)}</h3>{picture.svg}\n"
        f"<details><summary>The same in numbers</summary>{_table(picture.table)}</details></figure>\n"
    )


def _table(table: Table) -> str:
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.head)
    numeric = [place > 0 and all(map(NUMBER.fullmatch, column)) for place, column in enumerate(columns)]
    head = "".join(
        f'<th scope="col"{_look("", number)}>{escape(cell)}</th>'
        for cell, number in zip(table.head, numeric, strict=True)
    )
    rows = "".join(_row(row, numeric) for row in table.rows)
    caption = escape(table.caption)
    # A container that scrolls must be reachable and named for those who scroll by keyboard.
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}">\n<table>\n'
        f"<caption><span>{caption}</span></caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}</tbody>\n</table>\n</div>"
    )


def _row(row: Sequence[str], numeric: Sequence[bool]) -> str:
    cells = (f"<td{_look(cell, number)}>{escape(cell)}</td>" for cell, number in zip(row[1:], numeric[1:], strict=True))
    look = ' class="long"' if len(row[0]) > 2 * LONG else ""
    return f'<tr><th scope="row"{look}>{escape(row[0])}</th>{"".join(cells)}</tr>\n'


def _look(cell: str, number: bool) -> str:
    """Numbers of a column stand to the right; a long cell keeps a width in which it can be read."""
    return ' class="number"' if number else ' class="long"' if len(cell) > LONG else ""
