from __future__ import annotations

from pathlib import Path

import pytest

from experiments.crossing import EXPERIMENTS, experiment_size, load_experiment_plan
from experiments.crossing.sets import (
    ABLATIONS,
    ablation_members,
    comment_of,
    load_bundled_campaign,
    optimiser_members,
)
from experiments.loading import load_plan
from lineage.errors import PlanError
from optimize.controls import nested_groups
from optimize.crossing import targets
from optimize.engines import ENGINES


@pytest.mark.parametrize("name", ["reasoning-budget-simulated", "reasoning-budget"])
def test_a_bundled_experiment_loads_and_its_lock_pays_for_its_comparisons(name: str) -> None:
    loaded = load_experiment_plan(name)
    wanted = targets(list(loaded.plan.settings), loaded.plan.compared)
    assert loaded.base.lock.comparisons >= len(wanted)
    assert experiment_size(loaded).student > 0


def test_the_local_experiment_is_small_enough_for_two_cores() -> None:
    assert experiment_size(load_experiment_plan("reasoning-budget")).student < 1200


def test_the_size_counts_a_scratchpad_and_every_prompt_under_every_setting() -> None:
    loaded = load_experiment_plan("reasoning-budget")
    size = experiment_size(loaded)
    notes = sum(loaded.base.lock.counts["heldout"]["kind"].values())
    facts = loaded.base.plan.student.max_facts or 0
    assert size.crossed == {"none": 3 * notes * facts, "scratchpad": 2 * 3 * notes * facts}
    assert sum(calls for _, calls in size.rows()) == size.student


def test_every_bundled_ablation_loads_and_differs_from_the_reference_in_what_it_says() -> None:
    members = {member.name: member for member in ablation_members([])}
    assert set(members) >= {
        "reference",
        "random-edits",
        "operators",
        "operators-against-llm",
        "full-acceptance",
        "merge",
        "accept-is-reflect",
        "accept-3",
        "accept-6",
        "accept-12",
        "nothing-to-find",
    }
    reference = members["reference"].loaded.plan.row()
    for name, member in members.items():
        row = member.loaded.plan.row()
        differing = {key for key in row if row[key] != reference[key]} - {"name"}
        assert len(differing) == (0 if name == "reference" else 1), name
        assert member.shows
        assert member.loaded.plan.search.budget.calls == 4000
        assert (ABLATIONS / f"{name}.yaml").is_file()


def test_the_accept_size_curve_is_a_plan_for_each_size_and_ends_at_all_of_accept() -> None:
    members = {member.name: member.loaded for member in ablation_members([])}
    sizes = [members[f"accept-{size}"].plan.controls.accept_groups for size in (3, 6, 12)]
    assert sizes == [3, 6, 12]
    assert members["reference"].plan.controls.accept_groups is None
    assert len(members["reference"].lock.splits["accept"]) == 24
    kept = [nested_groups(members["reference"].lock, size) for size in (3, 6, 12)]
    assert kept[0] < kept[1] < kept[2]


@pytest.mark.parametrize("name", ["optimisers", "planted-judge", "reference", "simulated"])
def test_a_campaign_is_found_by_name_wherever_it_is_bundled(name: str) -> None:
    found = load_bundled_campaign(name)
    assert found.path.stem == name
    assert load_bundled_campaign(str(found.path)).plan.hash == found.plan.hash


def test_the_bundled_comparison_of_optimisers_makes_a_plan_for_each_engine() -> None:
    members = optimiser_members(load_bundled_campaign("optimisers"), list(ENGINES))
    assert [member.loaded.plan.search.engine for member in members] == ["gepa", "dspy-gepa", "mipro"]
    assert {member.loaded.plan.search.budget.calls for member in members} == {450}
    assert {member.loaded.lock.hash for member in members} == {load_bundled_campaign("optimisers").lock.hash}


def test_operators_and_the_language_model_search_at_the_same_iterations_calls_and_seed() -> None:
    members = {member.name: member.loaded.plan for member in ablation_members([])}
    model, operators, blind = (members[name] for name in ("operators-against-llm", "operators", "random-edits"))
    assert model.search == operators.search == blind.search == members["reference"].search
    assert (model.student, model.objective) == (operators.student, operators.objective)


def test_a_misspelt_experiment_is_suggested_and_a_campaign_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="did you mean 'reasoning-budget'"):
        load_experiment_plan("reasoning-budgett")
    with pytest.raises(PlanError, match="is the plan of one campaign"):
        load_experiment_plan(str(EXPERIMENTS / "local-judge.yaml"))
    broken = tmp_path / "plan.yaml"
    broken.write_text("settings: [")
    with pytest.raises(PlanError, match="not a readable YAML file"):
        load_experiment_plan(str(broken))


def test_the_base_campaign_may_be_a_bundled_one(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "name: x\ncampaign: simulated\nbudget: {calls: 10}\n"
        "settings:\n  a: {answer_tokens: 1}\n  b: {answer_tokens: 2}\n"
    )
    assert load_experiment_plan(str(plan)).base.plan.hash == load_plan("simulated").plan.hash


def test_a_comment_ends_where_the_plan_begins(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("# One thing,\n# on two lines.\nname: x\n# not this\n")
    assert comment_of(path) == "One thing, on two lines."
