"""The call cache: what was answered is there, once, and is what was answered."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.records import Usage
from students.transport import CallCache, CallRequest, CallResult, Tags

IDENTITY = {"model": "m"}
REQUEST = CallRequest(({"role": "user", "content": "hi"},), {"max_tokens": 5}, seed=0)
KEY = REQUEST.key(IDENTITY)
RESULT = CallResult(
    "Score: 0",
    "stop",
    Usage(1, 10, 2, 1, 4, 0.25),
    top=(("Yes", -0.5), (" ", -1e-9)),
    reasoning="hm",
    version="v",
    latency_s=0.125,
)
TAGS = Tags("c", "student", "baseline", "candidate")


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[CallCache]:
    with CallCache(tmp_path / "new" / "calls.sqlite") as made:
        yield made


def test_an_answer_comes_back_as_it_was_and_marked_as_cached(cache: CallCache) -> None:
    assert cache.find(KEY) is None
    assert cache.store(KEY, IDENTITY, REQUEST, RESULT, TAGS) == RESULT
    assert cache.find(KEY) == replace(RESULT, cached=True)


@given(
    st.text(st.characters(exclude_categories=["Cs"])) | st.none(),
    st.lists(
        st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.floats(allow_nan=False, allow_infinity=False))
    ),
)
def test_any_answer_reads_back_from_its_row(text: str | None, top: list[tuple[str, float]]) -> None:
    result = CallResult(text, "stop", Usage(calls=1), top=tuple(top))
    assert CallResult.from_row(result.row()) == replace(result, cached=True)


def test_the_first_answer_to_a_call_is_the_one_that_is_kept(cache: CallCache) -> None:
    cache.store(KEY, IDENTITY, REQUEST, RESULT, TAGS)
    later = cache.store(KEY, IDENTITY, REQUEST, replace(RESULT, text="Score: 9"), TAGS)
    assert later == replace(RESULT, cached=True)
    assert cache.find(KEY) == later
    assert cache.paid("c").calls == 2


def test_what_was_paid_is_summed_by_campaign_role_and_phase(cache: CallCache) -> None:
    for number, (campaign, role, phase) in enumerate(
        [
            ("c", "student", "baseline"),
            ("c", "student", "search"),
            ("c", "reflector", "search"),
            ("d", "student", "search"),
        ]
    ):
        cache.store(f"key {number}", IDENTITY, REQUEST, RESULT, Tags(campaign, role, phase))
    assert cache.paid("c") == Usage(3, 30, 6, 3, 12, 0.75)
    assert cache.paid("c", role="student").calls == 2
    assert cache.paid("nobody") == Usage()
    assert {key: usage.calls for key, usage in cache.paid_by_phase("c").items()} == {
        ("student", "baseline"): 1,
        ("student", "search"): 1,
        ("reflector", "search"): 1,
    }


def test_an_answer_that_cannot_be_stored_leaves_no_half_of_it(cache: CallCache) -> None:
    cache._db.execute("CREATE TRIGGER refuse BEFORE INSERT ON paid BEGIN SELECT RAISE(ABORT, 'full'); END")
    with pytest.raises(sqlite3.IntegrityError, match="full"):
        cache.store(KEY, IDENTITY, REQUEST, RESULT, TAGS)
    cache._db.execute("DROP TRIGGER refuse")
    assert cache.find(KEY) is None
    assert cache.paid("c") == Usage()


def test_the_same_new_file_can_be_opened_by_many_at_once(tmp_path: Path) -> None:
    errors: list[Exception] = []

    def work(path: Path, number: int, start: threading.Barrier) -> None:
        start.wait()
        try:
            with CallCache(path) as cache:
                cache.store(f"key {number}", IDENTITY, REQUEST, RESULT, TAGS)
        except sqlite3.Error as error:
            errors.append(error)

    for turn in range(5):
        path, start = tmp_path / f"{turn}.sqlite", threading.Barrier(8)
        threads = [threading.Thread(target=work, args=(path, number, start)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        with CallCache(path) as cache:
            assert cache.paid("c").calls == 8


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, seed=None),
        replace(REQUEST, seed=1),
        replace(REQUEST, sample=1),
        replace(REQUEST, replicate=1),
        replace(REQUEST, after="0" * 64),
        replace(REQUEST, parameters={"max_tokens": 6}),
        replace(REQUEST, parameters={"max_tokens": 5, "temperature": 0}),
        replace(REQUEST, messages=({"role": "system", "content": "hi"},)),
        replace(REQUEST, messages=({"role": "user", "content": "hi "},)),
    ],
)
def test_everything_that_can_change_an_answer_changes_the_key(other: CallRequest) -> None:
    assert other.key(IDENTITY) != KEY


def test_another_model_has_another_key_and_slot_values_have_none() -> None:
    assert REQUEST.key({"model": "n"}) != KEY
    assert replace(REQUEST, inputs={"document": "hi"}).key(IDENTITY) == KEY


def test_seed_zero_is_sent_and_no_seed_is_not() -> None:
    assert REQUEST.sent == {"max_tokens": 5, "seed": 0}
    assert replace(REQUEST, seed=None).sent == {"max_tokens": 5}
