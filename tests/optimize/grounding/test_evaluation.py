"""The evaluation of the gate against one call on the whole answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import BudgetError, PlanError
from lineage.records import Judgement
from optimize.grounding import (
    Equivalents,
    GroundingResult,
    GroundingSettings,
    equivalents_corpus,
    load_cases,
    load_equivalents,
    run_grounding,
    run_stress,
    stress_of,
)
from optimize.grounding.checking import check_answer
from optimize.grounding.measures import handled_difference, measures_by
from optimize.grounding.outcomes import CaseOutcome, Outcome, gate_outcomes, whole_outcomes
from optimize.model_plan import ModelPlan
from optimize.plan import RoleLimitsPlan

CASES = load_cases()
OVERLAP = GroundingSettings(ModelPlan.model_validate({"simulated": {"noise": 0.0}}))
SMALL = [case for case in CASES if case.family in ("nine", "limit")]


def judgement(example: str, score: float | None, reason: str | None = None) -> Judgement:
    status = "scored" if score is not None else "failed"
    return Judgement(example, "c", "s", status, score, reason=reason)  # type: ignore[arg-type]  # one of the statuses


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> GroundingResult:
    return run_grounding(SMALL, load_equivalents(), OVERLAP, cache=tmp_path_factory.mktemp("g") / "calls.sqlite")


def test_every_case_has_an_outcome_before_and_after(result: GroundingResult) -> None:
    assert [each.case for each in result.before] == [each.case for each in result.after] == SMALL
    assert {each.outcome for each in result.before} <= {"delivered", "rejected"}
    assert {each.outcome for each in result.after} <= {"delivered", "restated", "rejected"}
    assert result.calls["before"] == len(SMALL)
    assert 0 < result.calls["after"] < len(SMALL), "denials are not put to the judge"
    assert result.simulated


def test_denials_of_the_nine_come_out_as_they_must_with_any_judge(result: GroundingResult) -> None:
    denials = {"chest pain": "delivered", "diabetes": "restated", "dizziness": "rejected", "anaemia": "rejected"}
    found = {
        word: each.outcome
        for each in result.after
        for word in denials
        if each.case.family == "nine" and word in each.case.answer
    }
    assert found == denials


def test_no_denial_of_another_word_is_delivered(result: GroundingResult) -> None:
    limit = [each for each in result.after if each.case.kind == "another word"]
    assert {each.outcome for each in limit} <= {"rejected", "restated"}
    (found,) = [part for part in measures_by(result.after, "kind") if part.name == "another word"]
    assert 0 < found.shares["caught"].value < 1, "the limit: some are restated though the note speaks of them"


def test_what_the_gate_rejected_is_listed_with_reasons_and_words_of_the_note(result: GroundingResult) -> None:
    row = result.row()
    assert [each["id"] for each in row["rejected"]] == [each.case.id for each in result.rejected]
    assert all(each["reasons"] for each in row["rejected"])
    notes = {case.id: case.note for case in SMALL}
    assert all(span in notes[each["id"]] for each in row["rejected"] for span in each["spans"])
    json.dumps(row, allow_nan=False)


def test_a_second_run_pays_nothing_and_finds_the_same(tmp_path: Path) -> None:
    first = run_grounding(SMALL[:9], (), OVERLAP, cache=tmp_path / "calls.sqlite")
    again = run_grounding(SMALL[:9], (), OVERLAP, cache=tmp_path / "calls.sqlite")
    assert first.paid > 0
    assert again.paid == 0
    assert again.row() == first.row()


def test_limits_and_models_are_checked(tmp_path: Path) -> None:
    few = GroundingSettings(OVERLAP.model, limits=RoleLimitsPlan(calls=2))
    with pytest.raises(BudgetError, match=r"limits.calls = 2 would be passed"):
        run_grounding(SMALL[:9], (), few, cache=tmp_path / "calls.sqlite")
    money = GroundingSettings(OVERLAP.model, limits=RoleLimitsPlan(usd=1.0))
    with pytest.raises(PlanError, match="has no effect on a model without a price"):
        run_grounding(SMALL[:9], (), money, cache=tmp_path / "calls.sqlite")


def test_the_stress_test_takes_any_design(tmp_path: Path) -> None:
    families = load_equivalents()[:4]
    for shape in ("whole-note", "per-fact", "grounding-whole"):
        found = run_stress(families, shape, OVERLAP, cache=tmp_path / "calls.sqlite")
        assert len(found.falls) + sum(found.unscored.values()) == sum(len(each.equivalents) for each in families)
    with pytest.raises(PlanError, match="there is no design 'whole-notes' to test; did you mean 'whole-note'"):
        run_stress(families, "whole-notes", OVERLAP, cache=tmp_path / "calls.sqlite")
    with pytest.raises(PlanError, match="word overlap answers no prompt of engineered"):
        run_stress(families, "engineered", OVERLAP, cache=tmp_path / "calls.sqlite")


def test_a_fall_is_of_the_scale_and_what_has_no_score_is_counted() -> None:
    families = (
        Equivalents("a", "k", "s", "true", ("same", "alike")),
        Equivalents("b", "k", "s", "so", ("not otherwise",)),
        Equivalents("c", "other", "s", "yes", ("not no",)),
    )
    scores = {"a-0": 8.0, "a-1": 2.0, "a-2": 8.0, "b-0": 9.0, "b-1": 7.0, "c-0": None, "c-1": 5.0}
    judged = [judgement(name, score, None if score is not None else "truncated: cut") for name, score in scores.items()]
    assert {example.id for example in equivalents_corpus(families).examples} == set(scores)
    found = stress_of(families, judged, scale=10.0)
    assert [round(fall.fall, 6) for fall in found.falls] == [0.6, 0.0, 0.2]
    assert found.overall.value == pytest.approx(0.8 / 3)
    assert (dict(found.unscored), len(found.turned)) == ({"truncated": 1}, 1)
    assert found.kinds["other"].reason, "undefined rather than 0"
    json.dumps(found.row(), allow_nan=False)


def outcome(label: str, became: Outcome, group: str = "g") -> CaseOutcome:
    case = next(each for each in CASES if each.label == label)
    return CaseOutcome(case.__class__(**{**_fields(case), "group": group}), became, None)


def _fields(case: Any) -> dict[str, Any]:
    return {name: getattr(case, name) for name in case.__slots__}


def test_precision_recall_caught_and_held_are_counted_as_they_say() -> None:
    outcomes = [
        outcome("right", "delivered"),
        outcome("right", "restated", "h"),
        outcome("right", "rejected"),
        outcome("right", "undecided"),
        outcome("wrong", "delivered"),
        outcome("wrong", "restated", "h"),
        outcome("wrong", "rejected"),
        outcome("silent", "restated"),
        outcome("silent", "delivered", "h"),
    ]
    (found,) = measures_by(outcomes, "all")
    counts = {name: (share.correct, share.n) for name, share in found.shares.items()}
    assert counts == {"precision": (3, 6), "recall": (2, 3), "caught": (1, 3), "held": (1, 2)}
    assert found.outcomes["right"] == {"delivered": 1, "rejected": 1, "restated": 1, "undecided": 1}
    after = [outcome(each.case.label, each.outcome, each.case.group) for each in outcomes]
    after[2] = outcome("right", "delivered")
    assert handled_difference(outcomes, after).value == pytest.approx(1 / 8), "the undecided one counts in neither"


def test_a_failed_judgement_is_undecided_in_both_arms_unless_the_source_decides() -> None:
    affirmed = next(case for case in CASES if case.answer == "His mother had bowel cancer.")
    denied = next(case for case in CASES if case.answer == "He has not had chest pain.")
    judged = {case.id: judgement(case.id, None, "truncated: after 5 tokens") for case in (affirmed, denied)}
    before = whole_outcomes([affirmed, denied], judged, pass_mark=0.7)
    after = gate_outcomes([affirmed, denied], judged, pass_mark=0.7)
    assert [each.outcome for each in before] == ["undecided", "undecided"]
    assert [each.outcome for each in after] == ["undecided", "delivered"]
    assert "truncated" in after[0].reasons[0]


def test_one_answer_is_checked_with_its_question(tmp_path: Path) -> None:
    gated = check_answer("No.", "Denies fever.", OVERLAP, question="Any fever?", cache=tmp_path / "calls.sqlite")
    assert gated.outcome == "delivered"
    row = gated.row("Denies fever.")
    assert row["sentences"][0]["spans"] == [{"start": 0, "end": 12, "words": "Denies fever"}]
