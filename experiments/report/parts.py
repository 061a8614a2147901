"""Paired discrimination by trace and severity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from experiments.report.blocks import Block, Paragraph, Picture, Pictures, Section, Table
from experiments.report.charts import Dot, DotRow, dots_picture
from experiments.report.data import ReportData
from experiments.report.wording import TRACES, measure, sides
from optimize.judging.table import measure_row
from optimize.objectives import ScoredExamples, discrimination_measure, scored_evaluation
from optimize.objectives.scored import UNKNOWN, Bools

SEVERITIES: Final = ("critical", "supporting", "peripheral", UNKNOWN)
ORDER: Final[Mapping[str, tuple[str, ...]]] = {"trace": TRACES, "severity": SEVERITIES}
Breakdown = Literal["trace", "severity"]
Row = Mapping[str, Any]


def parts_section(data: ReportData) -> Section:
    """Where each judge orders pairs rightly: by how much of a fact survives, and by how much it matters."""
    (split, arms) = sides(data)[-1]
    judged = {name: scored_evaluation(arm.evaluation) for name, arm in arms}
    said: list[Block] = [
        Paragraph(
            f"Measured on {split} data, omissions alone. Among so many parts some are striking by chance: they are "
            "tested only after the gate has passed, and the gate section says whether they were."
        )
    ]
    return Section("parts", "Discrimination by trace and severity", (*said, *parts_blocks(judged, split)))


def parts_blocks(judged: Mapping[str, ScoredExamples], split: str, *, key: str = "") -> Iterator[Block]:
    """Pictures by trace and by severity, and a table of both at once for every judge.

    Args:
        judged: scores of at most four judges on the same documents, by name.
        split: where they are measured, in words.
        key: makes ids unique where a page has several of these.
    """
    pictures = []
    for by in ORDER:
        rows = {name: part_rows(scored, by) for name, scored in judged.items()}
        known = [part for part in ORDER[by] if any(part in found for found in rows.values())]
        if not known or known == [UNKNOWN]:
            yield Paragraph(f"By {by}: no omission of these documents has a {by} on record.")
        else:
            pictures.append(_picture(by, known, rows, split, f"parts-{by}{key}"))
    if pictures:
        yield Pictures(tuple(pictures))
    for name, scored in judged.items():
        if (table := _crossed(name, scored, split)) is not None:
            yield table


def part_rows(scored: ScoredExamples, by: str) -> dict[str, Row]:
    """Paired discrimination of omissions by an attribute, as rows of numbers."""
    return {
        part: _measured(scored, rows)
        for part in ORDER[by]
        if (rows := _omissions(scored) & scored.attributes[by].equal_to(part)).any()  # type: ignore[index]
    }


def _picture(by: str, known: Sequence[str], rows: Mapping[str, Mapping[str, Row]], split: str, key: str) -> Picture:
    title = f"Omissions by {by}, {split}"
    drawn = [DotRow(part, tuple(Dot.of(found.get(part)) for found in rows.values())) for part in known]
    table = Table(
        f"{title}: paired discrimination with 95% intervals by group.",
        (by.capitalize(), *rows),
        tuple((part, *(measure(found.get(part)) for found in rows.values())) for part in known),
    )
    desc = f"Paired discrimination with 95% intervals, one {by} a row; the dotted line at 0.5 is a coin flip."
    return dots_picture(title, desc, drawn, series=tuple(rows), key=key, table=table)


def _crossed(name: str, scored: ScoredExamples, split: str) -> Table | None:
    """Trace by severity, where documents have both."""
    traces = [part for part in TRACES if (_omissions(scored) & scored.attributes["trace"].equal_to(part)).any()]
    found = [part for part in SEVERITIES if (_omissions(scored) & scored.attributes["severity"].equal_to(part)).any()]
    if [UNKNOWN] in (traces, found) or not traces:
        return None

    def cell(trace: str, severity: str) -> str:
        of = scored.attributes
        row = _measured(scored, _omissions(scored) & of["trace"].equal_to(trace) & of["severity"].equal_to(severity))
        return "no pairs" if row["value"] is None else f"{row['value']:.2f} (n = {row['pairs']})"

    return Table(
        f"{name[:1].upper()}{name[1:]}, {split}: paired discrimination of omissions by trace and severity, with pairs.",
        ("Trace", *found),
        tuple((trace, *(cell(trace, severity) for severity in found)) for trace in traces),
    )


def _omissions(scored: ScoredExamples) -> Bools:
    return scored.attributes["label"].equal_to("omission")


def _measured(scored: ScoredExamples, rows: Bools) -> dict[str, Any]:
    row = measure_row(discrimination_measure(scored.where(rows)))
    return {**row, "pairs": row["n"]}
