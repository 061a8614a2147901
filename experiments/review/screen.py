"""A scored review on the screen."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from experiments.review.joined import Confusion, Rate
from experiments.review.scoring import ReviewScore, SectionScore
from optimize.stats import Agreement


def review_blocks(score: ReviewScore) -> Iterator[RenderableType]:
    """What the review says of itself, then each reviewer's sections, then how far reviewers agree."""
    for words in score.words:
        yield Text(words)
    for reviewer, sections in score.reviewers.items():
        for section in sections:
            yield Text(f"\n{reviewer}, {section.section}", style="bold")
            yield Text(", ".join(f"{name} {count}" for name, count in section.counts.items()))
            yield rate_table(section.rates)
            yield agreement_table(section)
            yield from (confusion_table(one) for one in section.confusions)
    for (first, second), found in score.between.items():
        yield Text(f"\n{first} and {second}", style="bold")
        for section_name, one in found.items():
            yield Text(f"{section_name}: {_agreement(one)}")


def rate_table(rates: tuple[Rate, ...]) -> Table:
    """Rates with their intervals; abstentions and missing answers stand beside, counted in no rate."""
    table = _table("share of decided items", "share", "by group", "Wilson", "k of n", "cannot tell", "missing")
    for one in rates:
        spreads = [
            f"{found.low:.3f} to {found.high:.3f}" if found.defined else "undefined"
            for found in (one.by_group, one.interval)
        ]
        value = f"{one.value:.3f}" if one.n else "undefined"
        table.add_row(Text(one.name), value, *spreads, f"{one.k} of {one.n}", f"{one.abstained}", f"{one.missing}")
    return table


def agreement_table(section: SectionScore) -> Table:
    """Kappas of a section."""
    table = _table("agreement beyond chance with", "kappa")
    for name, one in section.agreements.items():
        table.add_row(Text(name), Text(_agreement(one)))
    return table


def confusion_table(confusion: Confusion) -> Table:
    """Counts, rows on record and columns as answered."""
    table = _table(confusion.title, *confusion.columns)
    for name, counts in zip(confusion.rows, confusion.counts, strict=True):
        table.add_row(Text(name), *(f"{count}" for count in counts))
    return table


def _agreement(one: Agreement) -> str:
    if one.reason:
        return f"undefined: {one.reason}; {one.n} items"
    ends = f"{one.interval.low:+.3f} to {one.interval.high:+.3f}" if one.interval.defined else one.interval.reason
    return f"{one.value:+.3f} ({ends}; observed {one.observed:.3f}; {one.n} items, {one.n_groups} groups)"


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(first, overflow="fold")
    for column in others:
        table.add_column(column, justify="right")
    return table
