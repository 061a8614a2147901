"""One candidate whole: its texts, how it came about, what became of it and what was measured of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from lineage.errors import InputError
from lineage.ledger import Event
from lineage.spelling import suggestion
from lineage.tree import TreeRow, tree_rows

Row = Mapping[str, Any]

SHORTEST: Final = 4
"""Fewest characters of a candidate id that stand for it."""
WINNER: Final = "winner"


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """What the ledger holds of one proposal. Held-out numbers are left out until the campaign is decided.

    Attributes:
        row: its place in the family tree.
        texts: its named texts, whole.
        children: names of the proposals made from it.
        reflection: what the reflector was asked and answered, or None for a seed or where none is recorded.
        minibatch: ids of the reflect examples that the reflector read.
        rewards: of the parent and of the candidate on the minibatch, by example scored for both.
        accept: its measures on accept, or None; optimistic for whichever candidate is chosen by them.
        leads: accept examples on which it has the highest reward; None before the choice, or outside the pool.
        heldout: what the verdict says of it on held-out data; None before the verdict, and for all but the winner.
    """

    row: TreeRow
    texts: Mapping[str, str]
    children: tuple[str, ...] = ()
    reflection: Row | None = None
    minibatch: tuple[str, ...] = ()
    rewards: tuple[Mapping[str, float], Mapping[str, float]] = ({}, {})
    accept: Row | None = None
    leads: int | None = None
    heldout: Row | None = None

    def json(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


def read_candidates(events: Sequence[Event]) -> tuple[CandidateRecord, ...]:
    """Every proposal of a campaign, in order.

    Args:
        events: the campaign's events.

    Raises:
        LedgerError: an event names a candidate that no earlier event proposed.
    """
    rows = tree_rows(events)
    bodies = {event.seq: event.body for event in events if event.type == "candidate"}
    children: dict[int, list[str]] = {}
    for row in rows:
        for parent in row.parent_seqs:
            children.setdefault(parent, []).append(row.name)
    made, decided, accept = _around(events)
    choice = next((event.body for event in events if event.type == "choice"), None)
    verdict = next((event.body["verdict"] for event in events if event.type == "verdict"), None)
    found = []
    for row in rows:
        reflection, outcome = made.get(row.seq, {}), decided.get(row.seq, {})
        pooled = choice is not None and row.outcome in ("seed", "accepted")
        found.append(
            CandidateRecord(
                row=row,
                texts=dict(bodies[row.seq]["texts"]),
                children=tuple(children.get(row.seq, ())),
                reflection=reflection.get("reflection"),
                minibatch=tuple(reflection.get("minibatch", ())),
                rewards=(outcome.get("parent_rewards") or {}, outcome.get("child_rewards") or {}),
                accept=accept.get(row.seq),
                leads=choice.get("leads", {}).get(row.candidate) if choice is not None and pooled else None,
                heldout=None if verdict is None or not row.winner else verdict.get("heldout"),
            )
        )
    return tuple(found)


def find_candidate(records: Sequence[CandidateRecord], name: str) -> CandidateRecord:
    """The proposal of a name: ``seed``, ``c03``, ``winner``, or the beginning of a candidate id.

    Raises:
        InputError: there is none, or several; suggests the near name.
    """
    if name == WINNER:
        chosen = [record for record in records if record.row.winner]
        if not chosen:
            raise InputError("no winner is chosen yet; name a candidate, such as seed")
        if len(chosen) > 1:
            raise InputError(f"each target has a winner: name {' or '.join(record.row.name for record in chosen)}")
        return chosen[0]
    named = [record for record in records if record.row.name == name]
    begun = [record for record in records if len(name) >= SHORTEST and record.row.candidate.startswith(name)]
    found = named or begun
    if not found:
        raise InputError(f"there is no candidate {name!r}; {suggestion(name, [record.row.name for record in records])}")
    if len({record.row.candidate for record in found}) > 1:
        raise InputError(f"{name!r} begins the ids of {', '.join(r.row.name for r in found)}; give more of it")
    return found[0]


def _around(events: Sequence[Event]) -> tuple[dict[int, Row], dict[int, Row], dict[int, Row]]:
    """The reflection before each proposal, the outcome after it and its measures on accept, by its place."""
    made: dict[int, Row] = {}
    decided: dict[int, Row] = {}
    accept: dict[int, Row] = {}
    places: dict[str, list[int]] = {}
    reflection: Row | None = None
    for event in events:
        body = event.body
        if "reflection" in body:
            reflection = body
        elif event.type == "candidate":
            if reflection is not None and reflection["iteration"] == body["iteration"]:
                made[event.seq] = reflection
            reflection = None
            places.setdefault(body["candidate"], []).append(event.seq)
        elif (
            event.type == "outcome"
        ):  # of the latest proposal of the text that is open: a repetition is decided at once
            found = places[body["candidate"]]
            decided[next((place for place in reversed(found) if place not in decided), found[-1])] = body
        elif event.type == "measured" and body["purpose"] == "accept":
            accept[places[body["candidate"]][0]] = body["measures"]
    return made, decided, accept
