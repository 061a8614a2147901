"""A draw is seeded, even over strata, and prefers sources that no other item shows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.review import PackSizes, ReviewedRun, draw_items
from experiments.review.drawing import Item, _drawn
from lineage.errors import InputError


def test_the_same_seed_draws_the_same_items_in_the_same_order(reviewed: ReviewedRun) -> None:
    first, again, other = (
        draw_items(reviewed, sizes=PackSizes(), rng=np.random.default_rng(seed)).items for seed in (7, 7, 8)
    )
    assert first == again
    assert [item.identity for item in first] != [item.identity for item in other]


def test_documents_on_which_judges_differ_are_drawn_beside_those_on_which_they_agree(reviewed: ReviewedRun) -> None:
    draw = draw_items(reviewed, sizes=PackSizes(documents=12, severity=0, flags=0), rng=np.random.default_rng(0))
    strata = {item.stratum.partition(",")[0] for item in draw.items}
    assert "judges differ" in strata
    for item in draw.items:
        votes = {flag for flag in item.truth["flags"].values() if flag is not None}
        assert item.stratum.startswith("judges differ") == (len(votes) == 2)


def test_claims_that_were_made_stand_beside_facts_that_were_found(reviewed: ReviewedRun) -> None:
    draw = draw_items(reviewed, sizes=PackSizes(documents=0, severity=0, flags=12), rng=np.random.default_rng(0))
    assert {item.truth["fired"] for item in draw.items} == {True, False}
    assert {item.truth["judge"] for item in draw.items} == {"facts", "pipeline"}


def test_grades_of_the_corpus_and_of_a_judge_are_drawn(reviewed: ReviewedRun) -> None:
    draw = draw_items(reviewed, sizes=PackSizes(documents=0, severity=12, flags=0), rng=np.random.default_rng(0))
    assert {item.truth["grader"] for item in draw.items} == {"corpus", "pipeline"}
    assert all(item.document is None for item in draw.items)


def test_few_items_are_of_as_many_sources(reviewed: ReviewedRun) -> None:
    draw = draw_items(reviewed, sizes=PackSizes(3, 3, 3), rng=np.random.default_rng(0))
    assert len({item.group for item in draw.items}) == 9
    assert sum(draw.shared(section) for section in draw.strata) == 0


def test_a_source_that_stands_in_two_items_is_counted(reviewed: ReviewedRun) -> None:
    draw = draw_items(reviewed, sizes=PackSizes(20, 0, 0), rng=np.random.default_rng(0))
    groups = Counter(item.group for item in draw.items)
    assert draw.shared("documents") == sum(count for count in groups.values() if count > 1) > 0


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("abcdef")), max_size=40),
    st.integers(1, 30),
    st.integers(0, 5),
)
@settings(max_examples=60, deadline=None)
def test_strata_are_drawn_from_in_turn_until_they_are_empty(pool: list[tuple[str, str]], n: int, seed: int) -> None:
    items = [
        Item("documents", stratum, group, (str(place),), "", "", None, {})
        for place, (stratum, group) in enumerate(pool)
    ]
    drawn = _drawn(items, n, Counter(), np.random.default_rng(seed))
    assert len(drawn) == min(n, len(items))
    assert len({item.identity for item in drawn}) == len(drawn)
    of, counts = Counter(item.stratum for item in items), Counter(item.stratum for item in drawn)
    most = max(counts.values(), default=0)
    assert all(counts[stratum] == of[stratum] or counts[stratum] >= most - 1 for stratum in of)


def test_sizes_that_make_no_pack_are_refused() -> None:
    with pytest.raises(InputError, match="documents must be at least 0, got -1"):
        PackSizes(documents=-1)
    with pytest.raises(InputError, match="a pack needs items"):
        PackSizes(0, 0, 0)
