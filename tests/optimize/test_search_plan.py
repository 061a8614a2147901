from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from experiments import load_plan
from lineage.errors import PlanError
from optimize import Campaign, parse_plan
from optimize.search_plan import MergePlan, SearchPlan

MakePlan = Callable[..., Path]


def planned(search: dict[str, Any]) -> Any:
    return parse_plan(
        {
            "name": "x",
            "corpus": {"bundled": "consults"},
            "splits": {"lock": "lock.json"},
            "student": {"shape": "per-fact", "model": {"simulated": {}}},
            "baseline": "stated-in-note",
            "search": {"iterations": 3, **search},
        },
        where="plan.yaml",
    )


def test_a_plan_that_says_nothing_searches_as_it_always_did() -> None:
    search = SearchPlan(iterations=3)
    assert (search.acceptance, search.frontier, search.merge, search.seeds) == ("promiscuous", "examples", None, ())
    assert (search.parallel, search.rare_traces, search.budget.unit) == (1, False, None)


def test_an_empty_merge_is_the_published_one() -> None:
    assert planned({"merge": {}}).search.merge == MergePlan(from_candidates=6, at_most=4)


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"merge": {"from_candidate": 3}}, r"unknown key 'search\.merge\.from_candidate'; did you mean 'from_candid"),
        ({"merge": {"from_candidates": 1}}, r"search\.merge\.from_candidates: .*greater than or equal to 2.*got 1"),
        ({"merge": {"chance": 0}}, r"search\.merge\.chance: .*greater than 0"),
        ({"acceptance": "strict"}, r"search\.acceptance: .*'promiscuous' or 'full'.*got 'strict'"),
        ({"frontier": "instances"}, r"search\.frontier: .*'examples', 'objectives' or 'both'"),
        ({"parallel": 0}, r"search\.parallel: .*greater than or equal to 1"),
        ({"seeds": ["a", "a"]}, r"seeds names one twice: a, a; a text enters the search once"),
        ({"seeds": "a"}, r"search\.seeds: .*tuple.*got 'a'"),
        ({"budget": {"call": 3}}, r"unknown key 'search\.budget\.call'; did you mean 'calls'"),
    ],
)
def test_an_option_that_breaks_a_rule_is_refused_by_name(search: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        planned(search)


def test_every_option_is_part_of_the_plan_s_hash() -> None:
    plans = [
        {},
        {"merge": {}},
        {"merge": {"chance": 0.5}},
        {"acceptance": "full"},
        {"frontier": "both"},
        {"seeds": ["x"]},
        {"parallel": 2},
        {"rare_traces": True},
        {"budget": {"calls": 10}},
    ]
    assert len({planned(search).hash for search in plans}) == len(plans)


def test_seeds_are_bundled_names_or_files_beside_the_plan(make_plan: MakePlan) -> None:
    path = make_plan(search={"iterations": 0, "seeds": ["complete-and-faithful", "mine.md"]})
    with pytest.raises(PlanError, match=r"mine\.md"):
        load_plan(str(path))
    (path.parent / "mine.md").write_text("Is it there?\n", encoding="utf-8")
    loaded = load_plan(str(path))
    assert list(loaded.seeds) == ["complete-and-faithful", "mine.md"]
    assert loaded.seeds["mine.md"].strip() == "Is it there?"


def test_a_campaign_without_the_texts_of_its_seeds_is_refused(make_plan: MakePlan, tmp_path: Path) -> None:
    loaded = load_plan(str(make_plan(search={"iterations": 0, "seeds": ["complete-and-faithful"]})))
    with pytest.raises(PlanError, match=r"search\.seeds names complete-and-faithful, and the texts given are of none"):
        Campaign(loaded.plan, loaded.corpus, loaded.lock, tmp_path / "run", baseline=loaded.baseline)


def test_a_plan_with_every_option_comes_back_from_its_json_form(make_plan: MakePlan) -> None:
    path = make_plan(
        search={
            "iterations": 2,
            "merge": {"at_most": 2},
            "acceptance": "full",
            "frontier": "objectives",
            "parallel": 3,
            "rare_traces": True,
            "seeds": ["complete-and-faithful"],
        }
    )
    plan = load_plan(str(path)).plan
    again = parse_plan({**yaml.safe_load(path.read_text()), "search": plan.row()["search"]}, where="again")
    assert again.hash == plan.hash
