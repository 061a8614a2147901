from __future__ import annotations

from typing import Any

import pytest

from lineage.errors import PlanError
from optimize.sweep import parse_study

SPACE = {"student.aggregator": ["soft", "share"]}


def study(**changes: Any) -> dict[str, Any]:
    return {"name": "one", "base": "simulated", "space": SPACE, "trials": 4} | changes


def test_a_list_of_values_stands_for_its_choices() -> None:
    plan = parse_study(study(), where="test")
    assert plan.space["student.aggregator"].choices == ["soft", "share"]
    assert plan.objectives == ("paired", "cost")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sapce": {}}, "unknown key 'sapce'; did you mean 'space'"),
        ({"sampler": {"sed": 1}}, "unknown key 'sampler.sed'; did you mean 'seed'"),
        (
            {"space": {"objective.margin": {"low": 0.1, "higth": 1.0}}},
            "'space.objective.margin.higth'; did you mean 'high'",
        ),
        ({"space": {"objective.margin": {"low": 0.4, "high": 0.1}}}, "low must be below high, got 0.4 and 0.1"),
        ({"space": {"objective.margin": {"low": 0.4}}}, "low must be below high, got 0.4 and None"),
        (
            {"space": {"objective.margin": {"low": 0.0, "high": 1.0, "log": True}}},
            "log goes without step, and with low",
        ),
        ({"space": {"objective.margin": {}}}, "give choices, or low and high"),
        ({"space": {"student.aggregator": ["soft"]}}, "one choice varies nothing"),
        (
            {"space": {"student.aggregator": {"choices": ["soft", "share"], "step": 1}}},
            "step and log go with low and high",
        ),
        ({"space": {}}, "space: .*at least 1 item"),
        ({"trials": None}, "trials: say how many searches; only a grid has a number of its own"),
        ({"objectives": ["paired", "paired"]}, "name each objective once"),
        ({"objectives": ["pared"]}, "Input should be 'paired'"),
        ({"sampler": {"kind": "nsga2"}, "objectives": ["paired"]}, "nsga2 is for several objectives"),
        ({"sampler": {"kind": "random", "startup": 3}}, "startup has no effect on kind random; remove it"),
        ({"sampler": {"population": 3}}, "population has no effect on kind tpe"),
        ({"pruning": {"groups": [4, 4]}}, "groups must grow from at least 1, got 4, 4"),
        ({"pruning": {"groups": [2], "reduction": 1}}, "greater than or equal to 2"),
        (
            {"space": {"student.aggregator": {"choices": ["soft", "share"], "when": {"x": 1}}}},
            "'x' is no other dimension",
        ),
        ({"limits": {"wall_s": 3}}, "unknown key 'limits.wall_s'"),
    ],
)
def test_what_is_wrong_with_a_study_is_named_with_its_place(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        parse_study(study(**changes), where="test")


def test_how_long_a_study_goes_on_and_what_it_may_spend_are_no_part_of_what_it_is() -> None:
    one = parse_study(study(), where="test")
    other = parse_study(study(trials=9, limits={"usd": 3.0}, attempts=2), where="test")
    assert one.row() == other.row()
    assert one.row() != parse_study(study(sampler={"seed": 5}), where="test").row()
