"""What the objective needs of every split: what lacks is named, and so is what would do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from lineage.errors import SplitError
from splits.corpus import Corpus
from splits.draft import plan_lock
from splits.partition import SPLITS
from splits.selection import Selection
from splits.unions import Union
from splits.verification import verify_lock


@pytest.mark.parametrize("with_omission", [0, 1, 2])
def test_too_few_groups_with_an_omission_for_any_sizes_are_counted(
    with_omission: int, grow: Callable[..., Corpus]
) -> None:
    corpus = grow([6], lambda index: ("complete", "add") if index < with_omission else ("add",))
    message = (
        rf"(reflect|accept|heldout): lacks an omission with a clean twin among its 2 groups \({with_omission} groups "
        r"of the selection hold one\); each of 3 splits needs a group that does, so that no sizes would do: use a .*; "
        r"or leave omission out of the needs \(--needs\)"
    )
    with pytest.raises(SplitError, match=message):
        plan_lock(corpus, sizes={"reflect": 2, "accept": 2, "heldout": 2}, seed=0)


def test_a_selection_with_too_few_of_them_says_which_number_of_groups_would_do(grow: Callable[..., Corpus]) -> None:
    corpus = grow([40], lambda index: ("complete",) if index % 10 == 0 else ("add",))
    sizes = {"reflect": 2, "accept": 2, "heldout": 4}
    with pytest.raises(SplitError, match=r"a selection of \d+ groups would") as raised:
        plan_lock(corpus, sizes=sizes, seed=1, selection=Selection(groups=8, seed=1))
    count = int(str(raised.value).partition("a selection of ")[2].partition(" ")[0])
    selected = Selection(groups=count, seed=1).apply(corpus)
    assert count > 8
    assert sum(any(ex.label == "omission" for ex in examples) for examples in selected.values()) >= 3


@given(seed=st.integers(0, 2**40), holders=st.sets(st.integers(0, 15), min_size=3, max_size=6))
@settings(max_examples=20, deadline=None)
def test_sizes_that_are_said_to_do_do(seed: int, holders: set[int], grow: Callable[..., Corpus]) -> None:
    corpus = grow([16], lambda index: ("complete",) if index in holders else ("add",))
    sizes = {"reflect": 2, "accept": 4, "heldout": 10}
    try:
        plan_lock(corpus, sizes=sizes, seed=seed)
    except SplitError as error:
        said = str(error)
    else:
        reject()
    if " would do with this seed: sizes " in said:
        parts = said.partition("this seed: sizes ")[2].partition(";")[0].split(",")
        plan_lock(corpus, sizes=dict(zip(SPLITS, map(int, parts), strict=True)), seed=seed)
    else:
        assert "give it more groups, or stratify by kinds" in said
    plan_lock(corpus, sizes=sizes, seed=seed, stratify=("stratum", "kinds"))


def test_a_corpus_of_labels_alone_is_split_where_nothing_more_is_needed(grow: Callable[..., Corpus]) -> None:
    paired = grow([6])
    examples = tuple(replace(example, twin=None) for example in paired.examples)
    corpus = Corpus(examples, paired.facts)
    sizes = {"reflect": 2, "accept": 2, "heldout": 2}
    with pytest.raises(SplitError, match="lacks an omission with a clean twin"):
        plan_lock(corpus, sizes=sizes, seed=0)
    verify_lock(plan_lock(corpus, sizes=sizes, seed=0, needs=("clean",)), corpus)


def test_each_need_names_what_is_lacking(grow: Callable[..., Corpus]) -> None:
    corpus = grow([6], lambda _: ("complete",))
    sizes = {"reflect": 2, "accept": 2, "heldout": 2}
    with pytest.raises(SplitError, match="reflect: lacks a commission with a clean twin"):
        plan_lock(corpus, sizes=sizes, seed=0, needs=("commission",))
    with pytest.raises(SplitError, match="needs must name some of clean, omission, commission, got 'omit'"):
        plan_lock(corpus, sizes=sizes, seed=0, needs=("omit",))
    unclean = Corpus(tuple(ex for ex in corpus.examples if ex.twin), corpus.facts)
    with pytest.raises(SplitError, match="reflect: lacks a clean example"):
        plan_lock(unclean, sizes=sizes, seed=0, needs=("clean",))


def test_what_would_do_is_sought_past_sizes_that_united_groups_do_not_fit(grow: Callable[..., Corpus]) -> None:
    corpus = grow([12], lambda index: ("complete",) if index in (0, 5, 11) else ("add",))
    examples = [replace(ex, cohort="large" if int(ex.group[1:]) in (1, 2, 3, 4) else None) for ex in corpus.examples]
    united = Corpus(tuple(examples), corpus.facts)
    said = set()
    for seed in range(30):
        try:
            plan_lock(
                united, sizes={"reflect": 2, "accept": 2, "heldout": 8}, seed=seed, union=Union(fields=("cohort",))
            )
        except SplitError as error:
            said.add(str(error).partition("would do")[1] or str(error).partition("give it more")[1])
    assert said <= {"would do", "give it more"}
    assert "would do" in said


def test_the_whole_corpus_is_the_last_selection_that_is_tried(grow: Callable[..., Corpus]) -> None:
    corpus = grow([23], lambda index: ("complete",) if index in (0, 7, 15) else ("add",))
    with pytest.raises(SplitError, match=r"a selection of (\d+) groups would") as raised:
        plan_lock(
            corpus, sizes={"reflect": 2, "accept": 2, "heldout": 5}, seed=4, selection=Selection(groups=9, seed=4)
        )
    assert int(str(raised.value).partition("a selection of ")[2].partition(" ")[0]) <= 23
