"""Every denominator: groups and documents of each split, pairs planned and scored, judgements, proposals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.report.arms import Arm
from experiments.report.blocks import Block, Section, Table
from experiments.report.data import ReportData
from experiments.report.wording import sides, split_words

_SPLITS = ("reflect", "accept", "heldout")


def denominators_section(data: ReportData) -> Section:
    """What every share of the report is a share of."""
    return Section("denominators", "Denominators", tuple(_parts(data)))


def _parts(data: ReportData) -> Iterator[Block]:
    counts, groups = data.splits["counts"], data.splits["groups"]
    splits = [split for split in _SPLITS if split in counts]
    rows: list[tuple[str, ...]] = [("groups", "all", *(f"{groups[split]}" for split in splits))]
    rows.append(("documents", "all", *(f"{sum(counts[split]['kind'].values())}" for split in splits)))
    for by in ("kind", "trace", "severity", "stratum"):
        names = sorted({name for split in splits for name in counts[split].get(by, {})})
        rows += [
            (f"documents by {by}", _part(by, name), *(f"{counts[split].get(by, {}).get(name, 0)}" for split in splits))
            for name in names
        ]
    yield Table(
        "Groups and documents of each split, as committed before the search.",
        ("What", "Which", *(split_words(split).capitalize() for split in splits)),
        tuple(rows),
    )
    yield pair_table(
        [(f"{name}, {split}", arm) for split, arms in sides(data) for name, arm in arms],
        "Behind the measures of each judge: pairs and documents, in all replicates.",
    )
    proposals = len(data.proposals) - 1
    judged = sum(row.judgements for row in data.judged)
    yield Table(
        "Of the search and the record.",
        ("What", "Number"),
        (
            ("proposals beside the baseline", f"{proposals:,}"),
            *((f"{name} of them", f"{data.choice[name]:,}") for name in ("accepted", "rejected", "invalid")),
            ("candidates measured on accept", f"{len(data.accept):,}"),
            ("candidates opened on held-out data", f"{2 if data.confirmed else 1}"),
            ("judgements, all evaluations", f"{judged:,}"),
            ("of them failed", f"{sum(row.failed for row in data.judged):,}"),
            ("of them abstained", f"{sum(row.abstained for row in data.judged):,}"),
            ("events of the ledger", f"{data.head['count']:,}"),
        ),
    )


def pair_table(arms: Sequence[tuple[str, Arm]], caption: str) -> Table:
    """Planned and scored pairs and documents of judges, by name."""
    return Table(
        caption,
        (
            "Judge",
            "Omission pairs",
            "Commission pairs",
            "Groups",
            "Flawed scored",
            "Clean scored",
            "Flags on flawed of",
            "Flags on clean of",
            "Replicates",
        ),
        tuple(
            (
                name,
                _pairs(arm.measures["omissions"]),
                _pairs(arm.measures["commissions"]),
                f"{arm.measures['omissions']['groups']}",
                f"{len(arm.flawed)}",
                f"{len(arm.clean)}",
                f"{arm.detected.of}",
                f"{arm.false_alarms.of}",
                f"{len(arm.evaluation.replicates)}",
            )
            for name, arm in arms
        ),
    )


def _pairs(row: Mapping[str, Any]) -> str:
    return f"{row['pairs']}, {row['failed']} unscored" if row["failed"] else f"{row['pairs']}"


def _part(by: str, name: str) -> str:
    """A value in words: where it is none, the document has no flaw, or the corpus does not say."""
    if name != "None":
        return name
    return "none (clean, or unknown)" if by == "severity" else "none (no omission, or unknown)"
