"""The instruction of the grounding judge is the target of a campaign, as any student's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.ledger import read_events
from optimize import Campaign, parse_plan
from splits import Corpus, Selection, commit_lock, load_lock, plan_lock
from students import load_instruction


@pytest.mark.integration
def test_the_instruction_evolves_and_preamble_and_contract_stay(
    tmp_path: Path, consults: Corpus, tiny_plan: Callable[..., dict[str, Any]]
) -> None:
    sizes = {"reflect": 3, "accept": 3, "heldout": 3}
    selection = Selection(groups=9, flawed_per_group=2, seed=1)
    commit_lock(plan_lock(consults, sizes=sizes, seed=1, selection=selection), tmp_path / "lock.json")
    lock = load_lock(tmp_path / "lock.json", consults)
    student = {"shape": "grounding", "model": {"simulated": {"noise": 2.0}}, "pass_mark": 0.6}
    plan = parse_plan(
        tiny_plan(student=student, baseline="grounding", search={"iterations": 3, "minibatch_groups": 2, "seed": 4}),
        where="test",
    )
    baseline = load_instruction("grounding")
    result = Campaign(plan, consults, lock, tmp_path / "run", baseline=baseline).run()
    assert result.verdict["decision"]
    texts = {
        event.body["texts"]["instruction"]
        for event in read_events(tmp_path / "run" / "ledger.jsonl")
        if event.type == "candidate"
    }
    assert baseline in texts
    assert len(texts) > 1, "the reflector wrote others"
