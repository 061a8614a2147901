"""The family of a search: the seed and every proposal with its parents, outcome and text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from lineage.ledger import Event
from lineage.records import minibatch_gain
from students.shape import INSTRUCTION

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Proposal:
    """The seed, or one proposal of the reflector.

    Attributes:
        name: ``seed`` or ``c`` and the iteration; a second proposal of one iteration is ``.2``.
        candidate: its id, the hash of its text. Two proposals of one text share it.
        parents: names of its parents.
        kind: ``seed``, ``mutation`` or ``merge``.
        operator: the edit that made it, ``llm``, or None for the seed.
        outcome: ``seed``, ``accepted``, ``rejected``, ``invalid``, or ``no outcome`` where the ledger has none.
        reason: why, as recorded.
        why: what the reflector said of its proposal.
        gain: summed minibatch reward of child less parent over examples scored for both; None where it was not scored.
        scored: how many examples that is.
        standing: its row in the ranking on accept, or None.
        leads: accept examples on which it has the highest reward, ties counted for each; None outside the pool.
        text: its instruction; empty where the reflector's answer held none.
        answer: what a reflector model answered, or None.
    """

    name: str
    candidate: str
    parents: tuple[str, ...]
    kind: str
    operator: str | None
    outcome: str
    reason: str
    why: str
    gain: float | None
    scored: int
    standing: Row | None
    leads: int | None
    text: str
    answer: str | None


def read_proposals(
    events: Sequence[Event], *, standings: Mapping[str, Row], leads: Mapping[str, int]
) -> tuple[Proposal, ...]:
    """Every candidate event with the reflection before it and the outcome after it.

    The search makes one proposal at a time, so the outcome that follows a candidate is its own.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    found = []
    for reflection, candidate, outcome in _steps(events):
        name = _name(candidate, taken)
        taken.add(name)
        names.setdefault(candidate["candidate"], name)
        before, after = outcome.get("parent_rewards", {}), outcome.get("child_rewards", {})
        in_pool = candidate["kind"] == "seed" or outcome.get("outcome") == "accepted"
        found.append(
            Proposal(
                name=name,
                candidate=candidate["candidate"],
                parents=tuple(names.get(parent, parent[:12]) for parent in candidate["parents"]),
                kind=candidate["kind"],
                operator=candidate["operator"],
                outcome="seed" if candidate["kind"] == "seed" else outcome.get("outcome", "no outcome"),
                reason=outcome.get("reason", ""),
                why=reflection.get("why", ""),
                gain=minibatch_gain(before, after) if after else None,
                scored=len(after),
                standing=standings.get(candidate["candidate"]) if in_pool else None,
                leads=leads.get(candidate["candidate"]) if in_pool else None,
                text=candidate["texts"][INSTRUCTION],
                answer=reflection.get("answer"),
            )
        )
    return tuple(found)


def family(proposals: Sequence[Proposal]) -> Iterator[tuple[int, Proposal]]:
    """Proposals with their generation, each followed by its children; one with two parents stands under its first."""
    known = {proposal.name for proposal in proposals}
    children: dict[str, list[Proposal]] = {}
    for proposal in proposals:
        above = next((parent for parent in proposal.parents if parent in known), "")
        children.setdefault(above, []).append(proposal)
    waiting = [(0, proposal) for proposal in reversed(children.get("", []))]
    while waiting:
        depth, proposal = waiting.pop()
        yield depth, proposal
        waiting += [(depth + 1, child) for child in reversed(children.get(proposal.name, []))]


def _steps(events: Sequence[Event]) -> Iterator[tuple[Row, Row, Row]]:
    reflection: Row = {}
    candidate: Row | None = None
    for event in events:
        if event.type == "reflection":
            if candidate is not None:
                yield reflection, candidate, {}
                candidate = None
            reflection = event.body["reflection"]
        elif event.type == "candidate":
            if event.body["kind"] == "seed":
                yield {}, event.body, {}
            else:
                candidate = event.body
        elif event.type == "outcome" and candidate is not None:
            yield reflection, candidate, event.body
            candidate = None
    if candidate is not None:
        yield reflection, candidate, {}


def _name(candidate: Row, taken: set[str]) -> str:
    name = "seed" if candidate["kind"] == "seed" else f"c{candidate['iteration']:02d}"
    return next(tried for tried in chain([name], (f"{name}.{number}" for number in count(2))) if tried not in taken)
