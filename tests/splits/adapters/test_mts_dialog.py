from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from lineage.errors import CorpusError
from splits.adapters import Imported

Read = Callable[..., Imported]
Real = Callable[[str], Imported]
Whole = Callable[[str, str], Any]
Counted = Callable[[Imported], dict[str, int]]

STUDY = "correlation_study.jsonl"
TURNS = "left out: text that the raters found flawed and clean by turns"


def test_the_real_corpus_has_the_counts_of_its_readme(real: Real, counted: Counted) -> None:
    found = real("mts-dialog")
    corpus, said = found.corpus, counted(found)
    assert len(corpus.groups) == 100
    systems = [example for example in corpus.examples if not example.id.endswith(".reference")]
    labels = Counter(example.label for example in systems)
    assert labels["commission"] == 14
    assert said["left out: summary with hallucinations and omissions both"] == 19
    assert said["left out: summary whose rate is -1, which is to say missing"] == 2
    # 128 with neither and 237 with omissions only, of which nine are texts on which the raters contradict themselves
    assert labels["clean"] + labels["omission"] + said[TURNS] == 128 + 237
    assert said[TURNS] == 9
    assert said["noted: summary that ends in mid-sentence, marked where kept"] == 99
    assert all(example.candidate for example in corpus.examples if example.label == "clean")


def test_real_dialogues_with_the_same_reference_share_a_field_to_unite_by(real: Real) -> None:
    shared: dict[str, set[str]] = {}
    for example in real("mts-dialog").corpus.examples:
        shared.setdefault(example.meta["reference"], set()).add(example.group)
    assert [groups for groups in shared.values() if len(groups) > 1] == [
        {"mts-valid-26", "mts-valid-31"},
        {"mts-valid-57", "mts-valid-70", "mts-valid-80"},
        {"mts-valid-61", "mts-valid-66"},
    ]


def test_the_real_summaries_without_valid_rate_are_left_out(real: Real) -> None:
    found = real("mts-dialog")
    (missing,) = (notice for notice in found.notices if "-1" in notice.what)
    assert missing.places == ("mts-valid-44/system4", "mts-valid-45/system4")
    assert not {"mts-valid-44.system4", "mts-valid-45.system4"} & set(found.corpus.by_id)
    assert "\r" not in "".join(example.source for example in found.corpus.examples)


def test_a_summary_is_labelled_by_what_was_counted_in_it(imported: Read) -> None:
    corpus = imported("mts-dialog").corpus
    assert [(e.id, e.label, e.kind, e.twin) for e in corpus.examples] == [
        ("mts-valid-0.reference", "clean", "clean", None),
        ("mts-valid-0.system1", "clean", "clean", None),
        ("mts-valid-0.system2", "omission", "omit", "mts-valid-0.reference"),
        ("mts-valid-0.system3", "commission", "add", "mts-valid-0.reference"),
    ]
    assert corpus.by_id["mts-valid-0.system2"].meta["unfinished"] is True
    assert corpus.by_id["mts-valid-0.system3"].meta["unfinished"] is False
    assert corpus.examples[0].source == "Doctor: Well?\nPatient: A cough, two days."


def test_a_text_found_flawed_and_clean_by_turns_is_no_example(imported: Read, whole: Whole, counted: Counted) -> None:
    records = whole("mts-dialog", STUDY)
    summaries = records[0]["summaries"]
    summaries[1]["automatic_summary"] = summaries[0]["automatic_summary"] + " "
    found = imported("mts-dialog", {STUDY: records})
    assert [example.id for example in found.corpus.examples] == ["mts-valid-0.reference", "mts-valid-0.system3"]
    assert counted(found)[TURNS] == 2


def test_a_missing_rate_is_no_zero(imported: Read, whole: Whole) -> None:
    records = whole("mts-dialog", STUDY)
    records[0]["summaries"][0]["scores"]["OmissionRate"] = -1.0
    assert "mts-valid-0.system1" not in imported("mts-dialog", {STUDY: records}).corpus.by_id


@pytest.mark.parametrize("value", [1.5, -0.5, True, "0"])
def test_a_rate_that_is_none_is_refused(value: object, imported: Read, whole: Whole) -> None:
    records = whole("mts-dialog", STUDY)
    records[0]["summaries"][1]["scores"]["HallucinationRate"] = value
    place = r"correlation_study\.jsonl:1, field 'summaries\[1\]\.scores\.HallucinationRate': must be a (rate|number)"
    with pytest.raises(CorpusError, match=place):
        imported("mts-dialog", {STUDY: records})
