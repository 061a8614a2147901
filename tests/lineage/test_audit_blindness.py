"""The audit finds what search, reflector and record were not to see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lineage.audit.blindness import check_blindness
from lineage.audit.record import RunRecord
from lineage.canonical import digest
from lineage.ledger import Event

EXAMPLES = {"r1": {"split": "reflect"}, "r2": {"split": "reflect"}, "h1": {"split": "heldout"}}


def minibatch(*examples: str) -> tuple[str, dict[str, Any]]:
    listed = {"count": len(examples), "hash": digest(sorted(examples))}
    return "evaluation", {"purpose": "minibatch", "split": "reflect", "examples": listed, "failures": []}


def reflection(*examples: str) -> tuple[str, dict[str, Any]]:
    return "reflection", {"minibatch": list(examples), "reflector": {"reflector": "operators"}}


LOOKED = ("contamination", {"of": "splits", "lock_hash": "l"})


def said(*events: tuple[str, dict[str, Any]]) -> list[tuple[str, str]]:
    whole = (("plan", {"lock_hash": "l"}), *events)
    run = RunRecord(Path("x"), tuple(Event(seq, "", kind, body, "", "") for seq, (kind, body) in enumerate(whole)))
    run.examples = EXAMPLES
    return [(found.severity, found.words) for found in check_blindness(run)]


def test_a_reflector_that_reads_its_minibatch_of_reflect_is_blind() -> None:
    assert said(LOOKED, minibatch("r1", "r2"), reflection("r2", "r1")) == []


def test_a_reflector_that_was_shown_a_heldout_example_is_an_error() -> None:
    (found,) = said(LOOKED, minibatch("r1", "h1"), reflection("r1", "h1"))
    assert found == ("error", "the reflector was shown 1 examples that are not in reflect")


def test_a_reflector_that_was_shown_what_nobody_judged_is_an_error() -> None:
    (found,) = said(LOOKED, minibatch("r1"), reflection("r2"))
    assert found == ("error", "the reflector was shown examples that no minibatch is of")


def test_a_rival_engine_that_judges_minibatches_in_parts_is_blind_too() -> None:
    body = {"minibatch": ["r1", "r2"], "reflector": {"engine": "mipro"}}
    assert said(LOOKED, minibatch("r1"), ("reflection", body)) == []


def test_a_heldout_failure_is_stated_by_its_kind_alone() -> None:
    def failed(reason: str) -> tuple[str, dict[str, Any]]:
        return "evaluation", {"purpose": "confirm", "split": "heldout", "examples": {}, "failures": [reason]}

    assert [severity for severity, _ in said(LOOKED, failed("unparseable"))] == []
    assert [severity for severity, _ in said(LOOKED, failed("unparseable: 'the patient says'"))] == ["error"]


def test_an_outcome_by_rewards_of_other_splits_is_an_error() -> None:
    body = {"parent_rewards": {"r1": 0.5}, "child_rewards": {"h1": 1.0}}
    assert [severity for severity, _ in said(LOOKED, ("outcome", body))] == ["error"]


def test_a_search_that_nobody_looked_through_is_a_warning_and_another_split_an_error() -> None:
    assert [severity for severity, _ in said(("candidate", {}))] == ["warning"]
    assert [severity for severity, _ in said(("contamination", {"of": "splits", "lock_hash": "m"}))] == ["error"]
