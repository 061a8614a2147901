"""What is wrong with a text is found where it is, and ordinary text of any language is left alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from ftfy.badness import BADNESS_RE
from hypothesis import given, settings
from hypothesis import strategies as st

from splits import Corpus
from splits.text_defects import text_defects

MEDEC = Path("/work/shared/corpora/medec/records.jsonl")


@pytest.mark.parametrize(
    ("text", "kind", "offset", "said"),
    [
        ("platelets â‰¥ 500", "mojibake", 10, "'â‰¥' for '≥'"),
        ("it isnâ€™t so", "mojibake", 6, "was read in a wrong encoding, 'â€™' for"),
        ("Guillain-BarrÃ© syndrome", "mojibake", 13, "'Ã©' for 'é'"),
        ("pain &amp; fever", "HTML escape", 5, "&amp; for '&'"),
        ("she&#39;s well", "HTML escape", 3, '&#39; for "\'"'),
        ("x &#x2265; 3", "HTML escape", 2, "for '≥'"),
        ("lost \ufffd here", "replacement character", 5, "in place of one that was lost"),
        ("nul \x00 byte", "control character", 4, "U+0000"),
        ("old \x7f byte", "control character", 4, "U+007F"),
        ("one\r\ntwo", "carriage return", 3, "a carriage return"),
        ("zero\u200bwidth", "invisible character", 4, "U+200B"),
        ("\ufeffmark", "invisible character", 0, "U+FEFF"),
    ],
)
def test_each_kind_of_defect_is_found_where_it_is(text: str, kind: str, offset: int, said: str) -> None:
    (found,) = text_defects(text)
    assert (found.kind, found.offset, found.count) == (kind, offset, 1)
    assert said in found.words
    assert f"at character {offset}" in found.words


@pytest.mark.parametrize(
    "text",
    [
        "Temp 38.7\N{DEGREE SIGN}C, 5 \N{MICRO SIGN}g/L \N{PLUS-MINUS SIGN} 2, \N{VULGAR FRACTION ONE HALF} tablet",
        "na\N{LATIN SMALL LETTER I WITH DIAERESIS}ve",
        "\N{LEFT DOUBLE QUOTATION MARK}quote\N{RIGHT DOUBLE QUOTATION MARK}",
        "A&E if worse; R&D; salt&pepper;",
        "tab\tand\nline",
        "\N{CYRILLIC CAPITAL LETTER PE}\N{CYRILLIC SMALL LETTER ER}",
        "\N{CJK UNIFIED IDEOGRAPH-65E5}\N{CJK UNIFIED IDEOGRAPH-672C}",
        "",
    ],
)
def test_ordinary_text_has_no_defect(text: str) -> None:
    assert list(text_defects(text)) == []


def test_repeated_defects_are_counted_and_placed_at_the_first() -> None:
    (found,) = text_defects("a &lt; b &lt; c")
    assert (found.count, found.offset) == (2, 2)
    assert "2 times, first at character 2" in found.words


def test_a_text_may_have_several_kinds() -> None:
    assert [found.kind for found in text_defects("\ufffd &amp; \x07")] == [
        "replacement character",
        "HTML escape",
        "control character",
    ]


@given(st.text())
@settings(max_examples=50, deadline=None)
def test_any_text_can_be_looked_through(text: str) -> None:
    for found in text_defects(text):
        assert 0 <= found.offset < len(text)


bits = ["â€™", "é", "Ã©", "Â ", "°", "\N{EN DASH}", "ГўВЂВ™ a", "\N{MULTIPLICATION SIGN}²", "œ", " x", "y ", "B"]


@given(st.lists(st.sampled_from(bits)).map("".join))
@settings(max_examples=50, deadline=None)
def test_mojibake_is_looked_for_near_such_characters_alone_and_none_is_missed(text: str) -> None:
    marks = [match.span() for match in BADNESS_RE.finditer(text)]
    runs = [match.span() for match in re.finditer(r"[^\x00-\x7f]+", text)]
    wrong = [run for run in runs if any(start < run[1] and run[0] < end for start, end in marks)]
    found = [(one.count, one.offset) for one in text_defects(text) if one.kind == "mojibake"]
    assert found == ([(len(wrong), wrong[0][0])] if wrong else [])


def test_the_bundled_corpus_has_none(consults: Corpus) -> None:
    texts = {text for example in consults.examples for text in (example.document, example.source)}
    assert [found for text in texts for found in text_defects(text)] == []


@pytest.mark.skipif(not MEDEC.is_file(), reason="the MEDEC extract is not beside the project")
def test_mojibake_of_medec_is_found_in_its_validation_texts_alone() -> None:
    rows = [json.loads(line) for line in MEDEC.read_text(encoding="utf-8").splitlines()]
    bad = [row["split"] for row in rows if any(found.kind == "mojibake" for found in text_defects(row["Text"]))]
    assert bad == ["valid"] * 124
