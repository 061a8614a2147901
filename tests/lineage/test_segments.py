"""Judgement segments: written once, verified at every reading."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.canonical import digest
from lineage.errors import LedgerError
from lineage.records import VOLATILE, Judgement, Usage, judgement_lines, stable
from lineage.segments import read_segment, write_segment

MADE = tuple(
    Judgement(f"g{index}.clean", "c" * 64, "s" * 64, "scored", index / 10, seed=index, raw=(f"naïve {index}",))
    for index in range(4)
)


def test_judgements_come_back_ordered_by_key(tmp_path: Path) -> None:
    entry = write_segment(tmp_path, "seg", MADE[::-1])
    assert read_segment(tmp_path, entry) == MADE
    assert (entry["name"], entry["judgements"]) == ("seg", 4)


@given(order=st.permutations(MADE))
@settings(max_examples=20)
def test_the_order_of_arrival_changes_nothing(order: list[Judgement], tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.getbasetemp() / "order"
    assert write_segment(base, "seg", order) == write_segment(base, "seg", MADE)


def test_latency_changes_the_bytes_but_not_the_content(tmp_path: Path) -> None:
    first = write_segment(tmp_path, "one", MADE)
    again = write_segment(tmp_path, "two", [replace(made, latency_s=3.0, paid=1) for made in MADE])
    assert first["content"] == again["content"]
    assert first[VOLATILE]["sha256"] != again[VOLATILE]["sha256"]


@pytest.mark.parametrize(
    "change",
    [
        {"score": 0.75},
        {"raw": ("other",)},
        {"status": "failed", "score": None, "reason": "empty: x"},
        {"usage": Usage(calls=1)},
        {"seed": None},
    ],
)
def test_any_other_change_changes_the_content(change: dict[str, object], tmp_path: Path) -> None:
    other = [replace(MADE[0], **change), *MADE[1:]]  # type: ignore[arg-type]  # fields of Judgement
    assert write_segment(tmp_path, "one", MADE)["content"] != write_segment(tmp_path, "two", other)["content"]


@given(position=st.integers(0), byte=st.integers(0, 255))
@settings(max_examples=60, deadline=None)
def test_one_edited_byte_is_found(position: int, byte: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.getbasetemp() / "edited"
    entry = write_segment(base, "seg", MADE)
    path = base / "seg.jsonl"
    data = bytearray(path.read_bytes())
    position %= len(data)
    data[position] = byte if data[position] != byte else byte ^ 1
    path.write_bytes(data)
    with pytest.raises(LedgerError, match="segment seg were edited"):
        read_segment(base, entry)


@pytest.mark.parametrize("sent", [{}, {"volatile": 1}, {"nested": {"volatile": 1, "kept": "volatile"}}])
def test_lines_and_content_are_the_canonical_form_of_the_rows(sent: dict[str, object], tmp_path: Path) -> None:
    made = [replace(judgement, sent=sent, latency_s=0.5) for judgement in MADE]
    entry = write_segment(tmp_path, "seg", made)
    assert (tmp_path / "seg.jsonl").read_text(encoding="utf-8") == judgement_lines(made)
    assert entry["content"] == digest(stable([judgement.row() for judgement in made]))


def test_a_missing_segment_is_named(tmp_path: Path) -> None:
    entry = write_segment(tmp_path, "seg", MADE)
    (tmp_path / "seg.jsonl").unlink()
    with pytest.raises(LedgerError, match="the judgement segment seg is missing"):
        read_segment(tmp_path, entry)


@pytest.mark.parametrize("text", ["a\u2028b", "a\u2029b", "a\x85b", "a\nb\r\nc\x0b\x1cd", "cut \ud83d off", "患者 😀"])
def test_raw_text_may_hold_any_line_separator_or_half_a_character(text: str, tmp_path: Path) -> None:
    made = replace(MADE[0], raw=(text,))
    entry = write_segment(tmp_path, "seg", [made])
    assert entry["judgements"] == 1
    assert read_segment(tmp_path, entry) == (made,)


def test_an_evaluation_without_judgements_is_an_empty_segment(tmp_path: Path) -> None:
    entry = write_segment(tmp_path, "none", ())
    assert entry["judgements"] == 0
    assert read_segment(tmp_path, entry) == ()
