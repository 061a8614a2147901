"""The measure table of one candidate on one split: every measure, overall and by every attribute of the documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from lineage.errors import InputError
from optimize.objectives.flagging import (
    SEVERITY_WEIGHTS,
    Threshold,
    detection,
    false_alarms,
    severity_weighted_detection,
    sweep,
)
from optimize.objectives.measures import Measure
from optimize.objectives.measuring import auc, compression, discrimination_measure, pair_coverage
from optimize.objectives.pairs import BREAKDOWNS, Breakdown
from optimize.objectives.scored import UNKNOWN, Attribute, Bools, ScoredExamples
from optimize.stats.compression import ScoreCompression
from optimize.stats.detection import DetectionAtFa
from optimize.stats.results import NO_VARIATION, ONE_GROUP, Interval, check_level

OVERALL: Final = "overall"
OWN_CLEAN: Final[tuple[Breakdown, ...]] = ("stratum", "cohort")
"""Attributes that clean documents have too."""


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One measure on some of the documents.

    Attributes:
        by: attribute that the documents were chosen by; ``overall`` for all of them.
        part: its value; empty for all documents.
        measure: the measure.
    """

    by: str
    part: str
    measure: Measure


@dataclass(frozen=True, slots=True)
class MeasureTable:
    """All measures of one candidate.

    Among so many numbers some are striking by chance: parts are tested only after the overall comparison passes.

    Attributes:
        entries: one a measure and part, overall first.
        threshold: the flag rule of every row of detection and false alarms; None where there is none.
        swept: the sweep over all documents that set it; None for a rule fixed beforehand.
        compression: of all scores.
        level: of the intervals.
        unavailable: why there are no rows of detection; empty where there are.
    """

    entries: tuple[MeasureRow, ...]
    threshold: Threshold | None
    swept: DetectionAtFa | None
    compression: ScoreCompression
    level: float
    unavailable: str = ""

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of `rows`."""
        return ("documents", "measure", "value", f"{100 * self.level:g}% interval", "counted", "n", "groups", "failed")

    def rows(self) -> list[tuple[str, ...]]:
        """The table as text, one row a measure and part, in the columns of `header`; reasons are in the measures."""
        return [
            (
                entry.by if entry.by == OVERALL else f"{entry.by}: {entry.part}",
                entry.measure.name,
                "undefined" if entry.measure.reason else f"{entry.measure.value:.4f}",
                _ends(entry.measure.interval),
                ", ".join(f"{count} {name}" for name, count in entry.measure.counted),
                str(entry.measure.n),
                str(entry.measure.n_groups),
                str(entry.measure.n_failed),
            )
            for entry in self.entries
        ]

    def of(self, name: str, *, by: str = OVERALL, part: str = "") -> Measure:
        """One measure of the table.

        Raises:
            InputError: the table has no such row.
        """
        for entry in self.entries:
            if (entry.measure.name, entry.by, entry.part) == (name, by, part):
                return entry.measure
        known = sorted({entry.measure.name for entry in self.entries})
        raise InputError(f"the table has no row {name!r} for {by} {part}".rstrip() + f"; its measures are {known}")

    def __str__(self) -> str:
        flags = f"flag rule: {self.threshold}" if self.threshold else f"no detection: {self.unavailable}"
        overall = [str(entry.measure) for entry in self.entries if entry.by == OVERALL]
        return "\n".join([*overall, str(self.compression), flags])


def measure_table(
    scored: ScoredExamples,
    *,
    threshold: Threshold | None = None,
    cap: float | None = 0.10,
    weights: Mapping[str, float] = SEVERITY_WEIGHTS,
    level: float = 0.95,
) -> MeasureTable:
    """The whole measure table of one candidate on one split.

    The threshold is the same in every row: a threshold swept for each part would hold each part to another rule. Parts
    by kind, trace and severity are compared with all clean documents, parts by stratum and cohort with their own (those
    of the same groups, where clean documents have no cohort); trace is of omissions alone.

    Args:
        scored: documents of one candidate.
        threshold: a flag rule fixed beforehand; None sweeps one.
        cap: false-alarm rate of the sweep, which a threshold makes needless; None, without one, leaves detection out,
            as for a judge that only says yes or no.
        weights: of severities, above 0.
        level: in (0, 1), of the intervals.

    Raises:
        InputError: an option is outside its range.
    """
    check_level(level)
    swept, unavailable = None, ""
    if threshold is None:
        if cap is None:
            unavailable = "no rule was given, and none was to be swept"
        elif len(scored.replicates) % 2 == 0:
            unavailable = (
                f"{len(scored.replicates)} replicates have no strict majority on a document that half of them flag; "
                "run an odd number"
            )
        else:
            swept = sweep(scored, cap=cap)
            unavailable = swept.reason
            threshold = None if swept.reason else Threshold(swept.threshold, cap=cap)
    entries = [
        MeasureRow(by, part, measure)
        for by, part, rows in _parts(scored)
        for measure in _measures(scored if by == OVERALL else scored.where(rows), threshold, weights, level)
    ]
    return MeasureTable(tuple(entries), threshold, swept, compression(scored, level=level), level, unavailable)


def _parts(scored: ScoredExamples) -> Iterator[tuple[str, str, Bools]]:
    """The parts of the table: by which attribute, which value, and the documents that its measures look at."""
    yield OVERALL, "", np.ones(len(scored), dtype=np.bool_)
    for key in BREAKDOWNS:
        attribute = scored.attributes[key]
        of = scored.attributes["label"].equal_to("omission") if key == "trace" else scored.flawed
        present = np.bincount(attribute.codes[of], minlength=len(attribute.names)) > 0
        names = [name for name, found in zip(attribute.names, present, strict=True) if found]
        if names == [UNKNOWN]:
            continue
        for name in names:
            rows = attribute.equal_to(name)
            yield key, name, (rows & of) | (_clean_of(scored, attribute, rows) if key in OWN_CLEAN else scored.clean)


def _ends(interval: Interval) -> str:
    """An interval in the width of a column."""
    if interval.defined:
        return f"{interval.low:.3f} to {interval.high:.3f}"
    return {ONE_GROUP: "none: one group", NO_VARIATION: "none: groups agree"}.get(interval.reason, "none")


def _clean_of(scored: ScoredExamples, attribute: Attribute, rows: Bools) -> Bools:
    """Clean documents of a part: those with its value, or those of its groups where no clean document has a value."""
    if (attribute.equal_to(UNKNOWN) | scored.flawed).all():
        groups = np.bincount(scored.groups.codes[rows & scored.flawed], minlength=len(scored.groups.names)) > 0
        return scored.clean & groups[scored.groups.codes]
    return scored.clean & rows


def _measures(
    scored: ScoredExamples, threshold: Threshold | None, weights: Mapping[str, float], level: float
) -> Iterator[Measure]:
    yield discrimination_measure(scored, level=level)
    yield auc(scored, level=level)
    if threshold is not None:
        yield detection(scored, threshold=threshold, level=level)
        yield false_alarms(scored, threshold=threshold, level=level)
        yield severity_weighted_detection(scored, threshold=threshold, weights=weights, level=level)
    yield pair_coverage(scored, level=level)
