from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from lineage.errors import CorpusError
from splits.adapters import Imported
from splits.adapters.primock57 import complaint

Read = Callable[..., Imported]
Real = Callable[[str], Imported]
Whole = Callable[[str, str], Any]
Counted = Callable[[Imported], dict[str, int]]

CONSULTATIONS, CHECKLISTS = "consultations.jsonl", "checklists.jsonl"


def test_the_real_corpus_has_the_counts_of_its_readme(real: Real, counted: Counted) -> None:
    found = real("primock57")
    corpus, said = found.corpus, counted(found)
    notes = [example for example in corpus.examples if example.label == "clean"]
    assert len(notes) == len(corpus.groups) == 57
    assert all(example.candidate for example in notes)
    facts = [fact for facts in corpus.facts.values() for fact in facts]
    assert Counter(fact.severity for fact in facts) == {"critical": 969, "supporting": 382, "peripheral": 6}
    assert len(corpus.facts) == 20
    assert said["noted: consultation with the checklists of two clinicians, both kept"] == 7
    flawed = [example for example in corpus.examples if example.label != "clean"]
    assert len(flawed) == 18
    assert len({example.group for example in flawed}) == 9
    assert sum(len(example.meta["incorrect"]) for example in flawed) == 88
    assert said["left out: generated note that nobody judged"] == 22
    assert said["left out: utterance that holds no words, only tags"] == 382
    assert said["noted: utterance that begins before the one before has ended"] == 2422
    assert said["repaired: transcription tags stripped from utterances"] == 2 * 1132 + 1359 + 814
    spoken = [line.split(": ", 1)[1] for example in notes for line in example.source.split("\n")]
    assert len(spoken) == 7109 - 382
    # at five places a tag stands between two words without a space
    assert sum(len(line.split()) for line in spoken) == 85_914 + 5


def test_the_real_note_that_holds_two_is_cut_and_the_spaced_criticality_read(real: Real, counted: Counted) -> None:
    found = real("primock57")
    note = found.corpus.by_id["day5_consultation09.note"].document
    assert note.endswith("FU 1 week later with GP.")
    assert found.corpus.by_id["day5_consultation10.note"].document.startswith("PC : Headache")
    assert counted(found)["repaired: note of another consultation cut off the end"] == 1
    assert counted(found)["repaired: space around a criticality stripped"] == 1
    assert not [example.id for example in found.corpus.examples if "<UN" in example.source or "/>" in example.source]


def test_the_real_complaints_that_repeat_share_a_field_to_unite_by(real: Real) -> None:
    by_complaint: dict[str, set[str]] = {}
    for example in real("primock57").corpus.examples:
        by_complaint.setdefault(example.meta["complaint"], set()).add(example.group.replace("_consultation", "/"))
    assert {"day1/09", "day1/10", "day5/02"} in by_complaint.values()
    assert any({"day1/01", "day1/12"} <= groups for groups in by_complaint.values())
    assert any({"day1/07", "day1/14"} <= groups for groups in by_complaint.values())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I've been having really bad diarrhea for the last 3 days", "I've had bad diarrhoea"),
        ("I have sore, red skin", "I have sore red skin"),
        ("I have a cough and cold", "Cough and a cold"),
        ("hard to breathe", "I\u2019m having difficulty breathing"),
        ("I don't have much appetite or energy lately", "lately, I haven't had much appetite or energy"),
        ("Lower stomach pain", "My tummy hurts"),
    ],
)
def test_complaints_alike_have_the_same_words(one: str, other: str) -> None:
    assert complaint(one) == complaint(other)


@pytest.mark.parametrize("text", ["It hurts when I pee", "I'm wheezy", "anxious", "???"])
def test_a_complaint_keeps_what_it_is_about(text: str) -> None:
    assert complaint(text)
    assert complaint(text) != complaint("I have a headache")


def test_an_appended_note_is_cut_with_its_header(imported: Read, whole: Whole) -> None:
    records = whole("primock57", CONSULTATIONS)
    records[0]["note"] = "Cough 3/7.\n10.  13:30-13:50\n\t\t\u201cI have a headache\u201d\nNote: Headache.\n"
    records[0]["defects"] = ["note_has_next_consultations_note_appended"]
    assert (
        imported("primock57", {CONSULTATIONS: records}).corpus.by_id["day1_consultation01.note"].document
        == "Cough 3/7."
    )


def test_a_note_said_to_hold_two_that_does_not_is_refused(imported: Read, whole: Whole) -> None:
    records = whole("primock57", CONSULTATIONS)
    records[0]["defects"] = ["note_has_next_consultations_note_appended"]
    with pytest.raises(CorpusError, match=r"consultations\.jsonl:1, field 'note': said to have another consultation's"):
        imported("primock57", {CONSULTATIONS: records})


def test_tags_are_stripped_and_utterances_of_tags_alone_left_out(
    imported: Read, whole: Whole, counted: Counted
) -> None:
    records = whole("primock57", CONSULTATIONS)
    records[0]["transcript"] = [
        {"speaker": "doctor", "text": "Any <UNSURE>night sweats</UNSURE> <UNIN/>?", "start_s": 0.0, "end_s": 3.0},
        {"speaker": "patient", "text": "<INAUDIBLE_SPEECH/>", "start_s": 2.0, "end_s": 2.5},
        {"speaker": "patient", "text": "  ", "start_s": 3.0, "end_s": 3.5},
        {"speaker": "patient", "text": "No <3 of them", "start_s": 4.0, "end_s": 5.0},
    ]
    found = imported("primock57", {CONSULTATIONS: records})
    source = found.corpus.by_id["day1_consultation01.note"].source
    assert source == "Doctor: Any night sweats ?\nPatient: No <3 of them"
    said = counted(found)
    assert said["repaired: transcription tags stripped from utterances"] == 4
    assert said["left out: utterance that holds no words, only tags"] == 2
    assert said["noted: utterance that begins before the one before has ended"] == 1


def item(row: int, text: str, severity: str | None) -> dict[str, Any]:
    return {"row": row, "text": text, "severity": severity}


def test_sub_items_are_read_under_those_above_and_their_heading(imported: Read, whole: Whole) -> None:
    checklists = whole("primock57", CHECKLISTS)
    checklists[0]["items"] = [
        item(1, "Introduction", "nc"),
        item(2, "HPC ", None),
        item(3, "Diarrhoea", "  c"),
        item(4, "*3 days", "c"),
        item(5, "** at night", "nc"),
        item(6, "*since", None),
        item(7, "***a meal out", "i"),
        item(8, "Vomited", "c"),
        item(9, "SH", None),
        item(10, "*accountant", "nc"),
    ]
    facts = imported("primock57", {CHECKLISTS: checklists}).corpus.facts["day1_consultation01"]
    assert [(fact.fact, fact.severity, fact.core) for fact in facts] == [
        ("Introduction", "supporting", False),
        ("HPC: Diarrhoea", "critical", True),
        ("HPC: Diarrhoea: 3 days", "critical", True),
        ("HPC: Diarrhoea: 3 days: at night", "supporting", False),
        ("HPC: Diarrhoea: since: a meal out", "peripheral", False),
        ("HPC: Vomited", "critical", True),
        ("SH: accountant", "supporting", False),
    ]


def test_both_clinicians_lists_are_kept_and_the_first_is_core(imported: Read, whole: Whole) -> None:
    (first,) = whole("primock57", CHECKLISTS)
    second = {**first, "id": "day1_consultation01/Clinician_2", "clinician": "Clinician_2", "model_notes": []}
    corpus = imported("primock57", {CHECKLISTS: [second, first]}).corpus
    assert [(fact.id, fact.core) for fact in corpus.facts["day1_consultation01"]] == [
        ("Clinician_1.3", True),
        ("Clinician_2.3", False),
    ]
    assert [example.stratum for example in corpus.examples] == ["checklist", "checklist", "no checklist"]


def test_an_unknown_criticality_is_refused(imported: Read, whole: Whole) -> None:
    checklists = whole("primock57", CHECKLISTS)
    checklists[0]["items"][1]["severity"] = "critical"
    with pytest.raises(
        CorpusError, match=r"checklists\.jsonl:1, field 'items\[1\]\.severity': must be c, nc, i or null"
    ):
        imported("primock57", {CHECKLISTS: checklists})


def statement(text: str, judgement: str | None) -> dict[str, Any]:
    return {"row": 1, "text": text, "judgement": judgement}


def test_a_generated_note_is_flawed_where_a_statement_was_judged_incorrect(
    imported: Read, whole: Whole, counted: Counted
) -> None:
    checklists = whole("primock57", CHECKLISTS)
    right = [statement("No fever,", "c"), statement("\u21b3 at the moment.", None)]
    checklists[0]["model_notes"] = [
        {"label": "Note 1", "statements": [*right, statement("No cough.", "i")]},
        {"label": "Note 2", "statements": right},
        {"label": "Note 3", "statements": [statement("Cough.", None)]},
    ]
    found = imported("primock57", {CHECKLISTS: checklists})
    (flawed,) = (example for example in found.corpus.examples if example.label != "clean")
    assert flawed.id == "day1_consultation01.Clinician_1.generated1"
    assert flawed.document == "No fever, at the moment.\nNo cough."
    assert (flawed.label, flawed.kind, flawed.twin) == ("commission", "add", None)
    assert flawed.meta["incorrect"] == ["No cough."]
    said = counted(found)
    assert said["left out: generated note that nobody judged"] == 1
    assert said["left out: generated note without an incorrect statement; omissions not judged"] == 1


def test_a_checklist_of_no_consultation_is_refused(imported: Read, whole: Whole) -> None:
    checklists = whole("primock57", CHECKLISTS)
    checklists[0]["consultation_id"] = "day9_consultation01"
    with pytest.raises(CorpusError, match=r"checklists\.jsonl:1, field 'consultation_id': .* is not in consultations"):
        imported("primock57", {CHECKLISTS: checklists})
