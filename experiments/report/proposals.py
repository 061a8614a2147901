"""The family of a search: the seed and every proposal with its parents, outcome and text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lineage.ledger import Event
from lineage.records import minibatch_gain
from lineage.tree import proposal_name
from optimize.texts import written_text

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A seed, or one proposal of the reflector.

    Attributes:
        name: ``seed`` or ``c`` and the iteration; a second seed, or proposal of one iteration, has ``.2`` after it.
        candidate: its id, the hash of its text. Two proposals of one text share it.
        parents: names of its parents.
        kind: ``seed``, ``mutation`` or ``merge``.
        operator: the edit that made it, ``llm``, or None for a seed.
        outcome: ``seed`` for the baseline, ``accepted``, ``rejected``, ``invalid``, or ``no outcome`` where the ledger
            has none.
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
    """Every candidate event with the reflection before it and the outcome after it."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    found: list[Proposal] = []
    for reflection, candidate, outcome in _steps(events):
        name = proposal_name(candidate["kind"], candidate["iteration"], taken)
        taken.add(name)
        names.setdefault(candidate["candidate"], name)
        before, after = outcome.get("parent_rewards", {}), outcome.get("child_rewards", {})
        decided = outcome.get("outcome", "no outcome") if found else "seed"
        in_pool = decided in ("seed", "accepted")
        found.append(
            Proposal(
                name=name,
                candidate=candidate["candidate"],
                parents=tuple(names.get(parent, parent[:12]) for parent in candidate["parents"]),
                kind=candidate["kind"],
                operator=candidate["operator"],
                outcome=decided,
                reason=outcome.get("reason", ""),
                why=reflection.get("why", ""),
                gain=minibatch_gain(before, after) if after else None,
                scored=len(after),
                standing=standings.get(candidate["candidate"]) if in_pool else None,
                leads=leads.get(candidate["candidate"]) if in_pool else None,
                text=written_text(candidate["texts"]),
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


def generation(depth: int) -> str:
    """Arrows before a name, one a generation; more than six are counted."""
    arrow = "\N{RIGHTWARDS ARROW} "
    return arrow * depth if depth <= 6 else f"{arrow}\N{MULTIPLICATION SIGN}{depth} "


def _steps(events: Sequence[Event]) -> Iterator[tuple[Row, Row, Row]]:
    """Reflection, candidate and outcome of each proposal, empty where there is none.

    An outcome is that of the latest proposal of its text that is open, as a repetition is decided at once.
    """
    reflection: Row = {}
    steps: list[list[Row]] = []
    undecided: dict[str, list[list[Row]]] = {}
    for event in events:
        if event.type == "reflection":
            reflection = event.body["reflection"]
        elif event.type == "candidate":
            steps.append([{} if event.body["kind"] == "seed" else reflection, event.body, {}])
            if len(steps) > 1:  # nothing decides on the baseline
                undecided.setdefault(event.body["candidate"], []).append(steps[-1])
        elif event.type == "outcome":
            undecided[event.body["candidate"]].pop()[2] = event.body
    yield from ((reflected, candidate, outcome) for reflected, candidate, outcome in steps)
