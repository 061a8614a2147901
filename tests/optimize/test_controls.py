from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from experiments import load_plan, write_report
from experiments.sizing import plan_size
from lineage import read_events
from lineage.audit import audit_ledger
from lineage.errors import PlanError
from optimize import Campaign
from optimize.controls import accept_part, nested_groups
from optimize.controls_plan import ControlsPlan
from optimize.recompute import audit_numbers

MakePlan = Callable[..., Path]


def run(plan: Path, out: Path) -> dict[str, Any]:
    loaded = load_plan(str(plan))
    result = Campaign(loaded.plan, loaded.corpus, loaded.lock, out, baseline=loaded.baseline).run()
    return dict(result.verdict)


def evaluations(out: Path) -> list[tuple[str, str, int]]:
    return [
        (e.body["purpose"], e.body["split"], e.body["examples"]["count"])
        for e in read_events(out / "ledger.jsonl")
        if e.type == "evaluation"
    ]


def test_the_overfitting_control_chooses_on_reflect_and_never_reads_accept(make_plan: MakePlan, tmp_path: Path) -> None:
    out = tmp_path / "run"
    verdict = run(make_plan(controls={"accept_is_reflect": True}), out)
    assert {split for purpose, split, _ in evaluations(out) if purpose in ("calibrate", "accept")} == {"reflect"}
    assert verdict["confirmatory"] is False
    assert verdict["exploratory"].startswith("CONTROL: the accept set is the reflect set")
    assert verdict["comparison"] is None


def test_a_control_never_emits_even_where_every_rule_passes(make_plan: MakePlan, tmp_path: Path) -> None:
    passing = {
        "gate": {"rule": "point", "margin": -1.0},
        "guardrails": {"false_alarm_margin": None, "commission_margin": None, "prompt_words": None},
    }
    for name, control in (("reflect", {"accept_is_reflect": True}), ("few", {"accept_groups": 2})):
        verdict = run(make_plan(name, controls=control, **passing), tmp_path / name / "run")
        assert verdict["decision"] in ("refuse", "nothing-found")
        assert not (tmp_path / name / "run" / "prompt.md").exists()


@pytest.mark.parametrize("control", [{"accept_is_reflect": True}, {"accept_groups": 2}])
def test_the_audit_knows_a_control_and_the_report_shouts_it(
    make_plan: MakePlan, tmp_path: Path, control: dict[str, Any]
) -> None:
    out = tmp_path / "run"
    run(make_plan(controls=control), out)
    assert not [finding for finding in [*audit_ledger(out), *audit_numbers(out)] if finding.severity != "info"]
    assert "> **EXPLORATORY, confirms nothing. The reason given: CONTROL" in write_report(out).markdown.read_text()


def test_smaller_accept_sets_lie_within_larger_ones(make_plan: MakePlan) -> None:
    lock = load_plan(str(make_plan())).lock
    sets = [nested_groups(lock, size) for size in range(1, 5)]
    assert all(a < b for a, b in pairwise(sets))
    assert sets[-1] == frozenset(lock.splits["accept"])
    with pytest.raises(PlanError, match="at most the 4 groups of accept, got 5"):
        nested_groups(lock, 5)


def test_only_the_groups_that_a_control_leaves_are_judged_and_counted(make_plan: MakePlan, tmp_path: Path) -> None:
    plan, out = make_plan(controls={"accept_groups": 2}), tmp_path / "run"
    loaded = load_plan(str(plan))
    part = accept_part(loaded.plan.controls, loaded.lock, loaded.corpus)
    assert len({example.group for example in part.examples}) == 2
    run(plan, out)
    counts = {count for purpose, _, count in evaluations(out) if purpose == "accept"}
    assert counts == {len(part.examples)}
    assert plan_size(loaded).calibrate == 5 * len(part.examples)


def test_two_controls_at_once_are_refused_and_none_is_the_default() -> None:
    assert ControlsPlan().reason is None
    with pytest.raises(ValueError, match="accept_groups has no effect"):
        ControlsPlan(accept_is_reflect=True, accept_groups=3)


def test_a_reason_of_the_user_is_kept_beside_the_control(make_plan: MakePlan, tmp_path: Path) -> None:
    loaded = load_plan(str(make_plan(controls={"accept_groups": 2}, search={"iterations": 0, "seed": 1})))
    campaign = Campaign(
        loaded.plan, loaded.corpus, loaded.lock, tmp_path / "run", baseline=loaded.baseline, exploratory="a look"
    )
    assert campaign.run().verdict["exploratory"].endswith("; a look")
