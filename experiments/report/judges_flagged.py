"""What the judges of a judging run flag: their own rules and swept thresholds on a plane, and examples of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from experiments.report.blocks import Block, Folded, Paragraph, Picture, Table
from experiments.report.charts import Operating, plane_picture
from experiments.report.operating import ends, operating, rate_words
from optimize.judging.flags import CAP, Flagging, own_flagging, swept_flagging
from optimize.judging.table import Judged
from optimize.objectives import ScoredExamples
from optimize.stats import wilson

EXAMPLES: Final = 3
"""Examples of each case that are shown of a judge."""


def operating_pictures(
    judged: Mapping[str, Judged], scored: Mapping[str, ScoredExamples], *, together: int
) -> Iterator[Picture]:
    """Planes of detection against false alarms, so many judges on each: own rules, then swept thresholds."""
    for source, words in (("own", "own rules"), ("swept", "swept thresholds")):
        flagged = {name: _flagging(one, scored[name], source) for name, one in judged.items()}
        told = {name: found for name, found in flagged.items() if not found.reason}
        names = list(told)
        for start in range(0, len(names), together):
            part = names[start : start + together]
            points = [_point(name, judged[name], scored[name], told[name]) for name in part]
            more = f", {start // together + 1} of {-(-len(names) // together)}" if len(names) > together else ""
            title = f"Detection against false alarms, {words}{more}"
            table = Table(
                f"{title}: documents flagged, with 95% Wilson intervals.",
                ("Judge", "Flags where", "Flawed documents flagged", "Clean documents flagged"),
                tuple((name, told[name].rule, *_rates(scored[name], told[name])) for name in part),
            )
            desc = f"Flag rate on flawed documents against that on clean ones, at {words}."
            yield plane_picture(title, desc, points, key=f"operating-{source}-{start}", table=table, cap=CAP)


def _flagging(judged: Judged, scored: ScoredExamples, source: str) -> Flagging:
    judge = judged.judge
    if source == "own":
        return own_flagging(judged.evaluation, None if judge["rule"] is None else judge["rule"]["rule"])
    return swept_flagging(scored, swept=judge["swept"])


def _point(name: str, judged: Judged, scored: ScoredExamples, found: Flagging) -> Operating:
    """The curve of a judge that can be swept, and what it flags."""
    curve = operating(name, scored, threshold=None) if judged.judge["swept"] else Operating(name, (), None)
    hits, flawed, alarms, clean = _counts(scored, found)
    if not flawed or not clean:
        return curve
    return replace(
        curve,
        point=(alarms / clean, hits / flawed),
        false_alarm=ends(wilson(alarms, clean)),
        detection=ends(wilson(hits, flawed)),
    )


def _counts(scored: ScoredExamples, found: Flagging) -> tuple[int, int, int, int]:
    flawed, clean = scored.flawed & found.known, scored.clean & found.known
    return int(found.flags[flawed].sum()), int(flawed.sum()), int(found.flags[clean].sum()), int(clean.sum())


def _rates(scored: ScoredExamples, found: Flagging) -> tuple[str, str]:
    hits, flawed, alarms, clean = _counts(scored, found)
    return rate_words(hits, flawed), rate_words(alarms, clean)


def rejected_blocks(judged: Mapping[str, Judged]) -> Iterator[Block]:
    """Documents that each judge's own rule flags and lets pass, and judgements without a score by reason."""
    for name, one in judged.items():
        rule = None if one.judge["rule"] is None else one.judge["rule"]["rule"]
        found = own_flagging(one.evaluation, rule)
        if found.reason:
            yield Paragraph(f"{name}: {found.reason}.")
        else:
            yield _examples(name, one, found)
    rows = []
    for name, one in judged.items():
        reasons = Counter((j.reason or "").partition(":")[0] for j in one.evaluation.unscored)
        total = len(one.evaluation.judgements)
        said = ", ".join(f"{count} {why}" for why, count in sorted(reasons.items())) or "none"
        rows.append((name, f"{total - sum(reasons.values())}", f"{total}", said))
    yield Table(
        "Judgements with a score, and why the others have none; none counts as 0.",
        ("Judge", "With a score", "Of", "Without a score"),
        tuple(rows),
    )


def _examples(name: str, one: Judged, found: Flagging) -> Folded:
    examples = one.evaluation.examples
    flags = np.where(found.known, found.flags, -1.0)
    rows: list[tuple[str, ...]] = []
    told = []
    for words, flawed, flag in (
        ("flawed, flagged", True, 1.0),
        ("flawed, let pass", True, 0.0),
        ("clean, flagged", False, 1.0),
    ):
        kept = [
            e
            for e, value in zip(examples, flags.tolist(), strict=True)
            if (e.label != "clean") == flawed and value == flag
        ]
        told.append(f"{len(kept)} {words}")
        rows += [
            (words, e.id, e.label, e.trace or "none or unknown", e.severity or "none or unknown")
            for e in kept[:EXAMPLES]
        ]
    summary = f"{name}: {'; '.join(told)}; of {int(found.known.sum())} decided, where {found.rule}"
    caption = f"{name}: the first {EXAMPLES} documents of each case by its own rule, {found.rule}."
    return Folded(summary, (Table(caption, ("Case", "Document", "Label", "Trace", "Severity"), tuple(rows)),))
