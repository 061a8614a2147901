"""The order of the protocol: what comes before what, who opened the held-out split, and where candidates come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lineage.audit.record import Finding, RunRecord
from lineage.ledger import OPERATIONAL, Event
from lineage.openings import is_look
from lineage.records import candidate_id

KNOWN: Final = (
    *("plan", "splits", "candidate", "evaluation", "calibration", "seal_opened", "measured", "word_overlap"),
    *("contamination", "reflection", "outcome", "choice", "verdict", "spend", "finished"),
)
SPLIT_OF: Final = {
    "calibrate": "accept",
    "accept": "accept",
    "minibatch": "reflect",
    "baseline": "heldout",
    "confirm": "heldout",
    "equal-budget": "heldout",
    "noise": "accept",
    "noise-reflect": "reflect",
}
OPENING_OF: Final = {"equal-budget": "confirm"}
"""Purposes of evaluations that are made within the opening of another name."""


def check_order(run: RunRecord) -> Iterator[Finding]:
    """Every type of event comes as often as it may, and after what it rests on."""
    for event in run.events:
        if event.type not in KNOWN and event.type not in OPERATIONAL:
            yield Finding("warning", f"seq {event.seq}", f"unknown event type {event.type!r}", "audit with its version")
    for kind in ("plan", "splits", "calibration", "choice", "verdict", "spend", "finished"):
        for event in run.all(kind)[1:]:
            yield Finding("error", f"seq {event.seq}", f"a second {kind}; there is one")
    if len(run.steps) > 1 and run.steps[1].type != "splits":
        yield Finding("error", f"seq {run.steps[1].seq}", "the splits are not recorded directly after the plan")
    for earlier, later in (("splits", "candidate"), ("choice", "verdict"), ("verdict", "spend"), ("spend", "finished")):
        before, after = run.first(earlier), run.first(later)
        if after is not None and (before is None or before.seq > after.seq):
            yield Finding("error", f"seq {after.seq}", f"{later} without a {earlier} before it")
    finished = run.first("finished")
    steps = [event for event in run.steps if not is_look(event)]
    if finished is not None and steps[-1] is not finished:
        yield Finding("error", f"seq {steps[-1].seq}", "an event of the campaign after its end")
    search = [event for event in run.steps if event.type in ("reflection", "outcome")]
    choice = run.first("choice")
    for event in search if choice is not None else []:
        if choice is not None and event.seq > choice.seq:
            yield Finding("error", f"seq {event.seq}", f"a {event.type} after the choice of the winner")
    for kind in ("evaluation", "measured"):
        baseline = next((event for event in run.all(kind) if event.body["purpose"] == "baseline"), None)
        if search and (baseline is None or baseline.seq > search[0].seq):
            words = (
                f"the search began before the baseline was {kind.replace('evaluation', 'judged')} on held-out examples"
            )
            yield Finding("error", f"seq {search[0].seq}", words)


def check_openings(run: RunRecord) -> Iterator[Finding]:
    """Held-out examples are judged inside a planned opening only, each made once and at its place.

    Any other opening is exploratory, and says why it was made.
    """
    opened: dict[str, Event] = {}
    reflected = run.first("reflection")
    choice = run.first("choice")
    for event in run.steps:
        place = f"seq {event.seq}"
        if is_look(event):
            if not event.body["exploratory"] or not event.body["purpose"]:
                yield Finding("error", place, "an exploratory opening without its purpose or its reason")
            if run.plan is not None and event.body["lock"] != run.plan.body["lock_hash"]:
                yield Finding("error", place, "its split lock is not the plan's")
        elif event.type == "seal_opened":
            opening = event.body["opening"]
            if opening in opened:
                yield Finding("error", place, f"the {opening} opening is made a second time")
            if opening not in ("baseline", "confirm"):
                yield Finding("error", place, f"{opening!r} is not a planned opening")
            if opening == "baseline" and reflected is not None and event.seq > reflected.seq:
                yield Finding("error", place, "the baseline opening comes after the search began")
            if opening == "confirm" and (choice is None or event.seq < choice.seq or "baseline" not in opened):
                yield Finding("error", place, "the confirm opening comes before the choice of the winner")
            opened[opening] = event
            if run.plan is not None:
                recorded = run.plan.body
                if (event.body["lock"], event.body["exploratory"]) != (recorded["lock_hash"], recorded["exploratory"]):
                    yield Finding("error", place, "its split lock or exploratory mark is not the plan's")
        elif event.type == "evaluation":
            purpose, split = event.body["purpose"], event.body["split"]
            if SPLIT_OF.get(purpose) != split:
                yield Finding("error", place, f"an evaluation for {purpose} on the split {split}")
            if split == "heldout" and (opening := OPENING_OF.get(purpose, purpose)) not in opened:
                yield Finding("error", place, f"held-out examples are judged outside the {opening} opening")


def check_lineage(run: RunRecord) -> Iterator[Finding]:
    """Every candidate is its texts' hash, has its parents before it, and comes to one outcome."""
    open_candidate: Event | None = None
    reflection: Event | None = None
    accepted: set[str] = set()
    for event in run.steps:
        body, place = event.body, f"seq {event.seq}"
        if event.type == "reflection":
            reflection = event
        elif event.type == "candidate":
            if open_candidate is not None:
                yield Finding("error", f"seq {open_candidate.seq}", "a candidate without an outcome")
            if candidate_id(body["texts"]) != body["candidate"]:
                yield Finding("error", place, "the candidate's id is not the hash of its texts")
            if (body["kind"] == "seed") != (not body["parents"]):
                yield Finding("error", place, "a seed has no parents, and every other candidate has")
            for parent in body["parents"]:
                if parent not in run.candidates:
                    yield Finding("error", place, f"its parent {parent[:12]} is no earlier candidate")
            if body["kind"] == "seed":
                accepted.add(body["candidate"])
            else:
                said = None if reflection is None else reflection.body
                if said is None or said["reflection"]["text"] not in body["texts"].values():
                    yield Finding("error", place, "the candidate's text is not what the reflection before it proposed")
                elif said["parent"] not in body["parents"] or said["reflection"]["operator"] != body["operator"]:
                    yield Finding("error", place, "the candidate's parent or operator is not its reflection's")
                open_candidate = event
            run.candidates.setdefault(body["candidate"], event)
        elif event.type == "outcome":
            proposed, open_candidate = open_candidate, None
            if proposed is None or proposed.body["candidate"] != body["candidate"]:
                yield Finding("error", place, "an outcome without its candidate, or a second one")
                continue
            if body["parents"] != proposed.body["parents"] or body["iteration"] != proposed.body["iteration"]:
                yield Finding("error", place, "the outcome's parents or iteration are not its candidate's")
            if body["outcome"] not in ("accepted", "rejected", "invalid"):
                yield Finding("error", place, f"{body['outcome']!r} is not an outcome")
            if body["outcome"] == "accepted":
                accepted.add(body["candidate"])
                if not _judged(run, proposed, event):
                    yield Finding("error", place, "an accepted candidate without an evaluation on accept")
        elif event.type == "evaluation":
            for unknown in [known for known in body["candidates"] if known not in run.candidates]:
                yield Finding("error", place, f"judges {unknown[:12]}, which is no candidate")
        elif event.type == "choice" and {row["candidate"] for row in body["ranking"]} != accepted:
            yield Finding("error", place, "does not rank the seed and every accepted candidate")
    if open_candidate is not None and run.first("choice") is not None:
        yield Finding("error", f"seq {open_candidate.seq}", "a candidate without an outcome")


def _judged(run: RunRecord, proposed: Event, outcome: Event) -> bool:
    return any(
        event.body["purpose"] == "accept" and event.body["candidates"] == [proposed.body["candidate"]]
        for event in run.all("evaluation")
        if proposed.seq < event.seq < outcome.seq
    )
