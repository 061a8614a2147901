from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import load_plan
from lineage import read_events
from lineage.records import minibatch_gain
from optimize import Campaign
from reflectors import OperatorReflector

MakePlan = Callable[..., Path]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_same_rewards_in_another_order_are_no_gain(rewards: list[float], order: Any) -> None:
    shuffled = rewards[:]
    order.shuffle(shuffled)
    assert minibatch_gain(dict(enumerate(rewards)), dict(enumerate(shuffled))) == 0


def run(plan: Path, out: Path) -> Any:
    loaded = load_plan(str(plan))
    return Campaign(loaded.plan, loaded.corpus, loaded.lock, out, baseline=loaded.baseline).run()


def test_parents_exist_precede_and_were_accepted(make_plan: MakePlan, tmp_path: Path) -> None:
    out = tmp_path / "runs" / "one"
    run(make_plan(search={"iterations": 12, "minibatch_groups": 2, "seed": 1}), out)
    in_pool: set[str] = set()
    for event in read_events(out / "ledger.jsonl"):
        if event.type == "candidate" and event.body["kind"] == "seed":
            in_pool.add(event.body["candidate"])
        if event.type == "candidate":
            assert set(event.body["parents"]) <= in_pool
        if event.type == "outcome" and event.body["outcome"] == "accepted":
            in_pool.add(event.body["candidate"])
    assert len(in_pool) > 2


def test_a_minibatch_holds_whole_groups_of_reflect_with_their_twins(make_plan: MakePlan, tmp_path: Path) -> None:
    plan, out = make_plan(), tmp_path / "runs" / "one"
    run(plan, out)
    lock = load_plan(str(plan)).lock
    for event in read_events(out / "ledger.jsonl"):
        if event.type == "reflection":
            groups = {example.split(".")[0] for example in event.body["minibatch"]}
            assert groups <= set(lock.splits["reflect"])
            for group in groups:
                assert f"{group}.clean" in event.body["minibatch"]


def test_an_error_inside_the_loop_stops_the_search_and_is_raised(
    make_plan: MakePlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def broken(self: OperatorReflector, request: Any) -> Any:
        calls.append(request.iteration)
        raise ZeroDivisionError("a bug of a reflector")

    monkeypatch.setattr(OperatorReflector, "reflect", broken)
    with pytest.raises(ZeroDivisionError, match="a bug of a reflector"):
        run(make_plan(), tmp_path / "runs" / "one")
    assert calls == [1], "nothing is tried again after a failure"


def test_an_error_of_gepa_itself_stops_the_search_and_is_raised(
    make_plan: MakePlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gepa.core.engine import GEPAEngine

    def broken(self: Any, proposals: Any, state: Any) -> bool:
        raise RuntimeError("a bug of the engine")

    monkeypatch.setattr(GEPAEngine, "_run_reflective_batch", broken)
    with pytest.raises(RuntimeError, match="a bug of the engine"):
        run(make_plan(), tmp_path / "runs" / "one")
