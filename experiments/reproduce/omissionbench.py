"""The published records of OmissionBench, recomputed: every figure that the data determine, and those they do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.reproduce.accept import Resampling, accept_figures
from experiments.reproduce.decisions import RuleReading, correction_figure, emitted_figures, rule_readings
from experiments.reproduce.figures import Figure, undetermined
from experiments.reproduce.results import Results, heldout_figures, read_results
from experiments.reproduce.scores import read_scores
from experiments.reproduce.statistics import statistics_figures
from experiments.reproduce.trajectory import commission_figures, trajectory_figures


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Published figures beside ours, and the rules of the gate on the published numbers.

    Attributes:
        figures: in the order of the files; every number of the published results is among them.
        readings: rules of the gate on the published held-out numbers.
    """

    figures: tuple[Figure, ...]
    readings: tuple[RuleReading, ...]

    @property
    def differing(self) -> tuple[Figure, ...]:
        """Figures that the data determine and that are not as printed."""
        return tuple(figure for figure in self.figures if figure.status == "differs")

    @property
    def counts(self) -> Counter[str]:
        """Figures by status."""
        return Counter(figure.status for figure in self.figures)

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "figures": [figure.row() for figure in self.figures],
            "rules_on_published_numbers": [reading.row() for reading in self.readings],
            "counts": {status: self.counts[status] for status in ("match", "differs", "not determined")},
            "reproduced": not self.differing,
        }


def reproduce_omissionbench(directory: Path, *, resampling: Resampling | None = None) -> Reproduction:
    """Recompute the published figures from the scores and counts in a directory.

    Args:
        directory: holds the published results, statistics, accept scores and trajectory.
        resampling: of the bootstrap interval on accept.

    Raises:
        InputError: a file, a key or a row is missing or is not what it should be; names it.
    """
    results, scores = read_results(directory), read_scores(directory)
    readings = rule_readings(results)
    figures = [
        *accept_figures(results, scores, resampling or Resampling()),
        *heldout_figures(results),
        *emitted_figures(results, readings),
    ]
    figures += [
        *_not_looked_at(results, figures),
        *trajectory_figures(directory, results, scores),
        *commission_figures(directory, scores, results),
        *statistics_figures(directory),
        correction_figure(),
    ]
    return Reproduction(tuple(figures), tuple(readings))


def _not_looked_at(results: Results, figures: Sequence[Figure]) -> list[Figure]:
    """Numbers of the published results that nothing above speaks of, so that none is left out in silence."""
    known = {figure.key for figure in figures}
    return [
        undetermined(leaf, "nothing here recomputes a figure of this name")
        for leaf in results.record.leaves()
        if leaf.key not in known
    ]
