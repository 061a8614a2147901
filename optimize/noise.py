"""The noise floor: how far one candidate differs from itself between replicates of the same evaluation.

A difference between two prompts that one prompt shows against itself is no difference. The floor is measured on the
pairs and documents that have a score in every replicate, so that no failure moves a measure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from optimize.choice import number
from optimize.evaluation import Evaluation
from optimize.objectives import ScoredExamples, detection_at_fa, flag_rates, scored_evaluation
from optimize.objectives.scored import Bools, Codes
from optimize.stats.groups import Floats

CAP: Final = 0.10
"""Most false alarms of the threshold at which detection is measured."""
ONE_REPLICATE: Final = "one replicate cannot differ from itself; measure at least two"
NO_COMMON_PAIR: Final = "no omission pair has a score in every replicate"
OMISSIONS: Final = "omissions"


@dataclass(frozen=True, slots=True)
class Spread:
    """One measure of one candidate in each replicate.

    With two or three replicates the SD rests on one or two degrees of freedom: it may be off by half or double.

    Attributes:
        values: the measure in each replicate, in order; NaN where it is undefined.
        n: pairs or documents behind each value.
    """

    values: tuple[float, ...]
    n: int

    @property
    def defined(self) -> bool:
        """Whether the measure has a value in every one of at least two replicates."""
        return len(self.values) > 1 and not any(math.isnan(value) for value in self.values)

    @property
    def spread(self) -> float:
        """Highest less lowest value; NaN where undefined."""
        return max(self.values) - min(self.values) if self.defined else math.nan

    @property
    def sd(self) -> float:
        """Standard deviation of the values over replicates, with R - 1; NaN where undefined."""
        if not self.defined:
            return math.nan
        # numpy's mean of equal values may differ from them in the last bit, which would be a noise of 1e-17.
        return float(np.std(self.values, ddof=1)) if self.spread else 0.0

    @property
    def difference_sd(self) -> float:
        """Root mean square of the differences between every two replicates; NaN where undefined.

        Their mean is 0 whichever is taken from which, so this is their standard deviation: sqrt(2) times `sd`.
        """
        return math.sqrt(2.0) * self.sd

    def row(self) -> dict[str, Any]:
        """The JSON form; what is undefined is None."""
        return {
            "values": [number(value) for value in self.values],
            "spread": number(self.spread),
            "sd": number(self.sd),
            "difference_sd": number(self.difference_sd),
            "n": self.n,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor:
    """How far a candidate differs from itself between replicates.

    It is the noise of judging alone. It says nothing of how much another draw of groups would differ, so a difference
    far beyond it may still be one of these groups only.

    Attributes:
        replicates: replicates measured.
        pairs: omission pairs scored in every replicate.
        flipped: those among them whose credit is not the same in all replicates.
        documents: documents scored in every replicate.
        unscored: judgements, of all documents in all replicates, that have no score.
        measures: paired discrimination on ``omissions`` and ``commissions``, ``detection`` at a false-alarm rate of at
            most 0.10 (threshold of each replicate), and ``false_alarms`` at the first replicate's threshold.
        by_group_sd: standard deviation of the difference between two replicates on omissions, from the groups rather
            than from the few values of the measure; NaN where undefined.
        tie_mass: share of omission pairs, times replicates, that are level; NaN where undefined.
        deterministic: whether every document has the same score, or none, in every replicate.
        reason: why the floor is undefined; empty where it is defined.
    """

    replicates: int
    pairs: int = 0
    flipped: int = 0
    documents: int = 0
    unscored: int = 0
    measures: Mapping[str, Spread] = field(default_factory=dict)
    by_group_sd: float = math.nan
    tie_mass: float = math.nan
    deterministic: bool = False
    reason: str = ""

    @property
    def defined(self) -> bool:
        """Whether there is a floor."""
        return not self.reason

    @property
    def flips(self) -> float:
        """Share of omission pairs whose credit is not the same in all replicates, in [0, 1]; NaN where undefined."""
        return self.flipped / self.pairs if self.defined else math.nan

    @property
    def spread(self) -> float:
        """Spread of paired discrimination on omissions; NaN where undefined."""
        return self.measures[OMISSIONS].spread if self.defined else math.nan

    @property
    def difference_sd(self) -> float:
        """SD of the pairwise replicate differences of paired discrimination on omissions; NaN where undefined."""
        return self.measures[OMISSIONS].difference_sd if self.defined else math.nan

    def multiple(self, difference: float) -> float:
        """A difference on omissions in units of `difference_sd`; NaN where there is no floor, or it is 0."""
        return difference / self.difference_sd if self.defined and self.difference_sd > 0.0 else math.nan

    def beside(self, difference: float) -> str:
        """A difference on omissions beside the floor, in words."""
        if not self.defined:
            return f"no noise floor: {self.reason}"
        if self.deterministic:
            return "replicates are identical: the noise of judging is 0"
        if self.difference_sd == 0.0:
            return f"{self.flipped} pairs flip between replicates, but the measure came out the same in each"
        return (
            f"{abs(self.multiple(difference)):.1f} times the noise floor "
            f"({100 * self.difference_sd:.1f} points, the SD of a difference between two replicates)"
        )

    @property
    def words(self) -> str:
        """What the floor is, in one sentence."""
        if not self.defined:
            return "not measured: one replicate" if self.reason == ONE_REPLICATE else f"not measured: {self.reason}"
        if self.deterministic:
            return "deterministic: replicates are identical"
        return (
            f"{self.flipped} of {self.pairs} pairs flip; over {self.replicates} replicates paired discrimination "
            f"spreads by {100 * self.spread:.1f} points, and the difference between two has an SD of "
            f"{100 * self.difference_sd:.1f} points"
        )

    def row(self) -> dict[str, Any]:
        """The JSON form; what is undefined is None, and an undefined floor has its words alone."""
        if not self.defined:
            return {"replicates": self.replicates, "words": self.words}
        return {
            "replicates": self.replicates,
            "pairs": self.pairs,
            "flipped": self.flipped,
            "flips": number(self.flips),
            "documents": self.documents,
            "unscored": self.unscored,
            "spread": number(self.spread),
            "difference_sd": number(self.difference_sd),
            "by_group_sd": number(self.by_group_sd),
            "tie_mass": number(self.tie_mass),
            "deterministic": self.deterministic,
            "measures": {name: spread.row() for name, spread in self.measures.items()},
            "words": self.words,
        }


def noise_floor(evaluation: Evaluation) -> NoiseFloor:
    """The noise floor of one candidate's evaluation in several replicates.

    Args:
        evaluation: of at least two replicates; one of fewer has an undefined floor, with the reason.
    """
    replicates, unscored = len(evaluation.replicates), len(evaluation.unscored)
    if replicates < 2:
        return NoiseFloor(replicates=replicates, unscored=unscored, reason=ONE_REPLICATE)
    scored = scored_evaluation(evaluation)
    omissions, rows = _credit(scored, "omission")
    if not len(omissions):
        return NoiseFloor(replicates=replicates, unscored=unscored, reason=NO_COMMON_PAIR)
    missing = np.isnan(scored.scores)
    same = (scored.scores == scored.scores[:, :1]) | (missing & missing[:, :1])
    return NoiseFloor(
        replicates=replicates,
        pairs=len(omissions),
        flipped=int((omissions != omissions[:, :1]).any(axis=1).sum()),
        documents=int((~missing.any(axis=1)).sum()),
        unscored=unscored,
        measures={
            OMISSIONS: _mean_credit(omissions),
            "commissions": _mean_credit(_credit(scored, "commission")[0]),
            **_flagging(scored),
        },
        by_group_sd=_by_group_sd(omissions, scored.groups.codes[rows]),
        tie_mass=float(np.mean(omissions == 0.5)),
        deterministic=bool(same.all()),
    )


def _credit(scored: ScoredExamples, label: str) -> tuple[Floats, Bools]:
    """Credit of each pair in every replicate, of the pairs that have a score in all of them, and which they are."""
    rows = scored.paired & scored.attributes["label"].equal_to(label) & ~np.isnan(scored.credit).any(axis=1)
    return scored.credit[rows], rows


def _mean_credit(credit: Floats) -> Spread:
    if not len(credit):
        return Spread((math.nan,) * credit.shape[1], 0)
    # Sums of halves are exact, whatever their order.
    return Spread(tuple(float(total) / len(credit) for total in credit.sum(axis=0)), len(credit))


def _flagging(scored: ScoredExamples) -> dict[str, Spread]:
    """Detection at each replicate's own threshold, and false alarms at that of the first, as a plan would fix it."""
    whole = ~np.isnan(scored.scores).any(axis=1)
    flawed, clean = scored.scores[whole & scored.flawed], scored.scores[whole & scored.clean]
    assert min(len(flawed), len(clean)) > 0, "a pair that is scored in every replicate is of both"
    swept = [detection_at_fa(*columns, cap=CAP) for columns in zip(flawed.T, clean.T, strict=True)]
    fixed = [flag_rates(*columns, swept[0].threshold) for columns in zip(flawed.T, clean.T, strict=True)]
    return {
        "detection": Spread(tuple(rates.detection for rates in swept), len(flawed)),
        "false_alarms": Spread(tuple(rates.false_alarm for rates in fixed), len(clean)),
    }


def _by_group_sd(credit: Floats, codes: Codes) -> float:
    """SD of the difference between two replicates, from group sums of the differences over every two replicates.

    Under noise alone the differences have mean 0, so none is estimated, and every group counts as one observation.
    """
    sums = np.stack([np.bincount(codes, weights=column) for column in credit.T])
    first, second = np.triu_indices(len(sums), k=1)
    return math.sqrt(np.square(sums[first] - sums[second]).sum(axis=1).mean()) / len(credit)
