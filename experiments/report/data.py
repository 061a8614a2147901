"""What a report is written from: a finished campaign read back from its run directory, verified on the way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.costs import UnitCost, heldout_costs
from experiments.report.arms import Arm, Judged, Measured, read_arm
from experiments.report.proposals import Proposal, read_proposals
from lineage.canonical import canonical_json, digest_bytes, json_lines
from lineage.errors import InputError, LedgerError
from lineage.ledger import OPERATIONAL, Event, check_head, read_events
from lineage.records import VOLATILE
from lineage.segments import read_segment
from optimize.equal_budget import PURPOSE as EQUAL_BUDGET
from splits.corpus import Example
from students.designs import DESIGNS

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
        accept: measures of the candidates evaluated on accept, by id; optimistic for whichever was chosen by it.
        on_accept: the baseline and the winner on accept, whole, by id.
        winner: the winner on held-out data; the baseline where no winner was compared with it there.
        baseline: the baseline on held-out data, from the pair that the gate read.
        drift: the first baseline, where the gate read a fresh one; else None.
        equal: the baseline at the winner's tokens on held-out data, where the plan asked for it and it was judged.
        judged: how many judgements each evaluation came to, and how many failed, by purpose.
        failures: reasons of failed judgements.
        spend: what the ``spend`` event has: paid, perhaps paid, limits and prices.
        costs: what judging one document of the held-out split cost, by candidate, winner and baseline.
        head: count and hash of the ledger at its ``finished`` event.
        begun: time of the first event.
        finished: time of the last.
        resumptions: how often the campaign was resumed on its way.
        stops: why it stopped on its way, each time.
        known: the first proposal of each text, by candidate id.
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
    accept: Mapping[str, Measured]
    on_accept: Mapping[str, Arm]
    winner: Arm
    baseline: Arm
    drift: Arm | None
    equal: Arm | None
    judged: tuple[Judged, ...]
    failures: tuple[str, ...]
    spend: Row
    costs: Mapping[str, tuple[UnitCost, ...]]
    head: Row
    begun: str
    finished: str
    resumptions: int
    stops: tuple[str, ...]
    known: Mapping[str, Proposal]

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
        shape = self.plan["plan"]["student"]["shape"]
        if (design := DESIGNS.get(shape)) is not None:
            return design.scale
        # A student of the user's own states none: scores above 1 are of judges that grade up to 10.
        scores = (*self.baseline.clean, *self.baseline.flawed, *self.winner.clean, *self.winner.flawed)
        return 10.0 if max(scores, default=0.0) > 1.0 else 1.0

    @property
    def known_in_order(self) -> tuple[Proposal, ...]:
        """The first proposal of each text, in the order in which they were made."""
        return tuple(proposal for proposal in self.proposals if self.known[proposal.candidate] is proposal)

    def proposal(self, candidate: str) -> Proposal:
        """The first proposal of a candidate's text."""
        return self.known[candidate]


def verified_events(directory: Path) -> tuple[Event, ...]:
    """The events of a run directory, checked.

    Raises:
        InputError: the directory holds no ledger.
        LedgerError: the ledger is not whole.
    """
    path = directory / "ledger.jsonl"
    if not path.is_file():
        raise InputError(f"{directory}: holds no ledger.jsonl; give the run directory of a campaign")
    events = read_events(path)
    check_head(path, events)
    return events


def collect(directory: Path, events: Sequence[Event] | None = None) -> ReportData:
    """Read and verify a finished campaign.

    Args:
        directory: the run directory.
        events: its events, where they are already verified.

    Raises:
        InputError: the directory holds no finished campaign.
        LedgerError: the ledger, the verdict, the examples or a segment is not what the ledger recorded.
    """
    events = verified_events(directory) if events is None else events
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
    _check_segments(segments, evaluations)

    def arms(purpose: str, *wanted: str) -> dict[str, Arm]:
        return {
            candidate: read_arm(segments, body, candidate, examples, standings.get(candidate, {}).get("threshold"))
            for body in evaluations
            if body["purpose"] == purpose
            for candidate in body["candidates"]
            if not wanted or candidate in wanted
        }

    on_accept = arms("accept", verdict["baseline"], verdict["winner"])
    accept = {arm.candidate: arm.measured for arm in on_accept.values()} | _measured(events, "accept")
    accept |= {
        candidate: arm.measured
        for body in evaluations
        if body["purpose"] == "accept" and (unmeasured := set(body["candidates"]) - set(accept))
        for candidate, arm in arms("accept", *unmeasured).items()
    }
    proposals = read_proposals(events, standings=standings, leads=choice["leads"])
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
        proposals=proposals,
        accept=accept,
        on_accept=on_accept,
        winner=confirm.get(verdict["winner"], baseline),
        baseline=baseline,
        drift=first if fresh is not None else None,
        equal=arms(EQUAL_BUDGET).get(verdict["baseline"]),
        judged=_judged(evaluations),
        failures=tuple(sorted({reason for body in evaluations for reason in body["failures"]})),
        spend=_body(events, "spend")[VOLATILE],
        costs=heldout_costs(events, segments, examples),
        head=head,
        begun=events[0].at,
        finished=last.at,
        resumptions=sum(event.type in OPERATIONAL and event.type == "resumed" for event in events),
        stops=tuple(str(event.body[VOLATILE].get("reason", "")) for event in events if event.type == "stopped"),
        known={proposal.candidate: proposal for proposal in reversed(proposals)},
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


def _check_segments(segments: Path, evaluations: Sequence[Row]) -> None:
    """Hashes of all segments, also of those whose judgements the report has no need of."""
    for body in evaluations:
        path = segments / f"{body['segment']['name']}.jsonl"
        if not path.is_file():
            raise LedgerError(f"{path}: the judgement segment {body['segment']['name']} is missing")
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != body["segment"][VOLATILE]["sha256"]:
                read_segment(segments, body["segment"])  # says what is wrong


def _measured(events: Sequence[Event], purpose: str) -> dict[str, Measured]:
    """Measures that the ledger has of its candidates."""
    return {
        event.body["candidate"]: Measured(event.body["candidate"], event.body["measures"])
        for event in events
        if event.type == "measured" and event.body["purpose"] == purpose
    }


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
