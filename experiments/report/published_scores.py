"""What the published numbers of an imported lineage show: optimism, and what its scores give measured here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from experiments.report.blocks import Block, Paragraph, Pictures, Table
from experiments.report.charts import Dot, DotRow, dots_picture, plane_picture
from experiments.report.compression import compression_blocks
from experiments.report.operating import operating, rate_words
from experiments.report.parts import parts_blocks
from experiments.report.pictures import distribution_picture
from experiments.report.published import Target
from experiments.report.selection import DRAWN
from experiments.report.wording import measure
from optimize.judging.table import measure_row
from optimize.objectives import ScoredExamples, discrimination_measure, sweep

_MOST: Final = 4
"""Candidates whose scores are drawn beside each other."""


def optimism_blocks(target: Target, number: int) -> Iterator[Block]:
    """Published accept against published held-out numbers, by candidate."""
    held = target.comparisons.get("heldout", {}).get("figures", {})
    opened = {target.id_of(arm): held.get(arm, {}).get("paired") for arm in ("baseline", "winner")}
    rows = []
    ranked = [one for one in target.proposals if one.standing is not None and one.standing["paired"] is not None]
    ranked.sort(key=lambda one: -float((one.standing or {})["paired"]))
    kept = ranked[:DRAWN]
    for proposal in kept:
        scored = target.scores.get(proposal.name)
        row = {"value": (proposal.standing or {})["paired"], "low": None, "high": None, "pairs": None, "failed": 0}
        if scored is not None:
            row = _measured(scored)
        rows.append((proposal, row, opened.get(proposal.candidate)))
    if not rows:
        yield Paragraph("Not published: no candidate has paired discrimination on accept.")
        return
    winner = target.id_of("winner")
    said = (
        "Only the baseline and the winner were opened on held-out data, and no interval of one arm is published there. "
        if held
        else "Nothing of held-out data is published. "
    )
    said += "Intervals on accept are by group, from published scores, and there where a candidate has them."
    title = f"Accept against held-out data, {target.name}"
    drawn = [
        DotRow(
            one.name + ("\N{BLACK STAR}" if one.candidate == winner else ""),
            (Dot.of(row), None if theirs is None else Dot(theirs)),
        )
        for one, row, theirs in rows
    ]
    table = Table(
        f"{title}: paired discrimination on omissions, {len(kept)} of {len(ranked)} candidates. {said}",
        ("Candidate", "Accept", "Held-out"),
        tuple(
            (
                one.name,
                f"{row['value']:.4f}" if row["pairs"] is None else measure(row),
                "not opened there" if theirs is None else f"{theirs:.4f}",
            )
            for one, row, theirs in rows
        ),
    )
    desc = f"Paired discrimination on omissions, one candidate a row; a star marks the winner. {said}"
    yield Paragraph(said)
    key = f"published-optimism-{number}"
    yield Pictures((dots_picture(title, desc, drawn, series=("accept", "held-out"), key=key, table=table),))


def _measured(scored: ScoredExamples) -> dict[str, Any]:
    row = measure_row(discrimination_measure(scored.where(scored.attributes["label"].equal_to("omission"))))
    return {**row, "pairs": row["n"]}


def score_blocks(target: Target, number: int) -> Iterator[Block]:
    """What the published scores of single documents give, beside what was printed of them."""
    if not target.scores:
        yield Paragraph(
            "Not published: no candidate has scores of single documents, so that operating points, discrimination by "
            "trace and severity, score distributions and score compression cannot be shown."
        )
        return
    scores = dict(list(target.scores.items())[:_MOST])
    yield Paragraph(
        "Computed here from the published accept scores, which are optimistic for whichever candidate was chosen by "
        "them. Flagged are omissions and clean documents, at the threshold swept on these."
    )
    yield _recomputed(target, scores)
    points, thresholds, rows = [], {}, []
    for name, scored in scores.items():
        scored = scored.where(scored.attributes["label"].equal_to("omission") | scored.clean)
        found = sweep(scored)
        thresholds[name] = None if found.reason else found.threshold
        points.append(operating(name, scored, threshold=thresholds[name]))
        hits = round(found.detection * found.n_flawed) if not found.reason else 0
        alarms = round(found.false_alarm * found.n_clean) if not found.reason else 0
        rows.append(
            (
                name,
                found.reason or f"{found.threshold:g}",
                rate_words(hits, found.n_flawed),
                rate_words(alarms, found.n_clean),
            )
        )
    title = f"Detection against false alarms on accept, {target.name}"
    table = Table(
        f"{title}: documents flagged, with 95% Wilson intervals.",
        ("Candidate", "Flag below", "Omissions flagged", "Clean documents flagged"),
        tuple(rows),
    )
    desc = "Flag rate on omissions against that on clean documents, on accept."
    pictures = [plane_picture(title, desc, points, key=f"published-plane-{number}", table=table)]
    for place, (name, scored) in enumerate(scores.items()):
        values = scored.scores[:, 0]
        known = ~np.isnan(values)
        pictures.append(
            distribution_picture(
                f"Scores of {name}, accept",
                values[known & scored.clean].tolist(),
                values[known & scored.flawed].tolist(),
                scale=target.scale[name],
                key=f"published-scores-{number}-{place}",
                threshold=thresholds[name],
            )
        )
    yield Pictures(tuple(pictures))
    yield from parts_blocks(scores, "accept", key=f"-{number}")
    yield from compression_blocks(scores, key=f"-{number}")


def _recomputed(target: Target, scores: Mapping[str, ScoredExamples]) -> Table:
    """Paired discrimination from the scores beside the published one."""
    by_name = {proposal.name: proposal for proposal in target.proposals}
    rows = []
    for name, scored in scores.items():
        row, standing = _measured(scored), by_name[name].standing or {}
        commissions = measure_row(
            discrimination_measure(scored.where(scored.attributes["label"].equal_to("commission")))
        )
        printed = standing.get("paired")
        rows.append(
            (
                name,
                "not published" if printed is None else f"{printed:.4f}",
                measure(row),
                f"{row.get('wins', 0)} rightly, {row.get('ties', 0)} level, {row.get('losses', 0)} wrongly",
                measure({**commissions, "pairs": commissions["n"]}),
            )
        )
    return Table(
        "Paired discrimination on accept: published, and computed from published scores with 95% intervals by group.",
        ("Candidate", "Omissions, published", "Omissions, computed", "Pairs ordered", "Commissions, computed"),
        tuple(rows),
    )
