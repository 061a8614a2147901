"""The register of openings in a run directory is that of the ledger."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.audit import audit_ledger
from lineage.audit.register import REGISTER
from lineage.canonical import canonical_json, digest

Rows = list[dict[str, Any]]


@pytest.fixture
def run(finished_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished_run, tmp_path / "run"))


def chained(rows: Rows) -> str:
    prev = ""
    for row in rows:
        row.update(prev=prev)
        prev = row["hash"] = digest({key: value for key, value in row.items() if key != "hash"})
    return "".join(canonical_json(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[:1], "lacks the opening confirm"),
        (lambda rows: [*rows, {**rows[1], "k": 2}], "has an opening (confirm) that the ledger has not"),
        (lambda rows: [*rows, {**rows[0], "campaign": "0" * 64}], "openings of another campaign"),
    ],
)
def test_a_register_that_is_chained_anew_is_compared_with_the_ledger(
    run: Path, change: Callable[[Rows], Rows], words: str
) -> None:
    rows = [json.loads(line) for line in (run / REGISTER).read_text().splitlines()]
    (run / REGISTER).write_text(chained(change(json.loads(json.dumps(rows)))))
    found = [one for one in audit_ledger(run) if one.severity == "error"]
    assert [one.place for one in found] == [REGISTER]
    assert words in found[0].words


def test_an_edited_register_is_found(run: Path) -> None:
    (run / REGISTER).write_text((run / REGISTER).read_text().replace("incumbent", "opponent", 1))
    assert ["do not follow" in one.words for one in audit_ledger(run) if one.severity == "error"] == [True]
