from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from optimize.sweep import StudyStorage
from optimize.sweep.storage import WORKERS
from optimize.sweep.trials import Claim, Heartbeat, TrialBook, register_study, trial_rows


def book_of(storage: StudyStorage, worker: str) -> TrialBook:
    book = TrialBook(storage, worker, grace_s=60)
    book.beat()
    return book


def test_workers_that_come_at_the_same_moment_get_different_trials_and_no_more_than_there_are(
    storage: StudyStorage,
) -> None:
    got: list[Claim] = []

    def take(book: TrialBook) -> None:
        while (claim := book.claim(17)) is not None:
            got.append(claim)
            book.finish(claim.number, "complete", {})

    threads = [threading.Thread(target=take, args=(book_of(storage, str(number)),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claim.number for claim in got) == list(range(1, 18))


def test_a_trial_is_taken_over_only_from_a_worker_that_gives_no_sign_of_life(
    storage: StudyStorage, age: Callable[[str], None]
) -> None:
    one, two = book_of(storage, "one"), book_of(storage, "two")
    claim = one.claim(1)
    assert claim == Claim(1, 1)
    one.choose(1, optuna=0, parameters={"student.aggregator": "soft"})
    assert two.claim(1) is None
    assert two.under_way() == [1]
    age("one")
    assert two.claim(1) == Claim(1, 2, 0, {"student.aggregator": "soft"})
    assert not one.finish(1, "complete", {"of": "one"}), "who was given up has no say any more"
    assert two.finish(1, "complete", {"of": "two"})
    assert trial_rows(storage)[0].record == {"of": "two"}
    assert two.under_way() == []


def test_a_worker_takes_up_first_what_it_died_on_and_then_what_was_left(storage: StudyStorage) -> None:
    one, two = book_of(storage, "one"), book_of(storage, "two")
    assert [one.claim(9), two.claim(9)] == [Claim(1, 1), Claim(2, 1)]
    two.leave(2)
    assert one.claim(9) == Claim(1, 2), "its own, as it has lost hold of it"
    one.finish(1, "failed", {})
    assert one.claim(9) == Claim(2, 1), "to leave a trial is no attempt that failed"
    one.finish(2, "pruned", {})
    assert one.claim(9) == Claim(3, 1)


def test_a_heartbeat_keeps_a_worker_alive_for_as_long_as_it_is_at_work(
    storage: StudyStorage, age: Callable[[str], None]
) -> None:
    def beat() -> float:
        with storage.begin() as connection:
            return float(connection.execute(sa.select(WORKERS.c.beat).where(WORKERS.c.worker == "one")).scalar_one())

    one = TrialBook(storage, "one", grace_s=60)
    with Heartbeat(one, every_s=0.01):
        for _ in range(3):
            age("one")
            aged, deadline = beat(), time.monotonic() + 20
            while beat() < aged + 50:
                assert time.monotonic() < deadline, "it gives no sign of life"
                time.sleep(0.01)
    age("one")
    aged = beat()
    time.sleep(0.1)
    assert beat() == aged, "it has ended"


def test_a_heartbeat_goes_on_after_any_error_of_the_database(
    storage: StudyStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = threading.Event()
    errors = [sa.exc.TimeoutError("no connection is free"), sa.exc.InterfaceError("UPDATE", {}, OSError("it closed"))]
    one = TrialBook(storage, "one", grace_s=60)
    with Heartbeat(one, every_s=0.01):

        def beat(self: TrialBook) -> None:
            if errors:
                raise errors.pop()
            tried.set()

        monkeypatch.setattr(TrialBook, "beat", beat)
        assert tried.wait(20), "it gave up, and others would make this worker's calls again"


def test_values_on_a_set_of_groups_are_published_once_a_trial(storage: StudyStorage) -> None:
    one, two = book_of(storage, "one"), book_of(storage, "two")
    assert one.rung(1, 4, 0.5) == []
    assert two.rung(2, 4, 0.75) == [0.5]
    assert one.rung(1, 4, 0.5) == [0.75], "again, as a resumed trial does"
    assert two.rung(2, 8, 0.25) == []


def test_a_study_of_the_same_name_that_is_another_is_noticed(storage: StudyStorage) -> None:
    assert register_study(storage, "f" * 64)
    assert not register_study(storage, "e" * 64)
