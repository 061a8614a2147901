"""Partitions of groups, for any strata, labels and united groups and any seed.

A stratum is balanced where each split has its proportional number of groups, rounded up or down. Without united groups
that is always possible. With them it is possible where some table of such numbers holds the groups that are united, in
the splits in which they were placed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, floor

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from lineage.errors import SplitError
from splits.corpus import Corpus
from splits.partition import SPLITS, Features, count_by_field, partition_groups, spread_groups, whole_sizes

seeds = st.integers(0, 2**63)
Parts = Mapping[str, tuple[str, ...]]


@st.composite
def shapes(draw: st.DrawFn, *, most: int = 14, strata: int = 7) -> tuple[Features, dict[str, int]]:
    """Strata and labels of groups, and sizes of the splits that add up."""
    per_stratum = draw(st.lists(st.integers(1, most), min_size=1, max_size=strata).filter(lambda sizes: sum(sizes) > 2))
    of = {f"g{stratum}-{index}": f"s{stratum}" for stratum, size in enumerate(per_stratum) for index in range(size)}
    labels = draw(st.dictionaries(st.sampled_from(sorted(of)), st.frozensets(st.sampled_from("abcd")), max_size=20))
    one, two = sorted(draw(st.lists(st.integers(1, len(of) - 1), min_size=2, max_size=2, unique=True)))
    return Features(of, labels), {"reflect": one, "accept": two - one, "heldout": len(of) - two}


@st.composite
def unions(draw: st.DrawFn, groups: Sequence[str]) -> list[list[str]]:
    """Disjoint sets of some of the groups."""
    mixed = draw(st.permutations(groups))
    blocks, at = [], 0
    for size in draw(st.lists(st.integers(2, 4), max_size=4)):
        blocks.append(sorted(mixed[at : at + size]))
        at += size
    return [block for block in blocks if len(block) > 1]


def shares(features: Features, parts: Parts) -> dict[tuple[str, str], Fraction]:
    """Proportional number of groups by stratum and split."""
    totals = Counter(features.strata.values())
    return {
        (stratum, split): Fraction(total * len(parts[split]), len(features.strata))
        for stratum, total in totals.items()
        for split in SPLITS
    }


def is_balanced(features: Features, parts: Parts) -> bool:
    found = Counter((features.strata[group], split) for split in SPLITS for group in parts[split])
    return all(floor(share) <= found[cell] <= ceil(share) for cell, share in shares(features, parts).items())


def could_be_balanced(features: Features, parts: Parts, united: Sequence[Sequence[str]]) -> bool:
    """Whether any table of rounded shares holds the united groups in their splits, by looking at every table."""
    placed = {group: split for split in SPLITS for group in parts[split]}
    held = Counter((features.strata[group], placed[group]) for block in united for group in block)
    wanted = shares(features, parts)
    totals = Counter(features.strata.values())
    rows = []
    for stratum, total in totals.items():
        cells = [range(floor(wanted[stratum, split]), ceil(wanted[stratum, split]) + 1) for split in SPLITS]
        rows.append(
            [
                row
                for row in product(*cells)
                if sum(row) == total and all(row[at] >= held[stratum, split] for at, split in enumerate(SPLITS))
            ]
        )
    sizes = tuple(len(parts[split]) for split in SPLITS)
    return any(tuple(map(sum, zip(*table, strict=True))) == sizes for table in product(*rows))


@given(shape=shapes(), labelled=st.booleans(), seed=seeds)
@settings(max_examples=50, deadline=None)
def test_splits_are_disjoint_cover_all_groups_and_are_balanced_over_strata(
    shape: tuple[Features, dict[str, int]], labelled: bool, seed: int
) -> None:
    features, sizes = shape if labelled else (Features(shape[0].strata), shape[1])
    parts = partition_groups(list(features.strata), features, sizes, seed=seed)
    assert {name: len(groups) for name, groups in parts.items()} == sizes
    assert sorted(group for groups in parts.values() for group in groups) == sorted(features.strata)
    assert is_balanced(features, parts)


@given(shape=shapes(most=8, strata=4), seed=seeds, data=st.data())
@settings(max_examples=50, deadline=None)
def test_united_groups_stay_together_and_strata_are_balanced_where_they_let_them(
    shape: tuple[Features, dict[str, int]], seed: int, data: st.DataObject
) -> None:
    features, sizes = shape
    united = data.draw(unions(sorted(features.strata)))
    fractions = {name: Fraction(size, len(features.strata)) for name, size in sizes.items()}
    try:
        parts = partition_groups(list(features.strata), features, fractions, seed=seed, united=united)
    except SplitError:  # sets so large that no sizes hold them
        reject()
    assert sorted(group for groups in parts.values() for group in groups) == sorted(features.strata)
    assert all(any(set(block) <= set(groups) for groups in parts.values()) for block in united)
    assert is_balanced(features, parts) == could_be_balanced(features, parts, united)


@given(shape=shapes(), seed=seeds, data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_order_of_the_groups_never_changes_a_partition(
    shape: tuple[Features, dict[str, int]], seed: int, data: st.DataObject
) -> None:
    features, sizes = shape
    shuffled = data.draw(st.permutations(list(features.strata)))
    again = Features({group: features.strata[group] for group in shuffled}, dict(reversed(features.labels.items())))
    parts = partition_groups(shuffled, again, sizes, seed=seed)
    assert parts == partition_groups(list(features.strata), features, sizes, seed=seed)


@given(shape=shapes(strata=1), seed=seeds)
@settings(max_examples=40, deadline=None)
def test_the_rarest_label_of_one_stratum_is_balanced_to_the_group(
    shape: tuple[Features, dict[str, int]], seed: int
) -> None:
    features, sizes = shape
    holders = Counter(label for labels in features.labels.values() for label in labels)
    if not holders:
        return
    rarest = min(holders, key=lambda label: (holders[label], label))
    parts = partition_groups(list(features.strata), features, sizes, seed=seed)
    for split, groups in parts.items():
        share = Fraction(holders[rarest] * sizes[split], len(features.strata))
        found = sum(rarest in features.labels.get(group, ()) for group in groups)
        assert floor(share) <= found <= ceil(share)


def test_labels_come_to_every_split_where_a_draw_without_them_leaves_one_empty() -> None:
    strata = {f"g{index:02}": "s" for index in range(24)}
    labels = {group: frozenset({"rare"}) for group in ("g03", "g11", "g17")}
    sizes = {"reflect": 8, "accept": 6, "heldout": 10}

    def holding(features: Features, seed: int) -> list[int]:
        parts = partition_groups(list(strata), features, sizes, seed=seed)
        return [len(set(labels) & set(groups)) for groups in parts.values()]

    assert all(holding(Features(strata, labels), seed) == [1, 1, 1] for seed in range(30))
    assert any(0 in holding(Features(strata), seed) for seed in range(30))


def test_another_seed_draws_another_partition() -> None:
    features = Features({f"g{index}": f"s{index % 3}" for index in range(30)})
    sizes = {"reflect": 10, "accept": 10, "heldout": 10}
    drawn = {str(partition_groups(list(features.strata), features, sizes, seed=seed)) for seed in range(10)}
    assert len(drawn) == 10


def held_out(features: Features) -> Counter[str]:
    """How often each group is held out, of 200 draws."""
    sizes = {"reflect": 2, "accept": 2, "heldout": 4}
    drawn = (partition_groups(list(features.strata), features, sizes, seed=seed)["heldout"] for seed in range(200))
    return Counter(group for groups in drawn for group in groups)


def test_each_group_comes_into_each_split_about_as_often_as_its_share() -> None:
    held = held_out(Features({f"g{index}": f"s{index % 2}" for index in range(8)}))
    assert len(held) == 8
    assert all(70 <= count <= 130 for count in held.values())


def test_a_group_that_alone_holds_a_label_is_not_always_in_the_largest_split() -> None:
    labels = {"g0": frozenset("a"), "g3": frozenset("a"), "g6": frozenset("ab")}
    held = held_out(Features({f"g{index}": f"s{index % 2}" for index in range(8)}, labels))
    assert len(held) == 8
    assert 60 <= held["g6"] <= 140


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"reflect": 2, "accept": 2, "heldout": 2}, "need 6 groups, there are 5"),
        ({"reflect": 1, "accept": 1, "heldout": 1}, "need 3 groups, there are 5"),
        ({"reflect": 0, "accept": 2, "heldout": 3}, "at least one group to each of reflect, accept, heldout"),
        ({"reflect": -1, "accept": 3, "heldout": 3}, "at least one group"),
        ({"reflect": 2, "accept": 3}, "at least one group to each"),
        ({}, "at least one group to each"),
        ({"reflect": 1, "accept": 1, "heldout": 1, "test": 2}, "at least one group to each"),
        ({"reflect": 2, "accept": 0.2, "heldout": 0.4}, "all numbers of groups or all fractions"),
        ({"reflect": 0.4, "accept": 0.2, "heldout": 0.3}, "add up to 1, got reflect 0.4, accept 0.2, heldout 0.3"),
        ({"reflect": 1.0, "accept": 0.0, "heldout": 0.0}, "fractions must be above 0"),
        ({"reflect": 0.1, "accept": 0.1, "heldout": 0.8}, "of 5 groups leave accept without a group"),
    ],
)
def test_sizes_that_do_not_add_up_are_refused(sizes: dict[str, int], message: str) -> None:
    features = Features({f"g{index}": "s" for index in range(5)})
    with pytest.raises(SplitError, match=message):
        partition_groups(list(features.strata), features, sizes, seed=0)


@given(
    parts=st.tuples(st.integers(1, 60), st.integers(1, 60), st.integers(1, 60)),
    n_groups=st.integers(3, 400),
)
@settings(max_examples=50, deadline=None)
def test_fractions_come_to_whole_numbers_that_add_up_each_rounded_up_or_down(
    parts: tuple[int, int, int], n_groups: int
) -> None:
    fractions = {name: Fraction(part, sum(parts)) for name, part in zip(SPLITS, parts, strict=True)}
    try:
        sizes = whole_sizes(fractions, n_groups)
    except SplitError:  # a split would have no group
        reject()
    assert sum(sizes.values()) == n_groups
    assert all(floor(part * n_groups) <= sizes[name] <= ceil(part * n_groups) for name, part in fractions.items())


def test_fractions_are_read_as_they_are_written() -> None:
    assert whole_sizes({"reflect": 0.1, "accept": 0.2, "heldout": 0.7}, 10) == {"reflect": 1, "accept": 2, "heldout": 7}
    assert whole_sizes({"reflect": 0.4, "accept": 0.2, "heldout": 0.4}, 24) == {
        "reflect": 10,
        "accept": 5,
        "heldout": 9,
    }


def test_united_groups_that_fit_nowhere_are_named_with_sizes_that_hold_them() -> None:
    features = Features({f"g{index}": "s" for index in range(12)})
    united = [["g0", "g1", "g2", "g3", "g4"], ["g5", "g6"]]
    with pytest.raises(
        SplitError, match=r"5 united groups \(g0, g1, g2, g3, g4\) fit into no split of 4,4,4"
    ) as raised:
        partition_groups(
            list(features.strata), features, {"reflect": 4, "accept": 4, "heldout": 4}, seed=0, united=united
        )
    said = str(raised.value)
    sizes = dict(zip(SPLITS, map(int, said.partition("sizes ")[2].partition(" would")[0].split(",")), strict=True))
    parts = partition_groups(list(features.strata), features, sizes, seed=0, united=united)
    assert sorted(map(len, parts.values())) == [3, 4, 5]


def test_united_groups_that_are_not_split_do_not_count() -> None:
    features = Features({f"g{index}": "s" for index in range(6)})
    sizes = {"reflect": 2, "accept": 2, "heldout": 2}
    plain = partition_groups(list(features.strata), features, sizes, seed=5)
    assert partition_groups(list(features.strata), features, sizes, seed=5, united=[["g1", "elsewhere"]]) == plain


@given(shape=shapes(), count=st.integers(1, 60), seed=seeds)
@settings(max_examples=20, deadline=None)
def test_a_spread_takes_of_each_stratum_its_proportional_number(
    shape: tuple[Features, dict[str, int]], count: int, seed: int
) -> None:
    strata = shape[0].strata
    count = 1 + count % len(strata)
    taken = spread_groups(list(strata), strata, count, seed=seed, purpose="selection")
    assert len(set(taken)) == len(taken) == count
    found = Counter(strata[group] for group in taken)
    for stratum, total in Counter(strata.values()).items():
        share = Fraction(total * count, len(strata))
        assert floor(share) <= found[stratum] <= ceil(share)


def test_counts_are_by_kind_trace_severity_and_stratum(corpus: Corpus) -> None:
    counts = count_by_field(corpus.examples)
    assert counts == {
        "kind": {"add": 12, "clean": 12, "omit": 12},
        "trace": {"None": 24, "complete": 12},
        "severity": {"None": 12, "critical": 24},
        "stratum": {"s0": 12, "s1": 12, "s2": 12},
    }
    assert SPLITS == ("reflect", "accept", "heldout")
