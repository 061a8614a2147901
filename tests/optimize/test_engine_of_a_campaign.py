"""What a campaign with every option of the search records, and what its audit and its report make of that."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from experiments.live import LiveView
from experiments.report.data import collect
from experiments.report.departures import departures, planned_departures
from experiments.report.proposals import family
from experiments.report.record import family_section
from experiments.report.writing import write_report
from experiments.sizing import PlanSize
from lineage import read_events
from lineage.audit import audit_ledger
from lineage.tree import tree_rows
from optimize import Campaign, Plan, parse_plan
from optimize.recompute import audit_numbers, load_run, recorded_pool
from splits import Corpus, Selection, commit_lock, load_lock, plan_lock
from students import load_instruction

Rows = list[dict[str, Any]]
Rewrite = Callable[[Path, Callable[[Rows], None]], None]

SEARCH = {
    "iterations": 6,
    "parallel": 2,
    "minibatch_groups": 1,
    "seed": 5,
    "merge": {"from_candidates": 3, "at_most": 3, "chance": 0.7},
    "seeds": ["engineered"],
    "acceptance": "full",
    "frontier": "both",
    "rare_traces": True,
}


class Lines:
    """A console that keeps what it is told."""

    is_terminal = False

    def __init__(self) -> None:
        self.lines: list[str] = []

    def print(self, line: str, **_: Any) -> None:
        self.lines.append(line)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory, consults: Corpus) -> Iterator[tuple[Path, Plan, list[str]]]:
    """A simulated campaign with everything, and the lines of its live view."""
    place = tmp_path_factory.mktemp("everything")
    selection = Selection(groups=15, flawed_per_group=2, seed=3)
    sizes = {"reflect": 5, "accept": 4, "heldout": 6}
    commit_lock(plan_lock(consults, sizes=sizes, seed=3, selection=selection), place / "lock.json")
    plan = parse_plan(
        {
            "name": "everything",
            "corpus": {"bundled": "consults"},
            "splits": {"lock": "lock.json"},
            "student": {"shape": "per-fact", "model": {"simulated": {"noise": 2.0}}, "max_facts": 3},
            "baseline": "stated-in-note",
            "search": SEARCH,
        },
        where="test",
    )
    console = Lines()
    Campaign(
        plan,
        consults,
        load_lock(place / "lock.json", consults),
        place / "run",
        baseline=load_instruction("stated-in-note"),
        seeds={"engineered": load_instruction("engineered")},
        watcher=LiveView(console, plan, PlanSize(1, 1, 1, 1, 1, 1)),  # type: ignore[arg-type]  # a console in small
    ).run()
    return place / "run", plan, console.lines


@pytest.fixture
def run(searched: tuple[Path, Plan, list[str]], tmp_path: Path) -> Path:
    """A copy to tamper with."""
    return Path(shutil.copytree(searched[0], tmp_path / "run"))


def errors(directory: Path) -> list[str]:
    return [
        f"{f.place}: {f.words}" for f in (*audit_ledger(directory), *audit_numbers(directory)) if f.severity == "error"
    ]


def test_there_are_seeds_merges_and_every_outcome(run: Path) -> None:
    rows = tree_rows(read_events(run / "ledger.jsonl"))
    assert {row.kind for row in rows} == {"seed", "mutation", "merge"}
    assert {row.outcome for row in rows} == {"seed", "accepted", "rejected", "invalid"}
    assert [row.name for row in rows[:4]] == ["seed", "seed.2", "c01", "c01.2"]
    assert any(row.reason.startswith("accept reward") for row in rows if row.reason)


def test_an_untouched_run_passes_both_audits(run: Path) -> None:
    assert errors(run) == []


def test_the_pool_is_read_back_with_the_names_of_the_search(run: Path) -> None:
    pool = recorded_pool(load_run(run)).pool
    rows = {row.candidate: row for row in tree_rows(read_events(run / "ledger.jsonl")) if row.outcome != "invalid"}
    (choice,) = (event.body for event in read_events(run / "ledger.jsonl") if event.type == "choice")
    names = {standing["candidate"]: standing["name"] for standing in choice["ranking"]}
    assert [entry.name for entry in pool] == [rows[entry.candidate.id].name for entry in pool]
    assert {entry.candidate.id: entry.name for entry in pool} == names


def events_of(rows: Rows, kind: str) -> Iterator[dict[str, Any]]:
    return (row["body"] for row in rows if row["type"] == kind)


def changed(**search: Any) -> Callable[[Rows], None]:
    def change(rows: Rows) -> None:
        rows[0]["body"]["plan"]["search"].update(search)

    return change


def other_seed(rows: Rows) -> None:
    rows[0]["body"]["seeds"] = {"engineered": "Another text."}


def swapped_parents(rows: Rows) -> None:
    body = next(body for body in events_of(rows, "candidate") if body["kind"] == "merge")
    body["parents"].reverse()


def a_merge_called_a_mutation(rows: Rows) -> None:
    next(body for body in events_of(rows, "candidate") if body["kind"] == "merge")["kind"] = "mutation"


def a_rejected_parent(rows: Rows) -> None:
    rejected = next(body["candidate"] for body in events_of(rows, "outcome") if body["outcome"] == "rejected")
    last = list(events_of(rows, "candidate"))[-1]
    for body in (last, *events_of(rows, "outcome"), *events_of(rows, "reflection")):
        if body["iteration"] == last["iteration"]:
            body["parents"] = [rejected]


def other_gains(rows: Rows) -> None:
    body = next(body for body in events_of(rows, "outcome") if body.get("accept_gains"))
    body["accept_gains"] = {parent: gain + 0.5 for parent, gain in body["accept_gains"].items()}


def a_lost_outcome(rows: Rows) -> None:
    rows.remove(next(row for row in rows if row["type"] == "outcome" and row["body"]["iteration"] == 1))
    for seq, row in enumerate(rows):
        row["seq"] = seq


def the_same_call_twice(rows: Rows) -> None:
    second = next(body for body in events_of(rows, "reflection") if body["call"] == 2)
    second["call"] = 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (changed(merge=None), "a merge that the plan's search does not make"),
        (changed(merge={"from_candidates": 30, "at_most": 9}), "a merge that the plan's search does not make"),
        (changed(parallel=1), "more proposals than the plan's search makes"),
        (changed(iterations=2), "more proposals than the plan's search makes"),
        (other_seed, "a seed that the plan does not name"),
        (swapped_parents, "the candidate's parent or operator is not its reflection's"),
        (a_merge_called_a_mutation, "a seed has no parents, a mutation has one and a merge two"),
        (a_rejected_parent, "was not accepted"),
        (other_gains, "accept_gains|outcome"),
        (a_lost_outcome, "a candidate without an outcome"),
        (the_same_call_twice, "a second reflection of this iteration and call"),
    ],
)
def test_a_changed_search_is_found(run: Path, rewrite: Rewrite, change: Callable[[Rows], None], said: str) -> None:
    rewrite(run, change)
    found = errors(run)
    assert any(part in words for words in found for part in said.split("|")), found


def test_acceptance_that_the_plan_does_not_ask_for_shows_in_the_numbers(run: Path, rewrite: Rewrite) -> None:
    rewrite(run, changed(acceptance="promiscuous"))
    assert any("recorded 'rejected', computed 'accepted'" in words for words in errors(run))


def test_the_report_shows_every_proposal_and_the_two_parents_of_a_merge(run: Path) -> None:
    data = collect(run)
    rows = tree_rows(read_events(run / "ledger.jsonl"))
    assert [(proposal.name, proposal.parents, proposal.outcome) for proposal in data.proposals] == [
        (row.name, row.parents, row.outcome) for row in rows
    ]
    merged = [proposal for proposal in data.proposals if proposal.kind == "merge"]
    assert merged
    assert all(len(proposal.parents) == 2 for proposal in merged)
    assert [proposal.name for depth, proposal in family(data.proposals) if depth == 0] == ["seed", "seed.2"]
    assert sorted(proposal.name for _, proposal in family(data.proposals)) == sorted(row.name for row in rows)
    section = json.dumps(repr(family_section(data)))
    assert all(", ".join(proposal.parents) in section for proposal in merged)
    for proposal, row in zip(data.proposals, rows, strict=True):
        assert proposal.gain == row.gain
    write_report(run)
    assert f"{merged[0].parents[0]}, {merged[0].parents[1]}" in (run / "report.md").read_text(encoding="utf-8")


def test_the_live_view_calls_proposals_what_the_tree_calls_them(searched: tuple[Path, Plan, list[str]]) -> None:
    directory, _, lines = searched
    said = [line.strip().partition(" ")[0] for line in lines if "[/bold]: " in line and "  " in line[:3]]
    events = read_events(directory / "ledger.jsonl")
    rows = tree_rows(events)
    assert sorted(said) == sorted(row.name for row in rows[1:])


def test_the_live_view_keeps_held_out_results_for_the_decision(searched: tuple[Path, Plan, list[str]]) -> None:
    _, _, lines = searched
    (baseline,) = [line for line in lines if "(baseline)" in line]
    assert baseline.strip() == "seed measured on held-out data (baseline); shown with the decision"
    assert not [line for line in lines if "held-out" in line and "discrimination" in line]


def test_departures_are_those_of_the_plan(run: Path) -> None:
    (bullets,) = departures(collect(run)).parts
    text = "\n".join(bullets.items)  # type: ignore[union-attr]  # it is a list of sentences
    for words in (
        "Merge: where it may be made, a proposal is a merge with a chance of 0.7",
        "Merge: from 3 candidates on, at most 3 times; published are 6 and 4.",
        "Acceptance in full",
        "Frontier: of accept examples, as published, and beside them of omissions, commissions, false alarms",
        "Parallel proposals: 2 an iteration",
        "Minibatches: each holds a group with one of the rarer traces",
        "Reflection: offline edit operators. No language model reflects.",
    ):
        assert words in text


def test_an_option_that_is_as_published_is_no_departure() -> None:
    """As published but for when to merge, which is not stated."""
    search = {"merge": {"from_candidates": 6, "at_most": 4, "chance": 0.4}, "acceptance": "promiscuous"}
    (merge,) = planned_departures({"search": search, "reflector": {"kind": "llm"}})
    assert "when the published search merges is not stated" in merge
    assert planned_departures({"search": {}, "reflector": {"kind": "llm"}}) == (
        "Merge: none; every proposal has one parent.",
    )
