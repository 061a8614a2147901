"""An index of runs tells what is repeated of its texts and where, and holds no word of them."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import SealError
from splits.passages import LEAST_RUNS, PASSAGE_RUNS, RunIndex
from splits.shingles import Shingler

SIZE = 3
LONG = " ".join(f"w{number}" for number in range(60))
words = st.lists(st.sampled_from("abc"), max_size=20)


def runs(text: str) -> list[tuple[str, ...]]:
    found = text.split()
    return [tuple(found[at : at + SIZE]) for at in range(len(found) - SIZE + 1)]


def longest(texts: list[str], asked: str) -> int:
    """Words of the longest stretch of a text all of whose runs stand in another, by looking at every stretch."""
    known = set(runs(asked))
    best = 0
    for text in texts:
        length = 0
        for run in runs(text):
            length = length + 1 if run in known else 0
            best = max(best, length)
    return best + SIZE - 1 if best else 0


@given(held=st.lists(words.map(" ".join), min_size=1, max_size=4), asked=words.map(" ".join))
@settings(max_examples=60, deadline=None)
def test_repetitions_are_those_that_a_plain_search_finds(held: list[str], asked: str) -> None:
    index = RunIndex(((f"g{number}", text) for number, text in enumerate(held)), size=SIZE)
    found = index.repetition(Shingler(SIZE).runs(asked))
    everywhere = {run for text in held for run in runs(text)}
    common = everywhere & set(runs(asked))
    if not common:
        assert found is None
        return
    assert found is not None
    assert found.runs == len(common)
    assert found.groups == tuple(f"g{number}" for number, text in enumerate(held) if common & set(runs(text)))
    assert found.words == longest(held, asked)


@given(held=words.map(" ".join), asked=words.map(" ".join))
@settings(max_examples=30, deadline=None)
def test_known_runs_are_those_of_the_texts(held: str, asked: str) -> None:
    known = RunIndex([("g", held)], size=SIZE).known(Shingler(SIZE).runs(asked))
    assert known.tolist() == [run in set(runs(held)) for run in runs(asked)]


def test_the_share_is_that_of_the_fullest_passage() -> None:
    index = RunIndex([("g", LONG)], size=SIZE)
    half = LONG.split()[10 : 10 + PASSAGE_RUNS // 2 + SIZE - 1]
    found = index.repetition(Shingler(SIZE).runs(" ".join(half)))
    assert found is not None
    assert found.share == 0.5
    assert index.repetition(Shingler(SIZE).runs(" ".join(half)), share=0.51) is None
    whole = index.repetition(Shingler(SIZE).runs(LONG))
    assert whole is not None
    assert whole.share == 1.0


def test_a_passage_does_not_go_on_from_one_text_into_the_next() -> None:
    first, second = " ".join(f"a{n}" for n in range(30)), " ".join(f"b{n}" for n in range(30))
    index = RunIndex([("a", first), ("b", second)], size=SIZE)
    asked = " ".join(first.split()[-8:]) + " | " + " ".join(second.split()[:8])
    found = index.repetition(Shingler(SIZE).runs(asked))
    assert found is not None
    assert found.words == 8
    assert found.share == 6 / PASSAGE_RUNS


def test_a_short_text_counts_as_a_passage_of_the_least_length() -> None:
    short = "one two three four five"
    found = RunIndex([("g", short)], size=SIZE).repetition(Shingler(SIZE).runs(short))
    assert found is not None
    assert found.share == 3 / LEAST_RUNS


def test_an_index_of_nothing_finds_nothing() -> None:
    index = RunIndex([("g", "too short"), ("g", "")], size=SIZE)
    assert index.repetition(Shingler(SIZE).runs(LONG)) is None
    assert not index.known(Shingler(SIZE).runs(LONG)).any()


def test_an_index_holds_no_word_and_is_not_copied_or_pickled() -> None:
    index = RunIndex([("g", "the secret marker stands among other words")], size=SIZE)
    held = {name: getattr(index, name) for name in RunIndex.__slots__}
    assert "secret" not in repr(held)
    assert "marker" not in repr(held)
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(SealError, match="cannot be pickled or copied"):
            leak(index)
