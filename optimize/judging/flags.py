"""What a judge flags: by its own rule, as it was recorded, or by the threshold swept over its scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from lineage.errors import InputError
from optimize.evaluation import Evaluation
from optimize.objectives import Measure, ScoredExamples, sweep
from optimize.objectives.measures import Direction, ratio_measure
from optimize.objectives.scored import Bools
from optimize.stats import majority_flags
from optimize.stats.groups import Floats

CAP: Final = 0.10
"""Most false alarms of the swept threshold."""
NO_RULE: Final = "no rule of its own"
NOT_SWEPT: Final = "a verdict of yes or no is not swept"
NOTHING_SCORED: Final = "nothing has a score"

Source = Literal["own", "swept"]


@dataclass(frozen=True, eq=False)
class Flagging:
    """Which documents a judge flags, by a strict majority of its replicates.

    Attributes:
        rule: in words; empty where there is no rule.
        source: the judge's own rule, fixed in its design, or a threshold swept on these documents, which is optimistic.
        flags: shape (n,), 1 or 0 in the order of the examples; NaN where the judgements do not decide.
        reason: why nothing is decided; empty where something is.
    """

    rule: str
    source: Source
    flags: Floats
    reason: str = ""

    @property
    def known(self) -> Bools:
        """Which documents are decided."""
        return np.asarray(~np.isnan(self.flags))


def own_flagging(evaluation: Evaluation, rule: str | None) -> Flagging:
    """What a judge's own rule flagged, from the recorded flags; without a rule no document is flagged or passed."""
    row_of = {example.id: row for row, example in enumerate(evaluation.examples)}
    column_of = {replicate: column for column, replicate in enumerate(evaluation.replicates)}
    votes = np.full((len(row_of), max(len(column_of), 1)), np.nan)
    if rule is None:
        return Flagging("", "own", votes[:, 0], NO_RULE)
    for judgement in evaluation.judgements:
        if judgement.score is not None:
            votes[row_of[judgement.example], column_of[judgement.replicate]] = float(bool(judgement.flags))
    return Flagging(rule, "own", majority_flags(votes))


def swept_flagging(scored: ScoredExamples, *, swept: bool, cap: float = CAP) -> Flagging:
    """What the most sensitive threshold flags whose false-alarm rate on these documents is at most ``cap``.

    Args:
        scored: documents of one judge.
        swept: whether sweeping makes sense for its design.
        cap: as in `sweep`.
    """
    nothing = np.full(len(scored), np.nan)
    if not swept:
        return Flagging("", "swept", nothing, NOT_SWEPT)
    if np.isnan(scored.scores).all():
        return Flagging("", "swept", nothing, NOTHING_SCORED)
    try:
        found = sweep(scored, cap=cap)
    except InputError as error:
        return Flagging("", "swept", nothing, str(error))
    if found.reason:
        return Flagging("", "swept", nothing, found.reason)
    middle = scored.middle
    flags = np.where(np.isnan(middle), np.nan, (middle < found.threshold).astype(np.float64))
    return Flagging(f"score < {found.threshold:g}", "swept", flags)


def flag_rate(scored: ScoredExamples, flagging: Flagging, rows: Bools, *, level: float) -> Measure:
    """Share of some documents that are flagged, in [0, 1]; all flawed ones or all clean ones for a rate with a name."""
    clean = bool(rows.any()) and not (rows & scored.flawed).any()
    direction: Direction = "lower is better" if clean else "higher is better"
    kept = rows & flagging.known
    flagged, n = int(flagging.flags[kept].sum()), int(kept.sum())
    return ratio_measure(
        "false alarms" if clean else "detection",
        flagging.rule,
        flagging.flags[kept],
        scored.groups.codes[kept],
        level=level,
        counted=(("flagged", flagged),),
        unit="documents",
        n_failed=int(rows.sum()) - n,
        reason="" if n else flagging.reason or ("no document has a flag" if rows.any() else "there is no document"),
        direction=direction,
        successes=flagged,
    )


def flag_row(
    scored: ScoredExamples, flagging: Flagging, measure_row: Callable[[Measure], dict[str, Any]], *, level: float
) -> dict[str, Any]:
    """Detection, of all flaws and by label, and false alarms, as JSON; the reason alone where nothing is flagged."""
    if flagging.reason:
        return {"rule": "", "reason": flagging.reason}
    label = scored.attributes["label"]

    def rate(rows: Bools) -> dict[str, Any]:
        return measure_row(flag_rate(scored, flagging, rows, level=level))

    return {
        "rule": flagging.rule,
        "reason": flagging.reason,
        "detection": rate(scored.flawed),
        "by_label": {name: rate(label.equal_to(name)) for name in ("omission", "commission")},
        "false_alarms": rate(scored.clean),
    }
