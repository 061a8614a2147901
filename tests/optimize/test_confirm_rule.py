from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from optimize.confirm_rule import read_accept
from optimize.gate_plan import ConfirmOnAcceptPlan


@dataclass(frozen=True)
class Value:
    value: float = float("nan")
    detection: float = float("nan")


@dataclass(frozen=True)
class Place:
    paired: Value
    detection: Value


def standing(paired: float, detection: float) -> Any:
    return Place(Value(value=paired), Value(detection=detection))


BASELINE = standing(0.5, 0.25)


@pytest.mark.parametrize(
    ("paired", "detection", "need", "holds"),
    [
        (0.52, 0.25, "any", True),
        (0.5199, 0.25, "any", False),
        (0.5, 0.27, "any", True),
        (0.52, 0.25, "all", False),
        (0.52, 0.27, "all", True),
        (0.6, float("nan"), "any", True),
        (0.6, float("nan"), "all", False),
    ],
)
def test_the_gain_must_reach_the_points_on_any_or_all_of_the_measures(
    paired: float, detection: float, need: Any, holds: bool
) -> None:
    rule = ConfirmOnAcceptPlan(points=2.0, need=need)
    found = read_accept(rule, winner=standing(paired, detection), baseline=BASELINE)
    assert found.holds is holds


def test_only_the_named_measures_count() -> None:
    winner = standing(0.5, 0.9)
    assert not read_accept(ConfirmOnAcceptPlan(measures=("paired",)), winner=winner, baseline=BASELINE).holds
    assert read_accept(ConfirmOnAcceptPlan(measures=("detection",)), winner=winner, baseline=BASELINE).holds


def test_what_was_seen_is_in_the_words() -> None:
    found = read_accept(ConfirmOnAcceptPlan(need="all"), winner=standing(0.51, float("nan")), baseline=BASELINE)
    assert found.words == (
        "gain on accept in points: paired +1.0, detection undefined; it must reach +2.0 on each of them"
    )
