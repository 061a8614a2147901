"""Scores and yes/no margins out of answers: read right, or not read."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from students.parsing import Abstained, Unread, YesNo, logistic, parse_score, parse_yes_no

WRAPPERS = (
    "{n}",
    " {n}\n",
    "{n}.",
    "{n}.0",
    "{n}/10",
    "{n} / 10",
    "{n}/10.",
    "{n}.0/10.0",
    "{n} out of 10",
    "{n} points out of 10",
    "Score: {n}",
    "score = {n}",
    "The score is {n}.",
    "Score: {n}/10",
    "Score: {n} (out of 10)",
    "**Score:** {n}",
    "**Score: {n}**",
    "Score: **{n}**/10",
    "`{n}`",
    "{n} - good",
    "{n} — good",
    "- {n}",
    "I found 3 omissions.\nScore: {n}",
    '{{"score": {n}}}',
    '{{"score": "{n}/10", "why": "2 of 7 missing"}}',
    '```json\n{{"score": {n}}}\n```',
    '```\n{{"why": "none", "score": {n}}}\n```',
    "```\n{n}\n```",
)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("8", 8),
        ("8/10", 8),
        ("4/5", 8),
        ("Score: 8", 8),
        ("**Score:** 8", 8),
        ("3 - good", 3),
        ('{"score": 8}', 8),
        ('```json\n{"score": 8}\n```', 8),
        ("8.5", Fraction(17, 2)),
        ("8 out of 10", 8),
        ("85/100", Fraction(17, 2)),
        ("Score: **4**/5", 8),
        ("4.0/5.0", 8),
        ("Score: 4 (out of 5)", 8),
        ("Score: 4 points out of 5", 8),
        ("8/10, that is 4/5", 8),
        ('"score": 8, "why": "cut off', 8),
        ('{"score": 8.50}', Fraction(17, 2)),
    ],
)
def test_scores_are_read(text: str, score: int | Fraction) -> None:
    assert parse_score(text) == score


@pytest.mark.parametrize("text", ["", None, " \n\t"])
def test_nothing_is_reported_as_empty(text: str | None) -> None:
    assert parse_score(text) == Unread("empty", "")


@pytest.mark.parametrize(
    "text",
    [
        "4 or 5",
        "Score: 4 or 5",
        "between 3 and 5",
        "8-10",
        "8 \u2013 10",
        "Score: 8-10",
        "Score: 8 to 10",
        "80",
        "-3",
        "\u22123",
        "\u20133",
        "Score: -3",
        "Score: - 3",
        "8/0",
        "0/0",
        "11/10",
        "8/-10",
        "8/1000",
        "8 out of 1000",
        "8/10/24",
        "4/5.5.5",
        "Score: 8 ... Score: 9",
        "The maximum score is 10, I give 8",
        "1e3",
        "1e-3",
        "8,5",
        "1,000",
        "8%",
        "85 %",
        "8*10",
        "8:30",
        "[8, 9]",
        "v8",
        "8th",
        "True",
        "true",
        "NaN",
        "Infinity",
        "N/A",
        "eight",
        '{"score": true}',
        '{"score": [8]}',
        '{"score": NaN}',
        '{"score": Infinity}',
        '{"score": -3}',
        '{"score": 11}',
        '{"score": 8, "score": 9}',
        '{"rating": 8}',
        '{"score": 8',
        '{"score": ' + "1" * 5000 + "}",
        '{"score": ' + "[" * 100_000,
        "8." + "1" * 5000,
    ],
)
def test_what_is_not_one_number_on_the_scale_is_not_read(text: str) -> None:
    found = parse_score(text)
    assert isinstance(found, Unread)
    assert found.reason == "unparseable"
    assert len(found.seen) <= 200


@given(st.integers(0, 10), st.sampled_from(WRAPPERS))
def test_any_score_in_any_wrapper_reads_back(score: int, wrapper: str) -> None:
    assert parse_score(wrapper.format(n=score)) == score


@given(st.integers(11, 999), st.sampled_from([wrapper for wrapper in WRAPPERS if "10" not in wrapper]))
def test_a_number_above_the_scale_is_never_read(score: int, wrapper: str) -> None:
    assert isinstance(parse_score(wrapper.format(n=score)), Unread)


@given(st.integers(0, 20), st.integers(1, 20))
def test_a_ratio_is_its_share_of_the_scale_or_nothing(number: int, whole: int) -> None:
    found = parse_score(f"{number}/{whole}")
    assert found == Fraction(number, whole) * 10 if number <= whole else isinstance(found, Unread)


@given(st.integers(0, 10), st.integers(0, 10))
def test_two_different_scores_are_never_one(first: int, second: int) -> None:
    found = parse_score(f"Score: {first}\nScore: {second}")
    assert found == first if first == second else isinstance(found, Unread)


@given(st.text() | st.text(alphabet='0123456789./-\u2013, \n{}":*`%eoutfscr') | st.none(), st.integers(1, 100))
def test_no_text_yields_a_score_outside_the_scale(text: str | None, scale: int) -> None:
    found = parse_score(text, scale=scale)
    assert isinstance(found, Unread) or (isinstance(found, Fraction) and 0 <= found <= scale)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists))
def test_no_json_value_yields_a_score_outside_the_scale(value: object) -> None:
    found = parse_score(json.dumps({"score": value}))
    assert isinstance(found, Unread | Abstained) or 0 <= found <= 10


@pytest.mark.parametrize(
    "text",
    [
        "ABSTAIN",
        "abstain.",
        " **ABSTAIN** ",
        "Score: ABSTAIN",
        "ABSTAIN: the note is not of this consultation.",
        "ABSTAIN - no note",
        "ABSTAIN\nThe transcript is empty.",
        '{"score": null}',
        '{"score": null, "why": "the note is empty"}',
        '```json\n{"score": "abstain"}\n```',
    ],
)
def test_a_judge_that_cannot_judge_abstains(text: str) -> None:
    assert isinstance(parse_score(text), Abstained)


@pytest.mark.parametrize(
    "text", ["ABSTAIN\nScore: 8", "8, or ABSTAIN", "ABSTAIN: 8", "I ABSTAIN from a score of 3 or 4", "{}"]
)
def test_an_abstention_beside_a_number_is_neither(text: str) -> None:
    assert not isinstance(parse_score(text), Abstained)


def test_eight_of_ten_is_never_810_and_four_of_five_never_45() -> None:
    assert parse_score("8/10", scale=1000) == 800
    assert parse_score("4/5", scale=100) == 80


def test_spellings_of_a_word_are_summed() -> None:
    top = [
        ("Yes", -1.0),
        (" yes", -2.0),
        ("YES", -3.0),
        ("**Yes", -4.0),
        ("No", -1.5),
        ("\u2581no", -2.5),
        ("Maybe", -9.0),
    ]
    found = parse_yes_no(top)
    assert isinstance(found, YesNo)
    assert found.yes == pytest.approx(math.log(sum(math.exp(value) for value in (-1, -2, -3, -4))))
    assert found.no == pytest.approx(math.log(math.exp(-1.5) + math.exp(-2.5)))


def test_longer_words_are_no_spellings() -> None:
    found = parse_yes_no([("Yesterday", -0.1), ("Not", -0.2), ("None", -0.3)])
    assert found == Unread("unparseable", "'Yesterday' 'Not' 'None'")


def test_where_one_word_is_listed_the_other_is_bounded_by_the_least_listed() -> None:
    found = parse_yes_no([("No", -2.0), ("The", -3.0), ("A", -6.0)])
    assert found == YesNo(-6.0, -2.0)


def test_where_one_word_is_listed_the_other_is_bounded_by_what_the_list_leaves_over() -> None:
    found = parse_yes_no([("Yes", -0.001)])
    assert isinstance(found, YesNo)
    assert found.no == pytest.approx(math.log(1 - math.exp(-0.001)))
    assert found.p_yes > 0.99


def test_a_certain_lone_answer_is_certain_and_finite() -> None:
    for token, low, high in (("Yes", 0.999, 1.0), ("No", 0.0, 0.001)):
        found = parse_yes_no([(token, 0.0)])
        assert isinstance(found, YesNo)
        assert math.isfinite(found.margin)
        assert low <= found.p_yes <= high


def test_where_neither_word_is_listed_nothing_is_read() -> None:
    assert parse_yes_no([("The", -0.1), ("<think>", -0.2)]) == Unread("unparseable", "'The' '<think>'")
    assert parse_yes_no([]) == Unread("empty", "no log-probabilities")


def test_values_that_are_not_finite_are_not_used() -> None:
    found = parse_yes_no([("Yes", -1.0), ("No", -math.inf), ("A", math.nan), ("B", -5.0)])
    assert found == YesNo(-1.0, -5.0)
    assert parse_yes_no([("Yes", math.nan)]) == Unread("unparseable", "'Yes'")


LOGPROB = st.floats(-1e6, 0.0)


@given(st.lists(st.tuples(st.sampled_from(["Yes", " yes", "No", "no ", "The", "\n"]), LOGPROB), max_size=20))
def test_p_yes_is_a_probability_whatever_is_listed(top: list[tuple[str, float]]) -> None:
    found = parse_yes_no(top)
    if isinstance(found, YesNo):
        assert 0 <= found.p_yes <= 1
        assert math.isfinite(found.margin)
        assert found.p_yes == pytest.approx(logistic(found.margin))


@given(LOGPROB | st.just(-3.4028e38), LOGPROB, LOGPROB)
def test_p_yes_never_falls_as_yes_becomes_likelier(no: float, first: float, second: float) -> None:
    low, high = sorted((first, second))
    less, more = (parse_yes_no([("Yes", value), ("No", no)]) for value in (low, high))
    assert isinstance(less, YesNo)
    assert isinstance(more, YesNo)
    assert less.p_yes <= more.p_yes


@given(st.floats(allow_nan=False))
def test_the_logistic_never_overflows_and_stays_in_range(margin: float) -> None:
    assert 0 <= logistic(margin) <= 1


@given(st.floats(-600, 600))
def test_the_logistic_is_symmetric(margin: float) -> None:
    assert logistic(margin) + logistic(-margin) == pytest.approx(1)
