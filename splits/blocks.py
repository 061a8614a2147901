"""United groups in splits: sets of groups that stay together are placed before all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lineage.canonical import digest

Block = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """United groups of each split, how many of each stratum they are, and the first block that found no split."""

    parts: tuple[tuple[str, ...], ...]
    fixed: Mapping[str, tuple[int, ...]]
    stuck: Block | None = None


def united_among(groups: Sequence[str], united: Sequence[Sequence[str]]) -> tuple[Block, ...]:
    """What is left of sets of united groups among some groups: sets of two or more."""
    among = set(groups)
    return tuple(block for kept in united if len(block := tuple(sorted(among & set(kept)))) > 1)


def place_blocks(blocks: Sequence[Block], strata: Mapping[str, str], sizes: Sequence[int], *, seed: int) -> Placed:
    """Place united groups, the largest blocks before the smaller, in splits that have room for them.

    A block goes where most of the proportional share of united groups is missing; splits in which no stratum would come
    above its proportional number, rounded up, come first.

    Args:
        blocks: disjoint sets of groups.
        strata: stratum of every group, those in no block too.
        sizes: groups of each split.
        seed: orders blocks of one size.
    """
    totals, n_groups, n_united = Counter(strata.values()), sum(sizes), sum(map(len, blocks))
    fixed = {name: [0] * len(sizes) for name in totals}
    parts: list[list[str]] = [[] for _ in sizes]
    for block in sorted(blocks, key=lambda block: (-len(block), digest(["united", seed, list(block)]))):
        mine = Counter(strata[group] for group in block)
        fits = [at for at, size in enumerate(sizes) if len(parts[at]) + len(block) <= size]
        if not fits:
            return _placed(parts, fixed, block)
        within = [
            at
            for at in fits
            if all(fixed[name][at] + count <= -(-totals[name] * sizes[at] // n_groups) for name, count in mine.items())
        ]
        missing = [n_united * size - n_groups * len(part) for size, part in zip(sizes, parts, strict=True)]
        chosen = max(within or fits, key=lambda at: (missing[at], sizes[at] - len(parts[at]), -at))
        parts[chosen] += block
        for name, count in mine.items():
            fixed[name][chosen] += count
    return _placed(parts, fixed, None)


def _placed(parts: Sequence[Sequence[str]], fixed: Mapping[str, Sequence[int]], stuck: Block | None) -> Placed:
    return Placed(tuple(map(tuple, parts)), {name: tuple(row) for name, row in fixed.items()}, stuck)


def fitting_sizes(
    blocks: Sequence[Block], strata: Mapping[str, str], sizes: Sequence[int], *, seed: int
) -> tuple[int, ...] | None:
    """The sizes themselves where they hold all blocks, else sizes near them that do, or None where none were found."""
    if place_blocks(blocks, strata, sizes, seed=seed).stuck is None:
        return tuple(sizes)
    filled, free = [0] * len(sizes), sum(sizes) - sum(map(len, blocks))
    for length in sorted(map(len, blocks), reverse=True):
        at = max(range(len(sizes)), key=lambda at: (sizes[at] - filled[at], sizes[at], -at))
        filled[at] += length
    for _ in range(free):
        at = max(range(len(sizes)), key=lambda at: (not filled[at], sizes[at] - filled[at], -at))
        filled[at] += 1
    holds = min(filled) > 0 and place_blocks(blocks, strata, filled, seed=seed).stuck is None
    return tuple(filled) if holds else None
