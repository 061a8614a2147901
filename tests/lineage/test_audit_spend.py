"""The spend of a run adds up: over phases and candidates, over judgements, and in the call cache beside it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lineage.audit.record import Finding, RunRecord
from lineage.audit.spend import check_spend
from lineage.canonical import canonical_json
from lineage.ledger import Event

CHILD = "c" * 64


def usage(calls: int, **more: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens"), 0)
    return {"calls": calls, **counts, "cost_usd": None, **more}


def paid(calls: int, *, candidate: str = CHILD) -> dict[str, Any]:
    row = {"role": "student", "phase": "accept", "candidate": candidate, "usage": usage(calls)}
    return {"paid": {"student accept": usage(calls)}, "candidates": [row], "unanswered": usage(0)}


def run_of(directory: Path, record: dict[str, Any], *, sent: int, resumed: bool = False) -> RunRecord:
    kinds = [("plan", {}), *([("resumed", {"volatile": {}})] if resumed else []), ("spend", {"volatile": record})]
    events = tuple(Event(seq, "", kind, body, "", f"hash {seq}") for seq, (kind, body) in enumerate(kinds))
    run = RunRecord(directory / "run", events)
    run.candidates[CHILD] = events[0]
    run.sent = Counter({("accept", CHILD): sent})
    return run


def errors(run: RunRecord) -> list[str]:
    return [found.words for found in check_spend(run) if found.severity == "error"]


def test_a_spend_that_adds_up_is_no_error(tmp_path: Path) -> None:
    found = list(check_spend(run_of(tmp_path, paid(5), sent=5)))
    assert [one.severity for one in found] == ["info"]
    assert "no call cache lies beside the run" in found[0].words


def test_a_phase_that_is_not_the_sum_of_its_candidates_is_found(tmp_path: Path) -> None:
    record = paid(5)
    record["paid"]["student accept"]["prompt_tokens"] = 1
    assert errors(run_of(tmp_path, record, sent=5)) == [
        "what was paid for student accept is not the sum over its candidates"
    ]


@pytest.mark.parametrize(("whole", "part", "found"), [(0.3, 0.3, 0), (0.3, 0.2, 1), (0.3, None, 1), (None, 0.3, 1)])
def test_a_sum_of_money_is_that_of_its_parts(
    tmp_path: Path, whole: float | None, part: float | None, found: int
) -> None:
    record = paid(5)
    record["paid"]["student accept"]["cost_usd"] = whole
    record["candidates"][0]["usage"]["cost_usd"] = part
    assert len(errors(run_of(tmp_path, record, sent=5))) == found


@pytest.mark.parametrize(("sent", "resumed", "found"), [(6, True, 1), (4, False, 1), (4, True, 0), (5, False, 0)])
def test_judgements_send_what_was_paid_for_and_less_only_where_a_process_died(
    tmp_path: Path, sent: int, resumed: bool, found: int
) -> None:
    said = errors(run_of(tmp_path, paid(5), sent=sent, resumed=resumed))
    assert len(said) == found
    assert all(f"they sent {sent} calls, and 5 are paid for" in words for words in said)


def test_a_payment_for_no_candidate_is_found(tmp_path: Path) -> None:
    said = errors(run_of(tmp_path, paid(5, candidate="d" * 64), sent=0))
    assert "paid for dddddddddddd, which is no candidate" in said


def test_a_sum_of_money_below_nothing_and_calls_without_an_answer_are_said(tmp_path: Path) -> None:
    record = paid(5)
    record["paid"]["student accept"]["cost_usd"] = record["candidates"][0]["usage"]["cost_usd"] = -1.0
    record["unanswered"] = usage(2)
    run = run_of(tmp_path, record, sent=5)
    assert errors(run) == ["what was paid for student accept is -1.0 US dollars"]
    assert any("2 calls may have been paid for" in found.words for found in check_spend(run))


def test_a_judging_run_is_compared_by_judge(tmp_path: Path) -> None:
    record = {"paid": {"accept": usage(5)}}
    assert errors(run_of(tmp_path, record, sent=5)) == []
    assert len(errors(run_of(tmp_path, record, sent=6))) == 1


def cache(directory: Path, *calls: int, campaign: str = "hash 0") -> None:
    with closing(sqlite3.connect(directory / "calls.sqlite")) as database, database:
        database.execute("CREATE TABLE paid (campaign, role, phase, candidate, usage)")
        rows = [(campaign, "student", "accept", CHILD, canonical_json(usage(count))) for count in calls]
        database.executemany("INSERT INTO paid VALUES (?, ?, ?, ?, ?)", rows)


def cached(run: RunRecord) -> list[Finding]:
    return list(check_spend(run))


def test_the_call_cache_beside_the_run_is_asked(tmp_path: Path) -> None:
    cache(tmp_path, 2, 3)
    assert cached(run_of(tmp_path, paid(5), sent=5)) == []
    (found,) = cached(run_of(tmp_path, paid(4), sent=4))
    assert found.severity == "error"
    assert "is not what the call cache was paid for" in found.words


def test_a_cache_of_other_campaigns_is_a_remark_and_a_broken_one_a_warning(tmp_path: Path) -> None:
    cache(tmp_path, 5, campaign="another")
    (found,) = cached(run_of(tmp_path, paid(5), sent=5))
    assert (found.severity, "knows nothing of this campaign" in found.words) == ("info", True)
    (tmp_path / "calls.sqlite").write_bytes(b"no database at all" * 100)
    (found,) = cached(run_of(tmp_path, paid(5), sent=5))
    assert (found.severity, found.place) == ("warning", "../calls.sqlite")
