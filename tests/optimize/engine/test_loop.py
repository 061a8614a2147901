"""Whole searches on invented notes, where judge, reflector and sampling are functions of the test."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import pytest

from lineage import Candidate, Ledger, canonical_state, read_events
from lineage.errors import CampaignError
from lineage.ledger import OPERATIONAL
from lineage.tree import tree_rows
from optimize.engine import Front, Parents
from splits import Corpus, Example
from students import PerFactChecker


def better_with_words(candidate: Candidate, example: Example, phase: str) -> float:
    """Flawed notes score the lower the more words a prompt has; clean ones always 0.9."""
    words = sum(len(text.split()) for text in candidate.texts.values())
    return 0.9 if example.label == "clean" else round(0.895 - 0.002 * min(words, 40), 3)


def longer(request: Any) -> str:
    return f"{request.parent} more{request.iteration}.{request.call}"


class Always:
    """A sampling that draws what a function of iteration and call says."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def draw(self, front: Front, *, iteration: int, call: int) -> Parents:
        return self._draw(iteration, call, len(front.means))


class TwoBlocks:
    """A student whose prompt has two blocks."""

    def __init__(self) -> None:
        self._inner = PerFactChecker(model={"model": "none"})
        self.scale = 1.0
        self.seed_texts = {"read": "Read it.", "judge": "Judge it."}

    def settings(self) -> dict[str, Any]:
        return {"student": "two blocks"}


# -- several seeds -----------------------------------------------------------------------------------------------------


def test_further_seeds_are_judged_on_accept_alone_and_enter_the_pool_in_order(lab: Any) -> None:
    seeds = [{"instruction": "Another way to begin"}, {"instruction": "A third"}]
    result = lab.search(score=better_with_words, write=longer, seeds=seeds, iterations=2)
    assert [entry.name for entry in result.pool[:3]] == ["seed", "seed.2", "seed.3"]
    assert [entry.candidate.kind for entry in result.pool[:3]] == ["seed"] * 3
    assert [entry.candidate.parents for entry in result.pool[:3]] == [(), (), ()]
    assert [phase for phase, _, _ in lab.judges.judged[:3]] == ["accept"] * 3
    outcomes = lab.events("outcome")
    assert [(body["iteration"], body["outcome"], body["reason"]) for body in outcomes[:2]] == [
        (0, "accepted", "a seed of the plan")
    ] * 2
    assert [body["iteration"] for body in outcomes[2:]] == [1, 2]
    assert result.proposals == 4


def test_seeds_are_judged_also_where_the_plan_makes_no_proposals(lab: Any) -> None:
    result = lab.search(score=better_with_words, seeds=[{"instruction": "Another"}], iterations=0)
    assert [entry.name for entry in result.pool] == ["seed", "seed.2"]
    assert lab.events("reflection") == []


def test_a_seed_that_repeats_the_baseline_is_invalid_and_never_judged(lab: Any) -> None:
    result = lab.search(score=better_with_words, seeds=[{"instruction": "Seed"}, {"instruction": "B"}], iterations=1)
    assert (result.invalid, [entry.name for entry in result.pool[:2]]) == (1, ["seed", "seed.3"])
    assert lab.events("outcome")[0]["reason"] == "duplicate of an earlier candidate"
    assert [row.outcome for row in tree_rows(read_events(lab.directory / "ledger.jsonl"))][:3] == [
        "seed",
        "invalid",
        "accepted",
    ]


def test_a_seed_with_too_few_scores_on_accept_is_invalid(lab: Any) -> None:
    def score(candidate: Candidate, example: Example, phase: str) -> float | None:
        failing = candidate.texts["instruction"] == "Another" and example.label == "clean"
        return None if failing else better_with_words(candidate, example, phase)

    result = lab.search(score=score, seeds=[{"instruction": "Another"}], iterations=0)
    assert (len(result.pool), result.invalid) == (1, 1)
    assert lab.events("outcome")[0]["reason"] == "only 0% of accept examples scored"


def test_proposals_may_be_made_from_any_seed(lab: Any) -> None:
    result = lab.search(
        score=better_with_words,
        write=longer,
        seeds=[{"instruction": "Another"}],
        sampling=Always(lambda iteration, call, size: Parents(1)),
        iterations=1,
    )
    assert result.pool[2].candidate.texts["instruction"] == "Another more1.1"
    assert result.pool[2].candidate.parents == (result.pool[1].candidate.id,)


# -- merges ------------------------------------------------------------------------------------------------------------


def test_a_merge_is_asked_of_both_parents_and_compared_with_the_first(lab: Any) -> None:
    merging = Always(lambda iteration, call, size: Parents(0) if iteration < 3 else Parents(1, 2))
    result = lab.search(score=better_with_words, write=longer, sampling=merging, iterations=3, merge={})
    request = lab.reflector.requests[-1]
    assert (request.parent, request.others) == ("Seed more1.1", ("Seed more2.1",))
    merged = result.pool[-1]
    assert (merged.candidate.kind, merged.name) == ("merge", "c03")
    assert merged.candidate.parents == tuple(result.pool[place].candidate.id for place in (1, 2))
    outcome, parent = lab.events("outcome")[-1], result.pool[1].candidate
    assert outcome["parents"] == list(merged.candidate.parents)
    asked = lab.events("reflection")[-1]
    assert (asked["parent"], asked["others"]) == (parent.id, [result.pool[2].candidate.id])
    minibatch = [judged for judged in lab.judges.judged if judged[0] == "minibatch"][-2:]
    assert [candidate for _, candidate, _ in minibatch] == [parent.id, merged.candidate.id]


def test_by_default_the_pool_has_to_have_six_candidates_and_four_merges_are_made(lab: Any) -> None:
    def score(candidate: Candidate, example: Example, phase: str) -> float:
        """Each candidate leads on an accept example of its own, and every child beats its parent."""
        if phase == "minibatch":
            return better_with_words(candidate, example, phase)
        words = len(candidate.texts["instruction"].split())
        return 0.9 if example.label == "clean" else 0.1 if hash_of(example.id) % 12 == words % 12 else 0.9

    result = lab.search(
        score=score, write=longer, merge={"chance": 1.0}, iterations=14, accept=numbered_notes(24), clean_weight=0.0
    )
    kinds = [entry.candidate.kind for entry in result.pool]
    assert "merge" not in kinds[:6]
    assert [body["iteration"] for body in lab.events("reflection") if body["others"]] == [6, 7, 8, 9]
    assert [kind for kind in kinds if kind == "merge"] == ["merge"] * 4


def hash_of(example: str) -> int:
    return int(example.split(".")[0].removeprefix("a"))


def numbered_notes(groups: int) -> Corpus:
    names = [f"a{group:02d}" for group in range(groups)]
    clean = [Example(f"{name}.clean", name, "s", "source", f"{name} all", "clean", "clean") for name in names]
    flawed = [
        Example(f"{name}.omit", name, "s", "source", f"{name} less", "omission", "omit", twin=f"{name}.clean")
        for name in names
    ]
    return Corpus((*clean, *flawed), {})


# -- acceptance --------------------------------------------------------------------------------------------------------


def flatters(candidate: Candidate, example: Example, phase: str) -> float:
    """Children are better on minibatches, and worse on accept."""
    words = len(candidate.texts["instruction"].split())
    if example.label == "clean":
        return 0.9
    return round(0.895 - 0.002 * words, 3) if phase == "minibatch" else round(0.82 + 0.002 * words, 3)


def test_promiscuous_acceptance_takes_what_is_better_on_the_minibatch_whatever_accept_says(lab: Any) -> None:
    result = lab.search(score=flatters, write=longer, iterations=3)
    assert len(result.pool) == 4
    assert all("accept_gains" not in body for body in lab.events("outcome"))


def test_acceptance_in_full_also_asks_accept_as_a_whole(lab: Any) -> None:
    result = lab.search(score=flatters, write=longer, iterations=3, acceptance="full")
    assert (len(result.pool), result.rejected) == (1, 3)
    outcome = lab.events("outcome")[0]
    (gain,) = outcome["accept_gains"].values()
    assert gain < 0
    assert (outcome["outcome"], outcome["reason"]) == ("rejected", f"accept reward {gain:+.4f}")
    assert len([judged for judged in lab.judges.judged if judged[0] == "accept"]) == 4, "it is judged there first"


def test_acceptance_in_full_asks_for_more_than_every_parent(lab: Any) -> None:
    def score(candidate: Candidate, example: Example, phase: str) -> float:
        on_accept = {"Seed more1.1": 0.6, "Seed more2.1": 0.2, "Seed more1.1 more3.1": 0.4}
        text = candidate.texts["instruction"]
        if example.label == "clean":
            return 0.9
        return on_accept.get(text, 0.85) if phase == "accept" else better_with_words(candidate, example, phase)

    merging = Always(lambda iteration, call, size: Parents(0) if iteration < 3 else Parents(1, 2))
    result = lab.search(
        score=score, write=longer, sampling=merging, iterations=3, merge={}, acceptance="full", margin=1.0
    )
    assert [entry.candidate.texts["instruction"] for entry in result.pool] == ["Seed", "Seed more1.1", "Seed more2.1"]
    gains = lab.events("outcome")[-1]["accept_gains"]
    first, second = (gains[parent] for parent in lab.events("outcome")[-1]["parents"])
    assert second < 0 < first


def test_the_reflector_is_told_no_number_of_accept(lab: Any) -> None:
    lab.search(score=flatters, write=longer, iterations=3, acceptance="full")
    (edit, *_) = lab.reflector.requests[-1].failed
    assert (edit.outcome, edit.reason) == ("rejected", "no better than its parent in other examples")


# -- parallel proposals ------------------------------------------------------------------------------------------------


def test_parallel_proposals_have_parents_and_minibatches_of_their_own(lab: Any) -> None:
    result = lab.search(score=better_with_words, write=longer, iterations=2, parallel=3, minibatch_groups=1)
    reflections = lab.events("reflection")
    assert [(body["iteration"], body["call"]) for body in reflections] == [(n, c) for n in (1, 2) for c in (1, 2, 3)]
    seen = [tuple(body["minibatch"]) for body in reflections]
    assert len(set(seen)) == 6, "six minibatches of the six groups of one epoch"
    assert result.proposals == 6
    assert [entry.name for entry in result.pool[1:4]] == ["c01", "c01.2", "c01.3"]


def test_parallel_proposals_are_all_asked_for_at_once(lab: Any) -> None:
    together = []

    def reflect_all(requests: Any) -> Any:
        together.append([request.call for request in requests])
        return tuple(lab.reflector.reflect(request) for request in requests)

    lab.reflector.reflect_all = reflect_all
    lab.search(score=better_with_words, iterations=2, parallel=3)
    assert together == [[1, 2, 3], [1, 2, 3]]


def test_of_equal_parallel_proposals_the_first_counts(lab: Any) -> None:
    result = lab.search(
        score=better_with_words,
        write=lambda request: f"{request.parent} x{request.iteration}",
        parallel=2,
        iterations=1,
    )
    assert (len(result.pool), result.invalid) == (2, 1)
    rows = tree_rows(read_events(lab.directory / "ledger.jsonl"))
    assert [(row.name, row.outcome) for row in rows] == [("seed", "seed"), ("c01", "accepted"), ("c01.2", "invalid")]
    assert rows[1].gain is not None
    assert rows[2].reason == "duplicate of an earlier candidate"


def test_a_failed_edit_of_an_iteration_is_told_to_the_next_and_not_to_its_neighbours(lab: Any) -> None:
    def score(candidate: Candidate, example: Example, phase: str) -> float:
        return 0.9 if example.label == "clean" else 0.5

    lab.search(score=score, write=longer, iterations=2, parallel=2)
    told = [[edit.text for edit in request.failed] for request in lab.reflector.requests]
    assert told == [[], [], ["Seed more1.1", "Seed more1.2"], ["Seed more1.1", "Seed more1.2"]]


# -- several components ------------------------------------------------------------------------------------------------


def test_several_components_take_turns_and_a_child_keeps_the_others(lab: Any) -> None:
    student = TwoBlocks()
    result = lab.search(
        score=better_with_words,
        write=longer,
        student=student,
        baseline=student.seed_texts,
        sampling=Always(lambda iteration, call, size: Parents(size - 1)),
        iterations=4,
    )
    assert [body["component"] for body in lab.events("reflection")] == ["read", "judge", "read", "judge"]
    assert [request.component for request in lab.reflector.requests] == ["read", "judge", "read", "judge"]
    last = result.pool[-1].candidate.texts
    assert last == {"read": "Read it. more1.1 more3.1", "judge": "Judge it. more2.1 more4.1"}


def test_a_text_may_be_tried_again_beside_another_text_of_the_other_component(lab: Any) -> None:
    student = TwoBlocks()

    def write(request: Any) -> str:
        return "The same four words" if request.component == "read" else longer(request)

    draws = {1: Parents(0), 2: Parents(0), 3: Parents(2), 4: Parents(0)}
    lab.search(
        score=better_with_words,
        write=write,
        student=student,
        baseline=student.seed_texts,
        sampling=Always(lambda iteration, call, size: draws[iteration]),
        iterations=4,
    )
    assert [body["component"] for body in lab.events("reflection")] == ["read", "judge", "read", "read"]
    assert [body["outcome"] for body in lab.events("outcome")] == ["accepted", "accepted", "accepted", "invalid"]
    assert lab.events("outcome")[-1]["reason"] == "duplicate of an earlier candidate"


def test_a_merge_of_several_components_crosses_one_in_which_the_parents_differ(lab: Any) -> None:
    student = TwoBlocks()
    draws = {1: Parents(0), 2: Parents(0), 3: Parents(0, 1)}
    lab.search(
        score=better_with_words,
        write=longer,
        student=student,
        baseline=student.seed_texts,
        sampling=Always(lambda iteration, call, size: draws[iteration]),
        iterations=3,
        merge={},
    )
    request = lab.reflector.requests[-1]
    assert request.others != (request.parent,)


def test_further_seeds_have_every_component(lab: Any) -> None:
    student = TwoBlocks()
    other: Mapping[str, str] = {"read": "Read on.", "judge": "Judge it."}
    result = lab.search(
        score=better_with_words, student=student, baseline=student.seed_texts, seeds=[other], iterations=0
    )
    assert result.pool[1].candidate.texts == other


# -- frontiers and the end ---------------------------------------------------------------------------------------------


def finds_more_with_words(candidate: Candidate, example: Example, phase: str) -> float:
    """A prompt of so many words finds the omissions of as many accept groups; children are better on minibatches."""
    if phase == "minibatch":
        return better_with_words(candidate, example, phase)
    words = len(candidate.texts["instruction"].split())
    return 0.5 if example.label == "omission" and hash_of(example.id) < words else 0.9


@pytest.mark.parametrize(("frontier", "seeds"), [("examples", False), ("objectives", True), ("both", True)])
def test_a_frontier_of_objectives_keeps_as_a_parent_what_leads_no_example(lab: Any, frontier: str, seeds: bool) -> None:
    """The seed is the shortest and the cheapest, and every later candidate leads where it does."""
    lab.search(
        score=finds_more_with_words,
        write=longer,
        iterations=12,
        frontier=frontier,
        clean_weight=0.0,
        accept=numbered_notes(20),
    )
    seed = lab.events("candidate")[0]["candidate"]
    assert (seed in [body["parent"] for body in lab.events("reflection")[1:]]) == seeds


def test_on_a_frontier_of_examples_only_the_latest_is_a_parent_where_each_beats_the_one_before(lab: Any) -> None:
    result = lab.search(score=better_with_words, write=longer, iterations=5, clean_weight=0.0)
    assert [body["parent"] for body in lab.events("reflection")] == [entry.candidate.id for entry in result.pool[:5]]


def test_a_search_ends_where_its_budget_is_used_and_counts_what_was_found_too(lab: Any) -> None:
    lab.search(score=better_with_words, write=longer, iterations=50, budget={"calls": 60})
    used = sum(size for phase, _, size in lab.judges.judged[1:])
    assert 60 <= used < 60 + 2 * 4 + 8
    iterations = len(lab.events("reflection"))
    assert iterations < 50
    again = lab.search(score=better_with_words, write=longer, iterations=50, budget={"calls": 60})
    assert lab.judges.judged == []
    assert len(lab.events("reflection")) == iterations
    assert again.proposals == iterations


def test_a_search_without_a_pair_in_reflect_is_refused(lab: Any, make_notes: Any) -> None:
    clean = Corpus(tuple(e for e in make_notes("r", 3).examples if e.label == "clean"), {})
    with pytest.raises(CampaignError, match="no reflect group has a flawed example with its twin"):
        lab.search(reflect=clean)


def test_an_error_within_a_parallel_iteration_stops_the_search_and_is_raised(lab: Any) -> None:
    def write(request: Any) -> str:
        if request.call == 2:
            raise ZeroDivisionError("a bug of a reflector")
        return longer(request)

    with pytest.raises(ZeroDivisionError, match="a bug of a reflector"):
        lab.search(score=better_with_words, write=write, parallel=3)
    assert [request.call for request in lab.reflector.requests] == [1, 2], "nothing is tried again after a failure"


def test_a_minibatch_with_too_few_scores_makes_a_proposal_invalid_and_is_not_judged_on_accept(lab: Any) -> None:
    def score(candidate: Candidate, example: Example, phase: str) -> float | None:
        failing = phase == "minibatch" and candidate.kind != "seed" and example.label == "clean"
        return None if failing else better_with_words(candidate, example, phase)

    result = lab.search(score=score, write=longer, iterations=1)
    assert (len(result.pool), result.invalid) == (1, 1)
    assert lab.events("outcome")[0]["reason"] == "only 0 of 4 minibatch examples scored for parent and child"


# -- resumption --------------------------------------------------------------------------------------------------------


class Interrupted(BaseException):
    """What a signal would raise."""


@pytest.mark.integration
def test_a_search_interrupted_after_each_of_its_events_ends_as_if_never_interrupted(
    lab: Any, make_lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def score(candidate: Candidate, example: Example, phase: str) -> float:
        words = sum(len(text.split()) for text in candidate.texts.values())
        drawn = (words * 37 + sum(example.id.encode())) % 40
        return 0.9 if example.label == "clean" else round(0.85 + 0.002 * drawn, 3)

    student = TwoBlocks()
    settings: dict[str, Any] = {
        "score": score,
        "write": lambda request: "" if request.iteration == 2 and request.call == 1 else longer(request),
        "student": student,
        "baseline": student.seed_texts,
        "seeds": [{"read": "Read on.", "judge": "Judge it."}],
        "iterations": 6,
        "parallel": 2,
        "minibatch_groups": 1,
        "merge": {"from_candidates": 2, "chance": 0.5},
        "acceptance": "full",
        "frontier": "both",
        "rare_traces": True,
    }
    whole = make_lab("whole")
    expected = whole.search(**settings)
    judged = whole.judges.judged
    assert {body["kind"] for body in whole.events("candidate")} == {"seed", "mutation", "merge"}
    assert {body["outcome"] for body in whole.events("outcome")} == {"accepted", "rejected", "invalid"}

    append, runs, seen = Ledger._append, 0, []

    def appended(self: Ledger, kind: str, body: Mapping[str, Any]) -> Any:
        event = append(self, kind, body)
        if kind not in OPERATIONAL:
            raise Interrupted
        return event

    monkeypatch.setattr(Ledger, "_append", appended)
    result = None
    while result is None:
        runs += 1
        with contextlib.suppress(Interrupted):
            result = lab.search(**settings)
        seen += lab.judges.judged
    events = [read_events(one.directory / "ledger.jsonl") for one in (whole, lab)]
    assert canonical_state(events[0]) == canonical_state(events[1])
    assert runs == len(events[0]) + 1
    assert sorted(seen) == sorted(judged), "nothing is judged twice"
    assert [entry.name for entry in result.pool] == [entry.name for entry in expected.pool]
