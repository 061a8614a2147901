"""The site map: marks are read exactly, or refused."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import CorpusError
from splits.construct import ConsultationSource
from splits.construct.sites import STRENGTHS, heading_of, is_heading, parse_note

plain = st.text(st.characters(exclude_characters="[]", exclude_categories=["Cs"]), max_size=20)
sites = st.tuples(
    st.from_regex(r"[a-z][\w-]{0,5}", fullmatch=True),
    st.sampled_from(STRENGTHS),
    st.text(st.characters(exclude_characters="[]", exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
        str.strip
    ),
)


@given(parts=st.lists(st.tuples(plain, sites), max_size=6), rest=plain)
@settings(max_examples=30)
def test_marks_leave_the_note_and_give_its_sites(parts: list[tuple[str, tuple[str, str, str]]], rest: str) -> None:
    markup = "".join(f"{before}[[{fact} {strength}: {text}]]" for before, (fact, strength, text) in parts) + rest
    note, found = parse_note(markup)
    assert note == "".join(before + text for before, (_, _, text) in parts) + rest
    assert [(site.fact, site.strength, site.text) for site in found] == [site for _, site in parts]
    assert all(note[site.start : site.end] == site.text for site in found)
    assert all(left.end <= right.start for left, right in pairwise(found))


def test_a_site_may_hold_single_brackets_and_line_ends() -> None:
    note, (site,) = parse_note("A [[f1 explicit: b [c] d\ne]] f")
    assert (note, site.text) == ("A b [c] d\ne f", "b [c] d\ne")


@pytest.mark.parametrize(
    "markup",
    [
        "[[f1 explicit: not closed",
        "[[f1 explicit: outer [[f2 explicit: inner]] rest]]",
        "[[f1 explicit: ]]",
        "[[f1 explicit:    ]]",
    ],
)
def test_a_mark_that_is_open_nested_or_empty_is_refused(markup: str) -> None:
    with pytest.raises(CorpusError, match=r"a\.yaml, field 'note': mark .* is not closed by \]\], is nested or"):
        parse_note(markup, file="a.yaml")


def test_an_unknown_strength_is_refused() -> None:
    with pytest.raises(CorpusError, match="field 'note': strength 'strong' of f1 is not one of explicit, paraphrase"):
        parse_note("[[f1 strong: x]]")


@pytest.mark.parametrize(
    "markup", ["a ]] b", "[[f1 explicit: x]]]]", "[[ f1 explicit: x]]", "[[f1 Explicit: x]]", "[[f1: x]]", "a [[b"]
)
def test_stray_brackets_are_refused(markup: str) -> None:
    with pytest.raises(CorpusError, match=r"found stray brackets|is not closed"):
        parse_note(markup)


@pytest.mark.parametrize("line", ["PLAN", "DRUG HISTORY", "O/E", "HISTORY, FAMILY & SOCIAL", "PLAN 2"])
def test_a_line_of_capitals_is_a_heading(line: str) -> None:
    assert is_heading(line)


@pytest.mark.parametrize("line", ["Plan", "- PLAN", "P", "", "PLAN:", "BP 120/80 today", " PLAN", "12"])
def test_another_line_is_not(line: str) -> None:
    assert not is_heading(line)


def test_a_site_stands_under_the_last_heading_above_it() -> None:
    note = "before\nHISTORY\nfirst\nPLAN\nsecond"
    assert heading_of(note, 0) == ""
    assert heading_of(note, note.index("first")) == "HISTORY"
    assert heading_of(note, note.index("second")) == "PLAN"
    assert heading_of(note, len(note)) == "PLAN"


def test_the_bundled_sites_stand_at_their_offsets(bundled: tuple[ConsultationSource, ...]) -> None:
    for source in bundled:
        for site in source.sites:
            assert source.note[site.start : site.end] == site.text
            assert site.heading == heading_of(source.note, site.start)
            assert is_heading(site.heading)
