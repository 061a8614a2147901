"""The report of a campaign that is not finished."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.report import write_report
from lineage.canonical import canonical_json, digest, pretty_json


def test_it_says_first_that_there_is_no_decision(cut: Path) -> None:
    text = write_report(cut).markdown.read_text(encoding="utf-8")
    assert text.startswith("# No decision yet: it is searching\n")
    assert "NOT FINISHED: there is no verdict" in text
    assert "1 of at most 6 planned proposals are made" in text or "2 of at most 6 planned proposals are made" in text


def test_no_heldout_number_is_shown_before_the_verdict(cut: Path) -> None:
    events = [json.loads(line) for line in (cut / "ledger.jsonl").read_text(encoding="utf-8").splitlines()]
    held = next(e["body"] for e in events if e["type"] == "measured" and e["body"]["purpose"] == "baseline")
    accept = next(e["body"] for e in events if e["type"] == "measured" and e["body"]["purpose"] == "accept")
    text = write_report(cut).markdown.read_text(encoding="utf-8")
    shown = "{value:.3f} \\[{low:.3f}, {high:.3f}\\], n = {pairs}"
    assert shown.format(**accept["measures"]["omissions"]) in text
    assert shown.format(**held["measures"]["omissions"]) not in text


@pytest.mark.parametrize("events", [2, 4, 8])
def test_it_opens_wherever_the_ledger_ends(cut: Path, events: int) -> None:
    path = cut / "ledger.jsonl"
    kept = path.read_bytes().splitlines(keepends=True)[:events]
    path.write_bytes(b"".join(kept))
    head = {"count": len(kept), "hash": json.loads(kept[-1])["hash"]}
    (cut / "ledger.head.json").write_text(pretty_json(head), encoding="utf-8")
    assert "No decision yet" in write_report(cut).markdown.read_text(encoding="utf-8")


def test_why_it_stopped_is_said(cut: Path) -> None:
    path = cut / "ledger.jsonl"
    last = json.loads(path.read_bytes().splitlines()[-1])
    paid = {"student accept": {"calls": 7, "prompt_tokens": 70, "completion_tokens": 7}}
    body = {"volatile": {"reason": "limit of 7 calls reached", "limit": "calls", "paid": paid}}
    row = {"seq": last["seq"] + 1, "at": last["at"], "type": "stopped", "body": body, "prev": last["hash"]}
    row["hash"] = digest(row)
    with path.open("ab") as file:
        file.write(canonical_json(row).encode() + b"\n")
    (cut / "ledger.head.json").write_text(pretty_json({"count": row["seq"] + 1, "hash": row["hash"]}), encoding="utf-8")
    text = write_report(cut).markdown.read_text(encoding="utf-8")
    assert "Stopped: limit of 7 calls reached" in text
    assert "| student accept | 7 | 70 | 7 |" in text
