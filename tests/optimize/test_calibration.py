from __future__ import annotations

import math

from lineage import FactVerdict, Judgement
from optimize.calibration import fact_threshold
from optimize.evaluation import Evaluation
from splits import Example


def evaluation(present: list[float], absent: list[float]) -> Evaluation:
    examples, judgements = [], []
    for index, (kept, gone) in enumerate(zip(present, absent, strict=True)):
        clean, omission = f"g{index}.clean", f"g{index}.omit"
        examples += [
            Example(clean, f"g{index}", "s", "", "", "clean", "clean"),
            Example(omission, f"g{index}", "s", "", "", "omission", "omit", trace="complete", twin=clean, fact="f1"),
        ]
        judgements += [
            Judgement(clean, "c", "s", "scored", 0.5, facts=(FactVerdict("f1", kept, 0.0, True),)),
            Judgement(omission, "c", "s", "scored", 0.5, facts=(FactVerdict("f1", gone, 0.0, True),)),
        ]
    return Evaluation("c", tuple(examples), tuple(judgements))


def test_the_threshold_separates_facts_that_are_there_from_facts_that_are_not() -> None:
    found = fact_threshold(evaluation([0.3, 0.35, 0.4], [0.1, 0.05, 0.15]))
    assert found.threshold == 0.3
    assert found.balanced_accuracy == 1.0
    assert (found.n_present, found.n_absent) == (3, 3)


def test_of_equal_thresholds_the_one_nearest_to_one_half_is_taken() -> None:
    assert fact_threshold(evaluation([0.9], [0.1])).threshold == 0.5


def test_without_an_omission_there_is_nothing_to_calibrate_on() -> None:
    found = fact_threshold(Evaluation("c", (), ()))
    assert found.threshold == 0.5
    assert math.isnan(found.balanced_accuracy)
