"""Blocks: their seeds, their number, and who runs them."""

from __future__ import annotations

import numpy as np
import pytest

from lineage.errors import InputError
from optimize.simulation import BLOCK, PER_FACT, CampaignShape, PromptEffect, Simulation, emission, world
from optimize.simulation.running import run_blocks


def draw(campaigns: int, rng: np.random.Generator) -> list[float]:
    return [float(value) for value in rng.random(campaigns)]


def test_a_campaign_is_the_same_however_many_there_are() -> None:
    few = run_blocks(draw, campaigns=BLOCK + 1, seed=3)
    many = run_blocks(draw, campaigns=5 * BLOCK, seed=3)
    assert len(few) == 2
    assert few == many[:2]
    assert all(len(block) == BLOCK for block in few), "the last block is whole"


def test_seeds_and_streams_give_other_campaigns() -> None:
    first = [run_blocks(draw, campaigns=1, seed=seed, stream=stream) for seed, stream in ((0, ()), (1, ()), (0, (1,)))]
    assert len({block[0][0] for block in first}) == 3


def test_progress_is_told_in_campaigns_and_ends_at_their_number() -> None:
    told: list[tuple[int, int]] = []
    run_blocks(draw, campaigns=BLOCK + 50, seed=0, progress=lambda done, of: told.append((done, of)))
    assert told == [(BLOCK, BLOCK + 50), (BLOCK + 50, BLOCK + 50)]


@pytest.mark.parametrize("name", ["campaigns", "processes"])
def test_nothing_to_simulate_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be at least 1, got 0"):
        run_blocks(draw, **{"campaigns": 1, "seed": 0, name: 0})  # type: ignore[arg-type]  # is what is tested


@pytest.mark.integration
def test_the_number_of_processes_changes_no_number() -> None:
    here = world(CampaignShape(candidates=3), PER_FACT, PromptEffect(spread=0.05))
    one, two = (
        emission(here, ("lower-bound", "permutation"), Simulation(3 * BLOCK - 10, seed=4, processes=processes))
        for processes in (1, 2)
    )
    assert one == two
