"""Bootstrap intervals for arrays against those of the statistics, from the same draws of groups."""

from __future__ import annotations

import numpy as np
import pytest

from optimize.simulation.deciding import SimulatedDifferences
from optimize.simulation.resampling import bootstrap_intervals
from optimize.stats.bootstrap import bootstrap_both


@pytest.mark.parametrize("groups", [3, 10, 47])
def test_both_intervals_equal_those_of_the_statistics(groups: int) -> None:
    rng = np.random.default_rng(groups)
    sizes = rng.integers(1, 5, size=(25, groups))
    values = [rng.choice([-0.5, 0.0, 0.5, 1.0], p=[0.1, 0.7, 0.15, 0.05], size=row.sum()) for row in sizes]
    labels = [np.repeat(np.arange(groups), row) for row in sizes]
    sums = np.array([np.bincount(g, weights=v, minlength=groups) for g, v in zip(labels, values, strict=True)])
    seen = SimulatedDifferences(sums, sizes.astype(float), 0.5)
    found = bootstrap_intervals(seen, level=0.9, resamples=1500, rng=np.random.default_rng(7))
    for row in range(25):
        real = bootstrap_both(values[row], labels[row], level=0.9, resamples=1500, rng=np.random.default_rng(7))
        for ours, theirs in ((found.percentile, real.percentile), (found.bca, real.bca)):
            assert (ours.low[row], ours.high[row]) == pytest.approx((theirs.low, theirs.high), abs=1e-12, nan_ok=True)


def test_groups_that_do_not_vary_have_no_interval() -> None:
    seen = SimulatedDifferences(np.full((1, 20), 0.5), np.ones((1, 20)), 0.5)
    found = bootstrap_intervals(seen, level=0.95, resamples=200, rng=np.random.default_rng(0))
    assert np.isnan([found.percentile.low[0], found.bca.high[0]]).all()
