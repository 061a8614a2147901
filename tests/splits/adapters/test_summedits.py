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

SUMMARIES, DOCUMENTS = "summaries.jsonl", "documents.jsonl"


def test_the_real_corpus_has_the_counts_of_its_readme(real: Real, counted: Counted) -> None:
    found = real("summedits")
    corpus, said = found.corpus, counted(found)
    assert len(corpus.groups) == 55
    assert sum(example.meta["seed"] for example in corpus.examples) == 56
    labels = Counter((example.stratum, example.label) for example in corpus.examples)
    assert labels == {
        ("sales_call", "clean"): 173,
        ("sales_call", "commission"): 347 - 1,  # one text occurs twice
        ("sales_email", "clean"): 179,
        ("sales_email", "commission"): 434,
        ("qmsumm", "clean"): 183,
        ("qmsumm", "commission"): 248,
    }
    assert said["left out: text that occurs before in its document, with the same label"] == 1
    assert said["noted: inconsistent summary without edit types"] == 34
    assert said["noted: consistent summary with edit types; the label holds"] == 4
    assert said["noted: seed summary without edits"] == 1
    assert said["noted: document with several seed summaries, one group"] == 1
    assert not any(example.candidate for example in corpus.examples)


def test_an_edit_has_its_seed_as_twin_and_a_kind_from_the_texts(imported: Read) -> None:
    corpus = imported("summedits").corpus
    assert [(e.id, e.group, e.label, e.kind, e.twin) for e in corpus.examples] == [
        ("c0_og", "calls.c0", "clean", "clean", None),
        ("c0_0", "calls.c0", "clean", "clean", None),
        ("c0_1", "calls.c0", "commission", "add", "c0_og"),
        ("c0_2", "calls.c0", "commission", "change", "c0_og"),
    ]
    assert corpus.examples[0].source == "The agent sold a plan."


def test_a_repeated_text_is_one_example_and_none_where_the_labels_differ(
    imported: Read, whole: Whole, counted: Counted
) -> None:
    records = whole("summedits", SUMMARIES)
    again = [{**records[3], "id": "c0_3"}, {**records[2], "id": "c0_4", "label": 1}]
    found = imported("summedits", {SUMMARIES: [*records, *again]})
    assert [example.id for example in found.corpus.examples] == ["c0_og", "c0_0", "c0_2"]
    assert counted(found)["left out: text labelled consistent and inconsistent by turns"] == 2


@pytest.mark.parametrize(
    ("at", "changes", "message"),
    [
        (3, {"doc_id": "calls/c9"}, r"summaries\.jsonl:4, field 'doc_id': 'calls/c9' is not in documents\.jsonl"),
        (3, {"seed_summary_id": "c9_og"}, r"summaries\.jsonl:4, field 'seed_summary_id': 'c9_og' is not in"),
        (3, {"seed_summary_id": "c0_1"}, r"summaries\.jsonl:4, field 'seed_summary_id': .* not a consistent summary"),
        (3, {"label": True}, r"summaries\.jsonl:4, field 'label': must be one of \[0, 1\], got True"),
        (3, {"summary": "The agent sold a plan."}, r"summaries\.jsonl:1: the same text is labelled inconsistent"),
    ],
)
def test_a_summary_that_fits_nothing_is_refused(
    at: int, changes: dict[str, Any], message: str, imported: Read, whole: Whole
) -> None:
    records = whole("summedits", SUMMARIES)
    records[at].update(changes)
    with pytest.raises(CorpusError, match=message):
        imported("summedits", {SUMMARIES: records})


def test_a_document_without_summaries_shows_that_the_summaries_are_cut_off(imported: Read, whole: Whole) -> None:
    (document,) = whole("summedits", DOCUMENTS)
    with pytest.raises(CorpusError, match=r"documents\.jsonl:2, field 'id': 'calls/c1' has no summary in summaries"):
        imported("summedits", {DOCUMENTS: [document, {**document, "id": "calls/c1"}]})
