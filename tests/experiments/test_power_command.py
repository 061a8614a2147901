from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from experiments.loading import load_plan
from optimize.power import plan_power

MakePlan = Callable[..., Path]
Holdgate = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _nothing_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("power opens no model and no transport")

    monkeypatch.setattr("optimize.models.open_transport", refuse)
    monkeypatch.setattr("optimize.campaign.open_model", refuse)
    # Fewer group counts and comparisons than a user gets: what is tested here is how they are said.
    quick = partial(plan_power, counts=(6, 100), simulations=400)
    monkeypatch.setattr("experiments.cli.power.plan_power", quick)


def said(holdgate: Holdgate, *arguments: Any) -> str:
    status, out, error = holdgate("power", *arguments)
    assert status == 0, error
    return " ".join(out.split())


def test_without_a_pilot_it_prints_a_range_and_opens_nothing(holdgate: Holdgate, make_plan: MakePlan) -> None:
    plan = make_plan()
    before = sorted(plan.parent.iterdir())
    text = said(holdgate, plan)
    assert "everything below is a range" in text
    assert "like the whole-note judge of the published campaign" in text
    assert "Nothing was called or spent, and no held-out text was read." in text
    assert sorted(plan.parent.iterdir()) == before, "no register, no run directory"


def test_a_stated_discordance_gives_a_number(holdgate: Holdgate, make_plan: MakePlan) -> None:
    text = said(holdgate, make_plan(), "--discordance", "8/131,13/131", "--correlation", "0.3", "--swaps", "0.1")
    assert "range" not in text
    assert "16.0% of pairs differ, 10% of them by a full swap, correlation 0.30" in text
    assert "6 (plan)" in text


def test_the_json_form_has_the_plans_own_rule_level_and_replicates(holdgate: Holdgate, make_plan: MakePlan) -> None:
    plan = make_plan(gate={"rule": "permutation", "hoped_gain": 0.05}, replicates=3)
    status, out, _ = holdgate("power", plan, "--discordance", "0.2,0.1", "--noise-share", "0.5", "--json")
    row = json.loads(out)
    loaded = load_plan(str(plan))
    assert status == 0
    assert (row["rule"], row["alpha"], row["replicates"]) == ("permutation", loaded.lock.spend, 3)
    assert row["plan_hash"] == loaded.plan.hash
    assert row["groups"] == len(loaded.lock.splits["heldout"])
    assert row["hope"] == 0.05
    assert row["discordance"][0]["noise"] == 0.5
    texts = [ex.document for ex in loaded.corpus.examples if ex.group in loaded.lock.splits["heldout"]]
    assert not any(text[:60] in out for text in texts)


def test_a_plan_that_cannot_see_what_it_hopes_for_is_warned(holdgate: Holdgate, make_plan: MakePlan) -> None:
    text = said(holdgate, make_plan(), "--discordance", "8/131,13/131", "--hope", "0.05")
    assert "warning: The plan hopes for 5.0 points" in text
    assert "expect a refusal even where the gain is real" in text


def test_equal_arguments_give_equal_bytes(holdgate: Holdgate, make_plan: MakePlan) -> None:
    plan = make_plan()
    assert holdgate("power", plan, "--json")[1] == holdgate("power", plan, "--json")[1]


def test_a_pilot_is_read_from_a_run(holdgate: Holdgate, make_plan: MakePlan, finished_run: Path) -> None:
    text = said(holdgate, make_plan(), "--pilot", finished_run)
    assert "candidates against the baseline on accept, in run" in text
    assert "The pilot's student is not the plan's" in text
    assert "The pilot has" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--discordance", "8,13"), "give 8/131 or 0.061"),
        (("--discordance", "8/131"), "must be two shares such as 8/131,13/131"),
        (("--discordance", "8/0,1/2"), "must be two shares"),
        (("--discordance", "0,0"), "no variance to plan with"),
        (("--correlation", "0.3"), "--correlation has no effect without --discordance"),
        (("--pilot", "nowhere"), "nowhere holds no campaign"),
        (("--pilot", "nowhere", "--discordance", "0.1,0.1"), "not both"),
        (("--hope", "5"), "0.05 for 5 points"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    holdgate: Holdgate, make_plan: MakePlan, arguments: tuple[str, ...], message: str
) -> None:
    status, _, error = holdgate("power", make_plan(), *arguments)
    assert status == 2
    assert message in error


def test_a_changed_corpus_or_lock_is_refused(holdgate: Holdgate, make_plan: MakePlan) -> None:
    plan = make_plan()
    lock = plan.parent / "split.lock.json"
    lock.write_text(lock.read_text().replace('"alpha": 0.05', '"alpha": 0.5'))
    status, _, error = holdgate("power", plan)
    assert status == 2
    assert "the lock was edited" in error


def test_a_run_that_is_damaged_is_no_pilot(
    holdgate: Holdgate, make_plan: MakePlan, finished_run: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(finished_run, tmp_path / "run"))
    ledger = run / "ledger.jsonl"
    ledger.write_text(ledger.read_text().replace('"accept"', '"reject"', 1))
    status, _, error = holdgate("power", make_plan(), "--pilot", run)
    assert status == 2
    assert "was edited" in error
