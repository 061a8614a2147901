"""A pilot: how two prompts differ, or one from itself, in what a run has recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from lineage.errors import CampaignError, InputError
from optimize.evaluation import Evaluation
from optimize.power.discordance import CORRELATION, Discordance
from optimize.recompute import RecordedRun
from optimize.replicates import judged, recorded_evaluation, seed_of

Differences = tuple[np.ndarray[Any, np.dtype[np.float64]], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Pilot:
    """The discordance that a run shows, and what it rests on.

    Attributes:
        discordance: as measured; its ``noise`` is 0 where the run has no replicates to measure it by.
        candidates: candidates compared with the baseline on accept; 0 where only replicates were compared.
        replicates: most replicates of the baseline on one split.
        pairs: omission pairs compared, in all comparisons.
        student: the student's part of the run's plan.
        warnings: what the numbers cannot mean.
    """

    discordance: Discordance
    candidates: int
    replicates: int
    pairs: int
    student: Mapping[str, Any]
    warnings: tuple[str, ...]


def read_pilot(run: RecordedRun) -> Pilot:
    """The discordance in a recorded run, which may be a search or a measurement of the noise.

    Candidates of the search against the baseline on accept show how two prompts differ. Replicates of the baseline, on
    accept or on held-out groups, show the noise of judging: alone they give a floor, beside candidates the share of the
    variance that replicates reduce.

    Raises:
        CampaignError: the run has neither another candidate on accept nor replicates, or no pair differs in them.
    """
    seed = seed_of(run)
    apart = list(_between_candidates(run, seed))
    against = list(_between_replicates(run, seed))
    most = max((len(evaluation.replicates) for evaluation in _of_seed(run, seed)), default=0)
    where = run.directory.name
    if not apart and not against:
        raise CampaignError(
            f"{run.directory} is no pilot: it has neither an accepted candidate on accept nor replicates of its "
            "baseline; measure them with holdgate noise, or state a discordance with --discordance"
        )
    warnings = []
    if apart:
        source = f"{len(apart)} candidates against the baseline on accept, in {where}"
        found = discordance_of(apart, source=source)
        if against:
            found = replace(found, noise=min(_variance(against) / _variance(apart), 1.0))
    else:
        source = f"{most} replicates of the baseline, in {where}"
        found = replace(discordance_of(against, source=source), noise=1.0)
        warnings.append(
            "replicates show the noise of judging alone: two prompts differ by more, so these effects are a floor"
        )
    pairs = sum(len(values) for values, _ in apart or against)
    if pairs < 100:
        warnings.append(f"the pilot has {pairs} pairs: its share of pairs that differ is rough, and so are the effects")
    return Pilot(found, len(apart), most, pairs, dict(run.plan["student"]), tuple(warnings))


def discordance_of(comparisons: Sequence[Differences], *, source: str = "measured") -> Discordance:
    """The discordance of some comparisons, each by its pairs' differences and their groups.

    The correlation is a moment estimate about each comparison's own mean, cut to [0, 1]; where no group has two pairs
    it is the default.

    Raises:
        CampaignError: no pair differs.
    """
    values = np.concatenate([differences for differences, _ in comparisons])
    if not values.any():
        raise CampaignError(
            f"no pair differs in {source}: there is no variance to plan with; name a run with another candidate on "
            "accept, or state a discordance with --discordance"
        )
    differing = np.abs(values[values != 0.0])
    within, shared, couples = 0.0, 0.0, 0
    for differences, groups in comparisons:
        rest = differences - differences.mean()
        _, codes = np.unique(np.asarray(groups), return_inverse=True)
        sums, sizes = np.bincount(codes, weights=rest), np.bincount(codes)
        within += float(np.square(rest).sum())
        shared += float(np.square(sums).sum() - np.square(rest).sum())
        couples += int((sizes * (sizes - 1)).sum())
    correlation = CORRELATION
    if couples and within > 0.0:
        correlation = min(max(shared / couples / (within / len(values)), 0.0), 1.0)
    return Discordance(len(differing) / len(values), float(np.mean(differing > 0.75)), correlation, source=source)


def _between_candidates(run: RecordedRun, seed: str) -> Iterator[Differences]:
    names = judged(run, "accept")
    if seed not in names:
        return
    baseline = recorded_evaluation(run, split="accept", candidate=seed)
    for name in names:
        if name != seed:
            yield _differences(recorded_evaluation(run, split="accept", candidate=name), baseline)


def _between_replicates(run: RecordedRun, seed: str) -> Iterator[Differences]:
    for evaluation in _of_seed(run, seed):
        for first, second in combinations(evaluation.replicates, 2):
            yield _differences(evaluation, evaluation, replicates=(first, second))


def _of_seed(run: RecordedRun, seed: str) -> Iterator[Evaluation]:
    """What the run recorded of its baseline, by split; held-out only where the run is finished."""
    for split in ("reflect", "accept", *(["heldout"] if run.all("finished") else [])):
        if seed in judged(run, split):
            yield recorded_evaluation(run, split=split, candidate=seed)


def _differences(ours: Evaluation, theirs: Evaluation, *, replicates: tuple[int, int] = (0, 0)) -> Differences:
    one, other = (
        {pair.example: pair for pair in evaluation.pairs("omission") if pair.replicate == replicate}
        for evaluation, replicate in zip((ours, theirs), replicates, strict=True)
    )
    common = sorted(one.keys() & other.keys())
    if not common:
        raise InputError("no omission pair has a score on both sides of a comparison of the pilot")
    return (
        np.array([one[name].credit - other[name].credit for name in common]),
        tuple(one[name].group for name in common),
    )


def _variance(comparisons: Sequence[Differences]) -> float:
    values = [differences - differences.mean() for differences, _ in comparisons]
    return float(np.square(np.concatenate(values)).mean())
