"""The plan of a recorded campaign comes out of its ledger as it went in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.loading import PLANS, read_plan
from lineage import read_events
from lineage.errors import BundleError
from optimize import parse_plan
from optimize.bundling.rebuilding import recorded_plan

MODEL = {"endpoint": "http://127.0.0.1:9/v1", "name": "judge", "key_env": "A_KEY", "concurrency": 2}


@pytest.mark.parametrize("path", [*sorted(PLANS.glob("*.yaml")), *sorted(PLANS.glob("ablations/*.yaml"))], ids=str)
def test_every_bundled_plan_comes_out_of_its_own_row(path: Path) -> None:
    plan = read_plan(path)
    again = recorded_plan({"plan": plan.row(), "plan_hash": plan.hash})
    assert again.row() == plan.row()


@pytest.mark.parametrize(
    "changes",
    [
        {"reflector": {"kind": "llm", "model": MODEL, "budget": {"answer_tokens": 99}, "memory": 2}},
        {"reflector": {"kind": "random-edits"}, "controls": {"accept_groups": 3}},
        {"reflector": {"kind": "human", "feedback": {"fact": False}}},
        {
            "limits": {"calls": 5},
            "search": {"iterations": 2, "minibatch_groups": 1, "seed": 0, "merge": {"at_most": 1}},
        },
        {"student": {"shape": "whole-note", "model": MODEL, "samples": 3}, "baseline": "complete-and-faithful"},
    ],
)
def test_a_plan_with_other_settings_comes_out_as_it_went_in(
    tiny_plan: Callable[..., dict[str, Any]], changes: dict[str, Any]
) -> None:
    plan = parse_plan(tiny_plan(**changes), where="test")
    assert recorded_plan({"plan": plan.row(), "plan_hash": plan.hash}).hash == plan.hash


def test_a_plan_that_this_version_does_not_come_to_is_refused(finished_run: Path) -> None:
    body = dict(read_events(finished_run / "ledger.jsonl")[0].body)
    with pytest.raises(BundleError, match="use the version that wrote it"):
        recorded_plan({**body, "plan_hash": "0" * 64})
    with pytest.raises(BundleError, match=r"does not take the recorded plan .*'depth'"):
        recorded_plan({**body, "plan": {**body["plan"], "depth": 3}})
