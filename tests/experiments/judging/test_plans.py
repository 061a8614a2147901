"""The bundled judging plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.judging import find_judging_plan, load_judging_plan
from experiments.judging.loading import JUDGING_PLANS
from experiments.judging.sizing import most_calls
from lineage.errors import PlanError
from optimize.judging import JudgingRun
from students.designs import DESIGNS

NAMES = sorted(path.stem for path in JUDGING_PLANS.glob("*.yaml"))


def test_there_are_four() -> None:
    assert NAMES == ["designs", "ladder", "pipelines", "simulated-judges"]


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_plan_is_checked_and_its_judges_are_made_without_a_call(name: str, tmp_path: Path) -> None:
    loaded = load_judging_plan(name)
    assert loaded.plan.name == name
    run = JudgingRun(loaded.plan, loaded.corpus, tmp_path / "run", texts=loaded.texts)
    most = most_calls(run, loaded.corpus)
    assert set(most) == {unit.name for unit in loaded.plan.units}, "the baselines make no call"
    assert sum(most.values()) < 5000
    labels = {str(row["label"]) for row in run.part.rows}
    assert {"clean", "omission"} <= labels


def test_designs_holds_every_design_and_a_commission(tmp_path: Path) -> None:
    loaded = load_judging_plan("designs")
    left_out = set(DESIGNS) - {judge.shape for judge in loaded.plan.students}
    assert left_out == {"whole-note", "program"}, (
        "which the score on a criterion stands for, and which is the user's own"
    )
    run = JudgingRun(loaded.plan, loaded.corpus, tmp_path / "run", texts={})
    assert "commission" in {str(row["label"]) for row in run.part.rows}


def test_the_ladder_has_the_same_text_at_every_budget(tmp_path: Path) -> None:
    loaded = load_judging_plan("ladder")
    judges = JudgingRun(loaded.plan, loaded.corpus, tmp_path / "run", texts={}).judges
    by_student: dict[str, set[str]] = {}
    for judge in judges:
        by_student.setdefault(judge.name.partition("@")[0], set()).add(judge.candidate.id)
    assert by_student.keys() == {"complete-and-faithful", "per-fact", "word-overlap", "sentence-embedding"}
    assert {len(ids) for ids in by_student.values()} == {1}
    budgets = [judge.student.budget.thinking_tokens for judge in judges[:3]]
    assert budgets == [None, 32, 96]


def test_a_plan_is_found_by_name_by_file_name_and_as_a_path(tmp_path: Path) -> None:
    assert find_judging_plan("ladder") == find_judging_plan("ladder.yaml") == JUDGING_PLANS / "ladder.yaml"
    mine = tmp_path / "mine.yaml"
    mine.write_text("name: mine\n", encoding="utf-8")
    assert find_judging_plan(str(mine)) == mine
    with pytest.raises(PlanError, match="there is no judging plan 'xyzzy'; bundled: designs, ladder, pipelines"):
        find_judging_plan("xyzzy")
