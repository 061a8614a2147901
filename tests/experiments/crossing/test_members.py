from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.crossing.against import against, reference_of
from experiments.crossing.members import CampaignSet, Member, Skipped, with_search
from experiments.crossing.readings import _mean, read_member
from experiments.crossing.sets import curve_members, optimiser_members
from experiments.crossing.tables import compared_document, compared_row, compared_table
from experiments.loading import LoadedPlan
from experiments.report.markdown import markdown
from lineage.errors import PlanError
from lineage.records import Usage
from optimize.plan import parse_plan


def members_of(loaded: LoadedPlan) -> tuple[Member, ...]:
    nothing = replace(loaded, plan=with_search(loaded.plan, iterations=0))
    return Member("reads", "the feedback is read", loaded), Member("none", "no search at all", nothing)


def test_members_are_run_read_and_tabled(planted_plan: LoadedPlan, tmp_path: Path) -> None:
    campaigns = CampaignSet("ablations", members_of(planted_plan), tmp_path, (1, 2))
    found, skipped = campaigns.run()
    assert not skipped
    reads, none = found
    assert (reads.runs, none.runs) == (2, 2)
    assert none.found == 0
    assert none.heldout.difference.value == 0.0
    assert none.accept == 0.0
    assert none.searched["calls"] == 0
    assert reads.searched["calls"] > 0
    assert reads.optimism == pytest.approx(reads.accept - reads.heldout.difference.value)
    assert reads.exploratory == "one of several campaigns of ablations on one held-out split"
    verdicts = [json.loads((tmp_path / "reads" / f"seed-{seed}" / "verdict.json").read_text()) for seed in (1, 2)]
    gains = [verdict.get("heldout", {}).get("omissions", {}).get("difference", 0.0) for verdict in verdicts]
    assert reads.heldout.difference.value == pytest.approx(sum(gains) / 2)
    assert reads.accept == pytest.approx(sum(verdict["accept"]["gain"] for verdict in verdicts) / 2)
    table = compared_table("ablations", found, [Skipped(members_of(planted_plan)[0], "no model is here")])
    assert [row[0] for row in table.rows] == ["reads", "none"]
    assert table.notices[0].startswith("SIMULATED")
    assert "reads was not run: no model is here" in table.words
    text = markdown(compared_document(table, found, name="test"))
    assert "Holdgate comparison of campaigns test." in text
    row = compared_row("ablations", found, [])
    assert json.loads(json.dumps(row))["simulated"] is True
    again, _ = campaigns.run()
    assert [each.row() for each in again] == [each.row() for each in found]


def test_members_are_set_against_the_reference_pair_by_pair(planted_plan: LoadedPlan, tmp_path: Path) -> None:
    reads, none = members_of(planted_plan)
    members = (none, replace(reads, name="reference"), replace(reads, name="again"))
    found, _ = CampaignSet("ablations", members, tmp_path, (1, 2)).run()
    row = compared_row("ablations", found, [])
    assert row["reference"] == "reference"
    nothing, reference, again = (each["against_reference"] for each in row["campaigns"])
    assert reference is None
    assert again["difference"] == 0.0, "the same search finds the same winner"
    gain = found[1].heldout.difference.value
    assert gain != 0.0
    assert nothing["difference"] == pytest.approx(-gain), "against what keeps the baseline it is the gain itself"
    assert nothing["low"] < -gain < nothing["high"]
    table = compared_table("ablations", found, [])
    assert table.head[3] == "against reference"
    assert [each[3] == "" for each in table.rows] == [False, True, False]
    assert any("not corrected for how many there are" in words for words in table.words)
    other = replace(found[0], lock="0" * 64)
    assert against(other, found[1]) is None, "another split has other pairs"
    assert reference_of("ablations", [found[0]]) is None
    assert reference_of("accept sizes", found) is found[-1]


def test_the_document_says_how_a_rival_engine_was_run(finished_run: Path) -> None:
    ours = replace(read_member("gepa", "", [finished_run]), budget={"calls": None, "tokens": None, "usd": None})
    assert ours.searched["calls"]
    rival = replace(ours, name="mipro", engine="mipro")
    table = compared_table("optimisers", [ours, rival], [])
    text = markdown(compared_document(table, [ours, rival], name="test"))
    assert "How MIPROv2, instructions only was run" in text
    assert "without demonstrations" in text
    assert "How our own search" not in text
    assert "of its budget" not in text, "there is none"
    half = replace(ours, budget={"calls": 2 * ours.searched["calls"], "tokens": None, "usd": None})
    whole = replace(rival, budget={"calls": ours.searched["calls"], "tokens": None, "usd": None})
    words = " ".join(compared_table("optimisers", [half, whole], []).words)
    assert "gepa used 50% of its budget: its iterations ended it before" in words
    assert "mipro used" not in words


def test_a_single_campaign_has_the_numbers_of_its_verdict(finished_run: Path) -> None:
    verdict = json.loads((finished_run / "verdict.json").read_text())
    found = read_member("tiny", "", [finished_run])
    held = verdict["heldout"]["omissions"]
    assert found.heldout.difference.value == pytest.approx(held["difference"])
    assert found.heldout.n == held["pairs"]
    assert found.accept == pytest.approx(verdict["accept"]["gain"])
    assert found.optimism == pytest.approx(verdict["accept"]["optimism"])
    assert found.proposals == verdict["accept"]["candidates"] - 1
    assert found.cost_usd is None


def test_members_are_registered_only_where_the_lock_pays_for_all(planted_plan: LoadedPlan, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"2 campaigns would be registered .* has 1 comparisons.*--comparisons 2"):
        CampaignSet("ablations", members_of(planted_plan), tmp_path, (1,), registered=True).run()


def test_a_member_whose_model_is_not_here_is_skipped_with_the_reason(planted_plan: LoadedPlan, tmp_path: Path) -> None:
    data = planted_plan.plan.model_dump(mode="json", exclude_unset=True)
    data["reflector"] = {"kind": "llm", "model": {"endpoint": "http://127.0.0.1:9/v1", "name": "gone"}}
    asking = Member("asks", "", replace(planted_plan, plan=parse_plan(data, where="test")))
    _, gone = CampaignSet("ablations", (asking,), tmp_path, (1,)).run()
    assert "cannot be reached" in gone[0].why
    _, unasked = CampaignSet("ablations", (asking,), tmp_path, (1,), models=False).run()
    assert "give --models" in unasked[0].why


def test_a_curve_has_a_control_for_each_size_in_order(planted_plan: LoadedPlan) -> None:
    members = curve_members(planted_plan, [4, 1, 2])
    assert [member.name for member in members] == ["accept-1", "accept-2", "accept-4"]
    assert [member.loaded.plan.controls.accept_groups for member in members] == [1, 2, 4]
    with pytest.raises(PlanError, match="from 1 to the 4 groups of accept, got 9"):
        curve_members(planted_plan, [2, 9])


def test_optimisers_share_everything_but_the_engine_and_what_only_ours_has(planted_plan: LoadedPlan) -> None:
    data = planted_plan.plan.model_dump(mode="json", exclude_unset=True)
    data["reflector"] = {"kind": "llm", "model": {"endpoint": "http://127.0.0.1:9/v1", "name": "writer"}, "memory": 2}
    loaded = replace(planted_plan, plan=parse_plan(data, where="test"))
    members = {member.name: member.loaded.plan for member in optimiser_members(loaded, ["gepa", "dspy-gepa", "mipro"])}
    assert [plan.search.engine for plan in members.values()] == ["gepa", "dspy-gepa", "mipro"]
    rows = [plan.row() for plan in members.values()]
    for row in rows[1:]:
        assert {key for key in row if row[key] != rows[0][key]} == {"name", "search", "reflector"}
        assert row["reflector"] == rows[0]["reflector"] | {"memory": 0}
        assert row["search"]["budget"] == rows[0]["search"]["budget"]
    with pytest.raises(PlanError, match="engines must be among"):
        optimiser_members(loaded, ["random"])


def test_optimisers_need_an_amount_at_which_they_are_equal(planted_plan: LoadedPlan) -> None:
    unlimited = replace(planted_plan, plan=with_search(planted_plan.plan, budget={}))
    with pytest.raises(PlanError, match=r"in search\.budget"):
        optimiser_members(unlimited, ["gepa"])


def test_a_campaign_without_a_call_cost_nothing_in_the_mean() -> None:
    mean = _mean([Usage(4, 100, 10, cost_usd=0.02), Usage()])
    assert mean["calls"] == 2
    assert mean["cost_usd"] == pytest.approx(0.01)
    assert _mean([Usage(4, 100, 10), Usage()])["cost_usd"] is None


def test_a_pair_is_set_against_the_reference_on_the_seeds_that_both_scored(finished_run: Path) -> None:
    ours = read_member("ours", "", [finished_run])
    pair = min(name for name, _ in ours.credits)
    earned = {**ours.credits, **{(name, 1): 1.0 for name, _ in ours.credits}}
    both, one = replace(ours, credits=earned), replace(ours, name="reference", credits=dict(earned))
    found = against(replace(both, credits={**earned, (pair, 1): 0.0}), one)
    assert found is not None
    assert found.difference.value == pytest.approx(-0.5 / found.n)
    missing = {unit: value for unit, value in earned.items() if unit != (pair, 1)}
    found = against(replace(both, credits=missing), one)
    assert found is not None
    assert found.difference.value == 0.0, "the seed that only one scored is in neither mean"
    assert found.n_failed == 1
