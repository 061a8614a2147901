"""Score compression: how few values a judge uses, and how many pairs it leaves level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from experiments.report.blocks import Block, Paragraph, Pictures, Section, Table
from experiments.report.charts import Dot, DotRow, dots_picture
from experiments.report.data import ReportData
from experiments.report.wording import sides
from optimize.objectives import ScoredExamples, compression, scored_evaluation
from optimize.stats import ScoreCompression

NOTE = (
    "Compression is neither good nor bad by itself. Few values leave many pairs level, and a level pair counts half in "
    "paired discrimination: of 0.700 with a tie mass of 0.400, 0.200 is half credit."
)


def compression_section(data: ReportData) -> Section:
    """Score compression of both arms on both splits."""
    judged = {
        f"{name}, {split}": scored_evaluation(arm.evaluation) for split, arms in sides(data) for name, arm in arms
    }
    return Section("compression", "Score compression", tuple(compression_blocks(judged)))


def compression_blocks(judged: Mapping[str, ScoredExamples], *, key: str = "") -> Iterator[Block]:
    """Tie mass as a picture, and all numbers of compression as a table.

    Args:
        judged: scores of each judge, by name.
        key: makes ids unique where a page has several of these.
    """
    found = {name: compression(scored) for name, scored in judged.items()}
    yield Paragraph(NOTE)
    table = Table(
        "Score compression, over documents in all replicates; tie mass over pairs, with 95% intervals by group.",
        ("Judge", "Scores", "Distinct", "Most frequent", "Entropy", "Tie mass"),
        tuple((name, *_cells(row)) for name, row in found.items()),
    )
    rows = [DotRow(name, (_dot(row),)) for name, row in found.items()]
    if all(row.dots == (None,) for row in rows):
        yield table
        return
    title = "Pairs left level"
    desc = "Share of pairs in which the flawed document and its clean twin have the same score, with 95% intervals."
    picture = dots_picture(
        title, desc, rows, series=("tie mass",), key=f"compression{key}", table=table, chance=None, floor=0.0
    )
    yield Pictures((picture,))


def _dot(found: ScoreCompression) -> Dot | None:
    mass = found.tie_mass
    if mass.reason:
        return None
    interval = mass.interval
    return Dot(mass.value, *((interval.low, interval.high) if interval.defined else ()))


def _cells(found: ScoreCompression) -> tuple[str, ...]:
    if found.reason:
        return ("0", *["none scored"] * 4)
    mass = found.tie_mass
    interval = f" [{mass.interval.low:.3f}, {mass.interval.high:.3f}]" if mass.interval.defined else ", no interval"
    tied = f"{mass.value:.3f}{interval}, {found.ties} of {found.n_pairs} pairs" if not mass.reason else "no pairs"
    return (
        f"{found.n}",
        f"{found.n_distinct}",
        f"{found.top_score:g}: {100 * found.top_share:.0f}%",
        f"{found.entropy:.2f} bits",
        tied,
    )
