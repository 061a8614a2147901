"""What gives the answer to a flawed example away is known again, and cannot be read from what knows it."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from lineage.errors import SealError
from splits.answer_keys import AnswerKeys, NamedKey
from splits.corpus import Corpus, Example, Fact

CLEAN = "HISTORY\nSore throat for three days. Home thermometer read 38.7 last night.\nPLAN\nRest, and fluids by mouth."
FLAWED = "HISTORY\nSore throat for three days.\nPLAN\nRest, and fluids by mouth."


@pytest.fixture
def part() -> Corpus:
    source = "Doctor: hello. Patient: my throat hurts."
    examples = (
        Example("uk-1.clean", "uk-1", "uk", source, CLEAN, "clean", "clean"),
        Example("uk-1.omit", "uk-1", "uk", source, FLAWED, "omission", "omit", twin="uk-1.clean", fact="f1"),
    )
    facts = Fact("f1", "uk-1", "The temperature at home was 38.7.", ("38.7",), "critical", True)
    return Corpus(examples, {"uk-1": (facts,)})


def test_the_statement_of_a_fact_is_a_key_whatever_its_dress(part: Corpus) -> None:
    found = AnswerKeys(part).keys_in("E.g. THE TEMPERATURE (at home) was 38,7: look for it.")
    assert found == [NamedKey("the temperature at home was 38 7", ("uk-1",))]


def test_the_sentence_that_a_flaw_left_out_is_a_key_and_one_that_both_keep_is_none(part: Corpus) -> None:
    keys = AnswerKeys(part)
    assert keys.keys_in("home thermometer read 38.7 last night") == [
        NamedKey("home thermometer read 38 7 last night", ("uk-1",))
    ]
    assert keys.keys_in("Sore throat for three days. Rest, and fluids by mouth.") == []


def test_part_of_a_key_is_none(part: Corpus) -> None:
    assert AnswerKeys(part).keys_in("the temperature at home was 39; thermometer read 38.7 last night") == []


def test_a_sentence_of_few_words_is_no_key(part: Corpus) -> None:
    short = Corpus(part.examples, {"uk-1": (Fact("f1", "uk-1", "He has a fever.", (), "critical", True),)})
    assert AnswerKeys(short).keys_in("He has a fever.") == []


def test_a_fact_stated_by_the_example_itself_is_a_key(part: Corpus) -> None:
    stated = replace(part.examples[1], fact="Swallowing water hurts him very much")
    assert AnswerKeys(Corpus((part.examples[0], stated), {})).keys_in("swallowing water hurts him very much") == [
        NamedKey("swallowing water hurts him very much", ("uk-1",))
    ]


@pytest.mark.parametrize("text", ["as in uk-1.omit,", "(uk-1)", "See uk-1.clean."])
def test_names_of_examples_and_groups_are_found(part: Corpus, text: str) -> None:
    assert [key.groups for key in AnswerKeys(part).names_in(text)] == [("uk-1",)]


@pytest.mark.parametrize("text", ["as in aci|D1|mc7|err:", "| aci|D1 | 3 |", "|aci|D1|mc7|err|", "D1.a|x"])
def test_names_with_bars_are_found_in_tables_too(text: str) -> None:
    source = "Doctor: hello."
    clean = Example("D1.a", "aci|D1", "aci", source, CLEAN, "clean", "clean")
    flawed = Example("aci|D1|mc7|err", "aci|D1", "aci", source, FLAWED, "omission", "omit", twin="D1.a")
    assert {key.groups for key in AnswerKeys(Corpus((clean, flawed), {})).names_in(text)} == {("aci|D1",)}


def test_a_long_rule_of_dashes_is_read_once(part: Corpus) -> None:
    assert AnswerKeys(part).names_in("-" * 200_000 + " uk-1 ") == [NamedKey("uk-1", ("uk-1",))]


@pytest.mark.parametrize("text", ["uk-10", "uk-1.omitted", "uk", "Duk-1", "UK-1"])
def test_other_words_are_no_names(part: Corpus, text: str) -> None:
    assert AnswerKeys(part).names_in(text) == []


@pytest.mark.parametrize("name", ["notes", "7", "1234", "g1", "-..-", "a b-1"])
def test_a_group_that_is_called_like_a_common_word_or_number_has_no_name_to_be_found(name: str) -> None:
    example = Example(name, name, "s", "source", "document", "clean", "clean")
    assert AnswerKeys(Corpus((example,), {})).names_in(f"the notes {name} 7 of 1234 g1") == []


def test_keys_hold_no_word_of_their_texts_and_are_not_pickled(part: Corpus) -> None:
    keys = AnswerKeys(part)
    assert "thermometer" not in repr(keys._keys)
    assert all(type(code) is int for codes in keys._keys.values() for code in codes)
    with pytest.raises(SealError, match="cannot be pickled or copied"):
        pickle.dumps(keys)
