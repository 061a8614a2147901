from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.power import resized, split_sizes
from splits import Corpus, load_lock


@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=40), groups=st.integers(1, 200))
def test_resized_groups_have_the_sizes_of_the_old_ones(sizes: list[int], groups: int) -> None:
    found = resized(sizes, groups)
    assert len(found) == groups
    assert set(found) <= set(sizes)
    assert min(sizes) <= sum(found) / groups <= max(sizes)
    if groups % len(sizes) == 0:
        assert sum(found) / groups == pytest.approx(sum(sizes) / len(sizes))


def test_sizes_of_no_group_are_refused() -> None:
    with pytest.raises(InputError, match="no group with a pair"):
        resized([], 10)


def test_held_out_groups_are_counted_without_a_text(make_plan: Callable[..., Path], consults: Corpus) -> None:
    lock = load_lock(make_plan().parent / "split.lock.json", consults)
    silent = Corpus(tuple(replace(ex, source="", document="") for ex in consults.examples), consults.facts)
    found = split_sizes(lock, silent)
    heldout = found["heldout"]
    counts = lock.counts["heldout"]["kind"]
    assert sum(heldout.omissions) == counts["omit"]
    assert sum(heldout.commissions) == counts.get("add", 0) + counts.get("change", 0)
    assert sum(heldout.clean) == heldout.counts.verified == counts["clean"]
    assert heldout == split_sizes(lock, consults)["heldout"]


def test_clean_candidates_are_counted_apart(make_plan: Callable[..., Path], consults: Corpus) -> None:
    lock = load_lock(make_plan().parent / "split.lock.json", consults)
    marked = Corpus(
        tuple(replace(ex, meta={"clean": "candidate"}) if ex.label == "clean" else ex for ex in consults.examples),
        consults.facts,
    )
    found = split_sizes(lock, marked)["heldout"]
    assert found.counts.verified == 0
    assert "not verified clean" in found.counts.rate
    assert "clean" in json.dumps(found.counts.row())
