"""Answers are checked before anything is counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.review import Pack, PackSizes, ReviewedRun, draw_items, make_pack, read_answers
from experiments.review.answers import check_reviewers
from lineage.errors import InputError
from tests.experiments.review.conftest import SALT

Answered = Callable[..., Path]


def test_answers_abstentions_and_notes_are_read(answered: Answered, pack: Pack) -> None:
    found = read_answers(answered({"D001": {"answer": "cannot-tell", "note": " odd "}}), pack.key)
    assert found.reviewer == "A. N."
    assert found.given["D001"] == "cannot-tell"
    assert found.notes == {"D001": "odd"}
    assert found.missing == ()


def test_answers_to_another_pack_are_refused(answered: Answered, pack: Pack, reviewed: ReviewedRun) -> None:
    draw = draw_items(reviewed, sizes=PackSizes(8, 9, 10), rng=np.random.default_rng(2))
    other = make_pack(reviewed, draw, seed=2, salt=SALT)
    with pytest.raises(InputError, match="answers another pack"):
        read_answers(answered(), other.key)


def test_answers_to_a_pack_with_another_key_are_refused(answered: Answered, pack: Pack) -> None:
    with pytest.raises(InputError, match="it was changed after the pack was made"):
        read_answers(_with(answered(), key="0" * 64), pack.key)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"D999": "clean"}, "answers 'D999', which is no item of the pack"),
        ({"D001": "right"}, "D001 has the answer 'right'; it must be one of clean, omission, commission, cannot-tell"),
        ({"D001": {"answer": "clean", "note": 3}}, "the note on D001 is no text, but int"),
        ({"D001": {"note": "x"}}, "is not a file of answers"),
        ({"D001": {"answer": None}, "S002": {"answer": None}}, r"2 of 27 items have no answer \(D001, S002\)"),
    ],
)
def test_answers_that_cannot_be_counted_are_named(
    answered: Answered, pack: Pack, answers: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_answers(answered(answers), pack.key)


def test_missing_answers_are_counted_where_that_is_asked_for(answered: Answered, pack: Pack) -> None:
    found = read_answers(answered({"D001": {"answer": None, "note": "?"}}), pack.key, partial=True)
    assert found.missing == ("D001",)
    assert found.notes == {"D001": "?"}
    nothing = {name: {"answer": None} for name in pack.key.items}
    with pytest.raises(InputError, match="has no answer at all"):
        read_answers(answered(nothing), pack.key, partial=True)


@pytest.mark.parametrize("reviewer", ["", "  ", 5])
def test_answers_of_nobody_are_refused(answered: Answered, pack: Pack, reviewer: object) -> None:
    with pytest.raises(InputError, match="does not say whose answers they are"):
        read_answers(_with(answered(), reviewer=reviewer), pack.key)


def test_two_answers_to_one_item_are_refused(answered: Answered, pack: Pack) -> None:
    path = answered()
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"answers": {', '"answers": {"D001": {"answer": "clean"}, ', 1), encoding="utf-8")
    with pytest.raises(InputError, match="'D001' stands in it twice"):
        read_answers(path, pack.key)


@pytest.mark.parametrize("text", ["", "[]", "{}", "<html>"])
def test_another_file_is_no_file_of_answers(tmp_path: Path, pack: Pack, text: str) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="is not a file of answers"):
        read_answers(tmp_path / "a.json", pack.key)


def test_two_files_of_one_person_are_refused(answered: Answered, pack: Pack) -> None:
    both = [read_answers(answered(reviewer=name), pack.key) for name in ("Ada", "ada")]
    with pytest.raises(InputError, match=r"are both answers of 'ada'"):
        check_reviewers(both)


def _with(path: Path, **changes: object) -> Path:
    row = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps(row), encoding="utf-8")
    return path
