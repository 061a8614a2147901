"""Every pair keeps its invariants, and a forged one is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import CorpusError
from splits.construct import ConsultationSource, build_corpus, build_group, check_pair
from splits.construct.pairs import is_one_block, is_subsequence
from splits.construct.source import Addition, Change
from splits.corpus import Example, Residual

Consult = Callable[..., ConsultationSource]


def by_trace(source: ConsultationSource) -> dict[str | None, Example]:
    return {example.trace: example for example in build_group(source) if example.label == "omission"}


def test_every_pair_of_the_bundled_corpus_keeps_its_invariants(bundled: tuple[ConsultationSource, ...]) -> None:
    checked = Counter[str]()
    for source in bundled:
        for example in build_group(source)[1:]:
            check_pair(example, source)
            checked[example.flaw] += 1
    assert checked["complete"] == len(bundled) == 60
    assert set(checked) == {"complete", "partial-weak", "partial-strong", "add", "change"}


def test_a_group_has_one_omission_of_each_trace_that_its_sites_allow(consult: Consult) -> None:
    omitted = by_trace(consult())
    assert list(omitted) == ["complete", "partial-weak", "partial-strong"]
    assert {trace: example.fact for trace, example in omitted.items()} == {
        "complete": "f3",
        "partial-weak": "f2",
        "partial-strong": "f1",
    }
    assert [mention.strength for mention in omitted["partial-weak"].residual] == ["partial"]
    assert [mention.strength for mention in omitted["partial-strong"].residual] == ["paraphrase"]


def test_residual_mentions_point_at_what_is_left(consult: Consult) -> None:
    weak = by_trace(consult())["partial-weak"]
    (mention,) = weak.residual
    assert weak.document[mention.offset :].startswith("stop smoking")
    assert mention.heading == "PLAN"


def test_a_group_is_the_same_whenever_it_is_built(consult: Consult) -> None:
    assert build_group(consult()) == build_group(consult())
    assert build_corpus([consult()]).hash == build_corpus([consult()]).hash


def test_additions_and_changes_name_their_severity_and_fact(consult: Consult) -> None:
    source = consult(
        additions=(Addition("PLAN", "Refer to ENT.", "supporting"),), changes=(Change("f3", "500 mg", "250 mg"),)
    )
    *_, added, changed = build_group(source)
    assert (added.id, added.kind, added.severity, added.fact) == ("c-1.add.1", "add", "supporting", None)
    assert added.document == source.note + "\n- Refer to ENT."
    assert (changed.id, changed.kind, changed.severity, changed.fact) == ("c-1.change.f3", "change", "critical", "f3")
    assert changed.document == source.note.replace("500 mg", "250 mg")
    assert all(example.trace is None and not example.residual for example in (added, changed))


def test_a_change_that_changes_nothing_is_refused(consult: Consult) -> None:
    with pytest.raises(CorpusError, match=r"c-1\.change\.f3: a commission must be one contiguous block"):
        build_group(consult(changes=(Change("f3", "500 mg", "500 mg"),)))


@pytest.mark.parametrize("trace", ["complete", "partial-weak", "partial-strong"])
def test_a_forged_omission_is_found(trace: str, consult: Consult) -> None:
    source = consult()
    example = by_trace(source)[trace]

    def forged(document: str) -> Example:
        shift = len(document) - len(example.document)
        return replace(
            example,
            document=document,
            residual=tuple(replace(mention, offset=mention.offset + shift) for mention in example.residual),
        )

    with pytest.raises(CorpusError, match="may only delete characters"):
        check_pair(replace(example, document=example.document.replace("No fever", "No fevxr")), source)
    with pytest.raises(CorpusError, match="may only delete characters"):
        check_pair(replace(example, document=source.note), source)
    # An unmarked word is gone too, which no site accounts for.
    with pytest.raises(CorpusError, match="is not the clean note less the sites of fact"):
        check_pair(forged(example.document.replace("No fever", "fever")), source)
    other = "f1" if example.fact == "f3" else "f3"
    text = source.sites_of(other)[0].text
    assert text in example.document
    with pytest.raises(CorpusError, match=rf"touches '{text[:10]}.*' of fact {other}"):
        check_pair(forged(example.document.replace(text, "", 1)), source)


@pytest.mark.parametrize(
    ("trace", "residual", "message"),
    [
        ("complete", (Residual(0, "", "partial"),), "a stated residual site is not at its offset"),
        ("partial-weak", (), "is not trace partial-weak"),
        ("partial-strong", (), "is not trace partial-strong"),
    ],
)
def test_residual_sites_that_are_not_those_of_the_trace_are_found(
    trace: str, residual: tuple[Residual, ...], message: str, consult: Consult
) -> None:
    source = consult()
    with pytest.raises(CorpusError, match=message):
        check_pair(replace(by_trace(source)[trace], residual=residual), source)


@pytest.mark.parametrize("trace", ["partial-weak", "partial-strong"])
@pytest.mark.parametrize("change", [{"offset": 3}, {"heading": "HISTORY"}, {"strength": "explicit"}])
def test_a_residual_site_with_a_wrong_offset_heading_or_strength_is_found(
    trace: str, change: dict[str, object], consult: Consult
) -> None:
    source = consult()
    example = by_trace(source)[trace]
    (mention,) = example.residual
    wrong = replace(mention, **change)  # type: ignore[arg-type]  # fields of Residual
    with pytest.raises(CorpusError, match="a stated residual site is not at its offset"):
        check_pair(replace(example, residual=(wrong,)), source)


@given(trace=st.sampled_from(["partial-weak", "partial-strong"]), offset=st.integers(-5, 400))
@settings(max_examples=20)
def test_no_other_offset_is_taken_for_a_residual_site(trace: str, offset: int, consult: Consult) -> None:
    source = consult()
    example = by_trace(source)[trace]
    (mention,) = example.residual
    if offset != mention.offset:
        with pytest.raises(CorpusError, match="a stated residual site is not at its offset"):
            check_pair(replace(example, residual=(replace(mention, offset=offset),)), source)


@pytest.mark.parametrize("trace", ["complete", "partial-weak", "partial-strong"])
@pytest.mark.parametrize("claimed", ["complete", "partial-weak", "partial-strong", None])
def test_a_wrong_trace_is_found(trace: str, claimed: str | None, consult: Consult) -> None:
    source = consult()
    if claimed != trace:
        with pytest.raises(CorpusError, match=f"is not trace {claimed}"):
            check_pair(replace(by_trace(source)[trace], trace=claimed), source)


def test_an_omission_that_claims_another_fact_is_found(consult: Consult) -> None:
    source = consult()
    with pytest.raises(CorpusError, match="touches 'Amoxicillin 500 mg"):
        check_pair(replace(by_trace(source)["complete"], fact="f1"), source)


@given(start=st.integers(0), length=st.integers(1, 40))
@settings(max_examples=60)
def test_no_other_deletion_passes_for_the_omission_of_a_fact(start: int, length: int, consult: Consult) -> None:
    source = consult()
    omitted = by_trace(source)["complete"]
    start %= len(source.note)
    document = source.note[:start] + source.note[start + length :]
    try:
        check_pair(replace(omitted, document=document), source)
    except CorpusError:
        return
    # What passes is the omission, up to which separators were taken along.
    assert document.split() == omitted.document.split() or "- \n" in document


def test_two_sites_with_the_same_words_are_told_apart_by_place(consult: Consult) -> None:
    source = consult(
        "HISTORY\n[[f1 explicit: Asthma.]] Well.\nPLAN\n- [[f1 explicit: Asthma.]]\n- Rest.\n[[f2 explicit: End.]]"
    )
    strong = by_trace(source)["partial-strong"]
    assert strong.document == "HISTORY\nWell.\nPLAN\n- Asthma.\n- Rest.\nEnd."
    check_pair(strong, source)


@pytest.mark.parametrize(
    "new",
    [
        "One two three four five six seven eight.",
        "ONE two three four five six seven EIGHT.",
        "",
        "Nothing of it is left here at all, no word.",
    ],
)
def test_a_commission_that_is_not_one_block_is_refused(new: str, consult: Consult) -> None:
    old = "One two three four five six seven eight."
    assert not is_one_block(old, new)
    source = consult()
    example = Example("x", "c-1", "s", "", source.note.upper(), "commission", "add", twin="c-1.clean")
    with pytest.raises(CorpusError, match="x: a commission must be one contiguous block"):
        check_pair(example, source)


@given(
    words=st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), min_size=12, max_size=24),
    block=st.lists(st.from_regex(r"[A-Z]{1,4}", fullmatch=True), min_size=1, max_size=4),
    data=st.data(),
)
@settings(max_examples=25)
def test_any_short_insertion_is_one_block(words: list[str], block: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(words)))
    assert is_one_block(" ".join(words), " ".join([*words[:at], *block, *words[at:]]))


@given(text=st.text(max_size=30), data=st.data())
@settings(max_examples=25)
def test_whatever_is_left_after_deleting_characters_is_a_subsequence(text: str, data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(text), max_size=len(text)))
    short = "".join(letter for letter, keep in zip(text, kept, strict=True) if keep)
    assert is_subsequence(short, text)
    assert not is_subsequence(text + "x", text)
