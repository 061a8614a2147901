"""Data frames of a run directory: every proposal and every judgement, and no text of an example."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lineage.errors import LedgerError
from lineage.frames import candidates_frame, judgements_frame
from lineage.ledger import read_events


def test_every_proposal_is_a_row_with_its_whole_text(finished_run: Path) -> None:
    events = read_events(finished_run / "ledger.jsonl")
    frame = candidates_frame(events)
    proposed = [event.body for event in events if event.type == "candidate"]
    assert list(frame["candidate"]) == [body["candidate"] for body in proposed]
    assert list(frame["text"]) == [body["texts"]["instruction"] for body in proposed]
    assert frame["outcome"].iloc[0] == "seed"
    assert frame["winner"].sum() == 1


def test_candidates_of_no_events_are_an_empty_frame_with_columns() -> None:
    frame = candidates_frame([])
    assert len(frame) == 0
    assert "outcome" in frame.columns


def test_every_judgement_is_a_row_with_its_structure(finished_run: Path) -> None:
    events = read_events(finished_run / "ledger.jsonl")
    frame = judgements_frame(finished_run)
    wanted = sum(event.body["segment"]["judgements"] for event in events if event.type == "evaluation")
    assert len(frame) == wanted
    assert set(frame["split"]) == {"reflect", "accept", "heldout"}
    assert frame["score"].between(0, 1).all()
    assert frame["group"].notna().all()
    assert (frame["twin"].isna() == (frame["label"] == "clean")).all()


def test_paired_discrimination_can_be_counted_from_the_frame(finished_run: Path) -> None:
    events = read_events(finished_run / "ledger.jsonl")
    measured = next(event.body for event in events if event.type == "measured" and event.body["purpose"] == "baseline")
    frame = judgements_frame(finished_run)
    frame = frame[frame["purpose"] == "baseline"]
    scores = frame.set_index("example")["score"]
    omissions = frame[frame["label"] == "omission"]
    wins = int((omissions["score"].to_numpy() < scores[omissions["twin"]].to_numpy()).sum())
    assert wins == measured["measures"]["omissions"]["wins"]


def test_no_document_is_in_the_frame(finished_run: Path) -> None:
    frame = judgements_frame(finished_run)
    longest = frame.select_dtypes(exclude="number").map(lambda value: len(str(value))).astype("int64").max().max()
    assert longest <= 64  # a hash


def test_a_damaged_segment_is_refused(finished_run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    (copy / "judgements").mkdir(parents=True)
    (copy / "ledger.jsonl").write_bytes((finished_run / "ledger.jsonl").read_bytes())
    with pytest.raises(LedgerError, match="is missing"):
        judgements_frame(copy)


def test_pandas_is_loaded_only_when_a_frame_is_asked_for() -> None:
    code = "import lineage.frames, lineage.mirror, lineage.tree; print({'pandas', 'mlflow', 'rich'} & set(sys.modules))"
    paths = [str(Path(__file__).parents[2]), *sys.path]
    done = subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}; {code}"], capture_output=True)
    assert done.stdout.decode().strip() == "set()", done.stderr.decode()
