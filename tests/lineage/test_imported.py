"""What is said of a lineage that was made elsewhere, and that nothing goes on with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage import Ledger, read_events
from lineage.errors import LedgerError
from lineage.imported import is_imported, is_imported_run, published
from lineage.tree import tree_rows


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    path = tmp_path / "run" / "ledger.jsonl"
    said = {"target": "t", "candidate": "a" * 64}
    seed = {"kind": "seed", "parents": [], "iteration": 0, "operator": None, "texts": {}, "name": "first", **said}
    with Ledger(path) as ledger:
        ledger.perform("imported", {"name": "theirs", "format": "made up"}, dict)
        ledger.perform("candidate", seed, dict)
        ledger.perform("published", {"of": "accept", "measures": {"paired": 0.75}, **said}, dict)
        ledger.perform("published", {"of": "scores", "scores": {"x": 1.0}, **said, "target": "u"}, dict)
    return path


def test_an_imported_ledger_is_known_by_its_first_event(imported: Path, finished_run: Path) -> None:
    assert is_imported(read_events(imported))
    assert is_imported_run(imported.parent)
    assert not is_imported(read_events(finished_run / "ledger.jsonl"))
    assert not is_imported_run(finished_run)
    assert not is_imported([])
    assert not is_imported_run(imported.parent / "nothing")


def test_nobody_goes_on_with_an_imported_ledger_and_it_stays_as_it_was(imported: Path) -> None:
    before = imported.read_bytes()
    with pytest.raises(LedgerError, match="read-only: it cannot be resumed"):
        Ledger(imported)
    assert imported.read_bytes() == before


def test_what_was_published_is_found_by_its_kind_and_target(imported: Path) -> None:
    events = read_events(imported)
    assert [body["measures"] for body in published(events, "accept")] == [{"paired": 0.75}]
    assert published(events, "scores", target="t") == []
    assert len(published(events, "scores", target="u")) == 1


def test_what_was_not_published_is_missing_in_the_tree_and_never_zero(imported: Path) -> None:
    (row,) = tree_rows(read_events(imported))
    assert (row.name, row.paired) == ("first", 0.75)
    assert (row.words, row.detection, row.false_alarm, row.threshold, row.score, row.gain) == (None,) * 6
