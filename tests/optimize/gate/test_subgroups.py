from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from optimize.gate import Arm, Gate, Guardrails, Point, compare_subgroups
from optimize.stats import holm

MakeArm = Callable[..., Arm]
TRACES = {f"g{index:02d}": ("complete" if index % 2 else "partial-weak") for index in range(20)}
NONE = Guardrails(None, None, None, None, None)


def arms(make_arm: MakeArm) -> tuple[Arm, Arm]:
    """The candidate gains on complete omissions alone."""
    names = list(TRACES)
    theirs = {name: {"clean": 0.9, "omit": 0.95, "add": 0.1, "change": 0.1} for name in names}
    ours = {name: {**row, "omit": 0.1 if TRACES[name] == "complete" else 0.95} for name, row in theirs.items()}
    return make_arm(ours, traces=TRACES), make_arm(theirs, traces=TRACES)


def test_subgroups_are_tested_only_after_the_gate_has_passed(make_arm: MakeArm) -> None:
    ours, theirs = arms(make_arm)
    passed = Gate(Point(), NONE, 0.98, 0.05).read(ours, theirs, rng=np.random.default_rng(0))
    assert passed.decision == "emit"
    assert passed.subgroups is not None
    refused = Gate(Point(0.9), NONE, 0.98, 0.05).read(ours, theirs, rng=np.random.default_rng(0))
    assert refused.decision == "refuse"
    assert refused.subgroups is None


def test_subgroups_are_adjusted_by_holm_and_their_intervals_are_simultaneous(make_arm: MakeArm) -> None:
    ours, theirs = (arm.evaluation for arm in arms(make_arm))
    found = compare_subgroups(ours, theirs, alpha=0.05, rng=np.random.default_rng(0))
    assert [(row.field, row.value) for row in found.rows] == [
        ("trace", "complete"),
        ("trace", "partial-weak"),
        ("kind", "add"),
        ("kind", "change"),
    ]
    assert tuple(row.adjusted for row in found.rows) == holm([row.p for row in found.rows])
    assert found.level == pytest.approx(1 - 0.05 / 4)
    assert {row.comparison.difference.interval.level for row in found.rows} == {found.level}
    complete, weak, *_ = found.rows
    assert complete.comparison.difference.value == 1.0
    assert complete.adjusted == pytest.approx(4 * 2**-10)
    assert (weak.comparison.difference.value, weak.p, weak.adjusted) == (0.0, 1.0, 1.0)


def test_one_part_is_no_breakdown(make_arm: MakeArm) -> None:
    one = make_arm({f"g{index}": {"clean": 0.9, "omit": 0.1} for index in range(5)}).evaluation
    assert compare_subgroups(one, one, alpha=0.05, rng=np.random.default_rng(0)).rows == ()


def test_an_unknown_trace_stands_apart(make_arm: MakeArm) -> None:
    some = {name: trace for name, trace in TRACES.items() if trace == "complete"}
    rows = {name: {"clean": 0.9, "omit": 0.1} for name in TRACES}
    arm = make_arm(rows, traces=some).evaluation
    found = compare_subgroups(arm, arm, alpha=0.05, rng=np.random.default_rng(0))
    assert [row.value for row in found.rows] == ["complete", "unknown"]
