"""Cuts, insertions and alterations: clean, contiguous, and never of another fact."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lineage.errors import CorpusError
from splits.construct import ConsultationSource, Site, parse_note
from splits.construct.edits import alter, cut_of, delete_sites, insert
from splits.construct.pairs import build_group, check_pair, is_subsequence
from splits.construct.sites import is_heading


def without(markup: str) -> str:
    note, sites = parse_note(markup)
    return delete_sites(note, sites, [site for site in sites if site.fact == "f"]).document


@pytest.mark.parametrize(
    ("markup", "left"),
    [
        # A whole line, wherever it stands.
        ("P\n[[f explicit: One.]]\nTwo.", "P\nTwo."),
        ("[[f explicit: One.]]\nTwo.", "Two."),
        ("P\nOne.\n[[f explicit: Two.]]", "P\nOne."),
        ("P\n- [[f explicit: no full stop]]\n- Two.", "P\n- Two."),
        ("P\n- One.\n- [[f explicit: two]]", "P\n- One."),
        ("- [[f explicit: one]]\n- two", "- two"),
        ("P\n- one\n  - [[f explicit: nested]]\n- two", "P\n- one\n- two"),
        ("P\n[[f explicit: One.\nTwo.]]\nThree.", "P\nThree."),
        # A whole sentence.
        ("P\n[[f explicit: One.]] Two.", "P\nTwo."),
        ("P\n- [[f explicit: One!]] Two.", "P\n- Two."),
        ("P\nOne. [[f explicit: Two?]] Three.", "P\nOne. Three."),
        ("P\nOne. [[f explicit: Two.]]", "P\nOne."),
        ("P\nOne. [[f explicit: Two.]]\nThree.", "P\nOne.\nThree."),
        ("P\nOne. [[f explicit: Two. Three.]] Four.", "P\nOne. Four."),
        # A trailing clause and its separator.
        ("P\nOne, [[f explicit: two]].", "P\nOne."),
        ("P\nOne; [[f explicit: two]].", "P\nOne."),
        ("P\nOne - [[f explicit: two]].", "P\nOne."),
        ("P\nOne and [[f explicit: two]].", "P\nOne."),
        ("P\nOne with [[f explicit: two]].", "P\nOne."),
        ("P\nOne, and [[f explicit: two]].", "P\nOne."),
        ("P\nOne; and [[f explicit: two]].", "P\nOne."),
        ("P\nOne, with [[f explicit: two]].", "P\nOne."),
        ("P\nOne, but [[f explicit: two]].", "P\nOne."),
        ("P\nOne, [[f explicit: two]], three.", "P\nOne, three."),
        ("P\nOne, [[f explicit: two]] and three.", "P\nOne and three."),
        ("P\n- One, [[f explicit: two]]\n- three", "P\n- One\n- three"),
        # Several sites of one fact.
        ("P\nOne, [[f explicit: two]], [[f partial: three]].", "P\nOne."),
        ("P\n[[f explicit: One.]] Two. [[f paraphrase: One again.]]\n- [[f partial: one]]\nEnd.", "P\nTwo.\nEnd."),
    ],
)
def test_a_site_is_cut_with_one_separator(markup: str, left: str) -> None:
    assert without(markup) == left


@pytest.mark.parametrize(
    "markup",
    [
        "P\nOne [[f explicit: two]] three.",
        "P\nOne, [[f explicit: two]] three.",
        "P\n[[f explicit: One]], two.",
        "P\n[[f explicit: One]] and two.",
        "P\nOne, [[f explicit: two.]]",
        "P\nDose[[f explicit: 500 mg]].",
        "P\nOne or [[f explicit: two]].",
        "P\n[[f explicit: One.]]Two.",
        "P\nOne.[[f explicit: Two.]]",
    ],
)
def test_a_site_that_cannot_be_cut_cleanly_is_refused(markup: str) -> None:
    note, (site,) = parse_note(markup)
    with pytest.raises(
        CorpusError, match=r"field 'note': site .* of fact f cannot be cut cleanly; make it a whole line"
    ):
        cut_of(note, site)


def test_cuts_name_the_deleted_spans_of_the_old_note() -> None:
    note, sites = parse_note("P\nOne. [[f explicit: Two.]] Three, [[f partial: four]].")
    edit = delete_sites(note, sites, sites[::-1])
    assert [note[start:end] for start, end in edit.cuts] == [" Two.", ", four"]


def test_a_cut_that_would_touch_another_facts_site_is_refused() -> None:
    note, sites = parse_note("P\nOne,[[g explicit:  and]] [[f explicit: two]].")
    with pytest.raises(CorpusError, match="deleting fact f would touch ' and' of fact g"):
        delete_sites(note, sites, [sites[1]])


def test_a_kept_site_of_the_same_fact_is_protected_too() -> None:
    note, sites = parse_note("P\nOne[[f partial: , with]] [[f explicit: two]].")
    with pytest.raises(CorpusError, match="deleting fact f would touch ', with' of fact f"):
        delete_sites(note, sites, [sites[1]])


def test_cuts_that_overlap_are_refused() -> None:
    note, sites = parse_note("P\n[[f explicit: One.]] [[f paraphrase: Two.]] Three.")
    with pytest.raises(CorpusError, match="two cuts of one fact overlap; separate its sites"):
        delete_sites(note, sites, sites)


@pytest.mark.parametrize(
    "markup",
    [
        "HISTORY\n[[f explicit: One.]]\nPLAN\nTwo.",
        "HISTORY\n\n[[f explicit: One.]]\n\nPLAN\nTwo.",
        "PLAN\nTwo.\nHISTORY\n- [[f explicit: One.]]",
        "HISTORY\n[[f explicit: One.]]\n[[f partial: Two.]]\nPLAN\nTwo.",
    ],
)
def test_a_heading_is_not_left_without_text(markup: str) -> None:
    with pytest.raises(CorpusError, match="deleting fact f would leave 'HISTORY' without text"):
        without(markup)


@pytest.mark.parametrize(
    ("note", "heading", "changed"),
    [
        ("HISTORY\nOne.\nPLAN\nTwo.", "HISTORY", "HISTORY\nOne. New.\nPLAN\nTwo."),
        ("HISTORY\nOne.\nPLAN\nTwo.", "PLAN", "HISTORY\nOne.\nPLAN\nTwo. New."),
        ("PLAN\n- One.\n- Two.\nEND\nx", "PLAN", "PLAN\n- One.\n- Two.\n- New.\nEND\nx"),
        ("HISTORY\nOne.\n\nPLAN\nTwo.", "HISTORY", "HISTORY\nOne. New.\n\nPLAN\nTwo."),
        ("HISTORY\nPLAN\nTwo.", "HISTORY", "HISTORY\nNew.\nPLAN\nTwo."),
    ],
)
def test_a_sentence_is_put_at_the_end_of_its_section(note: str, heading: str, changed: str) -> None:
    edit = insert(note, heading, "New.")
    assert edit.document == changed
    assert edit.at is not None
    assert note[: edit.at] + edit.inserted + note[edit.at :] == changed


def test_a_change_stays_inside_its_site() -> None:
    note, sites = parse_note("P\nTwice daily. [[f explicit: Aspirin twice daily.]] Twice.")
    edit = alter(note, sites[0], "twice", "once")
    assert edit.document == "P\nTwice daily. Aspirin once daily. Twice."
    ((start, end),) = edit.cuts
    assert sites[0].start <= start < end <= sites[0].end
    assert note[:start] + edit.inserted + note[end:] == edit.document


# Random notes

WORDS = ("pain", "cough", "daily", "left", "knee", "advised", "three", "days", "normal", "clinic", "seen", "today")


@st.composite
def notes(draw: st.DrawFn) -> str:
    """A marked note of headings, prose and lists, in which any sentence, line or clause may state a fact."""
    number = 0

    def words() -> str:
        nonlocal number
        number += 1
        return " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))) + f" {number:02}"

    def mark(text: str) -> str:
        strength = draw(st.sampled_from(["explicit", "paraphrase", "partial"]))
        return f"[[f{draw(st.integers(1, 4))} {strength}: {text}]]"

    def sentence() -> str:
        shape = draw(st.sampled_from(["plain", "site", "clause", "two clauses"]))
        text = words().capitalize()
        if shape == "site":
            return mark(f"{text}.")
        for _ in range({"plain": 0, "clause": 1, "two clauses": 2}[shape]):
            text += draw(st.sampled_from([", ", "; ", " and ", " with ", ", but ", " - "])) + mark(words())
        return f"{text}."

    lines: list[str] = []
    for heading in ("HISTORY", "EXAMINATION", "PLAN")[: draw(st.integers(1, 3))]:
        lines.append(heading)
        for _ in range(draw(st.integers(1, 3))):
            prose = " ".join(sentence() for _ in range(draw(st.integers(1, 3))))
            lines.append(draw(st.sampled_from(["", "- "])) + prose)
    return "\n".join(lines)


REFUSALS = re.compile(r"cannot be cut cleanly|would touch|overlap|without text")


@given(markup=notes(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_whatever_is_deleted_is_text_of_one_fact_and_its_separators(markup: str, data: st.DataObject) -> None:
    note, sites = parse_note(markup)
    assume(sites)
    fact = data.draw(st.sampled_from(sorted({site.fact for site in sites})))
    doomed: list[Site] = data.draw(
        st.lists(st.sampled_from([site for site in sites if site.fact == fact]), min_size=1, unique=True)
    )
    try:
        edit = delete_sites(note, sites, doomed)
    except CorpusError as error:
        assume(not REFUSALS.search(str(error)))
        raise
    document = edit.document
    assert is_subsequence(document, note)
    assert len(document) < len(note)
    for site in sites:
        assert (site.text in document) == (site not in doomed)
    for start, end in edit.cuts:
        (inside,) = [site for site in doomed if start <= site.start and site.end <= end]
        outside = note[start : inside.start] + note[inside.end : end]
        assert re.fullmatch(r"[\s,;-]*(and|with|but)?\s*", outside)
    for line in document.split("\n"):
        assert line.strip()
        assert "  " not in line
        assert is_heading(line) or re.fullmatch(r"(- )?[A-Z].*\.", line)
        assert not re.search(r"[,;-]\.|\b(and|with|but)\.", line)


@given(markup=notes())
@settings(max_examples=25, deadline=None)
def test_every_example_built_from_a_random_note_satisfies_its_pair(
    markup: str, consult: Callable[..., ConsultationSource]
) -> None:
    source = consult(markup)
    try:
        examples = build_group(source)
    except CorpusError as error:
        assume(not REFUSALS.search(str(error)))
        raise
    clean, *flawed = examples
    assert clean.document == source.note
    assert len({example.trace for example in flawed}) == len(flawed)
    for example in flawed:
        check_pair(example, source)
        assert (example.twin, example.label) == (clean.id, "omission")
        for mention in example.residual:
            assert any(example.document[mention.offset :].startswith(site.text) for site in source.sites)
