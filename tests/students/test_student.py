"""What all students share: seeds, hashes, and answers that are no judgement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import PlanError
from lineage.records import Usage
from splits.corpus import Corpus, Example
from students.answers import unusable
from students.parsing import Unread
from students.student import draw_seed, instruction_of
from students.transport.base import CallFailure, CallResult


def answer(text: str | None = "8", finish: str = "stop", reasoning: str | None = None, **more: object) -> CallResult:
    return CallResult(text, finish, Usage(calls=1, reasoning_tokens=17), reasoning=reasoning, **more)  # type: ignore[arg-type]


@given(st.integers(0, 10**6), st.integers(0, 9_999), st.integers(0, 9))
def test_a_seed_is_run_seed_then_item_then_sample(run_seed: int, item: int, sample: int) -> None:
    assert draw_seed(run_seed, item, sample) == run_seed * 100_000 + item * 10 + sample


def test_zero_is_a_seed() -> None:
    assert draw_seed(0, 0, 0) == 0


@pytest.mark.parametrize(("item", "sample"), [(10_000, 0), (0, 10), (123_456, 99)])
def test_beyond_the_arithmetic_a_seed_is_a_hash_and_shows_it(item: int, sample: int) -> None:
    seed = draw_seed(3, item, sample)
    assert 2**40 <= seed < 2**41
    assert seed == draw_seed(3, item, sample)
    assert len({draw_seed(run, item + more, sample) for run in range(20) for more in range(20)}) == 400


@given(st.permutations(["a-1", "a-10", "a-2", "b", "c"]))
def test_row_order_never_changes_a_seed(ids: list[str]) -> None:
    examples = tuple(Example(name, "g", "s", "source", "document", "clean", "clean") for name in ids)
    corpus = Corpus(examples, {})
    assert corpus.rank == {"a-1": 0, "a-10": 1, "a-2": 2, "b": 3, "c": 4}
    assert corpus.part(examples[:2]).rank == {name: corpus.rank[name] for name in ids[:2]}


def test_a_candidate_with_another_block_is_refused() -> None:
    assert instruction_of({"instruction": "x"}) == "x"
    for texts in ({}, {"prompt": "x"}, {"instruction": "x", "contract": "y"}):
        with pytest.raises(PlanError, match="one evolving block is 'instruction', the candidate has"):
            instruction_of(texts)


@pytest.mark.parametrize(
    ("given_answer", "reason"),
    [
        (CallFailure("transport", "gone"), "transport"),
        (answer(finish="length"), "truncated"),
        (answer(None, finish="length", reasoning="hm"), "truncated"),
        (answer(None, reasoning="I think"), "reasoning_only"),
        (answer("  \n", reasoning="I think"), "reasoning_only"),
        (answer(None), "empty"),
        (answer(""), "empty"),
        (answer("I cannot", finish="content_filter"), "refused"),
        (answer(None, finish="content_filter"), "refused"),
        (answer("no", finish="refusal"), "refused"),
    ],
)
def test_an_answer_that_is_no_judgement_says_why(given_answer: CallResult | CallFailure, reason: str) -> None:
    found = unusable(given_answer)
    assert isinstance(found, Unread)
    assert found.reason == reason


def test_a_truncation_names_the_reasoning_tokens_that_ate_the_answer() -> None:
    assert unusable(answer(None, finish="length")) == Unread("truncated", "after 17 reasoning tokens")


def test_a_one_token_read_ends_with_length_by_design() -> None:
    assert unusable(answer(" ", finish="length", top=(("Yes", -0.1),)), one_token=True) is None


@pytest.mark.parametrize(
    ("given_answer", "reason"),
    [
        (answer(None, reasoning="I think"), "reasoning_only"),
        (answer("Yes", finish="stop"), "empty"),
        (answer(None, finish="content_filter", top=(("Yes", -0.1),)), "refused"),
    ],
)
def test_a_one_token_read_without_its_token_says_why(given_answer: CallResult, reason: str) -> None:
    found = unusable(given_answer, one_token=True)
    assert isinstance(found, Unread)
    assert found.reason == reason


def test_a_good_answer_is_usable() -> None:
    assert unusable(answer("8")) is None
