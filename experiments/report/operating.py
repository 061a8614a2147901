"""Operating points: what is flagged of flawed and of clean documents, at the threshold used and at all others."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from experiments.report.arms import Arm
from experiments.report.blocks import Block, Paragraph, Picture, Pictures, Section, Table
from experiments.report.charts import Operating, plane_picture
from experiments.report.data import ReportData
from experiments.report.wording import flags_label, sides
from optimize.objectives import ScoredExamples, scored_evaluation
from optimize.stats import Interval, wilson
from optimize.stats.groups import Floats

CURVE_NOTE = (
    "A document is flagged if its score is below the threshold; with several replicates, if a strict majority of them "
    "is. Each judge's threshold was set on accept and then fixed. Points on the diagonal flag flawed and clean "
    "documents alike, which takes no judge. A document without a score in any replicate is in neither count. Wilson "
    "intervals, 95%, take documents as independent."
)


def operating_section(data: ReportData) -> Section:
    """Detection against false alarms on accept and on held-out data."""
    pictures = []
    for split, arms in sides(data):
        judged = [(name, arm) for name, arm in arms if any(_rates(arm))]
        if judged:
            pictures.append(_picture(split, judged, flags_label(data)))
    parts: list[Block] = [Paragraph(CURVE_NOTE)]
    if not pictures:
        parts.append(Paragraph("No picture: there is no scored flawed or no scored clean document."))
    else:
        parts.append(Pictures(tuple(pictures)))
    return Section("operating", "Operating points", tuple(parts))


def _picture(split: str, judged: Sequence[tuple[str, Arm]], alarms: str) -> Picture:
    points = [operating(name, scored_evaluation(arm.evaluation), threshold=arm.threshold) for name, arm in judged]
    title = f"Detection against false alarms, {split}"
    rows = tuple(
        (name, "no threshold" if arm.threshold is None else f"{arm.threshold:g}", *_cells(arm)) for name, arm in judged
    )
    table = Table(
        f"{title}: documents flagged, with 95% Wilson intervals.",
        ("Judge", "Flag below", "Flawed documents flagged", alarms),
        rows,
    )
    desc = f"Flag rate on flawed documents against that on clean ones, {split}."
    return plane_picture(title, desc, points, key=f"operating-{split}", table=table)


def _cells(arm: Arm) -> tuple[str, str]:
    return rate_words(arm.detected.flagged, arm.detected.of), rate_words(arm.false_alarms.flagged, arm.false_alarms.of)


def rate_words(flagged: int, of: int) -> str:
    """A rate with its counts and its Wilson interval."""
    if not of:
        return "none scored"
    found = wilson(flagged, of)
    return f"{flagged} of {of} ({flagged / of:.3f}) [{found.low:.3f}, {found.high:.3f}]"


def operating(name: str, scored: ScoredExamples, *, threshold: float | None) -> Operating:
    """A judge on the plane: every threshold, and the one that it uses.

    Args:
        name: of the judge.
        scored: its documents; one that lacks a score in any replicate is left out.
        threshold: flag a score below; None for a judge that has none, or whose rule is another one.
    """
    flawed, clean = deciding_scores(scored)
    if not len(flawed) or not len(clean):
        return Operating(name, (), None)
    thresholds = np.unique(np.concatenate([flawed, clean, [np.inf]]))
    found = np.searchsorted(np.sort(flawed), thresholds, side="left") / len(flawed)
    alarms = np.searchsorted(np.sort(clean), thresholds, side="left") / len(clean)
    curve = tuple(zip(alarms.tolist(), found.tolist(), strict=True))
    if threshold is None:
        return Operating(name, curve, None)
    hits, false = int((flawed < threshold).sum()), int((clean < threshold).sum())
    return Operating(
        name,
        curve,
        (false / len(clean), hits / len(flawed)),
        ends(wilson(false, len(clean))),
        ends(wilson(hits, len(flawed))),
    )


def deciding_scores(scored: ScoredExamples) -> tuple[Floats, Floats]:
    """The score that decides each document's majority flag, of flawed and of clean documents.

    A strict majority of n scores is below a threshold exactly if the one of rank n // 2, from 0, is.
    """
    whole = ~np.isnan(scored.scores).any(axis=1)
    decides = np.sort(scored.scores, axis=1)[:, scored.scores.shape[1] // 2]
    return decides[whole & scored.flawed], decides[whole & scored.clean]


def ends(interval: Interval) -> tuple[float, float]:
    """Ends of an interval, NaN where it is undefined."""
    return (interval.low, interval.high) if interval.defined else (math.nan, math.nan)


def _rates(arm: Arm) -> tuple[bool, bool]:
    return bool(arm.flawed), bool(arm.clean)
