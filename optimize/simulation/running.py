"""Blocks of simulated campaigns: each has a seed of its own, so that neither their number nor who runs them matters."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Final, TypeVar

import numpy as np

from lineage.errors import InputError

BLOCK: Final = 200
"""Campaigns of one block. It is part of what a seed means: another size gives other campaigns."""

Result = TypeVar("Result")
Work = Callable[[int, np.random.Generator], Result]
"""Simulates so many campaigns with a generator."""
Told = Callable[[int, int], None]
"""Told, after each block, how many campaigns are done and how many there are."""


def run_blocks(
    work: Work[Result],
    *,
    campaigns: int,
    seed: int,
    stream: tuple[int, ...] = (),
    processes: int = 1,
    progress: Told | None = None,
) -> list[Result]:
    """Run whole blocks until there are enough campaigns.

    The last block is simulated whole, so that campaign i is the same however many there are; who reads the results
    leaves off what is too much.

    Args:
        work: simulates one block; with more than one process it must be picklable.
        campaigns: at least 1.
        seed: of all blocks.
        stream: what else tells these blocks from others of the same seed.
        processes: at least 1.
        progress: told after each block.

    Raises:
        InputError: a number is too small.
    """
    for name, value, least in (("campaigns", campaigns, 1), ("seed", seed, 0), ("processes", processes, 1)):
        if value < least:
            raise InputError(f"{name} must be at least {least}, got {value}")
    blocks = -(-campaigns // BLOCK)
    # SeedSequence.spawn is indexed: the first n children are the same however many are spawned.
    seeds = np.random.SeedSequence(seed, spawn_key=stream).spawn(blocks)
    found: list[Result] = []
    for result in _results(work, seeds, processes):
        found.append(result)
        if progress is not None:
            progress(min(len(found) * BLOCK, campaigns), campaigns)
    return found


def _results(work: Work[Result], seeds: list[np.random.SeedSequence], processes: int) -> Iterator[Result]:
    calls: Iterable[tuple[Any, np.random.SeedSequence]] = [(work, seed) for seed in seeds]
    if processes == 1:
        yield from map(_block, calls)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        yield from pool.map(_block, calls)


def _block(call: tuple[Work[Result], np.random.SeedSequence]) -> Result:
    work, seed = call
    return work(BLOCK, np.random.default_rng(seed))
