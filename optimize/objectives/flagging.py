"""Measures of which scored examples are flagged: detection, false alarms, severity-weighted detection, the sweep.

With replicates a document is flagged by a strict majority of them, so their number must be odd.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from lineage.errors import InputError
from optimize.objectives.measures import Direction, Measure, Resampling, ratio_measure
from optimize.objectives.scored import UNKNOWN, Bools, ScoredExamples
from optimize.stats.detection import NO_FLAWED, DetectionAtFa, detection_at_fa
from optimize.stats.group_statistics import detection_statistic
from optimize.stats.groups import Floats, group_codes
from optimize.stats.majority import majority_flags
from optimize.stats.resampling import GroupStatistic

NO_CLEAN_DOCUMENT: Final = "there is no clean document"
NO_SCORED_FLAWED: Final = "no flawed document has the scores that decide its flag"
NO_SCORED_CLEAN: Final = "no clean document has the scores that decide its flag"
NO_SEVERITY: Final = "no flawed document of known severity has the scores that decide its flag"

SEVERITY_WEIGHTS: Final[Mapping[str, float]] = {"critical": 4.0, "supporting": 2.0, "peripheral": 1.0}


@dataclass(frozen=True, slots=True)
class Threshold:
    """A rule that flags a document by its score.

    Attributes:
        limit: on the scale of the scores.
        inclusive: flag at the limit too, as in ``score <= 7``.
        cap: the false-alarm rate that a sweep over these documents kept to; None for a limit fixed beforehand, without
            which detection and false alarms are optimistic.
    """

    limit: float
    inclusive: bool = False
    cap: float | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.limit):
            raise InputError(f"limit must be finite, got {self.limit}")

    def flags(self, scores: Floats) -> Floats:
        """1 where a score is flagged, else 0; NaN where there is no score."""
        flagged = scores <= self.limit if self.inclusive else scores < self.limit
        return np.where(np.isnan(scores), np.nan, flagged.astype(np.float64))

    def __str__(self) -> str:
        rule = f"score {'<=' if self.inclusive else '<'} {self.limit:g}"
        return f"{rule}, {'fixed beforehand' if self.cap is None else f'swept for false alarms <= {self.cap:g}'}"


def sweep(scored: ScoredExamples, *, cap: float = 0.10) -> DetectionAtFa:
    """Detection at the most sensitive threshold whose false-alarm rate is at most ``cap``; see `detection_at_fa`.

    With replicates the sweep is over majority flags, on documents scored in every replicate.

    Raises:
        InputError: the number of replicates is even, or the cap is outside [0, 1].
    """
    values = scored.middle
    known = ~np.isnan(values)
    return detection_at_fa(values[known & scored.flawed], values[known & scored.clean], cap=cap)


def swept_threshold(scored: ScoredExamples, *, cap: float = 0.10) -> Threshold:
    """The threshold of `sweep`, as a rule.

    Raises:
        InputError: the number of replicates is even, or no threshold can be chosen.
    """
    found = sweep(scored, cap=cap)
    if found.reason:
        raise InputError(f"no threshold can be swept, because {found.reason}; give one that was fixed beforehand")
    return Threshold(found.threshold, cap=cap)


def detection(scored: ScoredExamples, *, threshold: Threshold, level: float = 0.95) -> Measure:
    """Share of flawed documents that are flagged, in [0, 1].

    It means nothing without the false-alarm rate at the same threshold. The linearised interval takes the threshold as
    given; where it was swept on these documents, `Measure.bootstrap` sweeps it anew in every resample.

    Raises:
        InputError: the number of replicates is even.
    """
    flags = _flags(scored, threshold)
    kept, clean = scored.flawed & ~np.isnan(flags), scored.clean & ~np.isnan(flags)
    resampling = None
    if (cap := threshold.cap) is not None and clean.any():
        # A resample sweeps over clean documents of all groups, those without a flawed document among them.
        middle, codes = scored.middle, scored.groups.codes
        names = group_codes(codes[kept | clean]).names

        def statistic() -> GroupStatistic:
            return detection_statistic(
                middle[kept],
                middle[clean],
                flawed_groups=np.searchsorted(names, codes[kept]),
                clean_groups=np.searchsorted(names, codes[clean]),
                n_groups=len(names),
                cap=cap,
            )

        resampling = Resampling(names, statistic)
    return _flag_rate(
        "detection",
        scored,
        flags,
        scored.flawed,
        threshold,
        level=level,
        unit="flawed documents",
        absent=(NO_FLAWED, NO_SCORED_FLAWED),
        direction="higher is better",
        resampling=resampling,
    )


def false_alarms(scored: ScoredExamples, *, threshold: Threshold, level: float = 0.95) -> Measure:
    """Share of clean documents that are flagged, in [0, 1]; a flag on a document not verified to be clean may be right.

    Raises:
        InputError: the number of replicates is even.
    """
    return _flag_rate(
        "false alarms",
        scored,
        _flags(scored, threshold),
        scored.clean,
        threshold,
        level=level,
        unit="clean documents",
        absent=(NO_CLEAN_DOCUMENT, NO_SCORED_CLEAN),
        direction="lower is better",
    )


def severity_weighted_detection(
    scored: ScoredExamples,
    *,
    threshold: Threshold,
    weights: Mapping[str, float] = SEVERITY_WEIGHTS,
    level: float = 0.95,
) -> Measure:
    """Detection in which a flaw counts by its severity, in [0, 1].

    The weights are a convention, not a cost: twice the weight does not mean twice the harm. Flaws of unknown severity
    are left out, counted.

    Args:
        scored: documents of one candidate.
        threshold: the flag rule.
        weights: above 0, by severity.
        level: in (0, 1), of the interval.

    Raises:
        InputError: the number of replicates is even, a weight is not above 0, or a severity has none.
    """
    for name, weight in weights.items():
        if not (math.isfinite(weight) and weight > 0.0):
            raise InputError(
                f"weights must be above 0, got {weight} for {name!r}; leave a severity out of the examples"
            )
    severity = scored.attributes["severity"]
    present = np.bincount(severity.codes[scored.flawed], minlength=len(severity.names)) > 0
    names = [name for name, found in zip(severity.names, present, strict=True) if found]
    if unweighted := [name for name in names if name != UNKNOWN and name not in weights]:
        raise InputError(
            f"weights must name every severity, got none for {unweighted}; add it, in the unit of the others"
        )
    of_name = np.array([0.0 if name == UNKNOWN else weights.get(name, 0.0) for name in severity.names])
    flags = _flags(scored, threshold)
    worth = of_name[severity.codes] if len(of_name) else np.zeros(len(scored))
    rows = scored.flawed & (worth > 0.0)
    kept = rows & ~np.isnan(flags)
    left_out = int((scored.flawed & (worth == 0.0)).sum())
    return ratio_measure(
        "severity-weighted detection",
        f"weights {', '.join(f'{name} {weights[name]:g}' for name in weights)}; {threshold}",
        worth[kept] * flags[kept],
        scored.groups.codes[kept],
        denominators=worth[kept],
        level=level,
        counted=(("flagged", int(flags[kept].sum())),),
        unit="flawed documents",
        n_failed=int((rows & ~kept).sum()),
        reason="" if kept.any() else NO_SEVERITY,
        note=f"{left_out} of unknown severity left out" if left_out else "",
    )


def _flags(scored: ScoredExamples, threshold: Threshold) -> Floats:
    """Majority flag of each document, NaN where its scores do not decide it, or the sweep could not place it."""
    if threshold.cap is not None:
        return threshold.flags(scored.middle)
    return majority_flags(threshold.flags(scored.scores))


def _flag_rate(
    name: str,
    scored: ScoredExamples,
    flags: Floats,
    rows: Bools,
    threshold: Threshold,
    *,
    level: float,
    unit: str,
    absent: tuple[str, str],
    direction: Direction,
    resampling: Resampling | None = None,
) -> Measure:
    """The share of some documents that are flagged; ``absent`` says that there are none, and none with a flag."""
    kept = rows & ~np.isnan(flags)
    flagged, n = int(flags[kept].sum()), int(kept.sum())
    return ratio_measure(
        name,
        str(threshold),
        flags[kept],
        scored.groups.codes[kept],
        level=level,
        counted=(("flagged", flagged),),
        unit=unit,
        n_failed=int(rows.sum()) - n,
        reason="" if n else absent[int(rows.any())],
        direction=direction,
        successes=flagged,
        resampling=resampling,
    )
