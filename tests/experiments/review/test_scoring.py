"""Answers are joined to the key; who cannot tell is counted, and counted for nobody."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from statsmodels.stats.proportion import proportion_confint

from experiments.review import Pack, read_answers, score_review
from experiments.review.key import Key
from experiments.review.wording import blinding_words, run_words
from lineage.errors import InputError
from optimize.stats import grouped_mean

Answered = Callable[..., Path]


def names(pack: Pack, section: str, **wanted: Any) -> list[str]:
    return [
        name
        for name, item in pack.key.items.items()
        if item["section"] == section and all(item[field] == value for field, value in wanted.items())
    ]


def test_who_agrees_with_the_record_has_a_kappa_of_one(answered: Answered, pack: Pack) -> None:
    score = score_review(pack.key, [read_answers(answered(), pack.key)])
    documents, severity, flags = score.reviewers["A. N."]
    assert documents.agreements["how documents were made"].value == 1.0
    assert severity.agreements["corpus, linear weights"].value == 1.0
    assert flags.agreements["facts, missing or not"].value == 1.0
    assert {rate.value for rate in flags.rates if "claims that are right" in rate.name} == {1.0}


def test_counts_are_those_of_two_other_libraries(answered: Answered, pack: Pack) -> None:
    items = names(pack, "documents")
    given = {name: ("clean", "omission", "commission")[place % 3] for place, name in enumerate(items)}
    score = score_review(pack.key, [read_answers(answered(given), pack.key)])
    documents = score.reviewers["A. N."][0]
    made, read = [pack.key.items[name]["label"] for name in items], [given[name] for name in items]
    labels = ["clean", "omission", "commission"]
    table = confusion_matrix(made, read, labels=labels).tolist()
    assert [list(row[:3]) for row in documents.confusions[0].counts] == table
    assert documents.agreements["how documents were made"].value == pytest.approx(cohen_kappa_score(made, read))
    rate = documents.rates[0]
    same = sum(a == b for a, b in zip(made, read, strict=True))
    low, high = proportion_confint(same, len(items), method="wilson")
    assert (rate.k, rate.n) == (same, len(items))
    assert (rate.interval.low, rate.interval.high) == (pytest.approx(low), pytest.approx(high))
    by_hand = grouped_mean(
        [float(a == b) for a, b in zip(made, read, strict=True)], [pack.key.items[name]["group"] for name in items]
    )
    assert rate.by_group == by_hand.interval
    assert rate.row()["by_group"]["groups"] == len({pack.key.items[name]["group"] for name in items})


def test_grades_are_weighted_by_their_distance(answered: Answered, pack: Pack) -> None:
    items = names(pack, "severity", grader="corpus")
    given = {name: ("critical", "supporting", "peripheral")[place % 3] for place, name in enumerate(items)}
    score = score_review(pack.key, [read_answers(answered(given), pack.key)])
    found = score.reviewers["A. N."][1].agreements["corpus, linear weights"]
    labels = ["critical", "supporting", "peripheral"]
    expected = cohen_kappa_score(
        [pack.key.items[name]["grade"] for name in items],
        [given[name] for name in items],
        labels=labels,
        weights="linear",
    )
    assert found.value == pytest.approx(expected)


def test_an_abstention_is_in_no_rate_and_in_its_own_column(answered: Answered, pack: Pack) -> None:
    fired = names(pack, "flags", judge="facts", fired=True)
    score = score_review(pack.key, [read_answers(answered({fired[0]: "cannot-tell"}), pack.key)])
    flags = score.reviewers["A. N."][2]
    rate = next(rate for rate in flags.rates if rate.name == "facts: claims that are right")
    assert (rate.k, rate.n, rate.abstained, rate.missing) == (len(fired) - 1, len(fired) - 1, 1, 0)
    table = next(one for one in flags.confusions if one.title.startswith("facts"))
    assert table.columns == ("right", "wrong", "cannot-tell")
    assert table.counts[0] == (len(fired) - 1, 0, 1)
    assert flags.counts["cannot-tell"] == 1


def test_where_nobody_decides_a_rate_is_undefined_with_a_reason(answered: Answered, pack: Pack) -> None:
    unsure = dict.fromkeys(pack.key.items, "cannot-tell")
    score = score_review(pack.key, [read_answers(answered(unsure), pack.key)])
    for section in score.reviewers["A. N."]:
        assert all(math.isnan(rate.value) and rate.n == 0 and rate.row()["value"] is None for rate in section.rates)
        assert all(rate.row()["reason"] for rate in section.rates)
        assert all(math.isnan(found.value) for found in section.agreements.values())


def test_missing_answers_are_told_apart_from_abstentions(answered: Answered, pack: Pack) -> None:
    first = names(pack, "documents")[0]
    given = read_answers(answered({first: {"answer": None}}), pack.key, partial=True)
    score = score_review(pack.key, [given])
    documents = score.reviewers["A. N."][0]
    assert documents.counts["missing"] == 1
    assert (documents.rates[0].missing, documents.rates[0].abstained) == (1, 0)
    assert "A. N. left 1 items without an answer; no rate counts them." in score.words


def test_a_judge_is_compared_where_judges_differ(answered: Answered, pack: Pack) -> None:
    items = names(pack, "documents")
    differ = [name for name in items if pack.key.items[name]["stratum"].startswith("judges differ")]
    given = {name: "omission" if pack.key.items[name]["flags"]["whole"] else "clean" for name in items}
    score = score_review(pack.key, [read_answers(answered(given), pack.key)])
    rate = next(r for r in score.reviewers["A. N."][0].rates if r.name == "whole is right where judges differ")
    told = [name for name in differ if pack.key.items[name]["flags"]["whole"] is not None]
    assert (rate.k, rate.n) == (len(told), len(told))


def test_two_people_are_compared_on_what_both_decide(answered: Answered, pack: Pack) -> None:
    first = read_answers(answered(reviewer="Ada"), pack.key)
    name = names(pack, "flags")[0]
    second = read_answers(answered({name: "cannot-tell"}, reviewer="Ben"), pack.key)
    score = score_review(pack.key, [first, second])
    (between,) = score.between.values()
    assert between["documents"].value == 1.0
    assert between["flags"].n == len(names(pack, "flags")) - 1


def test_what_was_blinded_is_said_of_every_section(pack: Pack) -> None:
    said = list(blinding_words(pack.key))
    for section in ("documents", "severity", "flags"):
        assert any(words.startswith(f"{section} was blinded; hidden were: ") for words in said)
    assert any("source that stands in another item" in words for words in said)


def test_a_section_of_one_kind_is_not_called_blinded(pack: Pack) -> None:
    sections = {"flags": {**pack.key.sections["flags"], "one_sided": True}}
    said = list(blinding_words(Key(pack.key.pack, {**pack.key.body, "sections": sections})))
    assert any("flags was NOT blinded: all of its items are of one kind" in words for words in said)
    assert "Not asked: documents, severity." in said


def test_marks_of_the_run_go_with_the_numbers(pack: Pack) -> None:
    run = {**pack.key.body["run"], "exploratory": "a look", "split": "heldout"}
    said = " ".join(run_words(Key(pack.key.pack, {**pack.key.body, "run": run})))
    assert "SIMULATED" in said
    assert "EXPLORATORY (a look)" in said
    assert "People have now read held-out documents" in said


def test_no_answers_are_no_review(pack: Pack) -> None:
    with pytest.raises(InputError, match="there are no answers to score"):
        score_review(pack.key, [])
