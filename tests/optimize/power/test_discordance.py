from __future__ import annotations

import csv
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import CampaignError, InputError
from optimize.power import PER_FACT_LIKE, WHOLE_NOTE_LIKE, Discordance, discordance_of, stated_discordance
from optimize.power.planned import standard_error
from optimize.stats import paired_credit

PUBLISHED = Path("/work/shared/omissionbench/v3_accept_scores.csv")
DIFFERENCES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])

shares = st.floats(0.01, 1.0)
units = st.floats(0.0, 1.0)


@given(share=shares, swaps=units, at=st.floats(-1.0, 1.0))
@settings(max_examples=40, deadline=None)
def test_the_differences_have_the_effect_as_their_mean_and_the_stated_variance(
    share: float, swaps: float, at: float
) -> None:
    discordance = Discordance(share, swaps)
    effect = at * discordance.reach
    chances = np.diff(np.concatenate([[0.0], discordance.thresholds(effect), [1.0]]))
    assert (chances >= -1e-12).all()
    mean = float(chances @ DIFFERENCES)
    assert mean == pytest.approx(effect, abs=1e-9)
    assert chances @ DIFFERENCES**2 - mean**2 == pytest.approx(discordance.variance(effect), abs=1e-9)


@given(share=shares, swaps=units)
@settings(max_examples=40, deadline=None)
def test_without_an_effect_the_stated_share_differs(share: float, swaps: float) -> None:
    discordance = Discordance(share, swaps)
    losses, level = discordance.thresholds(0.0)[1:3]
    assert 1.0 - (level - losses) == pytest.approx(share)


@given(noise=units, replicates=st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_replicates_reduce_the_noise_and_nothing_else(noise: float, replicates: int) -> None:
    factor = Discordance(0.3, 0.1, noise=noise).replicated(replicates)
    assert factor == pytest.approx((1 - noise) + noise / replicates)


@pytest.mark.parametrize(
    ("wins", "losses", "message"),
    [
        (0.7, 0.4, "exceed 1 together"),
        (-0.1, 0.4, "share of wins must be in"),
        (8, 13, "give 8/131"),
        (0, 0, "there is no variance to plan with"),
    ],
)
def test_impossible_shares_are_refused(wins: float, losses: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        stated_discordance(wins, losses)


def test_a_correlation_outside_its_range_is_refused() -> None:
    with pytest.raises(InputError, match=r"correlation must be in \[0, 1\], got 1.5"):
        stated_discordance(0.1, 0.1, correlation=1.5)


@pytest.mark.parametrize(
    ("discordance", "low", "high", "groups", "pairs"),
    [
        (PER_FACT_LIKE, -0.0736, 0.0265, 47, 131),
        (WHOLE_NOTE_LIKE, -0.126, 0.1331, 47, 131),
        (stated_discordance(8 / 48, 3 / 48), -0.0417, 0.1622, 20, 48),
    ],
)
def test_the_default_swaps_and_correlation_give_the_widths_of_the_published_intervals(
    discordance: Discordance, low: float, high: float, groups: int, pairs: int
) -> None:
    three = pairs - 2 * groups
    sizes = [3] * three + [2] * (groups - three)
    if groups == 20:
        sizes = [1] * 5 + [2] * 5 + [3] * 7 + [4] * 3
    assert sum(sizes) == pairs
    # A percentile bootstrap by groups is narrower than the standard error by sqrt((G - 1) / G).
    half = 1.96 * standard_error(discordance, sizes) * math.sqrt((groups - 1) / groups)
    assert half == pytest.approx((high - low) / 2, rel=0.04)


@given(data=st.lists(st.tuples(st.sampled_from(list(DIFFERENCES)), st.integers(0, 8)), min_size=2, max_size=60))
@settings(max_examples=40, deadline=None)
def test_a_measured_discordance_is_within_its_ranges_and_counts_what_differs(data: list[tuple[float, int]]) -> None:
    values = np.array([value for value, _ in data])
    comparison = (values, tuple(f"g{group}" for _, group in data))
    if not values.any():
        with pytest.raises(CampaignError, match="no pair differs"):
            discordance_of([comparison])
        return
    found = discordance_of([comparison])
    assert found.share == pytest.approx(np.mean(values != 0))
    assert found.swaps == pytest.approx(np.mean(np.abs(values[values != 0]) == 1))
    assert 0.0 <= found.correlation <= 1.0


def test_a_measured_correlation_is_the_one_that_was_simulated() -> None:
    rng = np.random.default_rng(3)
    n_groups, size, rho = 4000, 3, 0.4
    draws = rng.choice(DIFFERENCES, p=[0.1, 0.15, 0.5, 0.15, 0.1], size=(n_groups, size))
    shared = rng.choice(DIFFERENCES, p=[0.1, 0.15, 0.5, 0.15, 0.1], size=(n_groups, 1))
    values = np.where(rng.random((n_groups, size)) < math.sqrt(rho), shared, draws)
    groups = tuple(f"g{row}" for row in range(n_groups) for _ in range(size))
    assert discordance_of([(values.ravel(), groups)]).correlation == pytest.approx(rho, abs=0.04)


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published accept scores are not beside the project")
def test_the_discordance_of_the_published_accept_scores_is_read_from_them() -> None:
    rows = list(csv.DictReader(PUBLISHED.read_text(encoding="utf-8").splitlines()))
    clean = {row["consultation"]: row for row in rows if row["class"] == "clean"}
    by_group: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row["class"] == "omission":
            twin = clean[row["consultation"]]
            ours, theirs = (paired_credit(float(row[arm]), float(twin[arm])) for arm in ("v3p-01", "seed_check_binary"))
            by_group[row["consultation"]].append(ours - theirs)
    values = np.array([value for part in by_group.values() for value in part])
    groups = tuple(name for name, part in by_group.items() for _ in part)
    found = discordance_of([(values, groups)])
    assert (round(found.share * 48), round(found.swaps * 11)) == (11, 2)
    sizes = [len(part) for part in by_group.values()]
    half = 1.96 * standard_error(found, sizes) * math.sqrt(19 / 20)
    assert half == pytest.approx((0.1622 + 0.0417) / 2, rel=0.04)
