"""The grouped, stratified partition: whole groups into splits of given sizes, the same for any order of the groups.

A draw orders groups by a hash and counts in whole numbers, so that no version of any library can change it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from lineage.errors import SplitError
from splits.blocks import fitting_sizes, place_blocks, united_among
from splits.corpus import Example
from splits.dealing import deal_by_labels, deal_in_turn
from splits.rounding import rounded_shares

SPLITS: Final = ("reflect", "accept", "heldout")
"""Names of the splits, in the order in which a campaign may read them."""

Sizes = Mapping[str, int] | Mapping[str, float] | Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Features:
    """What a partition balances: the stratum of each group, and labels that groups hold (those left out hold none)."""

    strata: Mapping[str, str]
    labels: Mapping[str, frozenset[str]] = field(default_factory=dict)


def some_of(names: Sequence[str], known: Iterable[str], *, what: str) -> tuple[str, ...]:
    """Some of the names that an option takes, each once and in one order, so that equal choices are equal.

    Raises:
        SplitError: a name is none of them; ``what`` is how the option is called.
    """
    options = tuple(known)
    for name in names:
        if name not in options:
            raise SplitError(f"{what} must name some of {', '.join(options)}, got {name!r}")
    return tuple(name for name in options if name in names)


def whole_sizes(sizes: Sizes, n_groups: int) -> dict[str, int]:
    """Sizes of the splits in groups: as they are, or from fractions of all groups.

    Fractions are read as they are written (0.1 is a tenth) and rounded to whole numbers that add up exactly: each down,
    then the groups left over to the largest remainders, in the order of the splits where those are equal.

    Raises:
        SplitError: sizes do not name the three splits, mix both kinds, do not add up, or leave a split empty.
    """
    words = ", ".join(f"{name} {size}" for name, size in sizes.items())
    whole = {name: size for name, size in sizes.items() if type(size) is int}
    if set(sizes) != set(SPLITS) or any(size < 1 for size in whole.values()):
        raise SplitError(f"sizes must give at least one group to each of {', '.join(SPLITS)}, got {words or 'none'}")
    if whole and len(whole) < len(sizes):
        raise SplitError(f"sizes must be all numbers of groups or all fractions, got {words}")
    if whole:
        if sum(whole.values()) != n_groups:
            raise SplitError(
                f"sizes {words} need {sum(whole.values())} groups, there are {n_groups}; "
                "change the sizes or the selection so that they agree"
            )
        return {name: whole[name] for name in SPLITS}
    parts = {name: Fraction(str(sizes[name])) for name in SPLITS}
    if sum(parts.values()) != 1 or min(parts.values()) <= 0:
        raise SplitError(f"fractions must be above 0 and add up to 1, got {words}, together {sum(parts.values())}")
    rounded = {name: int(part * n_groups) for name, part in parts.items()}
    by_remainder = sorted(SPLITS, key=lambda name: rounded[name] - parts[name] * n_groups)
    for name in by_remainder[: n_groups - sum(rounded.values())]:
        rounded[name] += 1
    if min(rounded.values()) < 1:
        empty = min(SPLITS, key=lambda name: rounded[name])
        raise SplitError(f"{words} of {n_groups} groups leave {empty} without a group; use larger fractions")
    return rounded


def partition_groups(
    groups: Sequence[str],
    features: Features,
    sizes: Sizes,
    *,
    seed: int,
    united: Sequence[Sequence[str]] = (),
) -> dict[str, tuple[str, ...]]:
    """Draw disjoint splits of whole groups, balanced over strata and labels, the same for any order of ``groups``.

    Every stratum has its proportional number of groups in each split, rounded up or down. United groups may make that
    impossible: they are placed first (see :func:`~splits.blocks.place_blocks`), and if no table of rounded numbers
    holds them, every number may be off by one more group, then by two, until one does. Within its places each stratum
    is dealt in the order of a hash or, where there are labels, by iterative stratification
    (:func:`~splits.dealing.deal_by_labels`), which balances labels as well as the strata leave room, the rarest first.

    Args:
        groups: names of the groups.
        features: strata, and labels if there are any.
        sizes: groups of each split, which must add up to all groups; or fractions of them, in which case united groups
            may change the numbers.
        seed: equal seeds give equal splits.
        united: disjoint sets of groups that stay in one split; names that are not among ``groups`` do not count.

    Raises:
        SplitError: the sizes do not add up, a split would be empty, or united groups do not fit; then with sizes that
            hold them.
    """
    wanted = tuple(whole_sizes(sizes, len(groups)).values())
    strata = {group: features.strata[group] for group in groups}
    blocks = united_among(groups, united)
    fitting = fitting_sizes(blocks, strata, wanted, seed=seed)
    if fitting is None or (fitting != wanted and all(type(size) is int for size in sizes.values())):
        stuck = place_blocks(blocks, strata, wanted, seed=seed).stuck or ()
        raise SplitError(
            f"{len(stuck)} united groups ({', '.join(stuck[:5])}{', …' if len(stuck) > 5 else ''}) fit into no split "
            f"of {','.join(map(str, wanted))} groups; "
            + (f"sizes {','.join(map(str, fitting))} would do" if fitting else "no sizes were found that would do")
            + ", or unite fewer groups"
        )
    placed = place_blocks(blocks, strata, fitting, seed=seed)
    totals = Counter(strata.values())
    names = sorted(totals)
    table = rounded_shares([totals[name] for name in names], fitting, [placed.fixed[name] for name in names])
    places = {
        name: [all_of - held for all_of, held in zip(row, placed.fixed[name], strict=True)]
        for name, row in zip(names, table, strict=True)
    }
    single = sorted(set(groups) - {group for block in blocks for group in block})
    if features.labels:
        dealt = deal_by_labels(
            single, strata, places, features.labels, placed.parts, fitting, seed=seed, purpose="partition"
        )
    else:
        dealt = deal_in_turn(single, strata, places, seed=seed, purpose="partition")
    return {name: tuple(sorted([*part, *more])) for name, part, more in zip(SPLITS, placed.parts, dealt, strict=True)}


def spread_groups(
    groups: Sequence[str], strata: Mapping[str, str], count: int, *, seed: int, purpose: str
) -> list[str]:
    """Draw some groups in order of their names, of each stratum its proportional number, rounded up or down."""
    totals = Counter(strata[group] for group in groups)
    names = sorted(totals)
    table = rounded_shares([totals[name] for name in names], [count, len(groups) - count])
    places = dict(zip(names, table, strict=True))
    return sorted(deal_in_turn(sorted(groups), strata, places, seed=seed, purpose=purpose)[0])


def count_by_field(examples: Sequence[Example]) -> dict[str, dict[str, int]]:
    """Counts of examples by kind, trace, severity and stratum, as the split lock keeps them."""
    return {
        name: dict(sorted(Counter(str(getattr(example, name)) for example in examples).items()))
        for name in ("kind", "trace", "severity", "stratum")
    }
