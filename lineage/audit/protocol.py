"""The order of the protocol: what comes before what, and who opened the held-out split."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lineage.audit.record import Finding, RunRecord
from lineage.ledger import OPERATIONAL, Event
from lineage.openings import is_look

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


def _split_of(run: RunRecord, purpose: str) -> str | None:
    """The split that an evaluation is of; the overfitting control puts reflect in the place of accept."""
    split = SPLIT_OF.get(purpose)
    controls = {} if run.plan is None else run.plan.body["plan"].get("controls", {})
    return "reflect" if split == "accept" and controls.get("accept_is_reflect") else split


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
            if _split_of(run, purpose) != split:
                yield Finding("error", place, f"an evaluation for {purpose} on the split {split}")
            if split == "heldout" and (opening := OPENING_OF.get(purpose, purpose)) not in opened:
                yield Finding("error", place, f"held-out examples are judged outside the {opening} opening")
