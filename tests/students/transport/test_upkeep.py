"""Looking after a call cache: its numbers, its soundness, removing from it, and taking it elsewhere."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lineage.errors import CacheError
from lineage.records import Usage
from students.transport import (
    CallCache,
    CallRequest,
    CallResult,
    RecordedAnswers,
    Tags,
    cache_stats,
    export_cache,
    prune_cache,
    verify_cache,
)

IDENTITY = {"endpoint": "http://127.0.0.1:1/v1", "model": "m"}
RESULT = CallResult("Score: 0", "stop", Usage(1, 10, 2, 1, 4, 0.25), top=(("Yes", -0.5),), reasoning="hm", version="v7")


def request(number: int) -> CallRequest:
    return CallRequest(({"role": "user", "content": f"note {number}"},), {"max_tokens": 5}, seed=number, after="f" * 64)


def key(number: int) -> str:
    return request(number).key(IDENTITY)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A cache: campaign one paid for calls 0 to 3, campaign two for 3 to 5, and its reflector for 6."""
    path = tmp_path / "calls.sqlite"
    with CallCache(path) as cache:
        for number in range(4):
            tags = Tags("one", "student", "search", f"candidate {number % 2}")
            cache.store(key(number), IDENTITY, request(number), RESULT, tags)
        for number in range(3, 6):
            free = replace(RESULT, usage=Usage(1, 10, 2))
            cache.store(key(number), IDENTITY, request(number), free, Tags("two", "student", "search", "candidate 0"))
        cache.store(key(6), IDENTITY, request(6), RESULT, Tags("two", "reflector", "search"))
    return path


def answers(path: Path) -> set[int]:
    with CallCache(path) as cache:
        return {number for number in range(7) if cache.find(key(number)) is not None}


def edit(path: Path, statement: str) -> None:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(statement)
    db.close()


def test_stats_count_by_campaign_and_role(path: Path) -> None:
    found = cache_stats(path)
    assert (found.answers, found.twice, found.unanswered) == (7, 1, 0)
    assert found.size >= path.stat().st_size > 0
    rows = {(row.campaign, row.role): row for row in found.paid}
    assert rows["one", "student"].usage == Usage(4, 40, 8, 4, 16, 1.0)
    assert rows["one", "student"].candidates == 2
    assert (rows["two", "student"].usage.cost_usd, rows["two", "student"].unpriced) == (None, 3)
    assert rows["two", "reflector"].candidates == 0


def test_calls_without_an_answer_are_counted_and_go_with_their_campaign(path: Path) -> None:
    with CallCache(path) as cache:
        cache.note_sent("x", Tags("three", "student", "search"), Usage(1, 100, 5))
    assert cache_stats(path).unanswered == 1
    assert prune_cache(path, keep={"one", "two"}).campaigns == ("three",)
    assert cache_stats(path).unanswered == 0


def test_a_sound_cache_has_no_flaw(path: Path) -> None:
    assert list(verify_cache(path)) == []


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE calls SET request = replace(request, 'note 2', 'note 9')", "does not hash to its key"),
        ("UPDATE calls SET request = replace(request, '\"after\":\"f', '\"after\":\"e') WHERE key = '{key}'", "hash"),
        ("UPDATE calls SET identity = '{{}}' WHERE key = '{key}'", "does not hash to its key"),
        ("UPDATE calls SET request = 'x' WHERE key = '{key}'", "does not hash to its key"),
        ("UPDATE calls SET result = '{{}}' WHERE key = '{key}'", "cannot be read"),
        ("UPDATE paid SET usage = '[]' WHERE key = '{key}'", "note of its payment"),
    ],
)
def test_what_was_edited_is_named_by_its_key(path: Path, statement: str, words: str) -> None:
    edit(path, statement.format(key=key(2)))
    (flaw,) = verify_cache(path)
    assert flaw.key == key(2)
    assert words in flaw.words


def test_damaged_answers_can_be_removed_and_are_then_paid_for_again(path: Path) -> None:
    edit(path, f"UPDATE calls SET result = '{{}}' WHERE key = '{key(2)}'")
    with CallCache(path) as cache, pytest.raises(CacheError, match=rf"the answer under {key(2)} cannot be read"):
        cache.find(key(2))
    assert prune_cache(path, damaged=True).answers == 1
    assert answers(path) == {0, 1, 3, 4, 5, 6}


def test_pruning_absent_campaigns_keeps_what_a_present_one_paid_for_too(path: Path) -> None:
    planned = prune_cache(path, keep={"two"}, dry_run=True)
    assert (planned.answers, planned.notes, planned.campaigns) == (3, 4, ("one",))
    assert answers(path) == set(range(7))
    removed = prune_cache(path, keep={"two"})
    assert (removed.answers, removed.notes, removed.campaigns) == (3, 4, ("one",))
    assert answers(path) == {3, 4, 5, 6}
    with CallCache(path) as cache:
        assert cache.paid("one") == Usage()
        assert cache.paid("two").calls == 4


def test_pruning_by_age_keeps_the_notes_of_payment_that_limits_count_on(path: Path) -> None:
    edit(path, f"UPDATE calls SET at = '2020-01-01T00:00:00.000+00:00' WHERE key = '{key(0)}'")
    removed = prune_cache(path, before=datetime.now(UTC) - timedelta(days=1))
    assert (removed.answers, removed.notes) == (1, 0)
    assert answers(path) == {1, 2, 3, 4, 5, 6}
    with CallCache(path) as cache:
        assert cache.paid("one").calls == 4


def test_an_export_of_everything_holds_every_call_and_is_sorted(path: Path) -> None:
    rows = list(export_cache(path))
    assert [row["key"] for row in rows] == sorted(key(number) for number in range(7))
    assert {row["request"]["messages"][0]["content"] for row in rows} == {f"note {number}" for number in range(7)}
    assert sum(len(row["paid"]) for row in rows) == 8


def test_an_export_of_one_campaign_holds_what_it_paid_for(path: Path) -> None:
    assert {row["key"] for row in export_cache(path, campaign="tw")} == {key(number) for number in range(3, 7)}
    with pytest.raises(CacheError, match=r"no campaign begins with 'x'; it has: one, two"):
        list(export_cache(path, campaign="x"))


def test_an_export_of_hashes_holds_no_text(path: Path) -> None:
    text = json.dumps(list(export_cache(path, texts=False)))
    for words in ("note 1", "Score", "hm", "Yes"):
        assert words not in text
    assert key(1) in text


def test_the_version_that_was_stated_last_is_found(path: Path) -> None:
    recorded = RecordedAnswers(path)
    assert recorded.version(IDENTITY) == "v7"
    assert recorded.version({"model": "other"}) is None
    assert recorded.count(IDENTITY) == 7
    recorded.close()


def test_a_file_that_is_no_call_cache_is_refused_and_left_alone(tmp_path: Path) -> None:
    foreign = tmp_path / "mlflow.db"
    edit(foreign, "CREATE TABLE runs (id)")
    before = foreign.read_bytes()
    for use in (cache_stats, CallCache, lambda path: list(verify_cache(path)), RecordedAnswers):
        with pytest.raises(CacheError, match=r"mlflow\.db: is a database, but no call cache \(it has runs\)"):
            use(foreign)
    assert foreign.read_bytes() == before
    text = tmp_path / "notes.txt"
    text.write_text("hello\n")
    with pytest.raises(CacheError, match=r"notes\.txt: is no call cache"):
        cache_stats(text)
    with pytest.raises(CacheError, match=r"notes\.txt: is not a readable call cache"):
        CallCache(text)
    with pytest.raises(CacheError, match=r"notes\.txt: is neither a call cache nor an export of one"):
        RecordedAnswers(text)
    with pytest.raises(CacheError, match=r"missing\.sqlite: cannot be read \(No such file"):
        cache_stats(tmp_path / "missing.sqlite")


def test_a_file_that_lost_its_middle_is_named(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(CacheError, match=r"calls\.sqlite"):
        list(verify_cache(path))


def test_a_recorded_cache_is_found_behind_the_own_one_and_never_written(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    recorded = RecordedAnswers(path)
    with CallCache(tmp_path / "own.sqlite", recorded=[recorded]) as cache:
        assert cache.find(key(1)) == replace(RESULT, cached=True)
        assert cache.find("0" * 64) is None
    assert cache_stats(tmp_path / "own.sqlite").answers == 0
    recorded.close()
    assert path.read_bytes() == before


def test_an_edited_record_is_not_replayed(path: Path) -> None:
    edit(path, "UPDATE calls SET request = replace(request, 'note 2', 'note 9')")
    recorded = RecordedAnswers(path)
    with pytest.raises(CacheError, match=rf"the request under {key(2)} was edited"):
        recorded.find(key(2))
    recorded.close()
