"""The frontier of a search: which accepted candidates have the highest reward on which accept examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lineage.canonical import json_lines
from lineage.errors import InputError, LedgerError
from lineage.imported import is_imported, published
from lineage.ledger import Event, read_events
from lineage.segments import read_segment
from lineage.tree import TreeRow, tree_rows
from optimize.evaluation import Evaluation
from splits.corpus import Example
from students.designs import DESIGNS

POOLED: Final = ("seed", "accepted")
"""Outcomes of the candidates that a search draws its parents from."""


@dataclass(frozen=True, slots=True)
class Leader:
    """One candidate of the pool.

    Attributes:
        row: its place in the family tree.
        rewards: its rewards on accept, by example; optimistic, as the winner is chosen on the same examples.
        alone: examples that it leads by itself, sorted.
        shared: examples on which others have the same highest reward, sorted.
    """

    row: TreeRow
    rewards: Mapping[str, float]
    alone: tuple[str, ...]
    shared: tuple[str, ...]

    @property
    def leads(self) -> int:
        """Examples that it leads, those that it shares included."""
        return len(self.alone) + len(self.shared)


@dataclass(frozen=True, slots=True)
class Frontier:
    """The pool of a search, in order of acceptance.

    Attributes:
        pool: every candidate of it, those that lead nowhere included.
        examples: the accept examples that have a reward from any candidate, sorted.
        groups: the group of each example.
        most: the highest reward that there can be on each: 1 of a flawed example, the plan's weight of a clean one.
        unscored: further candidates of the pool, whose rewards on single examples are not known.
    """

    pool: tuple[Leader, ...]
    examples: tuple[str, ...]
    groups: Mapping[str, str]
    most: Mapping[str, float]
    unscored: int = 0

    @property
    def leaders(self) -> tuple[Leader, ...]:
        """Those that lead somewhere, the one that leads most first, then the earlier."""
        return tuple(sorted((one for one in self.pool if one.leads), key=lambda one: (-one.leads, one.row.seq)))


def read_frontiers(directory: Path) -> dict[str, Frontier]:
    """The frontier of a campaign under an empty name, or those of an imported lineage by target.

    Raises:
        InputError: no candidate is judged on accept yet, or the directory holds no campaign.
        LedgerError: the ledger, the list of examples or a segment is damaged.
    """
    events = read_events(directory / "ledger.jsonl")
    if is_imported(events):
        found = _imported(events)
    elif is_campaign(events):
        plan, examples = events[0].body["plan"], read_examples(directory)
        rewards = accept_rewards(directory, events, plan, examples)
        found = {"": frontier_of(tree_rows(events), rewards, **scales(plan, examples))}
    else:
        raise InputError(f"{directory}: is no campaign, so that nothing was searched in it; name one that holdgate ran")
    if not any(frontier.examples for frontier in found.values()):
        raise InputError(f"{directory}: holds no candidate's rewards on single accept examples, which tell who leads")
    return found


def is_campaign(events: Sequence[Event]) -> bool:
    """Whether these are the events of a campaign or a trial of one: a plan with a search."""
    return bool(events) and events[0].type == "plan" and "search" in events[0].body["plan"]


def _imported(events: Sequence[Event]) -> dict[str, Frontier]:
    """Frontiers from published scores of single accept examples: each target has a pool of its own."""
    rows = tree_rows(events)
    target_of = {event.seq: event.body["target"] for event in events if event.type == "candidate"}
    found = {}
    for target in dict.fromkeys(target_of.values()):
        rewards: dict[str, dict[str, float]] = {
            body["candidate"]: body["scores"]
            for body in published(events, "scores", target=target)
            if body["split"] == "accept"
        }
        examples = sorted({example for scores in rewards.values() for example in scores})
        pool = [row for row in rows if target_of[row.seq] == target]
        most = max((value for scores in rewards.values() for value in scores.values()), default=1.0)
        groups, most_of = {example: example for example in examples}, dict.fromkeys(examples, most)
        found[target or ""] = frontier_of(pool, rewards, groups=groups, most=most_of)
    return found


def read_examples(directory: Path) -> dict[str, Example]:
    """The examples of a run directory by id, without their texts.

    Raises:
        LedgerError: their list is missing or not in its format.
    """
    try:
        rows = json_lines((directory / "examples.jsonl").read_text(encoding="utf-8"))
        fields = [{key: value for key, value in row.items() if key != "split"} for row in rows]
        return {row["id"]: Example(source="", document="", **row) for row in fields}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LedgerError(f"{directory}: examples.jsonl is missing or damaged ({error!r})") from error


def accept_rewards(
    directory: Path, events: Iterable[Event], plan: Mapping[str, Any], examples: Mapping[str, Example]
) -> dict[str, dict[str, float]]:
    """Rewards on accept that some of a run's evaluations hold, by candidate and example; no other split is read.

    Args:
        directory: the run directory.
        events: some of its events.
        plan: its plan, for the objective.
        examples: its examples by id.

    Raises:
        LedgerError: a segment is damaged, or judges an example that is not in the list.
    """
    scale, objective = DESIGNS[plan["student"]["shape"]].scale, plan["objective"]
    found: dict[str, dict[str, float]] = {}
    for event in events:
        if not is_on_accept(event):
            continue
        judged = read_segment(directory / "judgements", event.body["segment"])
        ids = sorted({judgement.example for judgement in judged})
        if unknown := [example for example in ids if example not in examples]:
            raise LedgerError(f"seq {event.seq}: judges {unknown[0]!r}, which is not in examples.jsonl")
        known = tuple(examples[example] for example in ids)
        for candidate in event.body["candidates"]:
            mine = tuple(judgement for judgement in judged if judgement.candidate == candidate)
            found[candidate] = Evaluation(candidate, known, mine).rewards(
                scale=scale, margin=objective["margin"], clean_weight=objective["clean_weight"]
            )
    return found


def is_on_accept(event: Event) -> bool:
    """Whether an event is an evaluation that parents and the winner are chosen by; no held-out one ever is."""
    return event.type == "evaluation" and event.body["purpose"] == "accept" and event.body["split"] != "heldout"


def scales(plan: Mapping[str, Any], examples: Mapping[str, Example]) -> dict[str, dict[str, Any]]:
    """The group of each example, and the highest reward that there can be on it."""
    weight = plan["objective"]["clean_weight"]
    return {
        "groups": {name: example.group for name, example in examples.items()},
        "most": {name: weight if example.label == "clean" else 1.0 for name, example in examples.items()},
    }


def frontier_of(
    rows: Iterable[TreeRow],
    rewards: Mapping[str, Mapping[str, float]],
    *,
    groups: Mapping[str, str],
    most: Mapping[str, float],
) -> Frontier:
    """The frontier.

    Args:
        rows: the proposals of the search, of which those that were accepted and the seeds are its pool.
        rewards: on accept, of every candidate judged there.
        groups: the group of each example.
        most: the highest reward that there can be on each.
    """
    accepted = [row for row in rows if row.outcome in POOLED]
    pooled = [row for row in accepted if row.candidate in rewards]
    best: dict[str, float] = {}
    for row in pooled:
        for example, value in rewards[row.candidate].items():
            best[example] = max(value, best.get(example, value))
    alone: dict[str, list[str]] = {row.candidate: [] for row in pooled}
    shared: dict[str, list[str]] = {row.candidate: [] for row in pooled}
    for example in sorted(best):
        leading = [row.candidate for row in pooled if rewards[row.candidate].get(example) == best[example]]
        for candidate in leading:
            (shared if len(leading) > 1 else alone)[candidate].append(example)
    pool = tuple(
        Leader(row, rewards[row.candidate], tuple(alone[row.candidate]), tuple(shared[row.candidate])) for row in pooled
    )
    return Frontier(pool, tuple(sorted(best)), groups, most, len(accepted) - len(pooled))
