"""Segments as one table: verified, whatever their answers hold, and without the texts of held-out answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage import judgement_table as module
from lineage.errors import LedgerError
from lineage.frames import evaluations_frame
from lineage.judgement_table import judgement_table
from lineage.ledger import Event
from lineage.records import FactVerdict, Judgement, Usage
from lineage.segments import write_segment

Record = Callable[..., Event]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Write a segment, and give the event that the ledger would hold of it."""

    def make(name: str, *judgements: Judgement, split: str = "accept", iteration: int | None = 1) -> Event:
        body: dict[str, Any] = {
            "purpose": "minibatch",
            "split": split,
            "iteration": iteration,
            "segment": write_segment(tmp_path / "judgements", name, judgements),
        }
        return Event(0, "2026-01-01T00:00:00+00:00", "evaluation", body, "", "")

    return make


def scored(example: str, score: float = 0.5, **changes: Any) -> Judgement:
    return Judgement(example, "c", "s", "scored", score, **changes)


def test_every_field_that_is_no_text_is_a_column(record: Record, tmp_path: Path) -> None:
    usage = Usage(3, 100, 20, 5, 7, 0.25)
    one = scored(
        "e", 0.75, seed=12, sample=1, replicate=2, usage=usage, latency_s=0.5, paid=3, finish=("stop", "length", "stop")
    )
    (row,) = judgement_table(tmp_path, [record("0001-minibatch", one)]).to_pylist()
    assert row == {
        "example": "e",
        "candidate": "c",
        "student": "s",
        "status": "scored",
        "reason": None,
        "replicate": 2,
        "sample": 1,
        "seed": 12,
        "score": 0.75,
        "finish": "length,stop",
        "calls": 3,
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "reasoning_tokens": 5,
        "cached_tokens": 7,
        "cost_usd": 0.25,
        "latency_s": 0.5,
        "paid": 3,
        "segment": "0001-minibatch",
        "purpose": "minibatch",
        "split": "accept",
        "iteration": 1,
    }


def test_rows_keep_the_order_of_their_evaluations(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", 2)
    events = [record(f"{number:04d}-minibatch", scored(f"a{number}"), scored(f"b{number}")) for number in range(5)]
    table = judgement_table(tmp_path, events)
    assert table["example"].to_pylist() == [f"{letter}{number}" for number in range(5) for letter in "ab"]
    assert table["segment"].to_pylist() == [f"{number:04d}-minibatch" for number in range(5) for _ in range(2)]


def test_half_a_surrogate_pair_in_an_answer_is_read_past(record: Record, tmp_path: Path) -> None:
    event = record("0001-minibatch", scored("e", raw=("odd \ud800 text",)), scored("f"))
    assert judgement_table(tmp_path, [event])["example"].to_pylist() == ["e", "f"]


def test_a_line_longer_than_a_block_is_read(record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 2_000)
    event = record("0001-minibatch", scored("e", raw=("long " * 1_000,)), scored("f"))
    assert judgement_table(tmp_path, [event])["score"].to_pylist() == [0.5, 0.5]


def test_why_a_heldout_judgement_failed_is_told_by_its_kind_alone(record: Record, tmp_path: Path) -> None:
    failed = Judgement("e", "c", "s", "failed", None, reason="unparseable: the patient said\nthat")
    events = [record("0001-minibatch", failed), record("0002-baseline", failed, split="heldout", iteration=None)]
    table = judgement_table(tmp_path, events)
    assert table["reason"].to_pylist() == ["unparseable: the patient said\nthat", "unparseable"]
    assert table["score"].to_pylist() == [None, None]
    assert table["iteration"].to_pylist() == [1, None]


def test_texts_of_facts_and_answers_are_in_no_column(record: Record, tmp_path: Path) -> None:
    verdict = FactVerdict("f1", 0.9, None, True, text="SECRET", quote="SECRET")
    event = record("0001-minibatch", scored("e", raw=("SECRET",), facts=(verdict,), flags=("SECRET",)))
    assert "SECRET" not in str(judgement_table(tmp_path, [event]).to_pylist())


def test_no_evaluation_is_an_empty_frame(tmp_path: Path) -> None:
    frame = evaluations_frame(tmp_path, [])
    assert len(frame) == 0
    assert {"score", "group"} <= set(frame.columns)


def test_an_edited_segment_is_named(record: Record, tmp_path: Path) -> None:
    event = record("0001-minibatch", scored("e"))
    path = tmp_path / "judgements" / "0001-minibatch.jsonl"
    path.write_text(path.read_text().replace("0.5", "0.6"))
    with pytest.raises(LedgerError, match=r"0001-minibatch\.jsonl: judgements of segment 0001-minibatch were edited"):
        judgement_table(tmp_path, [event])


def test_another_number_of_judgements_than_the_ledger_has_is_refused(record: Record, tmp_path: Path) -> None:
    event = record("0001-minibatch", scored("e"))
    body = {**event.body, "segment": {**event.body["segment"], "judgements": 2}}
    with pytest.raises(LedgerError, match="1 judgements are in the segments, 2 in the ledger"):
        judgement_table(tmp_path, [Event(0, "", "evaluation", body, "", "")])
