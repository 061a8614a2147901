"""The audit finds every change to the directory of a judging run, and nothing in one that was left alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.audit import audit_ledger
from lineage.canonical import canonical_json, digest, pretty_json
from lineage.ledger import GENESIS

Rows = list[dict[str, Any]]


@pytest.fixture
def run(finished_judging: Path, tmp_path: Path) -> Path:
    """A copy to tamper with."""
    return Path(shutil.copytree(finished_judging, tmp_path / "run"))


def errors(directory: Path) -> list[str]:
    return [f"{found.place}: {found.words}" for found in audit_ledger(directory) if found.severity == "error"]


def rewrite(directory: Path, change: Callable[[Rows], Rows]) -> None:
    """What a forger can do: change events, chain them anew, and write head and table file to match."""
    rows = change([json.loads(line) for line in (directory / "ledger.jsonl").read_text().splitlines()])
    prev = GENESIS
    for seq, row in enumerate(rows):
        row.update(seq=seq, prev=prev)
        prev = row["hash"] = digest({key: value for key, value in row.items() if key != "hash"})
    (directory / "ledger.jsonl").write_text("".join(canonical_json(row) + "\n" for row in rows), encoding="utf-8")
    (directory / "ledger.head.json").write_text(pretty_json({"count": len(rows), "hash": prev}), encoding="utf-8")
    table = next((row for row in rows if row["type"] == "table"), None)
    end = next((row for row in rows if row["type"] == "finished"), None)
    if table is not None and end is not None:
        head = {"count": end["seq"] + 1, "hash": end["hash"]}
        (directory / "table.json").write_text(pretty_json({**table["body"]["table"], "ledger_head": head}))


def first(rows: Rows, kind: str, **body: Any) -> dict[str, Any]:
    return next(r for r in rows if r["type"] == kind and all(r["body"][key] == value for key, value in body.items()))


def edit(kind: str, *, of: dict[str, Any] | None = None, **body: Any) -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        first(rows, kind, **(of or {}))["body"].update(body)
        return rows

    return change


def drop(kind: str, **of: Any) -> Callable[[Rows], Rows]:
    return lambda rows: [row for row in rows if row is not first(rows, kind, **of)]


def repeat(kind: str) -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        place = rows.index(first(rows, kind)) + 1
        return [*rows[:place], json.loads(json.dumps(rows[place - 1])), *rows[place:]]

    return change


def test_an_untouched_run_has_remarks_only(run: Path) -> None:
    assert {finding.severity for finding in audit_ledger(run)} == {"info"}


@pytest.mark.parametrize("name", ["plan.json", "examples.jsonl", "table.json", "judgements/0002-facts.jsonl"])
def test_every_changed_file_beside_the_ledger_is_found(run: Path, name: str) -> None:
    path = run / name
    path.write_text(path.read_text().replace("1", "2", 1), encoding="utf-8")
    assert any(name in found for found in errors(run))


def test_a_foreign_segment_and_a_foreign_split_lock_are_found(run: Path) -> None:
    shutil.copy(run / "judgements" / "0002-facts.jsonl", run / "judgements" / "0009-more.jsonl")
    (run / "split.lock.json").write_text("{}", encoding="utf-8")
    found = errors(run)
    assert any("0009-more.jsonl: is in no event" in words for words in found)
    assert any("is there without a lock" in words for words in found)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit("plan", plan_hash="0" * 64), "the plan's hash is not the hash of the plan"),
        (edit("examples", count=23), "its counts, ids or split are not those of the example list"),
        (edit("evaluation", of={"purpose": "facts"}, student="0" * 64), "is not the evaluation of facts"),
        (edit("evaluation", of={"purpose": "facts"}, purpose="other"), "is not the evaluation of facts"),
        (edit("evaluation", of={"purpose": "whole"}, replicates=[0]), "whole did not judge the run's examples"),
        (edit("evaluation", of={"purpose": "whole"}, split="accept"), "judges the split accept"),
        (drop("evaluation", purpose="sentence-embedding"), "the table comes before every judge has judged"),
        (drop("table"), "the run ends without its table"),
        (repeat("table"), "a second table"),
        (repeat("evaluation"), "an evaluation of a judge that is not registered"),
        (lambda rows: [rows[0], rows[2], rows[1], *rows[3:]], "the examples are not recorded directly after the plan"),
        (lambda rows: [*rows[:-2], rows[-1], rows[-2]], "goes on after its end"),
    ],
)
def test_a_rewritten_ledger_that_breaks_a_rule_is_found(run: Path, change: Callable[[Rows], Rows], said: str) -> None:
    rewrite(run, change)
    assert any(said in found for found in errors(run)), errors(run)


def test_heldout_judgements_outside_an_opening_are_found(run: Path) -> None:
    def change(rows: Rows) -> Rows:
        for row in rows:
            if row["type"] in ("evaluation", "examples"):
                row["body"]["split"] = "heldout"
        return rows

    rewrite(run, change)
    assert any("held-out examples are judged outside an opening" in found for found in errors(run))


def test_an_opening_for_another_reason_is_found(run: Path) -> None:
    body = {"opening": "exploratory", "purpose": "judge", "exploratory": "curious", "lock": None, "aside": True}
    row = {"at": "2026-01-01T00:00:00.000+00:00", "type": "seal_opened", "body": body}
    rewrite(run, lambda rows: [*rows[:2], row, *rows[2:]])
    assert any("not for the reason that was registered" in found for found in errors(run))


def test_an_unfinished_run_is_a_warning(run: Path) -> None:
    rewrite(run, lambda rows: [row for row in rows if row["type"] not in ("table", "spend", "finished")])
    (run / "table.json").unlink()
    assert errors(run) == []
    assert any("is not finished" in found.words for found in audit_ledger(run))


def test_a_table_file_that_is_not_written_yet_is_a_warning_and_one_too_early_an_error(run: Path) -> None:
    text = (run / "table.json").read_text()
    (run / "table.json").unlink()
    assert errors(run) == []
    rewrite(run, lambda rows: [row for row in rows if row["type"] != "finished"])
    (run / "table.json").write_text(text)
    assert any("there is a table file, but the ledger has no finished run" in found for found in errors(run))
