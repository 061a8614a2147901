"""What a report is written from: a finished campaign read back from its run directory, verified on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.costs import UnitCost, heldout_costs
from experiments.report.arms import Arm, Judged, read_arm
from experiments.report.proposals import Proposal, read_proposals
from lineage.canonical import canonical_json, digest_bytes, json_lines
from lineage.errors import InputError, LedgerError
from lineage.ledger import OPERATIONAL, Event, check_head, read_events
from lineage.records import VOLATILE
from splits.corpus import Example

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReportData:
    """A finished campaign.

    Attributes:
        plan: body of the ``plan`` event: the plan, its hash, the baseline's text, versions.
        splits: body of the ``splits`` event: groups and counts of each split.
        verdict: the verdict as in ``verdict.json``.
        prompt: SHA-256 of the emitted prompt file, or None where none was emitted.
        choice: body of the ``choice`` event: ranking on accept, frontier leads.
        calibration: body of the ``calibration`` event of a per-fact student, or None.
        openings: bodies of the ``seal_opened`` events.
        overlap: paired discrimination of plain word overlap on held-out omissions, or None where there are no facts.
        contamination: bodies of the ``contamination`` events; none where a version ran it that did not look.
        proposals: the seed and every proposal, in order of the ledger.
        accept: candidates evaluated on accept, by id; optimistic for whichever was chosen by it.
        winner: the winner on held-out data; the baseline where no winner was compared with it there.
        baseline: the baseline on held-out data, from the pair that the gate read.
        drift: the first baseline, where the gate read a fresh one; else None.
        judged: how many judgements each evaluation came to, and how many failed, by purpose.
        failures: reasons of failed judgements.
        spend: what the ``spend`` event has: paid, perhaps paid, limits and prices.
        costs: what judging one document of the held-out split cost, by candidate, winner and baseline.
        head: count and hash of the ledger at its ``finished`` event.
        begun: time of the first event.
        finished: time of the last.
        resumptions: how often the campaign was resumed on its way.
    """

    plan: Row
    splits: Row
    verdict: Row
    verdict_hash: str
    prompt: str | None
    choice: Row
    calibration: Row | None
    openings: tuple[Row, ...]
    overlap: Row | None
    contamination: tuple[Row, ...]
    proposals: tuple[Proposal, ...]
    accept: Mapping[str, Arm]
    winner: Arm
    baseline: Arm
    drift: Arm | None
    judged: tuple[Judged, ...]
    failures: tuple[str, ...]
    spend: Row
    costs: Mapping[str, tuple[UnitCost, ...]]
    head: Row
    begun: str
    finished: str
    resumptions: int

    @property
    def found(self) -> bool:
        """Whether the choice was another candidate than the baseline."""
        return bool(self.verdict["winner"] != self.verdict["baseline"])

    @property
    def confirmed(self) -> bool:
        """Whether the winner was compared with the baseline on held-out data."""
        return "heldout" in self.verdict

    @property
    def scale(self) -> float:
        """The student's score of a flawless document."""
        return 10.0 if self.plan["plan"]["student"]["shape"] == "whole-note" else 1.0

    def proposal(self, candidate: str) -> Proposal:
        """The first proposal of a candidate's text."""
        return next(proposal for proposal in self.proposals if proposal.candidate == candidate)


def collect(directory: Path) -> ReportData:
    """Read and verify a finished campaign.

    Raises:
        InputError: the directory holds no finished campaign.
        LedgerError: the ledger, the verdict, the examples or a segment is not what the ledger recorded.
    """
    path = directory / "ledger.jsonl"
    if not path.is_file():
        raise InputError(f"{directory}: holds no ledger.jsonl; give the run directory of a campaign")
    events = read_events(path)
    check_head(path, events)
    last = next((event for event in events if event.type == "finished"), None)
    if last is None:
        raise InputError(f"{directory}: the campaign has no verdict yet; resume it, and write the report then")
    events = events[: last.seq + 1]
    head = {"count": last.seq + 1, "hash": last.hash}
    decided = _body(events, "verdict")
    verdict = dict(decided["verdict"])
    _check_verdict(directory / "verdict.json", {**verdict, "ledger_head": head})
    examples = _examples(directory / "examples.jsonl", _body(events, "splits")["examples"])

    choice = _body(events, "choice")
    standings = {row["candidate"]: row for row in choice["ranking"]}
    evaluations = [event.body for event in events if event.type == "evaluation"]
    segments = directory / "judgements"

    def arms(purpose: str) -> dict[str, Arm]:
        return {
            candidate: read_arm(segments, body, candidate, examples, standings.get(candidate, {}).get("threshold"))
            for body in evaluations
            if body["purpose"] == purpose
            for candidate in body["candidates"]
        }

    first, confirm = arms("baseline")[verdict["baseline"]], arms("confirm")
    fresh = confirm.get(verdict["baseline"])
    baseline = fresh or first
    return ReportData(
        plan=_body(events, "plan"),
        splits=_body(events, "splits"),
        verdict=verdict,
        verdict_hash=decided["verdict_hash"],
        prompt=decided["prompt"],
        choice=choice,
        calibration=next((event.body for event in events if event.type == "calibration"), None),
        openings=tuple(event.body for event in events if event.type == "seal_opened"),
        overlap=next((event.body["omissions"] for event in events if event.type == "word_overlap"), None),
        contamination=tuple(event.body for event in events if event.type == "contamination"),
        proposals=read_proposals(events, standings=standings, leads=choice["leads"]),
        accept=arms("accept"),
        winner=confirm.get(verdict["winner"], baseline),
        baseline=baseline,
        drift=first if fresh is not None else None,
        judged=_judged(evaluations),
        failures=tuple(sorted({reason for body in evaluations for reason in body["failures"]})),
        spend=_body(events, "spend")[VOLATILE],
        costs=heldout_costs(events, segments, examples),
        head=head,
        begun=events[0].at,
        finished=last.at,
        resumptions=sum(event.type in OPERATIONAL and event.type == "resumed" for event in events),
    )


def _body(events: Sequence[Event], kind: str) -> Row:
    found = next((event.body for event in events if event.type == kind), None)
    if found is None:
        raise LedgerError(f"the ledger is finished but holds no event of type {kind!r}; it is not one of a campaign")
    return found


def _check_verdict(path: Path, recorded: Row) -> None:
    if not path.is_file():
        raise LedgerError(f"{path} is missing beside a finished ledger; resume the campaign to write it again")
    if canonical_json(json.loads(path.read_text(encoding="utf-8"))) != canonical_json(recorded):
        raise LedgerError(f"{path}: is not the verdict that the ledger recorded; resume the campaign to write it again")


def _examples(path: Path, recorded: str) -> tuple[Example, ...]:
    """Examples without their texts, which the run directory does not hold."""
    data = path.read_bytes() if path.is_file() else b""
    if digest_bytes(data) != recorded:
        raise LedgerError(f"{path}: is not the list of examples that the ledger recorded; restore it")
    rows = json_lines(data.decode("utf-8"))
    fields = ("id", "group", "stratum", "label", "kind", "severity", "trace", "twin", "fact")
    return tuple(
        Example(**{name: row[name] for name in fields}, meta=row.get("meta", {}), source="", document="")
        for row in rows
    )


def _judged(evaluations: Sequence[Row]) -> tuple[Judged, ...]:
    found: dict[tuple[str, str], list[int]] = {}
    for body in evaluations:
        total = found.setdefault((body["purpose"], body["split"]), [0, 0, 0])
        total[0] += body["segment"]["judgements"]
        total[1] += body["failed"]
        total[2] += body["abstained"]
    return tuple(Judged(purpose, split, *counts) for (purpose, split), counts in found.items())


def versions(data: ReportData) -> Row:
    """Versions and platform of the process that registered the plan."""
    return dict(data.plan[VOLATILE])
