"""A corpus in tables and pictures: a page, a drawing, and bars of characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from experiments.report.blocks import Document, Notice, Picture, Pictures, Section, Table
from experiments.report.charts import RIGHT, WIDTH, bar, svg, text
from splits.describing import CorpusDescription, Lengths, Spread

HEIGHT: Final = 220
UNDEFINED: Final = "none"
_EIGHTHS: Final = " \u258f\u258e\u258d\u258c\u258b\u258a\u2589\u2588"
_STYLE: Final = (
    "text{font:11px system-ui,sans-serif;fill:#1b1f24}.title{font-weight:600}.paper,rect.ground{fill:#fff}"
    "rect.held{fill:#1f5fbf}rect.flawed{stroke:#9a4a00}line.hatch{stroke:#9a4a00;stroke-width:3}.axis{stroke:#1b1f24}"
    "@media(prefers-color-scheme:dark){text{fill:#e8eaed}.paper,rect.ground{fill:#14171b}rect.held{fill:#7fb0ff}"
    "rect.flawed{stroke:#f0a860}line.hatch{stroke:#f0a860}.axis{stroke:#e8eaed}}"
)


def description_page(name: str, found: CorpusDescription) -> Document:
    """A page on a corpus."""
    title = f"{found.groups} groups, {found.examples} documents"
    lead = tuple(Notice(words) for words in notices(found))
    tables = count_table(found), word_table(found), twin_table(found), fact_table(found)
    sections = (
        Section("pictures", "Lengths", (Pictures(description_pictures(found)),)),
        Section("tables", "Counts", tables),
    )
    return Document(name, title, lead, sections, over=f"Holdgate description of corpus {name}, hash {found.hash}")


def notices(found: CorpusDescription) -> list[str]:
    """What a user must know before measuring anything on the corpus."""
    said = []
    if candidates := found.clean["candidate"]:
        said.append(
            f"{candidates} of {found.clean['candidate'] + found.clean['verified']} clean documents are only clean "
            "candidates: written by people, not verified. A flag on one is no false alarm for certain."
        )
    if unpaired := found.twinned["without"]:
        said.append(f"{unpaired} flawed documents have no twin: paired measures leave them out.")
    return said


def count_table(found: CorpusDescription) -> Table:
    """Counts by every field that a split rests on."""
    rows = tuple((row.field, row.value, f"{row.groups}", f"{row.examples}") for row in found.counts)
    return Table("Groups and documents by field.", ("Field", "Value", "Groups", "Documents"), rows)


def word_table(found: CorpusDescription) -> Table:
    """Lengths of documents and sources."""
    return _spreads("Words of a text; the sources of a group once.", "Texts", found.words)


def twin_table(found: CorpusDescription) -> Table:
    """What flawed documents differ from their twins by."""
    rows = {f"{label}: words fewer than the twin": spread for label, spread in found.shorter.items()}
    rows |= {f"{label}: words in only one of both": spread for label, spread in found.differing.items()}
    counts = ", ".join(f"{count} {kind}" for kind, count in found.twinned.items())
    return _spreads(f"Flawed documents beside their twins: {counts}.", "Pairs", rows)


def fact_table(found: CorpusDescription) -> Table:
    """Facts of the groups."""
    caption = f"Facts: {found.core} are core facts; {found.factless} groups have none."
    return _spreads(caption, "Groups", {"facts of a group": found.facts})


def description_pictures(found: CorpusDescription) -> tuple[Picture, ...]:
    """Documents and sources by length."""
    return (
        lengths_picture("Words of the documents", found.documents, key="documents"),
        lengths_picture("Words of the sources", found.sources, key="sources"),
    )


def lengths_picture(title: str, found: Lengths, *, key: str) -> Picture:
    """The first kind of texts above the axis, the second, hatched, below it, each as a share of its own number.

    Args:
        title: what it shows.
        found: texts by length.
        key: unique in the page, for ids.
    """
    names = list(found.counts)
    shares = {name: _shares(counts) for name, counts in found.counts.items()}
    most = max([0.05, *(share for row in shares.values() for share in row)])
    both = len(names) > 1
    middle, reach, left = (118.0, 76.0, 34.0) if both else (194.0, 152.0, 34.0)
    bins = max(1, len(found.edges) - 1)
    width = (RIGHT - left) / bins
    drawn = [
        f'<pattern id="{key}-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<rect class="ground" width="5" height="5"/><line class="hatch" x1="0" y1="0" x2="0" y2="5"/></pattern>'
    ]
    for number, name in enumerate(names):
        look = 'class="held"' if number == 0 else f'class="flawed" fill="url(#{key}-hatch)"'
        where = (" (above)", " (below)")[number] if both else ""
        at = 34 + 156 * number
        drawn.append(f'<rect {look} x="{at}" y="6" width="10" height="10"/>')
        drawn.append(text(at + 15, 15, f"{name}, n = {sum(found.counts[name])}{where}"))
        for place, share in enumerate(shares[name]):
            if share:
                tall = reach * share / most
                drawn.append(bar(look, left + place * width, middle - (0 if number else tall), width, tall))
    drawn.append(f'<line class="axis" x1="{left:.1f}" x2="{RIGHT:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>')
    drawn.append(text(left - 4, middle - reach + 4, f"{100 * most:.0f}%", anchor="end"))
    drawn.append(text(left - 4, middle + 4, "0", anchor="end"))
    for place in range(0, len(found.edges), max(1, bins // 4)):
        drawn.append(text(left + place * width, 212, f"{found.edges[place]}", anchor="middle"))
    n = ", ".join(f"{sum(counts)} {name}" for name, counts in found.counts.items())
    span = f"from {found.edges[0]} to below {found.edges[-1]} words" if found.edges else "without texts"
    desc = f"Histogram of lengths {span}: {n}. Bars are shares of each kind's own number."
    return Picture(title, svg(key, title, desc, HEIGHT, drawn), _table(title, found))


def standalone(pictures: Sequence[Picture]) -> str:
    """Pictures below each other as one SVG file that needs nothing else."""
    tall = HEIGHT + 24
    parts = [
        f'<text class="title" x="8" y="{tall * number + 16}">{escape(picture.title)}</text>'
        + picture.svg.replace("<svg ", f'<svg x="0" y="{tall * number + 24}" width="{WIDTH}" height="{HEIGHT}" ', 1)
        for number, picture in enumerate(pictures)
    ]
    height = tall * len(pictures)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
        f'<style>{_STYLE}</style><rect class="paper" width="{WIDTH}" height="{height}"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def bars(found: Lengths, *, width: int = 24) -> list[tuple[str, ...]]:
    """One row a bin: its words, and for each kind of texts a bar of characters with the number behind it."""
    most = max([1, *(count for counts in found.counts.values() for count in counts)])
    rows = []
    for place, (low, high) in enumerate(zip(found.edges, found.edges[1:], strict=False)):
        cells = (f"{_bar_text(counts[place] / most, width)} {counts[place] or ''}" for counts in found.counts.values())
        rows.append((f"{low} to {high - 1}", *cells))
    return rows


def _bar_text(share: float, width: int) -> str:
    eighths = round(share * width * 8)
    if share and not eighths:
        eighths = 1
    return (_EIGHTHS[8] * (eighths // 8) + _EIGHTHS[eighths % 8]).strip()


def _spreads(caption: str, counted: str, rows: Mapping[str, Spread]) -> Table:
    body = tuple(
        (name, f"{spread.n}", *(UNDEFINED if value is None else f"{value:g}" for value in _three(spread)))
        for name, spread in rows.items()
    )
    return Table(caption, ("What", counted, "Least", "Median", "Greatest"), body)


def _three(spread: Spread) -> tuple[float | None, ...]:
    return spread.least, spread.middle, spread.greatest


def _table(title: str, found: Lengths) -> Table:
    rows = tuple(
        (f"{low}", f"{high}", *(f"{counts[place]}" for counts in found.counts.values()))
        for place, (low, high) in enumerate(zip(found.edges, found.edges[1:], strict=False))
    )
    return Table(f"{title}: texts by length.", ("Words from", "to below", *map(str.capitalize, found.counts)), rows)


def _shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts)
    return [count / total if total else 0.0 for count in counts]
