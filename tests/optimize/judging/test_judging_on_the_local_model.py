"""A judging run on the embedded model, to its table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lineage.audit import audit_ledger
from lineage.records import ABSTAINED, REASONS
from optimize.judging import JudgingPlan, JudgingRun
from optimize.recompute import audit_numbers
from splits import Corpus
from students.local import DEFAULT_MODEL, find_model

pytestmark = [pytest.mark.model, pytest.mark.integration]

SMALL = {"prompt_cache": "exact", "list_tokens": 120}


@pytest.mark.skipif(find_model(DEFAULT_MODEL) is None, reason="the small model is not on this machine")
def test_a_whole_note_design_a_per_fact_design_and_a_pipeline_end_in_one_table(
    judging: Callable[..., JudgingPlan], consults: Corpus, tmp_path: Path
) -> None:
    plan = judging(
        model={"local": DEFAULT_MODEL.name},
        selection={"groups": 1, "flawed_per_group": 1, "seed": 1},
        students=[
            {"name": "score", "shape": "complete-and-faithful-score-1", "prompt_cache": "exact"},
            {
                "name": "per-fact",
                "shape": "per-fact",
                "budget": {"answer_tokens": 1},
                "max_facts": 2,
                "prompt_cache": "exact",
            },
            {"name": "two-stage", "shape": "two-stage", "budget": {"answer_tokens": 64}, "max_facts": 3, **SMALL},
        ],
    )
    result = JudgingRun(plan, consults, tmp_path / "run", texts={}).run()
    table = result.table
    assert [judge["name"] for judge in table["judges"]] == [
        *("score", "per-fact", "two-stage"),
        *("word-overlap", "sentence-embedding"),
    ]
    assert table["examples"]["count"] == 2
    for judge in table["judges"]:
        assert judge["scored"] + sum(judge["unscored"].values()) == 2
        assert set(judge["unscored"]) <= {*REASONS, ABSTAINED}
        value = judge["paired"]["omission"]["value"]
        assert value is None if judge["scored"] < 2 else value in (0.0, 0.5, 1.0)
        assert (judge["cost"]["amortised"]["tokens"] > 0) == (judge["family"] != "without a model")
    pipeline = table["judges"][2]["cost"]
    assert pipeline["amortised"]["tokens"] < pipeline["alone"]["tokens"], "the list is paid for once"
    for found in (*audit_ledger(tmp_path / "run"), *audit_numbers(tmp_path / "run")):
        assert found.severity == "info", found
    again = JudgingRun(plan, consults, tmp_path / "again", texts={}, cache=tmp_path / "calls.sqlite").run()
    assert again.paid == 0
