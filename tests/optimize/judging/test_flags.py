"""What a judge flags: by its own rule, and at the swept threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lineage.records import Judgement
from optimize.evaluation import Evaluation
from optimize.judging.flags import NO_RULE, NOT_SWEPT, flag_rate, flag_row, own_flagging, swept_flagging
from optimize.judging.table import measure_row
from optimize.objectives import scored_evaluation
from splits.corpus import Example


def evaluation(scores: dict[str, Sequence[float | None]], flagged: dict[str, Sequence[bool]]) -> Evaluation:
    """Documents ``c…`` are clean, ``o…`` omissions and ``k…`` commissions; groups are named by their digit."""
    label = {"c": "clean", "o": "omission", "k": "commission"}
    examples, judgements = [], []
    for name in sorted(scores):
        twin = None if name[0] == "c" else f"c{name[1]}"
        kind = {"c": "clean", "o": "omit", "k": "add"}[name[0]]
        examples.append(Example(name, f"g{name[1]}", "s", "", "", label[name[0]], kind, twin=twin))
        for replicate, score in enumerate(scores[name]):
            flags = ("rule",) if flagged.get(name, [False] * 9)[replicate] and score is not None else ()
            reason = None if score is not None else "unparseable: x"
            status = "scored" if score is not None else "failed"
            judgements.append(
                Judgement(name, "c", "s", status, score, replicate=replicate, reason=reason, flags=flags)  # type: ignore[arg-type]
            )
    return Evaluation("c", tuple(examples), tuple(judgements))


ONE = evaluation(
    {"c0": [9.0], "c1": [8.0], "o0": [3.0], "o1": [8.0], "k0": [None], "k1": [7.0]},
    {"o0": [True], "c1": [True], "k1": [True]},
)


def test_the_recorded_flags_are_what_the_own_rule_found() -> None:
    found, scored = own_flagging(ONE, "score <= 7"), scored_evaluation(ONE)
    assert [example.id for example in ONE.examples] == ["c0", "c1", "k0", "k1", "o0", "o1"]
    np.testing.assert_array_equal(found.flags, [0, 1, np.nan, 1, 1, 0])
    row = flag_row(scored, found, measure_row, level=0.95)
    assert row["rule"] == "score <= 7"
    assert (row["detection"]["flagged"], row["detection"]["n"], row["detection"]["failed"]) == (2, 3, 1)
    assert (row["false_alarms"]["value"], row["false_alarms"]["n"]) == (0.5, 2)
    assert row["by_label"]["omission"]["value"] == 0.5
    assert (row["by_label"]["commission"]["value"], row["by_label"]["commission"]["failed"]) == (1.0, 1)


def test_a_judge_without_a_rule_has_no_flags_and_no_rates() -> None:
    found = own_flagging(ONE, None)
    assert found.reason == NO_RULE
    assert not found.known.any()
    assert flag_row(scored_evaluation(ONE), found, measure_row, level=0.95) == {"rule": "", "reason": NO_RULE}


def test_a_document_is_flagged_by_a_majority_of_its_replicates() -> None:
    three = evaluation(
        {"c0": [9.0, 9.0, 9.0], "o0": [1.0, 1.0, 9.0], "o1": [1.0, None, 9.0], "c1": [9.0, None, 9.0]},
        {"o0": [True, True, False], "o1": [True, False, False]},
    )
    np.testing.assert_array_equal(own_flagging(three, "r").flags, [0, 0, 1, np.nan])


def test_a_swept_threshold_keeps_false_alarms_within_the_cap() -> None:
    scored = scored_evaluation(ONE)
    found = swept_flagging(scored, swept=True)
    assert found.rule == "score < 8"
    rates = flag_row(scored, found, measure_row, level=0.95)
    assert rates["false_alarms"]["value"] == 0.0
    assert rates["detection"]["value"] == 2 / 3


def test_a_verdict_of_yes_or_no_is_not_swept() -> None:
    assert swept_flagging(scored_evaluation(ONE), swept=False).reason == NOT_SWEPT


def test_nothing_is_swept_over_documents_without_a_clean_one() -> None:
    flawed = evaluation({"o0": [1.0], "o1": [2.0]}, {})
    assert "no clean document" in swept_flagging(scored_evaluation(flawed), swept=True).reason


def test_an_even_number_of_replicates_has_no_swept_majority() -> None:
    two = evaluation({"c0": [9.0, 9.0], "o0": [1.0, 2.0]}, {})
    assert "replicates must be odd" in swept_flagging(scored_evaluation(two), swept=True).reason


def test_a_rate_of_clean_documents_is_one_of_false_alarms() -> None:
    scored, found = scored_evaluation(ONE), own_flagging(ONE, "r")
    assert flag_rate(scored, found, scored.clean, level=0.95).direction == "lower is better"
    assert flag_rate(scored, found, scored.flawed, level=0.95).name == "detection"
    nothing = flag_rate(scored, found, scored.flawed & scored.clean, level=0.95)
    assert nothing.reason == "there is no document"


def test_a_judge_that_scored_nothing_has_no_threshold() -> None:
    silent = evaluation({"c0": [None], "o0": [None]}, {})
    assert swept_flagging(scored_evaluation(silent), swept=True).reason == "nothing has a score"
