"""The published accept figures, recomputed from the scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from experiments.reproduce.figures import Figure, Range, compare_exactly, undetermined
from experiments.reproduce.printed import Record
from experiments.reproduce.results import (
    TARGETS,
    Documents,
    Results,
    arm_figures,
    confirm_figure,
    difference_figures,
    p_figures,
    z_figure,
)
from experiments.reproduce.scores import FILE, AcceptScores
from lineage.errors import InputError
from optimize.objectives import DetectionAtFa, compare, detection_at_fa, paired_discrimination

CAP: Final = 0.10
"""The cap on false alarms of det10 and fa10."""
BOOTSTRAP_REACH: Final = 0.01
"""How far the ends of two bootstrap intervals may lie apart."""
FROM_SCORES: Final = "from the accept scores"


@dataclass(frozen=True, slots=True)
class Resampling:
    """How bootstrap intervals are drawn."""

    resamples: int = 20_000
    seed: int = 0


def detection(scores: AcceptScores) -> DetectionAtFa:
    """Detection of omissions at a false-alarm rate of at most 0.10."""
    return detection_at_fa([pair.score for pair in scores.omissions], list(scores.clean.values()), cap=CAP)


def accept_figures(results: Results, scores: Mapping[str, AcceptScores], resampling: Resampling) -> Iterator[Figure]:
    """The accept figures of both targets.

    Raises:
        InputError: a baseline has no scores, or a key is missing.
    """
    for target, baseline in TARGETS.items():
        place = results.record[target]["accept"]
        if baseline not in scores:
            raise InputError(f"{FILE}: column {baseline!r}, the baseline of {target}, is missing; copy the file again")
        ours = scores[baseline]
        if "n_omissions" in place:
            yield from _sizes(place, ours)
        yield from _arm(results, place["baseline"], ours)
        name = place["winner"]["name"].text
        if name in scores:
            yield from _arm(results, place["winner"], scores[name])
            yield from _difference(results, place, scores[name], ours, resampling)
        else:
            yield from arm_figures(results, place["winner"], "accept")
            yield from difference_figures(results, place, "accept")
        yield from confirm_figure(place, results)


def _sizes(place: Record, scores: AcceptScores) -> Iterator[Figure]:
    for key, count in (
        ("n_omissions", len(scores.omissions)),
        ("n_clean", len(scores.clean)),
        ("n_consultations", len(scores.clean)),
    ):
        yield compare_exactly(place[key], count, f"rows of {FILE}")


def _arm(results: Results, arm: Record, scores: AcceptScores) -> Iterator[Figure]:
    paired, flags = paired_discrimination(scores.omissions), detection(scores)
    for key, count in (("wins", paired.wins), ("ties", paired.ties), ("losses", paired.losses)):
        yield compare_exactly(arm[key], count, FROM_SCORES)
    exact = {
        "paired": (paired.value, "paired discrimination on omissions, " + FROM_SCORES),
        "det10": (flags.detection, f"{flags}"),
        "fa10": (flags.false_alarm, f"{flags}"),
        "threshold": (flags.threshold, "the most sensitive threshold under the cap, of omissions against clean notes"),
    }
    for key, (value, how) in exact.items():
        if key in arm or key != "threshold":
            yield results.compare(arm[key], Range.exact(value), how)
    interval = flags.detection_interval
    if "wilson95" in arm:
        yield results.compare(
            arm["wilson95"],
            [Range.exact(interval.low), Range.exact(interval.high)],
            f"Wilson interval of {flags.detected} of {flags.n_flawed}",
        )
    if "det_vs_fa_z" in arm:
        sizes = Documents(flags.n_flawed, flags.n_clean)
        yield z_figure(results, arm["det_vs_fa_z"], flags.detected, flags.false_alarms, sizes)


def _difference(
    results: Results, place: Record, winner: AcceptScores, baseline: AcceptScores, resampling: Resampling
) -> Iterator[Figure]:
    found = compare(
        winner.omissions,
        baseline.omissions,
        bootstrap_resamples=resampling.resamples,
        rng=np.random.default_rng(resampling.seed),
    )
    yield results.compare(place["delta_paired"], Range.exact(found.difference.value), FROM_SCORES)
    signs, flags = place["sign_test"], place["mcnemar_flags"]
    yield compare_exactly(signs["wins"], found.wins, FROM_SCORES)
    yield compare_exactly(signs["losses"], found.losses, FROM_SCORES)
    ours, theirs = _flags(winner), _flags(baseline)
    yield compare_exactly(flags["winner_only"], len(ours - theirs), FROM_SCORES)
    yield compare_exactly(flags["baseline_only"], len(theirs - ours), FROM_SCORES)
    yield from p_figures(results, place)
    ends, interval = place["cluster_bootstrap95"], found.bootstrap
    how = f"percentile bootstrap by consultation, {resampling.resamples:,} resamples; within {BOOTSTRAP_REACH:g}"
    if interval is None or not interval.defined:
        yield undetermined(ends, "the arms do not vary between consultations")
        return
    found_ends = [Range.exact(interval.low), Range.exact(interval.high)]
    yield results.compare(ends, found_ends, how, reach=BOOTSTRAP_REACH)


def _flags(scores: AcceptScores) -> set[str]:
    """Omissions below the candidate's own threshold."""
    threshold = detection(scores).threshold
    return {pair.example for pair in scores.omissions if pair.score < threshold}
