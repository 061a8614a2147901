"""The family tree shows every proposal with its outcome, in words."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from lineage.errors import LedgerError
from lineage.ledger import Event
from lineage.records import candidate_id
from lineage.tree import render_tree, tree_rows


class Story:
    """Events of a campaign, told in short; no chain is needed to draw a tree."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(self, kind: str, /, **body: Any) -> None:
        self.events.append(Event(len(self.events), "2026-01-01T00:00:00+00:00", kind, body, "", ""))

    def propose(self, text: str, *parents: str, iteration: int = 0, operator: str | None = None) -> str:
        chosen = candidate_id({"instruction": text})
        kind = ("seed", "mutation", "merge")[len(parents)]
        self.add(
            "candidate",
            candidate=chosen,
            texts={"instruction": text},
            kind=kind,
            parents=list(parents),
            iteration=iteration,
            operator=operator,
        )
        return chosen

    def decide(self, chosen: str, outcome: str, reason: str, gain: float | None = None) -> None:
        rewards = ({}, {}) if gain is None else ({"a": 0.25, "b": 0.5}, {"a": 0.25 + gain, "b": 0.5})
        self.add(
            "outcome",
            candidate=chosen,
            outcome=outcome,
            reason=reason,
            parent_rewards=rewards[0],
            child_rewards=rewards[1],
        )


def told() -> tuple[Story, dict[str, str]]:
    story = Story()
    story.add("plan", plan={"name": "trial"}, simulated=True, exploratory=None)
    seed = story.propose("Is the fact stated?")
    first = story.propose("Is the fact [bold]clearly[/bold] stated?", seed, iteration=1, operator="reframe")
    story.decide(first, "accepted", "minibatch reward +0.5000", 0.5)
    second = story.propose("Is it there?", first, iteration=2, operator="shorten")
    story.decide(second, "rejected", "minibatch reward -0.2500", -0.25)
    story.propose("Is the fact stated?", first, iteration=3, operator="reframe")
    story.decide(seed, "invalid", "duplicate of an earlier candidate")
    merged = story.propose("Both?", first, seed, iteration=4, operator="llm")
    story.decide(merged, "accepted", "minibatch reward +0.1250", 0.125)
    place = {"detection": 0.25, "false_alarm": 0.0, "threshold": 0.5}
    ranking = [
        {"candidate": first, "paired": 0.75, **place},
        {"candidate": seed, "paired": 0.5, **place},
        {"candidate": merged, "paired": None, **place},
    ]
    story.add("choice", winner=first, ranking=ranking)
    return story, {"seed": seed, "first": first, "second": second, "merged": merged}


def drawn(story: Story) -> str:
    console = Console(width=160, color_system=None)
    with console.capture() as capture:
        console.print(render_tree(story.events))
    return capture.get()


def test_rows_are_named_by_iteration() -> None:
    assert [row.name for row in tree_rows(told()[0].events)] == ["seed", "c01", "c02", "c03", "c04"]


def test_two_proposals_of_one_iteration_have_two_names() -> None:
    story = Story()
    seed = story.propose("a")
    story.propose("b", seed, iteration=1)
    story.propose("c", seed, iteration=1)
    assert [row.name for row in tree_rows(story.events)] == ["seed", "c01", "c01.2"]


def test_the_gain_is_the_child_less_its_parent() -> None:
    assert [row.gain for row in tree_rows(told()[0].events)] == [None, 0.5, -0.25, None, 0.125]


def test_a_repeated_text_is_a_row_of_its_own_and_leaves_the_first_alone() -> None:
    rows = tree_rows(told()[0].events)
    assert [row.outcome for row in rows] == ["seed", "accepted", "rejected", "invalid", "accepted"]
    assert rows[0].candidate == rows[3].candidate
    assert (rows[0].paired, rows[3].paired) == (0.5, None)


def test_the_winner_is_one_row() -> None:
    assert [row.name for row in tree_rows(told()[0].events) if row.winner] == ["c01"]


def test_parents_are_names() -> None:
    assert [row.parents for row in tree_rows(told()[0].events)] == [(), ("seed",), ("c01",), ("c01",), ("c01", "seed")]


def test_an_undecided_candidate_is_pending() -> None:
    story = Story()
    story.propose("b", story.propose("a"), iteration=1)
    assert tree_rows(story.events)[1].outcome == "pending"
    assert "c01 pending" in drawn(story)


def test_a_measure_on_accept_shows_before_the_choice() -> None:
    story = Story()
    seed = story.propose("a")
    story.add("measured", purpose="accept", candidate=seed, measures={"omissions": {"value": 0.625}})
    story.add("measured", purpose="baseline", candidate=seed, measures={"omissions": {"value": 0.25}})
    assert tree_rows(story.events)[0].paired == 0.625


def test_outcomes_are_said_in_words() -> None:
    text = drawn(told()[0])
    assert "trial  simulated" in text
    assert "c01 accepted  reframe  minibatch +0.500  accept 0.750  detection 0.250" in text
    assert "c02 rejected  shorten  minibatch -0.250" in text
    assert "c03 invalid  reframe  5 words" not in text
    assert "duplicate of an earlier candidate" in text
    assert "from c01 and seed" in text
    assert text.count("★ winner") == 1


def test_an_exploratory_campaign_is_marked() -> None:
    story = Story()
    story.add("plan", plan={"name": "trial"}, simulated=False, exploratory="a look")
    assert "trial  exploratory" in drawn(story)
    assert "simulated" not in drawn(story)


def test_text_of_an_event_is_never_read_as_markup() -> None:
    story = Story()
    seed = story.propose("a")
    chosen = story.propose("b", seed, iteration=1, operator="[red]x[/red]")
    story.decide(chosen, "invalid", "repeats [/] text")
    assert "[red]x[/red]" in drawn(story)
    assert "repeats [/] text" in drawn(story)


def test_a_ledger_without_candidates_is_drawn() -> None:
    assert "no candidates yet" in drawn(Story())


def test_a_parent_that_was_never_proposed_is_named() -> None:
    story = Story()
    story.propose("b", candidate_id({"instruction": "never"}), iteration=1)
    with pytest.raises(LedgerError, match=r"seq 0: candidate names .* which is no candidate before it"):
        tree_rows(story.events)
