"""A step verifier as the target of a campaign: each of its prompts evolves like any student's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments import load_plan
from lineage import read_events
from lineage.segments import read_segment
from optimize import Campaign
from optimize.recompute import audit_numbers
from students.shape import load_instruction

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("block", ["content", "end"])
def test_an_instruction_of_a_verifier_is_searched_scored_and_computed_again(
    block: str, make_plan: Callable[..., Path], tmp_path: Path
) -> None:
    student = {
        "shape": "step-verifier",
        "block": block,
        "granularity": "problem",
        "model": {"simulated": {"noise": 2.0}},
    }
    plan = make_plan(
        student=student,
        baseline=f"step-{block}",
        search={"iterations": 2, "minibatch_groups": 1, "seed": 1},
    )
    loaded = load_plan(str(plan))
    result = Campaign(loaded.plan, loaded.corpus, loaded.lock, tmp_path / "run", baseline=loaded.baseline).run()
    assert result.verdict["decision"]
    assert [found for found in audit_numbers(tmp_path / "run") if found.severity == "error"] == []
    events = read_events(tmp_path / "run" / "ledger.jsonl")
    texts = [event.body["texts"] for event in events if event.type == "candidate"]
    assert texts[0] == {"instruction": load_instruction(f"step-{block}")}
    assert len({text["instruction"] for text in texts}) > 1, "others were proposed"
    judged = [
        judgement
        for event in events
        if event.type == "evaluation"
        for judgement in read_segment(tmp_path / "run" / "judgements", event.body["segment"])
    ]
    assert {judgement.status for judgement in judged} == {"scored"}
    assert all(judgement.facts and "sum_of_logs" in judgement.parts for judgement in judged)
