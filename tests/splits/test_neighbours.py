"""Near-duplicate groups that a split separates are named, and their texts are not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from splits import Corpus, SplitLock, commit_lock, load_lock, plan_lock
from splits.neighbours import neighbours

SIZES = {"reflect": 20, "accept": 15, "heldout": 25}


def locked(corpus: Corpus, directory: Path) -> SplitLock:
    commit_lock(plan_lock(corpus, sizes=SIZES, seed=5), directory / "lock.json")
    return load_lock(directory / "lock.json", corpus)


def copied(corpus: Corpus, giver: str, taker: str) -> Corpus:
    """The corpus with the source of one group in place of another's, a few words changed."""
    words = corpus.groups[giver][0].source.split()
    source = " ".join("indeed" if number % 15 == 3 else word for number, word in enumerate(words))
    examples = [replace(ex, source=source) if ex.group == taker else ex for ex in corpus.examples]
    return Corpus(tuple(examples), corpus.facts)


def test_a_split_of_the_bundled_corpus_separates_no_near_duplicates(consults: Corpus, tmp_path: Path) -> None:
    assert neighbours(consults, locked(consults, tmp_path)) == ()


def test_two_near_duplicate_groups_in_different_splits_are_named_without_text(consults: Corpus, tmp_path: Path) -> None:
    places = plan_lock(consults, sizes=SIZES, seed=5).splits
    a, b = sorted((places["reflect"][0], places["heldout"][0]))
    planted = copied(consults, a, b)
    lock = locked(planted, tmp_path)
    assert lock.splits == places, "the draw rests on names and strata alone"
    (found,) = neighbours(planted, lock)
    assert found.groups == (a, b)
    assert set(found.splits) == {"reflect", "heldout"}
    assert 0.5 < found.similarity < 1
    said = json.dumps(found.row())
    assert set(found.row()) == {"groups", "splits", "similarity"}
    assert not set(planted.groups[a][0].source.split()) & set(said.split())


def test_near_duplicates_within_a_split_are_none_of_its_business(consults: Corpus, tmp_path: Path) -> None:
    places = plan_lock(consults, sizes=SIZES, seed=5).splits
    planted = copied(consults, places["accept"][0], places["accept"][1])
    assert neighbours(planted, locked(planted, tmp_path)) == ()
