"""The reflector's part of a plan: what each kind takes, what has no effect, and what the hash covers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.errors import PlanError
from optimize.plan import Plan, parse_plan
from optimize.reflecting import feedback_of
from optimize.reflector_plan import OFFLINE, FeedbackPlan
from reflectors import Feedback

MODEL = {"simulated": {}}


def plan(**reflector: Any) -> Plan:
    data = {
        "name": "small",
        "corpus": {"bundled": "consults"},
        "splits": {"lock": "split.lock.json"},
        "student": {"shape": "per-fact", "model": MODEL},
        "baseline": "stated-in-note",
        "search": {"iterations": 3},
        "reflector": reflector,
    }
    return parse_plan(data, where="plan.yaml")


@pytest.mark.parametrize(
    ("reflector", "message"),
    [
        ({"kind": "llm"}, "kind llm needs a model"),
        ({"kind": "human", "model": MODEL}, "kind llm needs a model, and only it takes one"),
        ({"kind": "replay"}, "kind replay needs a ledger"),
        ({"kind": "operators", "ledger": "run"}, "kind replay needs a ledger, and only it takes one"),
        ({"kind": "operators", "feedback": {"rank": False}}, "feedback has no effect on kind operators"),
        ({"kind": "random-edits", "memory": 3}, "memory has no effect on kind random-edits"),
        ({"kind": "simulated-diagnosis", "memory": 3}, "memory has no effect on kind simulated-diagnosis"),
        ({"kind": "human", "budget": {}, "temperature": 1}, "budget and temperature have no effect on kind human"),
        ({"kind": "llm", "model": MODEL, "wait": False}, "wait has no effect on kind llm"),
        ({"kind": "human", "poll_s": 0}, r"reflector\.poll_s: .*greater than 0"),
        ({"kind": "human", "feedback": {"tokens": 10}}, r"reflector\.feedback\.tokens: .*greater than or equal to 400"),
        ({"kind": "human", "feedback": {"ranks": False}}, r"unknown key 'reflector\.feedback\.ranks'.*'rank'"),
        ({"kind": "humans"}, r"reflector\.kind: Input should be 'operators'"),
    ],
)
def test_what_has_no_effect_on_a_kind_or_breaks_a_rule_is_refused(reflector: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        plan(**reflector)


def test_the_parts_of_the_feedback_are_those_that_a_plan_can_name() -> None:
    assert FeedbackPlan().feedback() == Feedback()
    assert set(FeedbackPlan.model_fields) == set(Feedback().row())
    assert plan(kind="human", feedback={"right": False, "tokens": 900}).reflector.feedback.feedback() == Feedback(
        right=False, tokens=900
    )


def test_reflectors_that_read_no_words_are_told_no_document() -> None:
    for kind in ("operators", "random-edits"):
        assert feedback_of(plan(kind=kind)) == Feedback(document=False)
    assert feedback_of(plan(kind="simulated-diagnosis")) == Feedback()


def test_the_row_holds_what_the_kind_takes_and_how_a_person_is_waited_for_is_no_part_of_the_hash() -> None:
    assert set(plan().row()["reflector"]) == {"kind", "model", "budget", "temperature"}
    assert set(plan(kind="human").row()["reflector"]) > {"feedback", "memory"}
    assert plan(kind="human").hash == plan(kind="human", wait=False, poll_s=9).hash
    assert plan(kind="human").hash != plan(kind="human", memory=1).hash
    assert plan(kind="human").hash != plan(kind="human", feedback={"rank": False}).hash
    assert plan(kind="replay", ledger="a").hash == plan(kind="replay", ledger="b").hash
    assert plan(kind="replay", ledger="a").hash != plan(kind="replay", ledger="a", traces=False).hash


def test_the_recording_is_found_from_the_plan_s_directory(tmp_path: Path) -> None:
    moved = plan(kind="replay", ledger="runs/one").with_ledger(tmp_path / "runs" / "one")
    assert moved.reflector.ledger == str(tmp_path / "runs" / "one")
    assert moved.hash == plan(kind="replay", ledger="runs/one").hash


def test_every_kind_without_a_model_says_in_words_what_it_is() -> None:
    assert set(OFFLINE) == {"operators", "human", "replay", "random-edits", "simulated-diagnosis"}
    assert OFFLINE["random-edits"].startswith("CONTROL")
    assert OFFLINE["simulated-diagnosis"].startswith("SIMULATED")
