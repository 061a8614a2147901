"""``holdgate import``, and what lineage, audit and run make of an imported campaign."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Holdgate = Callable[..., tuple[int, str, str]]


@pytest.fixture
def imported(holdgate: Holdgate, tmp_path: Path) -> Path:
    result = {
        "candidates": [{"self": "judge it"}, {"self": "judge it well"}],
        "parents": [[None], [0]],
        "val_aggregate_scores": [0.25, 0.75],
        "val_subscores": [{"0": 0.0, "1": 0.5}, {"0": 1.0, "1": 0.5}],
        "log_dir": None,
        "seed": 0,
    }
    (tmp_path / "detailed.json").write_text(json.dumps(result), encoding="utf-8")
    status, out, _ = holdgate("import", "dspy", tmp_path / "detailed.json", "--out", tmp_path / "theirs")
    assert status == 0
    assert "imported detailed (dspy detailed_results), read-only; 1 seed, 1 accepted" in out
    assert "lacks held-out data" in out
    return tmp_path / "theirs"


def test_the_tree_and_one_candidate_are_shown(holdgate: Holdgate, imported: Path) -> None:
    status, out, _ = holdgate("lineage", imported)
    assert status == 0
    assert "detailed  imported" in out
    assert "score 0.750" in out
    status, out, _ = holdgate("lineage", "show", imported, "p01")
    assert (status, "judge it well" in out) == (0, True)
    status, out, _ = holdgate("lineage", "diff", imported, "p01")
    assert (status, "{+well+}" in out) == (0, True)


def test_the_audit_is_clean_and_says_where_it_comes_from(holdgate: Holdgate, imported: Path) -> None:
    status, out, _ = holdgate("audit", imported)
    assert status == 0
    assert "nothing of it was measured or decided here" in out


def test_no_campaign_goes_on_in_it(holdgate: Holdgate, imported: Path) -> None:
    before = {path.name: path.read_bytes() for path in imported.iterdir()}
    status, _, error = holdgate("run", "quickstart", "--out", imported, "--no-mlflow")
    assert status == 2
    assert "read-only: it cannot be resumed" in error
    assert {path.name: path.read_bytes() for path in imported.iterdir()} == before


def test_a_second_import_does_not_write_over_the_first(holdgate: Holdgate, imported: Path, tmp_path: Path) -> None:
    status, _, error = holdgate("import", "dspy", tmp_path / "detailed.json", "--out", imported)
    assert (status, "holds something already" in error) == (2, True)
