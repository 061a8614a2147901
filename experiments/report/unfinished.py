"""The report of a campaign that is not finished: what was planned and what was done, and no number of held-out data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.report.blocks import Block, Bullets, Document, Notice, Pairs, Paragraph, Pictures, Section, Table
from experiments.report.proposals import Proposal, family, generation, read_proposals
from experiments.report.record import budget_words
from experiments.report.selection import ROWS, shown
from experiments.report.tree import tree_picture
from experiments.report.wording import measure, model_words, split_words
from lineage.ledger import Event
from lineage.records import VOLATILE
from optimize.verdict_words import count_of

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UnfinishedData:
    """A campaign as far as its ledger goes.

    Attributes:
        plan: body of the ``plan`` event.
        splits: body of the ``splits`` event, or None where it did not come so far.
        step: what it was doing, in words.
        proposals: the seed and every proposal so far.
        accept: measures on accept so far, by candidate id.
        judged: judgements, failed and abstained ones, by purpose and split.
        exploratory: the reason of an exploratory campaign, or None.
        stops: why it stopped, each time.
        resumptions: how often it was resumed.
        paid: what was paid when it last stopped, by role and phase; None where it never stopped in good order.
        head: count and hash of the ledger.
        begun: time of the first event.
        last: time of the last.
    """

    plan: Row
    splits: Row | None
    step: str
    proposals: tuple[Proposal, ...]
    accept: Mapping[str, Row]
    judged: Mapping[tuple[str, str], tuple[int, int, int]]
    exploratory: str | None
    stops: tuple[str, ...]
    resumptions: int
    paid: Row | None
    head: Row
    begun: str
    last: str


def collect_unfinished(events: Sequence[Event]) -> UnfinishedData:
    """Read a campaign without a verdict from its verified events."""
    judged: dict[tuple[str, str], tuple[int, int, int]] = {}
    for event in events:
        if event.type == "evaluation":
            body = event.body
            before = judged.get((body["purpose"], body["split"]), (0, 0, 0))
            more = (body["segment"]["judgements"], body["failed"], body["abstained"])
            judged[body["purpose"], body["split"]] = (before[0] + more[0], before[1] + more[1], before[2] + more[2])
    accept = {
        event.body["candidate"]: event.body["measures"]
        for event in events
        if event.type == "measured" and event.body["purpose"] == "accept"
    }
    standings = {candidate: {"paired": row["omissions"]["value"]} for candidate, row in accept.items()}
    stops = [event.body[VOLATILE] for event in events if event.type == "stopped"]
    reasons = [event.body["exploratory"] for event in events if event.type == "seal_opened"]
    return UnfinishedData(
        plan=events[0].body,
        splits=next((event.body for event in events if event.type == "splits"), None),
        step=_step(events),
        proposals=read_proposals(events, standings=standings, leads={}),
        accept=accept,
        judged=judged,
        exploratory=next((reason for reason in (events[0].body.get("exploratory"), *reasons) if reason), None),
        stops=tuple(str(row.get("reason", "")) for row in stops),
        resumptions=sum(event.type == "resumed" for event in events),
        paid=stops[-1].get("paid") if stops else None,
        head={"count": len(events), "hash": events[-1].hash},
        begun=events[0].at,
        last=events[-1].at,
    )


def _step(events: Sequence[Event]) -> str:
    """The step that comes after what is recorded."""
    seen = {event.type for event in events}
    opened = {event.body["opening"] for event in events if event.type == "seal_opened"}
    purposes = {event.body["purpose"] for event in events if event.type == "evaluation"}
    if "verdict" in seen:
        return "its verdict is recorded, and its end is not"
    if "confirm" in opened:
        return "the winner is being compared with the baseline on held-out data"
    if "choice" in seen:
        return "the winner is chosen, and held-out data are not opened for it"
    if {"reflection", "outcome"} & seen:
        return "it is searching"
    if "baseline" in purposes:
        return "the baseline is measured, and the search has not begun"
    if "baseline" in opened:
        return "the baseline is being measured on held-out data"
    return "the baseline is being measured on accept"


def unfinished_document(data: UnfinishedData) -> Document:
    """The whole report."""
    name = data.plan["plan"]["name"]
    lead: list[Block] = [Notice("NOT FINISHED: there is no verdict, and no held-out number may be read before it.")]
    if data.plan.get("simulated"):
        lead.append(
            Notice("SIMULATED: the judge is a formula, not a model. No number here says anything of a real judge.")
        )
    if data.exploratory is not None:
        lead.append(Notice(f"EXPLORATORY, confirms nothing. The reason given: {data.exploratory}"))
    lead.append(Bullets(tuple(_findings(data))))
    sections = (_search(data), _rejected(data), _accept(data), _judgements(data), _spend(data), _record(data))
    return Document(name, f"No decision yet: {data.step}", tuple(lead), sections)


def _findings(data: UnfinishedData) -> Iterator[str]:
    search, made = data.plan["plan"]["search"], max(len(data.proposals) - 1, 0)
    planned = search["iterations"] * search.get("parallel", 1) + len(search.get("seeds", ()))
    yield f"Search: {made} of at most {planned} planned proposals are made."
    for reason in data.stops:
        yield f"Stopped: {reason}"
    if data.resumptions:
        yield f"Resumed {count_of(data.resumptions, 'time')}."
    yield f"The rule that the gate will read: {data.plan['plan']['gate']['rule']}."
    yield "Give the same command to go on; what was judged is not paid again."


def _search(data: UnfinishedData) -> Section:
    if not data.proposals:
        return Section("family", "Family of candidates", (Paragraph("No candidate is recorded yet."),))
    paired = {candidate: row["omissions"]["value"] for candidate, row in data.accept.items()}
    listed = shown(data.proposals, winner=None, most=ROWS)
    table = Table(
        f"Candidates so far, each below its parent. {listed.words('candidates')}".strip(),
        ("Name", "Parents", "Outcome", "Minibatch gain", "Reason"),
        tuple(
            (
                generation(depth) + one.name,
                ", ".join(one.parents) or "none",
                one.outcome,
                "not scored" if one.gain is None else f"{one.gain:+.4f} on {one.scored}",
                one.reason or ("where the search starts" if one.outcome == "seed" else "not decided"),
            )
            for depth, one in family(listed.proposals)
        ),
    )
    picture = tree_picture(data.proposals, winner=None, paired=paired)
    return Section("family", "Family of candidates", (Pictures((picture,)), table))


def _rejected(data: UnfinishedData) -> Section:
    turned = [one for one in data.proposals if one.outcome in ("rejected", "invalid")]
    words = f"{len(turned)} of {max(len(data.proposals) - 1, 0)} proposals so far; the table above has their reasons."
    return Section("rejected", "What the search rejected", (Paragraph(words),))


def _accept(data: UnfinishedData) -> Section:
    rows = tuple(
        (one.name, measure(data.accept[one.candidate]["omissions"]), measure(data.accept[one.candidate]["commissions"]))
        for one in data.proposals
        if one.standing is not None and one.candidate in data.accept
    )
    if not rows:
        return Section("accept", "Accept", (Paragraph("No candidate is measured on accept yet."),))
    more = "" if len(rows) <= ROWS else f" The first {ROWS} of {len(rows):,} are shown."
    caption = f"Paired discrimination on accept with 95% intervals; optimistic for whichever is chosen by it.{more}"
    return Section("accept", "Accept", (Table(caption, ("Candidate", "Omissions", "Commissions"), rows[:ROWS]),))


def _judgements(data: UnfinishedData) -> Section:
    if not data.judged:
        return Section("judged", "Denominators", (Paragraph("Nothing is judged yet."),))
    rows = tuple(
        (purpose, split_words(split), *(f"{count:,}" for count in counts))
        for (purpose, split), counts in data.judged.items()
    )
    head = ("Evaluation", "Split", "Judgements", "Failed", "Abstained")
    return Section("judged", "Denominators", (Table("Judgements so far.", head, rows),))


def _spend(data: UnfinishedData) -> Section:
    if not data.paid:
        words = "Not known here: spend is put into the ledger when a process stops in good order, or at the end."
        return Section("spend", "Spend", (Paragraph(words),))
    rows = tuple(
        (name, f"{row['calls']:,}", f"{row['prompt_tokens']:,}", f"{row['completion_tokens']:,}")
        for name, row in sorted(data.paid.items())
    )
    head = ("Phase", "Calls", "Prompt tokens", "Completion tokens")
    return Section("spend", "Spend", (Table("Paid calls when it last stopped.", head, rows),))


def _record(data: UnfinishedData) -> Section:
    body, student = data.plan, data.plan["plan"]["student"]
    groups = (
        "not committed"
        if data.splits is None
        else ", ".join(f"{split_words(name)} {count}" for name, count in sorted(data.splits["groups"].items()))
    )
    items = (
        ("Student", f"{student['shape']}, {model_words(student['model'])}"),
        ("Reasoning budget", budget_words(student["budget"])),
        ("Groups", groups),
        ("Plan hash", body["plan_hash"]),
        ("Split lock hash", body["lock_hash"]),
        ("Corpus hash", body["corpus_hash"]),
        ("Ledger head", f"{data.head['hash']} after {data.head['count']} events"),
        ("Begun", data.begun),
        ("Last event", data.last),
    )
    return Section("record", "Record", (Pairs(items),))
