"""What is copied of closed text is found whatever its dress, and nothing gives the text away."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import SealError
from lineage.ledger import Ledger
from splits import Corpus, Seal, SplitLock, split_examples
from splits.contamination import (
    NGRAM_WORDS,
    PASSAGE_SHARE,
    ContaminationCheck,
    NgramIndex,
    Overlap,
    SplitSignatures,
)
from splits.shingles import words_of

words = st.text("abcdefghijklmnop", min_size=2, max_size=8)
texts = st.lists(words, min_size=NGRAM_WORDS, max_size=30)
joints = st.sampled_from([" ", ", ", ".\n", " / ", "! (", "\t", ' "', ";  "])


@given(source=texts, data=st.data())
@settings(max_examples=25)
def test_a_copied_run_is_found_regardless_of_case_and_punctuation(source: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(source) - NGRAM_WORDS))
    run = source[start : start + NGRAM_WORDS]
    dressed = "Judge 1:"
    for word in run:
        dressed += data.draw(joints) + data.draw(st.sampled_from([word, word.upper(), word.capitalize()]))
    assert " ".join(run) in NgramIndex.of([" ".join(source)]).copied(dressed + " 2 end")


@given(source=texts, data=st.data())
@settings(max_examples=25)
def test_a_run_one_word_too_short_is_not_found(source: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(source) - NGRAM_WORDS + 1))
    run = source[start : start + NGRAM_WORDS - 1]
    assert NgramIndex.of([" ".join(source)]).copied("7 8 " + " ".join(run) + " 9 10") == ()


@given(source=texts, size=st.integers(1, 12))
@settings(max_examples=20)
def test_every_run_of_an_indexed_text_counts_as_copied(source: list[str], size: int) -> None:
    index = NgramIndex.of([" ".join(source)], size=size)
    assert len(index.copied(" ".join(source))) == max(len(source) - size + 1, 0)


@given(left=texts, right=texts)
@settings(max_examples=20)
def test_an_index_of_several_texts_is_the_union_and_joins_none(left: list[str], right: list[str]) -> None:
    both = NgramIndex.of([" ".join(left), " ".join(right)])
    alone = [NgramIndex.of([" ".join(text)]) for text in (left, right)]
    assert both.hashes == alone[0].hashes | alone[1].hashes


def test_copies_are_named_in_order_of_the_checked_text() -> None:
    index = NgramIndex.of(["one two three four"], size=2)
    assert index.copied("Three, FOUR! one... two") == ("three four", "one two")


def test_an_index_holds_hashes_and_no_text() -> None:
    index = NgramIndex.of(["the secret marker stands among some other quite ordinary words here"])
    assert all(isinstance(item, bytes) and len(item) == 12 for item in index.hashes)
    for held in (repr(index).encode(), pickle.dumps(index)):
        assert b"secret" not in held
        assert b"marker" not in held


@pytest.mark.parametrize("text", ["", "   ", "…!?", "seven words are not enough to count"])
def test_a_text_too_short_has_no_runs(text: str) -> None:
    assert NgramIndex.of([text]).hashes == frozenset()
    assert NgramIndex.of(["a b c d e f g h"]).copied(text) == ()


@pytest.fixture(scope="module")
def divided(consults: Corpus) -> dict[str, Corpus]:
    """The bundled corpus in three parts of whole groups."""
    names = list(consults.groups)
    parts = {"reflect": names[0::3], "accept": names[1::3], "heldout": names[2::3]}
    return {
        split: consults.part(example for group in groups for example in consults.groups[group])
        for split, groups in parts.items()
    }


@pytest.fixture(scope="module")
def check(divided: dict[str, Corpus]) -> ContaminationCheck:
    closed = [SplitSignatures(divided[split], split=split) for split in ("accept", "heldout")]
    return ContaminationCheck(divided["reflect"], closed)


def kinds(found: tuple[Overlap, ...]) -> set[tuple[str, str]]:
    return {(overlap.kind, overlap.split) for overlap in found}


@pytest.mark.parametrize("split", ["accept", "heldout"])
def test_copied_text_is_found_with_its_split_and_group(
    check: ContaminationCheck, divided: dict[str, Corpus], split: str
) -> None:
    example = divided[split].examples[5]
    (found,) = check.overlaps("Judge it. " + " ".join(example.source.split()[20:32]))
    assert (found.kind, found.split, found.groups) == ("ngram", split, (example.group,))
    assert found.words >= NGRAM_WORDS
    assert found.count == found.words - NGRAM_WORDS + 1


@pytest.mark.parametrize("every", [6, 7, 8])
def test_a_passage_of_which_every_so_many_words_were_changed_is_found(
    check: ContaminationCheck, divided: dict[str, Corpus], every: int
) -> None:
    for example in divided["heldout"].examples[::9]:
        words = words_of(example.source)[:60]
        changed = " ".join("indeed" if n % every == every - 1 else word for n, word in enumerate(words))
        (found,) = check.overlaps(f"Judge it. {changed}")
        assert (found.kind, found.split, found.groups) == ("passage", "heldout", (example.group,))
        assert found.share is not None
        assert found.share >= PASSAGE_SHARE


def test_facts_and_names_of_closed_groups_are_found(check: ContaminationCheck, divided: dict[str, Corpus]) -> None:
    group = next(iter(divided["accept"].groups))
    fact = next(fact for fact in divided["accept"].facts[group] if len(words_of(fact.fact)) in (6, 7))
    (key,) = check.overlaps(f"Say No if this is missing: {fact.fact}")
    assert (key.kind, key.split, key.groups, key.count) == ("answer_key", "accept", (group,), 1)
    (name,) = check.overlaps(f"Beware of {group}.clean: it is correct.")
    assert (name.kind, name.split, name.groups) == ("name", "accept", (group,))


def test_everything_that_reflect_holds_may_be_quoted(check: ContaminationCheck, divided: dict[str, Corpus]) -> None:
    reflect = divided["reflect"]
    texts = [text for example in reflect.examples for text in (example.document, example.source)][::5]
    facts = [fact.fact for facts in reflect.facts.values() for fact in facts][::5]
    for quoted in dict.fromkeys((*texts, *facts)):
        assert check.overlaps(f'Look for it. For example, "{quoted}".') == ()


def test_the_bundled_prompts_and_clauses_hold_nothing_of_the_bundled_corpus(check: ContaminationCheck) -> None:
    root = Path(__file__).parents[2]
    prompts = [*(root / "students" / "prompts").rglob("*.md"), *(root / "reflectors" / "prompts").glob("*.md")]
    assert len(prompts) > 8
    assert {path.name: check.overlaps(path.read_text(encoding="utf-8")) for path in prompts} == {
        path.name: () for path in prompts
    }


def test_text_that_reflect_shares_with_a_closed_split_is_no_finding(divided: dict[str, Corpus]) -> None:
    taken = divided["heldout"].examples[0]
    lent = replace(divided["reflect"].examples[0], source=taken.source)
    shared = Corpus((lent,), {taken.group: divided["heldout"].facts[taken.group]})
    check = ContaminationCheck(shared, [SplitSignatures(divided["heldout"], split="heldout")])
    fact = divided["heldout"].facts[taken.group][0].fact
    assert check.overlaps(f"{taken.source} {fact}") == ()


def test_findings_say_nothing_of_the_text(check: ContaminationCheck, divided: dict[str, Corpus]) -> None:
    example = divided["heldout"].examples[2]
    found = check.overlaps(f"{example.source} {example.document} {example.id}")
    assert kinds(found) >= {("ngram", "heldout"), ("name", "heldout")}
    said = set(words_of(repr([overlap.row() for overlap in found])))
    texts = set(words_of(f"{example.source} {example.document}"))
    assert said & texts <= set(words_of(f"{example.group} name words count 1 0 none passage kind"))


@pytest.mark.parametrize("text", ["", "...", "Judge."])
def test_a_text_with_nothing_to_repeat_has_no_overlap(check: ContaminationCheck, text: str) -> None:
    assert check.overlaps(text) == ()


def test_an_overlap_is_within_one_that_is_as_large_in_every_group() -> None:
    small, large = (Overlap("ngram", "accept", groups, len(groups), 8) for groups in (("a",), ("a", "b")))
    assert small.within(large)
    assert small.within(small)
    assert not large.within(small)
    assert not small.within(Overlap("ngram", "heldout", ("a", "b"), 2, 8))
    assert not small.within(Overlap("name", "accept", ("a", "b"), 2, 8))


def test_the_seal_gives_signatures_that_know_heldout_text_and_hold_none_of_it(
    corpus: Corpus, lock: SplitLock, open_ledger: Callable[[str], Ledger]
) -> None:
    ledger = open_ledger("run")
    seal = Seal(corpus, lock, ledger, target="instruction", caller="test")
    found = seal.signatures()
    heldout = [example for example in corpus.examples if example.group in lock.splits["heldout"]]
    reflect = corpus.part(split_examples(lock, corpus, "reflect"))
    check = ContaminationCheck(reflect, [found])
    assert ("passage", "heldout") in kinds(check.overlaps(heldout[0].source)) or ("ngram", "heldout") in kinds(
        check.overlaps(heldout[0].source)
    )
    assert [event.type for event in ledger.events] == ["plan"], "this is no opening"
    held: list[object] = [found]
    for value in held:  # grows: everything that can be reached through attributes and containers
        slots = getattr(type(value), "__slots__", ())
        held += [getattr(value, name) for name in slots]
        held += list(value) if isinstance(value, list | tuple | set | frozenset) else []
        held += [*value.keys(), *value.values()] if isinstance(value, dict) else []
    texts = [value for value in held if isinstance(value, str)]
    assert not [text for text in texts if "marker" in text or " " in text]
    with pytest.raises(SealError, match="cannot be pickled or copied"):
        pickle.dumps(found)
