"""Rules that a proposed instruction must keep."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflectors import OperatorReflector, fixed_texts, invalid_reason
from reflectors.validation import MAX_WORDS, placeholders
from splits import NgramIndex
from splits.contamination import Kind, Overlap
from students import Capabilities, ReasoningBudget
from students.designs import DESIGNS

SECRET = "the patient said that her mother had died of a stroke in March"
FORBIDDEN = NgramIndex.of([SECRET])


def reason(
    text: str, *, parents: tuple[str, ...] = ("Judge.",), earlier: tuple[str, ...] = (), **more: Any
) -> str | None:
    return invalid_reason(text, parents=parents, earlier=earlier, forbidden=FORBIDDEN, **more)


def test_an_ordinary_instruction_is_valid() -> None:
    assert reason("Judge with care. Use ```code``` and {braces} and $5.") is None


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_text_is_invalid(text: str) -> None:
    assert reason(text) == "empty"


@pytest.mark.parametrize("text", ["Judge.", "  Judge.\n"])
def test_a_text_tried_before_is_a_duplicate_whatever_stands_around_it(text: str) -> None:
    assert reason(text, earlier=("Other.", "\nJudge. ")) == "duplicate of an earlier candidate"


@pytest.mark.parametrize("written", ["$slot", "${slot}", "{slot}"])
def test_a_lost_placeholder_is_named(written: str) -> None:
    assert reason("Judge.", parents=(f"Judge {written}.",)) == "lost placeholder slot"
    assert reason("Judge {slot} now.", parents=(f"Judge {written}.",)) is None


def test_a_merge_keeps_the_placeholders_of_all_parents() -> None:
    assert reason("Both $a.", parents=("One $a.", "Two {c} ${b}.")) == "lost placeholder b, c"


def test_json_prices_and_capitals_are_no_placeholders() -> None:
    assert placeholders('Answer {"score": 8}, {} or { x }, costs $5 or $X.') == set()


def test_too_many_words_are_invalid() -> None:
    assert reason("word " * MAX_WORDS) is None
    assert reason("word " * (MAX_WORDS + 1)) == "1501 words, more than 1500"
    assert reason("one two three", max_words=2) == "3 words, more than 2"


@pytest.mark.parametrize("text", ["```\nJudge.", "Judge.\n```", "```a``` and ```b"])
def test_an_open_code_fence_is_a_truncation(text: str) -> None:
    assert reason(text) == "truncated: an open code fence"


def test_a_fence_around_the_whole_and_markers_are_refused_and_fences_inside_are_not() -> None:
    assert reason("```markdown\nJudge with care.\n```") == "a code fence around the whole instruction"
    assert reason("Judge as in\n```\nA: B\n```\nand so on.") is None
    for marker in ("<instruction>", "</instruction>"):
        assert reason(f"Judge {marker} with care.") == "holds a marker of the reflector's answer"


def test_white_space_makes_no_new_instruction() -> None:
    assert reason("Judge  with\ncare. ", earlier=("Judge with care.",)) == "duplicate of an earlier candidate"
    assert reason("Judge.\n", parents=("Other.", "Judge.")) == "the same as a parent"


CONTRACT = ('You check notes.\n$instruction\nReply with the line "Score: N", where N is a number.', "NOTE:\n$document")


@pytest.mark.parametrize(
    "text",
    [
        "Be strict. Reply with the line score: n, where you can.",
        'Be strict: where N is a number between 0 and 5, give the line "Score: N", where N is a number.',
    ],
)
def test_the_fixed_contract_is_not_restated(text: str) -> None:
    said = "restates the fixed part of the prompt: its inputs or its answer format"
    assert reason(text, contract=CONTRACT) == said
    assert reason(text) is None
    assert reason(f"{text} More.", contract=CONTRACT, parents=(text,)) is None, "what a parent has is not new"


def test_a_short_sentence_of_the_contract_counts_as_a_whole() -> None:
    contract = ("You check clinical notes.\n$instruction",)
    assert reason("You check clinical notes. Be strict.", contract=contract) is not None
    assert reason("You check that clinical notes hold the fact.", contract=contract) is None


@pytest.mark.parametrize("name", sorted(set(DESIGNS) - {"program"}))
def test_no_bundled_clause_or_seed_restates_the_contract_of_its_student(name: str) -> None:
    design = DESIGNS[name]
    options = {"temperature": design.temperature}
    student = design.build(options, model={}, budget=ReasoningBudget(), capabilities=Capabilities(top_logprobs=20))
    texts = list(student.seed_texts.values())
    if design.clauses is not None:
        texts += [clause for kind in OperatorReflector(design.clauses).clauses.values() for clause in kind]
    assert fixed_texts(student)
    for text in texts:
        assert reason(text, contract=fixed_texts(student), parents=("Other.",)) is None


def test_a_run_of_words_of_accept_or_heldout_text_is_a_leak() -> None:
    assert reason("E.g. HER mother, had died: of a (stroke) in march!") == (
        "repeats 2 run(s) of 8 words of accept or held-out text"
    )


def test_shorter_runs_are_no_leak() -> None:
    assert reason("her mother had died of a stroke yesterday in March the patient said") is None


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (("passage",), "nearly repeats a passage of accept or held-out examples"),
        (("answer_key",), "states a fact or a changed sentence of accept or held-out examples"),
        (("name", "name"), "gives names of accept or held-out examples"),
        (("passage", "name"), "nearly repeats a passage; gives names of accept or held-out examples"),
    ],
)
def test_what_else_was_found_of_closed_examples_makes_a_proposal_invalid(kinds: tuple[Kind, ...], said: str) -> None:
    found = [Overlap(kind, split, ("g",), 1, 5) for kind, split in zip(kinds, ("accept", "heldout"), strict=False)]
    assert reason("Judge with care.", overlaps=found) == said
    assert reason("", overlaps=found) == "empty", "what is no instruction at all is called so first"


@given(st.text(), st.lists(st.text(), max_size=3))
def test_a_verdict_is_given_on_any_text(text: str, parents: list[str]) -> None:
    found = reason(text, parents=tuple(parents), earlier=tuple(parents))
    if not text.strip() or text in parents:
        assert found is not None
