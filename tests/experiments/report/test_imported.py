"""The report of an imported lineage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.report import write_report
from experiments.report.data import verified_events
from experiments.report.published import collect_published
from lineage.errors import LedgerError
from optimize.importing import import_lineage


def report(run: Path) -> str:
    return write_report(run).markdown.read_text(encoding="utf-8")


def test_published_figures_stand_as_they_were_printed(published: Path) -> None:
    text = report(published)
    assert text.startswith("# As published, no prompt was emitted: pipeline, mono\n")
    assert "| Paired discrimination, omissions | 0.7917 | 0.8438 | 0.8015 | 0.7786 |" in text
    assert "pipeline: accept, where the winner was chosen, was optimistic by 7.5 points." in text
    assert "losses 13, p 0.38331032, wins 8" in text
    assert "IMPORTED: a published lineage, read-only" in text


def test_published_scores_give_the_published_figures(published: Path) -> None:
    text = report(published)
    assert "31 rightly, 14 level, 3 wrongly" in text
    assert "35 rightly, 11 level, 2 wrongly" in text
    assert r"16 of 48 (0.333) \[0.217, 0.475\] | 1 of 20 (0.050)" in text


def test_what_the_source_lacks_is_said_and_never_a_zero(published: Path) -> None:
    data = collect_published(published, verified_events(published))
    rejected = [one for target in data.targets for one in target.proposals if one.outcome == "rejected"]
    assert rejected
    assert all(one.standing is None for one in rejected)
    text = report(published)
    for words in data.body["lacks"]:
        assert f"The source lacks {words}" in text.replace("\\", "")


def test_an_edited_list_of_examples_is_refused(published: Path) -> None:
    path = published / "examples.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("omission", "commission", 1), encoding="utf-8")
    with pytest.raises(LedgerError, match="is not the list of examples that the ledger recorded"):
        write_report(published)


def test_a_search_with_nothing_but_mean_scores_has_a_report(tmp_path: Path) -> None:
    result = {
        "candidates": [{"instruction": "judge it"}, {"instruction": "judge it well"}],
        "parents": [[None], [0]],
        "val_aggregate_scores": [0.5, 0.75],
        "val_subscores": [{"0": 0.0, "1": 1.0}, {"0": 0.5, "1": 1.0}],
        "best_outputs_valset": None,
        "per_val_instance_best_candidates": {"0": [1], "1": [0, 1]},
        "discovery_eval_counts": [2, 4],
        "total_metric_calls": 4,
        "num_full_val_evals": 2,
        "run_dir": None,
        "seed": 0,
        "best_idx": 1,
        "validation_schema_version": 2,
    }
    file = tmp_path / "result.json"
    file.write_text(json.dumps(result), encoding="utf-8")
    import_lineage("gepa", file, tmp_path / "run", name="result")
    text = report(tmp_path / "run")
    assert "A published lineage of 2 candidates, without a decision" in text
    assert "Not published: no candidate has paired discrimination on accept." in text
    assert "Not published: no candidate has scores of single documents" in text
