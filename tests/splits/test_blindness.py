"""Fact extraction cannot see a document, and a request that holds one is refused."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import BlindnessError
from splits import Corpus
from splits.blindness import PROBE_WORDS, Probing, SourceOnly, check_blind, source_views

SOURCE = "Doctor: what is wrong? Patient: my throat hurts since Monday and I can drink but hardly eat."
NOTE = (
    "HISTORY Sore throat for three days; drinking, eating little. EXAMINATION Tonsils large with white patches on both "
    "sides. PLAN Clarithromycin for five days, and to come back if breathing gets noisy."
)


def words(text: str, start: int, count: int) -> str:
    return " ".join(text.split()[start : start + count])


def test_a_view_of_the_source_has_no_document_to_be_read(consults: Corpus) -> None:
    assert {field.name for field in fields(SourceOnly)} == {"group", "source"}
    views = source_views(consults)
    assert [view.group for view in views] == list(consults.groups)
    held = {view.group: view.source for view in views}
    assert all(example.source == held[example.group] for example in consults.examples)
    with pytest.raises(AttributeError):
        _ = views[0].document  # type: ignore[attr-defined]  # that is the point


@pytest.mark.parametrize(("position", "start"), [("start", 0), ("middle", 11), ("end", 20)])
def test_each_probe_is_found_and_named(position: str, start: int) -> None:
    prompt = f"List the facts.\n{SOURCE}\n{words(NOTE, start, 12)}"
    with pytest.raises(BlindnessError, match=f"holds the {position} of document 'n1'; facts are extracted from the"):
        check_blind(prompt, {"n1": NOTE}, source=SOURCE)


def test_a_request_with_the_source_alone_passes(consults: Corpus) -> None:
    for group, examples in consults.groups.items():
        documents = {example.id: example.document for example in examples}
        prompt = f"List every fact that the doctor or the patient states.\n\n{examples[0].source}\n\nAnswer in JSON."
        assert check_blind(prompt, documents, source=examples[0].source) == Probing(3 * len(documents), ()), group


@given(start=st.integers(0, 40), data=st.data())
@settings(max_examples=20)
def test_a_whole_document_never_passes_whatever_stands_around_it(start: int, data: st.DataObject) -> None:
    joint = data.draw(st.sampled_from([" ", "\n", " - ", "!?"]))
    case = data.draw(st.sampled_from([str.upper, str.lower, str.title]))
    prompt = SOURCE[:start] + joint + case(NOTE).replace(" ", joint) + joint + SOURCE[start:]
    with pytest.raises(BlindnessError):
        check_blind(prompt, {"n1": NOTE}, source=SOURCE)


def test_a_run_that_the_source_has_as_well_is_no_probe() -> None:
    quoting = f"{SOURCE} And nothing else of note was said at all that day."
    assert check_blind(SOURCE, {"n1": quoting}, source=SOURCE) == Probing(3, ())
    with pytest.raises(BlindnessError, match="start of document 'n1'"):
        check_blind(quoting, {"n1": quoting}, source=SOURCE)


def test_a_document_that_cannot_be_told_from_its_source_is_named_as_not_probed() -> None:
    documents = {"part": words(SOURCE, 3, 8), "two": "No change", "none": ""}
    assert check_blind(SOURCE, documents, source=SOURCE) == Probing(0, ("part", "two", "none"))


def test_a_short_document_is_its_own_probe() -> None:
    short = words(NOTE, 0, PROBE_WORDS - 2)
    with pytest.raises(BlindnessError, match="'n1'"):
        check_blind(f"{SOURCE} {short}", {"n1": short}, source=SOURCE)


def test_every_document_is_probed_not_only_the_first() -> None:
    with pytest.raises(BlindnessError, match="'n2'"):
        check_blind(f"{SOURCE} {NOTE}", {"n1": "quite another note of the same day", "n2": NOTE}, source=SOURCE)
