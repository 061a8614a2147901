"""Segments read in streams say what records say, whatever stands in a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage import Judgement
from lineage.audit.segments import COLUMNS, Damaged, Judged, content_hash, judged_segments
from lineage.canonical import canonical_json, digest, digest_bytes
from lineage.ledger import Event
from lineage.records import stable
from lineage.segments import write_segment


def judgement(example: str, **more: Any) -> Judgement:
    return Judgement(**{"example": example, "candidate": "c", "student": "s", "status": "scored", "score": 0.5, **more})


JUDGED = [
    judgement("a", raw=('an answer with "volatile": and ,"volatile":{ in it',), paid=2),
    judgement("b", raw=("half a pair \ud800 of surrogates",), latency_s=0.25),
    judgement("c", score=None, status="failed", reason="truncated: at 5 tokens"),
    judgement("d", score=None, status="abstained", reason="abstained", sent={"volatile": {"x": 1}, "samples": 2}),
]


def written(directory: Path, judged: list[Judgement], name: str = "0001-accept") -> Event:
    return Event(3, "", "evaluation", {"segment": write_segment(directory, name, judged)}, "", "")


def test_columns_and_content_are_those_of_the_records(tmp_path: Path) -> None:
    event = written(tmp_path, JUDGED)
    (found,) = judged_segments(tmp_path, [event])
    assert isinstance(found, Judged)
    assert found.content == event.body["segment"]["content"]
    assert found.columns == {name: [getattr(one, name) for one in JUDGED] for name in COLUMNS}
    assert list(found.paid) == [2, 0, 0, 0]


@pytest.mark.parametrize("place", range(len(JUDGED)))
def test_content_is_the_hash_of_what_is_stable(tmp_path: Path, place: int) -> None:
    written(tmp_path, [JUDGED[place]])
    data = (tmp_path / "0001-accept.jsonl").read_bytes()
    assert content_hash(data) == digest(stable([JUDGED[place].row()]))


def test_a_line_in_another_form_is_parsed(tmp_path: Path) -> None:
    row = JUDGED[0].row()
    data = (json.dumps(row) + "\n").encode()
    assert content_hash(data) == digest(stable([row]))


def test_many_segments_come_in_order_around_a_missing_one(tmp_path: Path) -> None:
    events = [written(tmp_path, JUDGED[:2], f"000{number}-accept") for number in range(1, 5)]
    (tmp_path / "0002-accept.jsonl").unlink()
    found = list(judged_segments(tmp_path, events))
    assert [type(one) for one in found] == [Judged, Damaged, Judged, Judged]
    assert [one.event for one in found] == events


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"score": None}, "cannot have the score"),
        ({"status": "lost", "score": None, "reason": "lost"}, "the reason of a lost judgement"),
        ({"example": None}, "holds what is no judgement"),
        ({"volatile": {}}, "holds what is no judgement"),
    ],
)
def test_a_line_that_is_no_judgement_is_found_though_its_hash_is_recorded(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    text = canonical_json({**JUDGED[0].row(), **change}) + "\n"
    (tmp_path / "x.jsonl").write_text(text)
    segment = {"name": "x", "judgements": 1, "content": "", "volatile": {"sha256": digest_bytes(text.encode())}}
    (found,) = judged_segments(tmp_path, [Event(0, "", "evaluation", {"segment": segment}, "", "")])
    assert isinstance(found, Damaged), found
    assert words in found.words
