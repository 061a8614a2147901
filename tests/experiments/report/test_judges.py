"""The report of a judging run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.report import write_report
from lineage.errors import InputError
from optimize.judging import JudgingPlan, JudgingRun
from splits import Corpus

Make = Callable[..., JudgingPlan]


def test_every_judge_stands_with_its_numbers_and_denominators(judged: Path) -> None:
    text = write_report(judged).markdown.read_text(encoding="utf-8")
    assert text.startswith("# No search: ")
    assert text.index("SIMULATED") < text.index("## Paired discrimination")
    for words in ("judgements of whole with a score", "judgements of facts with a score", "no signal"):
        assert words in text or words in (judged / "report.html").read_text(encoding="utf-8")
    assert "Budget ladder: none. No text was judged at more than one reasoning budget." in text


def test_a_ladder_of_budgets_is_drawn(judging: Make, consults: Corpus, tmp_path: Path) -> None:
    students = [{"name": "whole", "shape": "whole-note"}]
    plan = judging(students=students, budgets=[{"answer_tokens": 16}, {"answer_tokens": 24}])
    JudgingRun(plan, consults, tmp_path / "run", texts={}).run()
    text = write_report(tmp_path / "run").markdown.read_text(encoding="utf-8")
    assert "### Budget ladder of whole-note" in text
    assert "| whole@none-16 | " in text


def test_a_judging_run_without_its_table_says_how_to_go_on(judged: Path) -> None:
    (judged / "table.json").unlink()
    with pytest.raises(InputError, match="has no table yet; give the same command to go on"):
        write_report(judged)
