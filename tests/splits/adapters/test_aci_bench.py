from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import CorpusError
from splits.adapters import Imported
from splits.adapters.turns import dialogue

Read = Callable[..., Imported]
Real = Callable[[str], Imported]
Whole = Callable[[str, str], Any]
Counted = Callable[[Imported], dict[str, int]]

ENCOUNTERS, VARIANTS = "encounters.jsonl", "dialogue_variants.jsonl"


def test_the_real_corpus_has_the_counts_of_its_readme(real: Real) -> None:
    corpus = real("aci-bench").corpus
    assert len(corpus.examples) == len(corpus.groups) == 207
    assert all(example.candidate for example in corpus.examples)
    assert Counter(example.stratum for example in corpus.examples) == {"aci": 112, "virtassist": 55, "virtscribe": 40}
    splits = Counter(example.meta["split"] for example in corpus.examples)
    assert splits == {"train": 67, "valid": 20, "test1": 40, "test2": 40, "test3": 40}
    guests = [example.group for example in corpus.examples if "\nGuest: " in example.source]
    assert guests == ["D2N076", "D2N099", "D2N100", "D2N141", "D2N185"]


def test_the_real_lines_without_speaker_and_odd_spaces_are_repaired(real: Real, counted: Counted) -> None:
    found = real("aci-bench")
    said = {notice.what: notice for notice in found.notices}
    stray = said["line without a speaker joined to the turn before"].places
    bare = said["speaker tag without words dropped"].places
    assert len({*stray, *bare}) == 11
    assert len(said["blank line dropped"].places) == 5
    assert said["mark of inaudible speech stripped"].places == ("D2N138",)
    joined = "".join(example.source + example.document for example in found.corpus.examples)
    assert not any(char in joined for char in "\u00a0\u202f\u200b")
    assert "[doctor]" not in joined
    assert "[patient" not in joined


def test_the_real_other_transcriptions_are_a_corpus_of_the_same_groups(real: Real) -> None:
    official, variants = real("aci-bench").corpus, real("aci-bench-variants").corpus
    assert len(variants.examples) == 57
    kinds = Counter((example.stratum, example.meta["transcription"]) for example in variants.examples)
    assert kinds == {("virtscribe", "asr"): 40, ("aci", "asrcorr"): 17}
    assert {example.id for example in variants.examples} <= set(official.by_id)
    for example in variants.examples:
        assert example.document == official.by_id[example.id].document
        assert example.source != official.by_id[example.id].source


def test_speaker_tags_become_lines_in_one_line_or_several() -> None:
    lines = "[doctor] hi .\n[patient] bye .\n[patient_guest] yes ."
    for text in (lines, lines.replace("\n", " ")):
        assert str(dialogue(text)) == "Doctor: hi .\nPatient: bye .\nGuest: yes ."


def test_stray_lines_bare_tags_and_marks_are_mended_and_counted() -> None:
    found = dialogue("[doctor] hi ,\nmartha .\n\n[patient]\n[patient] [ inaudible 00:09:25 ] sick .\n")
    assert str(found) == "Doctor: hi , martha .\nPatient: sick ."
    assert (found.continued, found.bare, found.blank, found.inaudible) == (1, 1, 1, 1)


def test_a_dialogue_may_begin_without_a_speaker() -> None:
    assert str(dialogue("hi , susan .\n[patient] hello .")) == "hi , susan .\nPatient: hello ."


@given(
    st.lists(
        st.tuples(st.sampled_from(["doctor", "patient", "patient_guest"]), st.text("ab ,.\n[]", min_size=1)), min_size=1
    )
)
@settings(max_examples=40, deadline=None)
def test_no_word_of_a_dialogue_is_lost(turns: list[tuple[str, str]]) -> None:
    text = "\n".join(f"[{speaker}] {words}" for speaker, words in turns)
    found = dialogue(text)
    said = " ".join(turn.text for turn in found.turns).split()
    assert said == " ".join(words for _, words in turns).split()


def test_the_quirks_of_a_note_are_repaired(imported: Read, whole: Whole) -> None:
    records = whole("aci-bench", ENCOUNTERS)
    records[0]["note"] = "PLAN\n\u2022 Rest\u202f5\u00a0mg\u200b."
    records[0]["metadata"]["2nd_complaints"] = "asthma"
    example = imported("aci-bench", {ENCOUNTERS: records}).corpus.examples[0]
    assert example.document == "PLAN\n\u2022 Rest 5 mg."
    assert (example.meta["complaint"], example.meta["second_complaints"]) == ("back pain", "asthma")


def test_a_dialogue_without_words_is_refused(imported: Read, whole: Whole) -> None:
    records = whole("aci-bench", ENCOUNTERS)
    records[1]["dialogue"] = "[doctor]\n[patient]"
    with pytest.raises(CorpusError, match=r"encounters\.jsonl:2, field 'dialogue': holds no words"):
        imported("aci-bench", {ENCOUNTERS: records})


def test_a_transcription_of_no_encounter_is_refused(imported: Read, whole: Whole) -> None:
    (variant,) = whole("aci-bench-variants", VARIANTS)
    stranger = {**variant, "id": "D2N009/asr", "encounter_id": "D2N009"}
    with pytest.raises(CorpusError, match=r"dialogue_variants\.jsonl:2, field 'encounter_id': 'D2N009' is not in"):
        imported("aci-bench-variants", {VARIANTS: [variant, stranger]})
