"""Candidates of several texts and two parents, as a search of several components makes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.explore import find_candidate, read_candidates, text_differences
from lineage.errors import InputError
from lineage.ledger import Event
from lineage.records import candidate_id

LIST, CHECK = "List the facts.", "Check each fact."


class Story:
    """Events of a search of two components, told in short."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.add("plan", plan={"name": "trial", "search": {}})

    def add(self, kind: str, /, **body: object) -> None:
        self.events.append(Event(len(self.events), "2026-01-01T00:00:00+00:00", kind, body, "", ""))

    def propose(self, texts: dict[str, str], *parents: str, kind: str, iteration: int) -> str:
        chosen = candidate_id(texts)
        self.add(
            "candidate",
            candidate=chosen,
            texts=texts,
            kind=kind,
            parents=list(parents),
            iteration=iteration,
            operator="llm",
        )
        return chosen

    def decide(self, chosen: str, outcome: str) -> None:
        self.add(
            "outcome",
            candidate=chosen,
            outcome=outcome,
            reason="said",
            parent_rewards={"a": 0.0},
            child_rewards={"a": 1.0},
        )


@pytest.fixture
def story() -> Story:
    story = Story()
    seed = story.propose({"check": CHECK, "list": LIST}, kind="seed", iteration=0)
    other = story.propose({"check": "Look twice.", "list": LIST}, kind="seed", iteration=1)
    story.decide(other, "accepted")
    story.add(
        "reflection",
        iteration=2,
        minibatch=["a"],
        reflection={"text": "x", "why": "first", "prompt": "p", "answer": "q"},
    )
    child = story.propose({"check": CHECK, "list": "List every fact."}, seed, kind="mutation", iteration=2)
    story.add(
        "reflection",
        iteration=2,
        minibatch=["b"],
        reflection={"text": "y", "why": "second", "prompt": "p", "answer": "q"},
    )
    merged = story.propose(
        {"check": "Look twice.", "list": "List every fact."}, child, other, kind="merge", iteration=2
    )
    story.decide(child, "rejected")
    story.decide(merged, "accepted")
    return story


def test_each_of_two_proposals_of_one_iteration_has_its_own_reflection_and_outcome(story: Story) -> None:
    records = read_candidates(story.events)
    child, merged = records[2:]
    assert (child.reflection or {})["why"] == "first"
    assert (merged.reflection or {})["why"] == "second"
    assert (child.minibatch, merged.minibatch) == (("a",), ("b",))
    assert (child.row.outcome, merged.row.outcome) == ("rejected", "accepted")


def test_a_further_seed_has_no_reflection(story: Story) -> None:
    assert read_candidates(story.events)[1].reflection is None


def test_children_stand_with_both_parents(story: Story) -> None:
    records = read_candidates(story.events)
    merged = records[3]
    assert len(merged.row.parents) == 2
    assert [merged.row.name in records[place].children for place in range(4)] == [False, True, True, False]


def test_every_named_text_is_compared(story: Story) -> None:
    records = read_candidates(story.events)
    found = {one.name: one for one in text_differences(records[1].texts, records[3].texts)}
    assert (found["check"].changed, found["list"].changed) == (False, True)
    assert found["list"].counts == (2, 2)
    assert found["list"].text().plain == "List [-the facts.-] {+every fact.+}"


def test_a_text_that_one_side_lacks_is_all_added() -> None:
    (found,) = text_differences({}, {"list": "one\ntwo"})
    assert found.parts == (("added", "one \n two"),)
    assert found.text().plain == "{+one\ntwo+}"


def test_a_winner_of_each_target_has_to_be_named(story: Story) -> None:
    records = [replace(record, row=replace(record.row, winner=True)) for record in read_candidates(story.events)[:2]]
    with pytest.raises(InputError, match=r"each target has a winner: name seed or seed\.2"):
        find_candidate(records, "winner")


def test_the_beginning_of_several_ids_is_refused(story: Story) -> None:
    records = read_candidates(story.events)
    with pytest.raises(InputError, match="there is no candidate"):
        find_candidate(records, records[0].row.candidate[:3])
    assert find_candidate(records, records[0].row.candidate[:8]).row.name == "seed"
