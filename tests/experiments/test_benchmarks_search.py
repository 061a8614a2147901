"""The benchmark of the search, at small sizes: both engines run, and the table says what was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.benchmarks import search
from lineage import read_events

pytestmark = pytest.mark.integration


def test_the_student_s_time_is_left_out_and_syncs_are_counted(tmp_path: Path) -> None:
    found = search.ours(4, 40, tmp_path)
    assert (found.iterations, 1 <= found.pool <= 5) == (4, True)
    assert found.wall_s > found.sync_s > 0
    assert found.syncs >= 4 * 3 * 4, "each event and its head"


def test_every_proposal_of_the_benchmark_is_valid(tmp_path: Path) -> None:
    """What costs nothing because it is refused at once would make the engine look fast."""
    search.ours(15, 40, tmp_path)
    outcomes = [event.body for event in read_events(tmp_path / "ledger.jsonl") if event.type == "outcome"]
    assert len(outcomes) == 15
    assert {body["outcome"] for body in outcomes} == {"accepted", "rejected"}


def test_plain_gepa_accepts_about_as_much_on_the_same_notes(tmp_path: Path) -> None:
    ours, plain = search.ours(30, 40, tmp_path), search.plain(30, 40, tmp_path)
    assert plain.syncs == 0
    assert 0.5 < (plain.pool - 1) / (ours.pool - 1) < 2


def test_the_table_has_a_row_for_each_engine(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "SIZES", ((50, 40),))
    monkeypatch.setattr(search, "WANTED_MS", {(50, 40): 60.0})
    search.main(["--share", "0.06"])
    said = capsys.readouterr().out
    assert "3 iterations, 40 accept examples: milliseconds an iteration" in said
    assert "wanted of ours: under 60 ms an iteration" in said
    assert [name for name in search.CONTENDERS if name in said] == ["holdgate", "plain gepa"]
