"""The candidates of a campaign as its events come, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lineage.errors import LedgerError
from lineage.ledger import Event
from lineage.tree import PENDING, proposal_name


@dataclass(slots=True)
class Member:
    """One proposal, as :class:`~lineage.tree.TreeRow` has it; ``arm`` is the one that it is in held-out numbers."""

    seq: int
    name: str
    candidate: str
    parents: tuple[Member, ...]
    texts: Mapping[str, str]
    outcome: str
    arm: str

    @property
    def key(self) -> str:
        """Of its run."""
        return str(self.seq)


class Family:
    """All proposals so far, each event in the time of one."""

    def __init__(self) -> None:
        self._members: dict[str, list[Member]] = {}
        self._names: set[str] = set()
        self._count = 0

    def propose(self, event: Event) -> Member:
        """The proposal of a ``candidate`` event.

        Raises:
            LedgerError: a parent is no candidate before it.
        """
        body = event.body
        name = body.get("name") or proposal_name(body["kind"], body["iteration"], self._names)
        self._names.add(name)
        parents = tuple(self.meant(parent, event) for parent in body["parents"])
        first = self._count == 0
        made = Member(
            event.seq,
            name,
            body["candidate"],
            parents,
            body["texts"],
            "seed" if first else PENDING,
            "baseline" if first else "winner",
        )
        self._members.setdefault(body["candidate"], []).append(made)
        self._count += 1
        return made

    def decide(self, event: Event) -> Member:
        """The proposal that an ``outcome`` event is about: the latest without one."""
        found = self._members.get(event.body["candidate"], [])
        one = next((member for member in reversed(found) if member.outcome == PENDING), None)
        one = one or self.meant(event.body["candidate"], event)
        one.outcome = event.body["outcome"]
        return one

    def meant(self, candidate: str, event: Event) -> Member:
        """The proposal that a candidate id means; an invalid repetition never does.

        Raises:
            LedgerError: it is no candidate before the event.
        """
        found = self._members.get(candidate)
        if not found:
            raise LedgerError(f"seq {event.seq}: {event.type} names {candidate[:12]}, which is no candidate before it")
        return next((member for member in found if member.outcome != "invalid"), found[0])

    def __iter__(self) -> Iterator[Member]:
        return (member for members in self._members.values() for member in members)
