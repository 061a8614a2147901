"""The report and transfer: every measure with its interval, what is not known in words, and no word of a note."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from scipy import stats

from optimize.stats import wilson
from optimize.steps import (
    ScoredSteps,
    VerifierScores,
    preference_accuracy,
    scored_steps,
    steps_report,
    transfer_gaps,
)
from optimize.steps.preference import ways
from optimize.steps.report import parts_of
from splits.corpus import Corpus
from splits.steps import LabelledNote
from tests.optimize.steps.conftest import CLEAN, blind, documents, judgements_of, perfect, settings_of

MakeScored = Callable[..., ScoredSteps]


def with_origins(groups: int = 6) -> Corpus:
    """Changes were injected, other flaws are the corpus's own."""
    origins = {"change": "injected", "add": "twin", "omit": "twin", "clean": "clean"}
    corpus = documents(groups)
    return Corpus(tuple(replace(each, meta={"origin": origins[each.kind]}) for each in corpus.examples), {})


def words_of(*verifiers: VerifierScores) -> str:
    return "\n".join(steps_report(verifiers, title="t")["words"])


def test_a_report_holds_every_measure_under_every_aggregation_and_no_text(scored: MakeScored) -> None:
    report = steps_report([VerifierScores("v", scored(perfect))], title="t")
    (source,) = report["verifiers"][0]["sources"]
    assert set(source["aggregations"]) == {"sum", "length-normalised", "minimum", "mean"}
    for found in source["aggregations"].values():
        assert found["verification"]["value"] == 1.0
        assert found["verification"]["wilson"]["low"] < 1.0
        assert found["preference"][0]["chance"] == 0.5
        assert found["selection"]["points"][-1]["best"] == 1.0
        assert {part["size"] for part in found["size"]} == {"words", "steps"}
    assert source["localisation"]["first"]["wilson"]["low"] < 1.0
    assert sum(entry["n"] for entry in source["calibration"]["all steps"]["bins"]) > 0
    text = json.dumps(report, allow_nan=False)
    assert not any(sentence in text for sentence in ("Cough for a week", "Come back", CLEAN))


def test_what_was_injected_and_what_was_not_are_measured_apart_and_compared() -> None:
    corpus = with_origins()

    def half(labelled: Any) -> list[float]:
        return perfect(labelled) if labelled.example.kind == "change" else blind(labelled)

    made = scored_steps("built", corpus, judgements_of(corpus, half), settings_of())
    assert [part.name for part in parts_of(made)] == ["built: injected", "built: twin"]
    (row,) = steps_report([VerifierScores("v", made)], title="t")["verifiers"]
    assert row["injected"] is True
    (gap,) = [each for each in row["transfer"] if each["measure"] == "AUC of statements in flawed notes"]
    assert gap["to"] == "built: twin"
    assert gap["injected"]["value"] == 1.0
    assert gap["independent"]["value"] < 0.75
    assert gap["gap"]["value"] == pytest.approx(gap["independent"]["value"] - gap["injected"]["value"])


def test_a_measure_that_one_corpus_does_not_have_has_no_gap(scored: MakeScored) -> None:
    alone = Corpus(tuple(replace(each, twin=None) for each in documents(3).examples if each.label != "clean"), {})
    other = scored(blind, corpus=alone)
    gaps = {gap.measure: gap for gap in transfer_gaps(scored(perfect), other, aggregation="sum")}
    assert gaps["preference accuracy"].gap.reason
    assert gaps["preference accuracy"].independent.reason


def test_the_words_say_that_injected_errors_overstate_and_which_rules_hold(scored: MakeScored) -> None:
    said = words_of(VerifierScores("v", scored(perfect)))
    assert "overstates" in said
    assert "counts 1/t" in said
    assert "counts one half" in said
    assert "transfer is not known" in said


def test_the_words_name_votes_simulation_candidates_and_failures(scored: MakeScored) -> None:
    corpus = Corpus(
        tuple(
            replace(each, meta={"clean": "candidate"} if each.label == "clean" else {"incorrect": ["Rest."]})
            for each in documents(2).examples
        ),
        {},
    )
    judged = judgements_of(corpus, perfect, failed=["g00.lost"], votes=True)
    made = scored_steps("x", corpus, judged, settings_of(read="votes"))
    said = words_of(VerifierScores("v", made, simulated=True))
    assert "v gives no log-probabilities: P(+) is (k + 1/2) / (n + 1)" in said
    assert "SIMULATED: v answers from a formula" in said
    assert "2 clean notes are candidates" in said
    assert "1 judgements have no score (truncated 1)" in said
    assert "unjudged count as right" in said


def test_a_corpus_of_one_group_has_a_gap_and_no_interval_of_it(scored: MakeScored) -> None:
    gaps = {
        gap.measure: gap for gap in transfer_gaps(scored(uneven), renamed(scored(uneven, groups=1)), aggregation="sum")
    }
    found = gaps["recall of wrong statements"].gap
    assert found.value == found.value
    assert "all observations are of one group" in found.interval.reason


def test_the_gap_of_corpora_without_a_common_group_is_welch_s(scored: MakeScored) -> None:
    here, there = scored(uneven, groups=12), renamed(scored(uneven, groups=3))
    (gap,) = [
        each for each in transfer_gaps(here, there, aggregation="sum") if each.measure == "recall of wrong statements"
    ]

    def shares(made: ScoredSteps) -> list[float]:
        found: dict[str, list[float]] = {}
        for note in made.notes:
            for p, step, label in zip(note.p, note.labelled.note.steps, note.labelled.labels, strict=True):
                if label == "-" and step.kind in ("problem", "sentence"):
                    found.setdefault(note.group, []).append(float(p < made.threshold))
        return [sum(values) / len(values) for values in found.values()]

    by_hand = stats.ttest_ind(shares(there), shares(here), equal_var=False).confidence_interval(0.95)
    assert (gap.gap.interval.low, gap.gap.interval.high) == pytest.approx((by_hand.low, by_hand.high))
    assert gap.gap.interval.method.endswith("Welch")


def test_where_all_agree_the_interval_is_of_as_many_groups_and_not_of_steps(scored: MakeScored) -> None:
    (source,) = steps_report([VerifierScores("v", scored(perfect))], title="t")["verifiers"][0]["sources"]
    alarms = source["localisation"]["steps"][0]["alarms"]
    assert alarms["value"] == 0.0
    assert alarms["n"] > alarms["groups"] == 4
    assert alarms["wilson"]["high"] == pytest.approx(wilson(0, 4).high)
    (source,) = steps_report([VerifierScores("v", scored(uneven))], title="t")["verifiers"][0]["sources"]
    assert source["localisation"]["steps"][0]["recall"]["wilson"] is None


def test_a_gap_in_preference_is_of_pairs_of_one_kind_on_both_corpora(scored: MakeScored) -> None:
    rates = {"clean": 0.0, "change": 0.3, "add": 0.2, "omit": 0.1}
    rated = [replace(each, meta={"rates": {"HallucinationRate": rates[each.kind]}}) for each in documents(3).examples]
    other = scored(blind, corpus=Corpus(tuple(rated), {}))
    gap = transfer_gaps(scored(perfect), other, aggregation="sum")[0]
    assert ways(other) == ("twin", "rates")
    assert gap.independent.value == preference_accuracy(other, aggregation="sum", by="twin").estimate.value
    assert gap.independent.n == 9, "three flawed notes a group against their twin, and not six by their rates"


def uneven(labelled: LabelledNote) -> list[float]:
    """Finds what is wrong in groups of an even number, and elsewhere what was added."""
    knows = int(labelled.example.group[-2:]) % 2 == 0 or labelled.example.kind == "add"
    return perfect(labelled) if knows else blind(labelled)


def renamed(made: ScoredSteps) -> ScoredSteps:
    """The same of other groups."""
    notes = tuple(
        replace(
            note,
            labelled=replace(
                note.labelled, example=replace(note.labelled.example, group=f"other-{note.labelled.example.group}")
            ),
        )
        for note in made.notes
    )
    return replace(made, notes=notes)
