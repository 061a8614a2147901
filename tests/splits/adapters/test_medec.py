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

RECORDS = "records.jsonl"


def test_the_real_corpus_has_the_counts_of_its_readme(real: Real, counted: Counted) -> None:
    found = real("medec")
    corpus, said = found.corpus, counted(found)
    assert len(corpus.groups) == 628
    flawed = [example for example in corpus.examples if example.label == "commission"]
    assert Counter(example.meta["error_type"] for example in flawed) == {
        "management": 265,
        "diagnosis": 202,
        "treatment": 76,
        "pharmacotherapy": 63,
        "causalOrganism": 24,
    }
    natural = [e for e in corpus.examples if e.label == "clean" and not e.id.endswith(".corrected")]
    assert len(natural) == 541
    assert Counter(example.meta["split"] for example in flawed + natural) == {"valid": 574, "test": 597}
    assert sum(example.meta["natural_twin"] is not None for example in flawed + natural) == 1082
    assert said["noted: text without a natural text of the other class"] == 89
    assert all(example.source == "" for example in corpus.examples)
    assert not any(example.candidate for example in corpus.examples)


def test_every_real_text_with_an_error_has_its_correction_as_twin(real: Real) -> None:
    corpus = real("medec").corpus
    for example in corpus.examples:
        if example.label == "commission":
            assert example.twin == f"{example.id}.corrected"
            assert example.document != corpus.by_id[example.twin].document
    # of the five that the README names three differ beyond the sentence in white space alone
    loose = {e.id.removesuffix(".corrected") for e in corpus.examples if e.meta.get("minimal") is False}
    assert loose == {"ms-test-15", "ms-test-273"}


def test_the_real_defects_are_repaired_or_named(real: Real) -> None:
    found = real("medec")
    said = {(notice.action, notice.what): notice for notice in found.notices}
    mojibake = said["repaired", "Text with mojibake set right"]
    assert mojibake.count == 124  # the README counts 116
    assert all(place.startswith("ms-val-") for place in mojibake.places)
    broken = said["noted", "Error Sentence ID that does not point to Error Sentence; the sentence is kept"].places
    assert broken == ("ms-val-569", "ms-test-165", "ms-test-171", "ms-test-376")
    assert said["noted", "group that crosses upstream's splits, kept whole"].places == ("g-ms-val-312",)
    group = found.corpus.groups["g-ms-val-312"]
    assert {"ms-val-312", "ms-test-340", "ms-test-341"} <= {example.id for example in group}
    (two,) = (group for group in found.corpus.groups.values() if "ms-test-494" in {e.id for e in group})
    assert {"ms-test-494", "ms-test-494.corrected", "ms-test-498", "ms-test-498.corrected"} == {e.id for e in two}
    texts = "".join(example.document for example in found.corpus.examples)
    assert "\r" not in texts
    assert "\u00e2\u20ac" not in texts


def test_mojibake_is_set_right_in_text_and_twin_alike(imported: Read, whole: Whole) -> None:
    records = whole("medec", RECORDS)
    for field in ("Text", "Corrected Text"):
        records[0][field] = "A\u00e2\u20ac\u2122s \u00ce\u00b1 \u00b5g \u00e9.\r\n" + records[0][field]
    corpus = imported("medec", {RECORDS: records}).corpus
    for name in ("ms-val-0", "ms-val-0.corrected"):
        assert corpus.by_id[name].document.startswith("A\u2019s \u03b1 \u00b5g \u00e9.\nA man")
    assert corpus.by_id["ms-val-0.corrected"].meta["minimal"] is True


def test_natural_texts_without_error_are_clean_examples_and_no_twins(imported: Read) -> None:
    corpus = imported("medec").corpus
    assert [(e.id, e.label, e.twin, e.stratum) for e in corpus.groups["g0"]] == [
        ("ms-val-0", "commission", "ms-val-0.corrected", "diagnosis"),
        ("ms-val-0.corrected", "clean", None, "diagnosis"),
        ("ms-val-1", "clean", None, "diagnosis"),
    ]
    assert corpus.by_id["ms-val-0"].meta["error"] == "It is gout."


def test_a_group_of_texts_without_error_alone_has_a_stratum_of_its_own(imported: Read, whole: Whole) -> None:
    records = whole("medec", RECORDS)[1:2]
    records[0]["twin_id"] = None
    assert [e.stratum for e in imported("medec", {RECORDS: records}).corpus.examples] == ["no error"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"twin_id": "ms-val-9"}, r"records\.jsonl:1, field 'twin_id': 'ms-val-9' is not in the file"),
        ({"twin_id": "ms-val-2"}, r"records\.jsonl:1, field 'twin_id': 'ms-val-2' is in group 'g1'"),
        ({"twin_id": "ms-val-0"}, r"records\.jsonl:1, field 'twin_id': .* of the same class"),
        ({"Corrected Text": "A man coughs. It is gout. "}, r"field 'Corrected Text': is the same as Text"),
        ({"Error Type": "NA"}, r"field 'Error Type': must be one of .*got 'NA'"),
        ({"Error Flag": 1}, r"field 'Error Flag': must be one of \['0', '1'\], got 1"),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(
    changes: dict[str, Any], message: str, imported: Read, whole: Whole
) -> None:
    records = whole("medec", RECORDS)
    records[0].update(changes)
    with pytest.raises(CorpusError, match=message):
        imported("medec", {RECORDS: records})
