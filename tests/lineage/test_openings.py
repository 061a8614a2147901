"""Exploratory openings in a ledger, and events that are no step of their campaign."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import LedgerError
from lineage.ledger import Ledger, canonical_replay, read_events
from lineage.openings import OPENED, exploratory_reason, is_look, taint

LOOK = {"opening": "exploratory", "purpose": "a look", "exploratory": "a reason"}
WORDS = "the held-out split was also opened for a look: a reason"


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., tuple[Any, ...]]:
    """Write a ledger of some steps and looks, and read its events."""

    def tell(*steps: str, plan: dict[str, Any] | None = None) -> tuple[Any, ...]:
        with Ledger(tmp_path / "ledger.jsonl") as ledger:
            ledger.perform("plan", plan or {}, dict)
            for step in steps:
                if step == "look":
                    ledger.aside(OPENED, LOOK)
                else:
                    ledger.perform(step, {"opening": "baseline"} if step == OPENED else {}, dict)
            return ledger.events

    return tell


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((), None),
        ((OPENED, "verdict"), None),
        ((OPENED, "look", "verdict"), WORDS),
        (("look", OPENED), WORDS),
        ((OPENED, "verdict", "look"), None),
    ],
)
def test_an_exploratory_opening_before_the_verdict_taints(
    steps: tuple[str, ...], expected: str | None, told: Callable[..., tuple[Any, ...]]
) -> None:
    events = told(*steps)
    assert taint(events) == exploratory_reason(events) == expected
    assert sum(map(is_look, events)) == steps.count("look")


def test_the_reason_that_a_plan_was_registered_with_comes_first(told: Callable[..., tuple[Any, ...]]) -> None:
    assert exploratory_reason(told("look", plan={"exploratory": "from the start"})) == "from the start"
    assert exploratory_reason(()) is None


def test_a_resumed_campaign_steps_over_what_lies_aside_and_tells_of_it_in_order(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        ledger.perform("one", {}, dict)
        ledger.aside("beside", {"a": 1})
        ledger.perform("two", {}, dict)
        ledger.aside("beside", {"a": 2})
    heard: list[str] = []
    with Ledger(path, listen=lambda event: heard.append(event.type)) as ledger:
        assert ledger.replaying
        ledger.perform("one", {}, pytest.fail)
        ledger.aside("beside", {"a": 3})
        ledger.perform("two", {}, pytest.fail)
        assert not ledger.replaying
        ledger.perform("three", {}, dict)
        ledger.aside("beside", {"a": 4})
    assert heard == ["one", "beside", "two", "beside", "beside", "three", "beside"]
    assert [event.body.get("a") for event in read_events(path) if event.type == "beside"] == [1, 2, 3, 4]


def test_what_lies_aside_is_part_of_the_replay_and_of_the_chain(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        ledger.perform("one", {}, dict)
        ledger.aside("beside", {"a": 1})
    assert [row["type"] for row in canonical_replay(read_events(path))] == ["one", "beside"]
    path.write_text(path.read_text().replace('"aside":true', '"aside":false'))
    with pytest.raises(LedgerError, match="event seq 1 was edited"):
        read_events(path)
