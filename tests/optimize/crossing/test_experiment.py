from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.crossing import write_experiment_report
from lineage import canonical_state, read_events
from lineage.errors import BudgetError, PlanError, SealError
from lineage.ledger import Event, Ledger
from optimize.crossing import CrossedExperiment
from splits import Corpus, SplitLock, commit_lock, load_lock, plan_lock
from splits.register import register_opening, register_path
from tests.optimize.crossing.conftest import SIZES, MakeExperiment


def bodies(out: Path, kind: str) -> list[Any]:
    return [event.body for event in read_events(out / "ledger.jsonl") if event.type == kind]


def result(out: Path) -> Any:
    return json.loads((out / "experiment.json").read_text())


def test_an_improvement_that_needs_reasoning_shows_as_an_interaction(crossed_run: Path) -> None:
    found = result(crossed_run)
    assert found["simulated"] is True
    cells = {(row["prompt"], row["setting"]): row["measures"]["omissions"]["value"] for row in found["cells"]}
    assert len(cells) == 6
    assert cells["low", "low"] > cells["seed", "low"] + 0.2
    assert cells["low", "low"] > cells["low", "none"] + 0.2
    interaction, _, low = found["targets"]
    assert interaction["kind"] == "interaction"
    assert interaction["comparison"]["difference"] > 0.2
    assert low["decision"] == "shown"


def test_the_seed_is_measured_before_any_search_and_the_cells_after_all(crossed_run: Path) -> None:
    events = read_events(crossed_run / "ledger.jsonl")
    order = [(event.type, event.body.get("opening")) for event in events]
    first_search = order.index(("searched", None))
    last_search = max(place for place, (kind, _) in enumerate(order) if kind == "searched")
    openings = [(place, opening) for place, (kind, opening) in enumerate(order) if kind == "seal_opened"]
    assert [opening for _, opening in openings].count("baseline") == 3
    assert all(place < first_search for place, opening in openings if opening == "baseline")
    assert all(place > last_search for place, opening in openings if opening == "confirm")
    judged = [e.body for e in events if e.type == "evaluation" and e.body["split"] == "heldout"]
    assert [body["purpose"] for body in judged] == ["baseline"] * 2 + ["confirm"] * 2
    assert all(len(body["candidates"]) == len(set(body["candidates"])) for body in judged)


def test_each_search_is_a_campaign_that_ends_at_its_choice_and_opens_held_out_for_its_baseline_alone(
    crossed_run: Path,
) -> None:
    for setting in ("none", "low"):
        out = crossed_run / "searches" / setting
        assert [body["opening"] for body in bodies(out, "seal_opened")] == ["baseline"]
        assert len(bodies(out, "choice")) == 1
        assert not bodies(out, "verdict")
        assert not (out / "prompt.md").exists()
    assert not (crossed_run / "prompt.md").exists()


def test_both_searches_have_the_same_seed_splits_and_budget(crossed_run: Path) -> None:
    plans = [bodies(crossed_run / "searches" / setting, "plan")[0]["plan"] for setting in ("none", "low")]
    for plan in plans:
        plan.pop("name")
        plan["student"].pop("budget")
    assert plans[0] == plans[1]
    assert plans[0]["search"]["budget"]["calls"] == 2000


def test_each_comparison_takes_its_place_in_the_register(
    make_experiment: MakeExperiment, crossed_run: Path, invented_lock: SplitLock
) -> None:
    places = result(crossed_run)["places"]
    taken = [place for place in places.values() if place is not None]
    assert sorted(taken) == list(range(1, len(taken) + 1))
    assert {body["comparison"]["alpha"] for body in bodies(crossed_run, "seal_opened") if body["comparison"]} == {
        0.05 / 3
    }
    register = register_path(replace(invented_lock, path=crossed_run / "split.lock.json"))
    assert register.exists()
    assert not register_path(invented_lock).exists(), "what is simulated spends nothing of the real lock"


def test_a_second_run_pays_nothing_and_changes_nothing(make_experiment: MakeExperiment, crossed_run: Path) -> None:
    before = (crossed_run / "experiment.json").read_bytes()
    state = canonical_state(read_events(crossed_run / "ledger.jsonl"))
    again = make_experiment(crossed_run).run()
    assert (again.paid, again.cached) == (0, 0)
    assert (crossed_run / "experiment.json").read_bytes() == before
    assert canonical_state(read_events(crossed_run / "ledger.jsonl")) == state


def test_another_experiment_in_the_same_directory_is_refused(
    make_experiment: MakeExperiment, crossed_run: Path
) -> None:
    with pytest.raises(PlanError, match="holds another experiment"):
        make_experiment(crossed_run, budget={"calls": 7}).run()


def test_a_lock_with_too_few_comparisons_is_refused_before_a_search_is_paid_for(
    make_experiment: MakeExperiment, invented: Corpus, tmp_path: Path
) -> None:
    path = tmp_path / "lock.json"
    commit_lock(plan_lock(invented, sizes=SIZES, seed=5, comparisons=2), path)
    with pytest.raises(SealError, match=r"registers 3 comparisons .* has 2 of 2 left.*--comparisons 3"):
        make_experiment(tmp_path / "run", lock=load_lock(path, invented)).run()
    assert not (tmp_path / "run" / "searches").exists()


def test_comparisons_that_others_spent_are_not_left(
    make_experiment: MakeExperiment, invented: Corpus, invented_lock: SplitLock, tmp_path: Path
) -> None:
    experiment = make_experiment(tmp_path / "run")
    register_opening(
        experiment.lock, campaign="another", target="instruction", opening="confirm", purpose="test", caller="test"
    )
    with pytest.raises(SealError, match="has 2 of 3 left"):
        experiment.run()


def test_an_exploratory_experiment_needs_no_place_and_says_that_it_confirms_nothing(
    make_experiment: MakeExperiment, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    found = make_experiment(out, exploratory="a look", base={"search": {"iterations": 2, "seed": 2}}).run().result
    assert found["confirmatory"] is False
    assert set(found["places"].values()) == {None}
    assert "confirms nothing: a look" in found["words"][-1]
    assert bodies(out / "searches" / "low", "plan")[0]["exploratory"] == "a look"


def test_where_nothing_is_found_nothing_is_opened_or_spent(make_experiment: MakeExperiment, tmp_path: Path) -> None:
    out = tmp_path / "run"
    found = make_experiment(out, base={"search": {"iterations": 0, "seed": 2}}).run().result
    assert {row["decision"] for row in found["targets"]} == {"void"}
    assert found["cells"] == []
    assert {body["opening"] for body in bodies(out, "seal_opened")} == {"baseline"}
    assert "Nothing was found" in write_experiment_report(out).markdown.read_text()


@pytest.mark.integration
def test_a_limit_stops_it_with_everything_kept_and_a_higher_one_goes_on(
    make_experiment: MakeExperiment, tmp_path: Path
) -> None:
    out, search = tmp_path / "run", {"iterations": 2, "seed": 2}
    with pytest.raises(BudgetError):
        make_experiment(out, base={"search": search, "limits": {"calls": 60}}).run()
    make_experiment(out, base={"search": search, "limits": {"calls": 6000}}).run()
    whole = tmp_path / "whole" / "run"
    make_experiment(whole, base={"search": search}).run()
    assert result(out) | {"ledger_head": 0} == result(whole) | {"ledger_head": 0}


class _Killed(BaseException):
    """Ends a process as a kill does."""


@pytest.mark.integration
def test_killed_after_any_event_it_ends_as_an_uninterrupted_one(
    make_experiment: MakeExperiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"base": {"search": {"iterations": 1, "seed": 2}}}

    def states(out: Path) -> list[str]:
        places = (out, *(out / "searches" / setting for setting in ("none", "low")))
        return [canonical_state(read_events(place / "ledger.jsonl")) for place in places]

    whole, broken = tmp_path / "whole" / "run", tmp_path / "broken" / "run"
    make_experiment(whole, **options).run()
    append, room = Ledger._append, [0]

    def killing(self: Ledger, kind: str, body: Any) -> Event:
        event = append(self, kind, body)
        if kind != "resumed":
            room[0] -= 1
            if room[0] < 0:
                raise _Killed
        return event

    monkeypatch.setattr(Ledger, "_append", killing)
    kills = 0
    while kills < 200:
        room[0] = 3
        try:
            make_experiment(broken, **options).run()
            break
        except _Killed:
            kills += 1
    assert 5 < kills < 200
    assert states(whole) == states(broken)
    assert result(whole) | {"ledger_head": 0} == result(broken) | {"ledger_head": 0}


def test_it_cannot_be_pickled(make_experiment: MakeExperiment, tmp_path: Path) -> None:
    import pickle

    experiment = make_experiment(tmp_path / "run")
    assert isinstance(experiment, CrossedExperiment)
    with pytest.raises(SealError, match="cannot be pickled"):
        pickle.dumps(experiment)
