"""What an imported lineage holds, read back for its report: candidates by target, published figures and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.report.proposals import Proposal
from lineage.canonical import digest_bytes, json_lines
from lineage.errors import LedgerError
from lineage.imported import published
from lineage.ledger import Event
from optimize.objectives import ScoredExamples
from optimize.texts import written_text

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """One search of an imported lineage.

    Attributes:
        name: of the target.
        proposals: its candidates, in order.
        accept: published measures on accept, by candidate id.
        scores: accept scores of the candidates that have published ones, by name.
        scale: highest score, by name of the candidate.
        comparisons: published comparisons by split.
        emitted: whether a prompt was emitted, or None where the source does not say.
    """

    name: str
    proposals: tuple[Proposal, ...]
    accept: Mapping[str, Row]
    scores: Mapping[str, ScoredExamples]
    scale: Mapping[str, float]
    comparisons: Mapping[str, Row]
    emitted: bool | None

    def id_of(self, role: str) -> str | None:
        """Candidate id of the ``baseline`` or the ``winner`` of its comparisons."""
        return next((row[role] for row in self.comparisons.values() if row.get(role)), None)

    def name_of(self, candidate: str | None) -> str:
        """Name of a candidate."""
        found = (proposal.name for proposal in self.proposals if proposal.candidate == candidate)
        return next(found, "unnamed" if candidate is None else candidate[:12])


@dataclass(frozen=True, slots=True)
class PublishedData:
    """An imported lineage."""

    body: Row
    targets: tuple[Target, ...]
    examples: int
    head: Row
    imported_at: str


def collect_published(directory: Path, events: Sequence[Event]) -> PublishedData:
    """Read an imported lineage from its verified events.

    Raises:
        LedgerError: its list of examples is not the one that the ledger recorded.
    """
    body = events[0].body
    examples = _examples(directory, events)
    return PublishedData(
        body=body,
        targets=tuple(_target(events, name, examples) for name in body["targets"]),
        examples=len(examples),
        head={"count": len(events), "hash": events[-1].hash},
        imported_at=events[0].at,
    )


def _examples(directory: Path, events: Sequence[Event]) -> list[dict[str, Any]]:
    recorded = next((event.body["examples"] for event in events if event.type == "examples"), None)
    if recorded is None:
        return []
    path = directory / "examples.jsonl"
    data = path.read_bytes() if path.is_file() else b""
    if digest_bytes(data) != recorded:
        raise LedgerError(f"{path}: is not the list of examples that the ledger recorded; import the lineage again")
    return list(json_lines(data.decode("utf-8")))


def _target(events: Sequence[Event], name: str, examples: Sequence[Row]) -> Target:
    outcomes = [event.body for event in events if event.type == "outcome" and event.body["target"] == name]
    accept = {row["candidate"]: row["measures"] for row in published(events, "accept", target=name)}
    proposals = _proposals(
        [e.body for e in events if e.type == "candidate" and e.body["target"] == name], outcomes, accept
    )
    names = {proposal.candidate: proposal.name for proposal in proposals}
    scores = {
        names[row["candidate"]]: row
        for row in published(events, "scores", target=name)
        if row["candidate"] in names and examples
    }
    return Target(
        name=name,
        proposals=proposals,
        accept=accept,
        scores={key: _scored(examples, row["scores"]) for key, row in scores.items()},
        scale={key: row["scale"] or _scale(row["scores"]) for key, row in scores.items()},
        comparisons={row["split"]: row for row in published(events, "comparison", target=name)},
        emitted=next((row["emitted"] for row in published(events, "decision", target=name)), None),
    )


def _proposals(bodies: Sequence[Row], outcomes: Sequence[Row], accept: Mapping[str, Row]) -> tuple[Proposal, ...]:
    names = {body["candidate"]: body["name"] for body in reversed(bodies)}
    found = []
    for body, outcome in zip(bodies, outcomes, strict=True):
        means, measures = outcome.get("minibatch"), accept.get(body["candidate"])
        found.append(
            Proposal(
                name=body["name"],
                candidate=body["candidate"],
                parents=tuple(names.get(parent, parent[:12]) for parent in body["parents"]),
                kind=body["kind"],
                operator=body["operator"],
                outcome=outcome["outcome"],
                reason=outcome["reason"] or "",
                why="",
                gain=None if not means or None in means.values() else means["child"] - means["parent"],
                scored=0,
                standing=None if measures is None else {"paired": measures.get("paired"), **measures},
                leads=None,
                text=written_text(body["texts"]) if body["texts"] else "",
                answer=None,
            )
        )
    return tuple(found)


def _scored(examples: Sequence[Row], scores: Mapping[str, float | None]) -> ScoredExamples:
    values = [scores.get(row["id"]) for row in examples]
    return ScoredExamples.of_columns(
        ids=[row["id"] for row in examples],
        groups=[row["group"] for row in examples],
        labels=[row["label"] for row in examples],
        scores=[float("nan") if value is None else value for value in values],
        twins=[row["twin"] for row in examples],
        attributes={
            "kind": [row["kind"] for row in examples],
            "trace": [row["trace"] for row in examples],
            "severity": [row["severity"] for row in examples],
            "stratum": [row["stratum"] for row in examples],
            "cohort": [row["cohort"] for row in examples],
        },
    )


def _scale(scores: Mapping[str, float | None]) -> float:
    """1 or 10, by the highest score, where the source does not say."""
    return 1.0 if max((score for score in scores.values() if score is not None), default=0.0) <= 1.0 else 10.0
