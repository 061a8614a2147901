"""Selections and partitions, for any shape of corpus and any seed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import SplitError
from splits.corpus import Corpus
from splits.partition import SPLITS, Selection, count_by_field, partition_groups

seeds = st.integers(0, 2**63)


@st.composite
def shapes(draw: st.DrawFn) -> tuple[dict[str, str], dict[str, int]]:
    """Stratum of each group, and sizes of the splits that add up."""
    per_stratum = draw(st.lists(st.integers(1, 14), min_size=1, max_size=7).filter(lambda sizes: sum(sizes) >= 3))
    strata = {f"g{stratum}-{index}": f"s{stratum}" for stratum, size in enumerate(per_stratum) for index in range(size)}
    one, two = sorted(draw(st.lists(st.integers(1, len(strata) - 1), min_size=2, max_size=2, unique=True)))
    return strata, {"reflect": one, "accept": two - one, "heldout": len(strata) - two}


def assert_proportional(strata: Mapping[str, str], parts: Mapping[str, tuple[str, ...]]) -> None:
    totals = Counter(strata.values())
    for groups in parts.values():
        found = Counter(strata[group] for group in groups)
        for stratum, total in totals.items():
            share = total * len(groups) / len(strata)
            assert math.floor(share + 1e-9) <= found[stratum] <= math.ceil(share - 1e-9)


@given(shape=shapes(), seed=seeds)
@settings(max_examples=120, deadline=None)
def test_splits_are_disjoint_cover_all_groups_and_are_balanced_over_strata(
    shape: tuple[dict[str, str], dict[str, int]], seed: int
) -> None:
    strata, sizes = shape
    parts = partition_groups(list(strata), strata, sizes, seed=seed)
    assert {name: len(groups) for name, groups in parts.items()} == sizes
    placed = [group for groups in parts.values() for group in groups]
    assert sorted(placed) == sorted(strata)
    assert_proportional(strata, parts)


@given(shape=shapes(), seed=seeds, data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_groups_never_changes_a_partition(
    shape: tuple[dict[str, str], dict[str, int]], seed: int, data: st.DataObject
) -> None:
    strata, sizes = shape
    shuffled = data.draw(st.permutations(list(strata)))
    parts = partition_groups(shuffled, {group: strata[group] for group in shuffled}, sizes, seed=seed)
    assert parts == partition_groups(list(strata), strata, sizes, seed=seed)


def test_another_seed_draws_another_partition() -> None:
    strata = {f"g{index}": f"s{index % 3}" for index in range(30)}
    sizes = {"reflect": 10, "accept": 10, "heldout": 10}
    drawn = {str(partition_groups(list(strata), strata, sizes, seed=seed)) for seed in range(10)}
    assert len(drawn) == 10


def test_each_group_comes_into_each_split_about_as_often_as_its_share() -> None:
    strata = {f"g{index}": f"s{index % 2}" for index in range(8)}
    sizes = {"reflect": 2, "accept": 2, "heldout": 4}
    held = Counter(
        group for seed in range(200) for group in partition_groups(list(strata), strata, sizes, seed=seed)["heldout"]
    )
    assert set(held) == set(strata)
    assert all(70 <= count <= 130 for count in held.values())


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"reflect": 2, "accept": 2, "heldout": 2}, "need 6 groups, there are 5"),
        ({"reflect": 1, "accept": 1, "heldout": 1}, "need 3 groups, there are 5"),
        ({"reflect": 0, "accept": 2, "heldout": 3}, "at least one group to each of reflect, accept, heldout"),
        ({"reflect": -1, "accept": 3, "heldout": 3}, "at least one group"),
        ({"reflect": 2, "accept": 3}, "at least one group to each"),
        ({"reflect": 1, "accept": 1, "heldout": 1, "test": 2}, "at least one group to each"),
    ],
)
def test_sizes_that_do_not_add_up_are_refused(sizes: dict[str, int], message: str) -> None:
    strata = {f"g{index}": "s" for index in range(5)}
    with pytest.raises(SplitError, match=message):
        partition_groups(list(strata), strata, sizes, seed=0)


@given(strata=st.lists(st.integers(1, 8), min_size=1, max_size=5), ask=st.integers(1, 40), seed=seeds, data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_selection_takes_whole_groups_in_proportion_whatever_the_row_order(
    strata: list[int], ask: int, seed: int, data: st.DataObject, grow: Callable[..., Corpus]
) -> None:
    corpus = grow(strata)
    ask = 1 + ask % sum(strata)
    selected = Selection(groups=ask, seed=seed).apply(corpus)
    assert len(selected) == ask
    assert all(selected[group] == corpus.groups[group] for group in selected)
    assert_proportional(
        {group: examples[0].stratum for group, examples in corpus.groups.items()}, {"selected": tuple(selected)}
    )
    shuffled = Corpus(tuple(data.draw(st.permutations(corpus.examples))), corpus.facts)
    assert Selection(groups=ask, seed=seed).apply(shuffled) == selected


@pytest.mark.parametrize("keep", [1, 2, 3, 9])
def test_a_thinned_group_keeps_its_clean_note_one_omission_and_other_flaws_in_rotation(
    keep: int, grow: Callable[..., Corpus]
) -> None:
    corpus = grow([6], lambda _: ("add", "partial-strong", "complete", "change"))
    selected = Selection(flawed_per_group=keep).apply(corpus)
    for examples in selected.values():
        assert [example.label for example in examples].count("clean") == 1
        flawed = [example for example in examples if example.twin]
        assert len(flawed) == min(keep, 4)
        assert any(example.trace == "complete" for example in flawed)
    if keep == 2:
        others = Counter(ex.flaw for examples in selected.values() for ex in examples if ex.twin)
        assert others == {"complete": 6, "add": 2, "partial-strong": 2, "change": 2}


def test_a_selection_of_more_groups_than_there_are_is_refused(corpus: Corpus) -> None:
    with pytest.raises(SplitError, match="selection asks for 13 groups, the corpus has 12; ask for fewer"):
        Selection(groups=13).apply(corpus)


@pytest.mark.parametrize("name", ["groups", "flawed_per_group"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True])
def test_a_selection_of_no_whole_number_is_refused(name: str, value: object) -> None:
    with pytest.raises(SplitError, match=f"{name} must be a whole number of at least 1, or null, got {value!r}"):
        Selection(**{name: value})  # type: ignore[arg-type]  # the wrong type is what is tested


def test_counts_are_by_kind_trace_severity_and_stratum(corpus: Corpus) -> None:
    counts = count_by_field(corpus.examples)
    assert counts == {
        "kind": {"add": 12, "clean": 12, "omit": 12},
        "trace": {"None": 24, "complete": 12},
        "severity": {"None": 12, "critical": 24},
        "stratum": {"s0": 12, "s1": 12, "s2": 12},
    }
    assert SPLITS == ("reflect", "accept", "heldout")
