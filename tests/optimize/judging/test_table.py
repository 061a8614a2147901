"""The table: measures of every judge on the same examples."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lineage.canonical import canonical_json, digest
from lineage.records import Judgement, stable
from optimize.evaluation import Evaluation
from optimize.judging.costs import JudgePrices
from optimize.judging.judges import NO_MODEL
from optimize.judging.recorded import load_judging
from optimize.judging.table import Judged, table_row
from optimize.objectives import discrimination_measure, measure_table, scored_evaluation
from splits.corpus import Example

ABOUT = {"name": "t", "split": "all", "simulated": [], "replayed": [], "exploratory": None, "no_baselines": ""}
KINDS = {"c": ("clean", "clean"), "o": ("omission", "omit"), "k": ("commission", "change")}


def example(name: str) -> Example:
    label, kind = KINDS[name[0]]
    flaw: dict[str, Any] = {"twin": f"c{name[1]}", "severity": "critical"} if label != "clean" else {}
    trace = "complete" if label == "omission" else None
    return Example(name, f"g{name[1]}", "s", "", "", label, kind, trace=trace, **flaw)


def judged(name: str, scores: dict[str, float | str], **changes: Any) -> Judged:
    """A judge whose judgements have these scores, or reasons for none."""
    judgements = []
    for example_id, score in sorted(scores.items()):
        if isinstance(score, str):
            status = "abstained" if score.startswith("abstained") else "failed"
            judgements.append(Judgement(example_id, "c", "s", status, None, reason=score))  # type: ignore[arg-type]
        else:
            flags = ("score <= 7",) if score <= 7 else ()
            judgements.append(Judgement(example_id, "c", "s", "scored", score, flags=flags))
    row: dict[str, Any] = {
        "name": name,
        "design": "whole-note",
        "family": "whole-note",
        "budget": None,
        "samples": 1,
        "candidate": "c",
        "rule": {"rule": "score <= 7", "swept": True},
        "swept": True,
    }
    evaluation = Evaluation("c", tuple(example(one) for one in sorted(scores)), tuple(judgements))
    return Judged({**row, **changes}, evaluation, JudgePrices(None, None, known=False))


GOOD = {"c0": 9.0, "c1": 8.0, "o0": 5.0, "o1": 8.0, "k0": 9.5, "k1": 6.0}


def test_every_measure_is_that_of_the_objectives() -> None:
    row = table_row([judged("a", GOOD)], about=ABOUT)["judges"][0]
    scored = scored_evaluation(judged("a", GOOD).evaluation)
    whole = measure_table(scored)
    assert row["paired"]["omission"]["value"] == 0.75
    assert row["paired"]["omission"]["value"] == whole.of("paired discrimination", by="label", part="omission").value
    assert row["paired"]["commission"]["value"] == 0.5
    assert row["auc"]["all"]["value"] == whole.of("AUC").value
    assert row["auc"]["omission"]["value"] == whole.of("AUC", by="label", part="omission").value
    assert (row["ties"]["ties"], row["ties"]["pairs"], row["ties"]["value"]) == (1, 4, 0.25)
    assert row["parts"]["trace"]["complete"]["paired"]["value"] == 0.75
    assert row["parts"]["severity"]["critical"]["paired"]["value"] == discrimination_measure(scored).value
    assert set(row["parts"]["kind"]) == {"omit", "change"}
    assert row["own"]["detection"]["value"] == 0.5
    assert row["parts"]["trace"]["complete"]["own"]["value"] == 0.5
    assert row["own"]["false_alarms"]["value"] == 0.0
    swept = whole.of("detection")
    assert row["swept"]["detection"]["value"] == swept.value
    assert row["swept"]["detection"]["no_interval"] == swept.interval.reason
    low, high = whole.of("AUC").interval.low, whole.of("AUC").interval.high
    assert (row["auc"]["all"]["low"], row["auc"]["all"]["high"]) == (low, high)


def test_what_has_no_score_is_counted_by_its_reason_and_is_no_number() -> None:
    scores: dict[str, float | str] = {
        **GOOD,
        "o0": "truncated: after 0",
        "o1": "unparseable: eight",
        "k0": "abstained: x",
        "c1": "truncated: y",
    }
    row = table_row([judged("a", scores)], about=ABOUT)["judges"][0]
    assert row["unscored"] == {"abstained": 1, "truncated": 2, "unparseable": 1}
    assert (row["scored"], row["judgements"]) == (2, 6)
    assert row["paired"]["omission"]["value"] is None
    assert row["paired"]["omission"]["reason"] == "no pair has a score in both of its documents"
    assert row["paired"]["omission"]["failed"] == 2


def test_a_judge_that_scores_nothing_has_a_row_without_a_number() -> None:
    table = table_row([judged("a", dict.fromkeys(GOOD, "empty: ")), judged("b", GOOD)], about=ABOUT)
    silent = table["judges"][0]
    assert silent["unscored"] == {"empty": 6}
    assert silent["auc"]["all"]["value"] is None
    assert silent["swept"]["reason"]
    assert table["examples"]["silent"] == ["a"]
    assert table["examples"]["scored_by_all"] == 6, "those of the judges that scored anything"
    assert "6 of 6 judgements have a score from every judge with a model, but for a, which scored none" in " ".join(
        table["words"]
    )
    json.loads(canonical_json(table))


def test_where_no_judge_scores_anything_the_table_says_so() -> None:
    table = table_row([judged("a", dict.fromkeys(GOOD, "empty: "))], about=ABOUT)
    assert table["examples"]["scored_by_all"] == 0
    assert "No judge with a model scored any of them: every answer failed or abstained." in table["words"]


def test_every_row_stands_again_on_what_all_judges_scored() -> None:
    other: dict[str, float | str] = {**GOOD, "o0": "empty: "}
    table = table_row([judged("a", GOOD), judged("b", other)], about=ABOUT)
    first, second = table["judges"]
    assert first["paired"]["omission"]["value"] == 0.75
    assert first["paired_in_common"]["omission"]["value"] == second["paired"]["omission"]["value"] == 0.5
    assert first["paired_in_common"]["omission"]["n"] == 1
    assert table["examples"]["scored_by_all"] == 5


def test_a_baseline_without_a_model_does_not_decide_what_all_scored() -> None:
    baseline = judged("word-overlap", {**GOOD, "o0": "empty: "}, family=NO_MODEL, rule=None)
    table = table_row([judged("a", GOOD), baseline], about=ABOUT)
    assert table["examples"]["scored_by_all"] == 6
    assert table["judges"][1]["own"] == {"rule": "", "reason": "no rule of its own"}


def test_a_yes_or_no_design_has_its_own_rule_and_no_sweep() -> None:
    row = table_row([judged("a", GOOD, rule={"rule": "FAIL", "swept": False}, swept=False)], about=ABOUT)["judges"][0]
    assert row["own"]["rule"] == "FAIL"
    assert row["swept"] == {"rule": "", "reason": "a verdict of yes or no is not swept"}
    assert "swept" not in row["parts"]["trace"]["complete"]


def test_the_table_states_that_all_were_compared_on_identical_examples_with_their_hash() -> None:
    table = table_row([judged("a", GOOD), judged("b", GOOD, family="per-fact")], about=ABOUT)
    ids = sorted(GOOD)
    assert table["examples"]["hash"] == digest(ids)
    assert table["words"][0] == (
        "Whole-note designs and per-fact designs were compared on identical examples: 6 documents (2 clean, 2 "
        f"commission, 2 omission) of 2 groups, sha256 of their ids {digest(ids)}."
    )
    assert "2 groups are few: intervals by group are rough." in table["words"]


def test_judges_of_different_examples_are_no_table() -> None:
    with pytest.raises(AssertionError, match="all judge the same examples"):
        table_row([judged("a", GOOD), judged("b", {"c0": 1.0})], about=ABOUT)


def test_clean_candidates_are_named_as_such() -> None:
    one = judged("a", GOOD)
    examples = tuple(replace(e, meta={"clean": "candidate"}) if e.id == "c0" else e for e in one.evaluation.examples)
    table = table_row([replace(one, evaluation=replace(one.evaluation, examples=examples))], about=ABOUT)
    assert table["examples"]["clean"]["candidates"] == 1
    assert any("1 of the clean documents are candidates" in words for words in table["words"])


def test_the_recorded_table_is_the_one_of_its_judgements(finished_judging: Path) -> None:
    run = load_judging(finished_judging)
    (event,) = run.all("table")
    computed = table_row([run.judged(name) for name in run.judges], about=run.registered["about"])
    assert json.loads(canonical_json(stable(computed))) == stable(event.body["table"])
    assert [row["scored"] for row in event.body["table"]["judges"]] == [72] * 4
    overlap, embedding = event.body["table"]["judges"][2:]
    assert overlap["cost"]["amortised"] == {**overlap["cost"]["amortised"], "tokens": 0.0, "calls": 0.0, "usd": 0.0}
    assert overlap["paired"]["omission"]["value"] > 0.8
    assert embedding["paired"]["omission"]["value"] > 0.8
