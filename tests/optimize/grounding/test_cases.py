"""The case set and its loader."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import CorpusError
from optimize.grounding import load_cases, load_equivalents
from optimize.grounding.cases import TYPES

CASES = load_cases()
CASE: dict[str, Any] = {
    "id": "g-01",
    "group": "g",
    "family": "kinds",
    "type": "dose",
    "kind": "stated dose",
    "question": "Dose?",
    "answer": "5 mg.",
    "label": "right",
    "expected": "delivered",
    "cohort": "first",
}


def written(place: Path, *cases: dict[str, Any], notes: str = '{"group": "g", "note": "Takes 5 mg."}\n') -> Path:
    (place / "notes.jsonl").write_text(notes, encoding="utf-8")
    (place / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    return place


def test_there_are_nine_and_more_than_six_score_of_all_types_and_a_limit_family() -> None:
    families = Counter(case.family for case in CASES)
    assert families["nine"] == 9
    assert families["kinds"] >= 120
    assert families["limit"] >= 20
    assert {case.type for case in CASES if case.family == "kinds"} == set(TYPES)
    assert {case.kind for case in CASES if case.family == "limit"} == {"another word", "same word"}
    assert {case.label for case in CASES} == {"right", "wrong", "silent"}


def test_no_answer_stands_twice_on_one_note() -> None:
    assert max(Counter((case.group, case.answer) for case in CASES).values()) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"type": "mood"}, r"cases.jsonl:1, field 'type': must be one of history-subject, .*got 'mood'"),
        ({"group": "h"}, r"field 'group': there is no note of group 'h'"),
        ({"answer": " "}, r"field 'answer': must be a text that is not empty"),
        ({"note": "x"}, r"field 'note': is not a field; there are id, group"),
        ({"label": "wrong"}, r"field 'expected': a wrong answer is rejected, got 'delivered'"),
        ({"cohort": "tenth"}, r"field 'cohort': must be one of first, second, third"),
        ({"id": 3}, r"field 'id': must be a text"),
    ],
)
def test_a_broken_case_is_refused_with_its_place(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=words):
        load_cases(written(tmp_path, CASE | change))


def test_ids_and_notes_stand_once_and_every_note_has_a_case(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="id 'g-01' stands twice"):
        load_cases(written(tmp_path, CASE, CASE))
    note = '{"group": "g", "note": "x"}\n'
    with pytest.raises(CorpusError, match="group 'g' stands twice"):
        load_cases(written(tmp_path, CASE, notes=note * 2))
    with pytest.raises(CorpusError, match="note 'h' has no case"):
        load_cases(written(tmp_path, CASE, notes=note + note.replace('"g"', '"h"')))
    with pytest.raises(CorpusError, match="holds nothing to judge"):
        load_cases(written(tmp_path))


def test_a_phrasing_stands_once_and_every_statement_has_another(tmp_path: Path) -> None:
    row = {"id": "e", "kind": "k", "source": "s", "statement": "a", "equivalents": ["b"]}
    for change, words in (
        ({"equivalents": []}, "at least one text"),
        ({"equivalents": ["a"]}, "holds a phrasing twice"),
        ({"kind": ""}, "must be a text"),
    ):
        (tmp_path / "equivalents.jsonl").write_text(json.dumps(row | change) + "\n", encoding="utf-8")
        with pytest.raises(CorpusError, match=words):
            load_equivalents(tmp_path)
    assert len(load_equivalents()) >= 20
