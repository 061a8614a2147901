from __future__ import annotations

from typing import Any

from optimize.crossing.words import experiment_words, target_words

COMPARISON = {"difference": 0.081, "low": 0.012, "high": 0.15, "pairs": 90, "groups": 30}
ROW: dict[str, Any] = {
    "name": "searched at low, judged at low",
    "claim": "the prompt searched at low is better than the seed at low",
    "decision": "shown",
    "comparison": COMPARISON,
    "adjusted_p": 0.0123,
    "coverage": 1.0,
    "worst": None,
}


def test_what_is_shown_states_the_claim_with_its_numbers() -> None:
    assert target_words(ROW) == (
        "Searched at low, judged at low: +8.1 points [+1.2, +15.0], adjusted one-sided p = 0.0123 (90 pairs in 30 "
        "groups). It is shown that the prompt searched at low is better than the seed at low."
    )


def test_what_is_not_shown_states_what_is_excluded() -> None:
    words = target_words(ROW | {"decision": "not-shown", "worst": {"adjusted_p": 0.3}})
    assert "It is not shown that the prompt searched at low is better" in words
    assert "A difference above +15.0 points is excluded." in words
    assert "With failed judgements counted against it p = 0.3000." in words


def test_without_an_interval_nothing_is_excluded() -> None:
    words = target_words(ROW | {"decision": "not-shown", "comparison": COMPARISON | {"low": None, "high": None}})
    assert "no interval" in words
    assert "excluded" not in words


def test_a_void_comparison_says_that_nothing_was_spent() -> None:
    assert "nothing was spent" in target_words(ROW | {"decision": "void", "comparison": None})


def test_every_experiment_says_that_one_search_is_one_search() -> None:
    said = experiment_words([ROW], level=0.95, size=3, groups=30, exploratory="a look")
    assert any("Each setting was searched once" in words for words in said)
    assert "confirms nothing: a look" in said[-1]
