"""What an audit checks of a judging run, in place of what only a campaign has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lineage.audit.record import Finding, RunRecord
from lineage.canonical import digest, digest_bytes, json_lines, pretty_json
from lineage.ledger import OPERATIONAL
from lineage.openings import is_look

KIND: Final = "judging"
"""What the first event of a judging run says that it is; a campaign's does not say."""
_KNOWN: Final = ("plan", "examples", "candidate", "evaluation", "seal_opened", "table", "spend", "finished")


def is_judging(run: RunRecord) -> bool:
    """Whether a run directory is a judging run's."""
    return run.plan is not None and run.plan.body.get("kind") == KIND


def check_judging_registered(run: RunRecord) -> Iterator[Finding]:
    """Plan, split lock and example list are those that the ledger recorded before anything was judged."""
    assert run.plan is not None, "a judging run is known by it"
    body, listed = run.plan.body, run.first("examples")
    if digest(body["plan"]) != body["plan_hash"]:
        yield Finding("error", "seq 0", "the plan's hash is not the hash of the plan")
    if run.text("plan.json") != pretty_json(body["plan"]):
        yield Finding("error", "plan.json", "is not the plan that the ledger recorded (edited or missing)")
    text = run.text("split.lock.json")
    if (text is None) != (body["lock_hash"] is None):
        yield Finding("error", "split.lock.json", "is there without a lock in the ledger, or the reverse")
    elif text is not None:
        lock = run.json("split.lock.json")
        content = {key: value for key, value in lock.items() if key != "lock_hash"}
        if text != pretty_json(lock) or not digest(content) == lock.get("lock_hash") == body["lock_hash"]:
            words = "is not the split lock that the ledger recorded (edited or missing)"
            yield Finding("error", "split.lock.json", words)
    if listed is None:
        return
    rows_text = run.text("examples.jsonl")
    if rows_text is None or digest_bytes(rows_text.encode("utf-8")) != listed.body["examples"]:
        yield Finding("error", "examples.jsonl", "is not the example list that the ledger recorded (edited or missing)")
        return
    rows = json_lines(rows_text)
    run.examples = {row["id"]: row for row in rows}
    said = (listed.body["count"], listed.body["ids"], listed.body["groups"], {listed.body["split"]})
    groups, splits = {row["group"] for row in rows}, {row["split"] for row in rows}
    if said != (len(rows), digest(sorted(run.examples)), len(groups), splits):
        yield Finding("error", f"seq {listed.seq}", "its counts, ids or split are not those of the example list")


def check_judging_order(run: RunRecord) -> Iterator[Finding]:
    """Every registered judge is judged once, in order, on all examples; held-out ones behind an exploratory opening."""
    assert run.plan is not None, "a judging run is known by it"
    for event in run.events:
        if event.type not in (*_KNOWN, *OPERATIONAL):
            yield Finding("warning", f"seq {event.seq}", f"unknown event type {event.type!r}", "audit with its version")
    for kind in ("plan", "examples", "table", "spend", "finished"):
        for event in run.all(kind)[1:]:
            yield Finding("error", f"seq {event.seq}", f"a second {kind}; there is one")
    if len(run.steps) > 1 and run.steps[1].type != "examples":
        yield Finding("error", f"seq {run.steps[1].seq}", "the examples are not recorded directly after the plan")
    judges, listed = run.plan.body["judges"], run.first("examples")
    evaluations = run.all("evaluation")
    for event, judge in zip(evaluations, judges, strict=False):
        body, place = event.body, f"seq {event.seq}"
        wanted = (judge["name"], judge["student"], [judge["candidate"]])
        if (body["purpose"], body["student"], body["candidates"]) != wanted:
            yield Finding("error", place, f"is not the evaluation of {judge['name']} that was registered")
        examples = None if listed is None else {"count": listed.body["count"], "hash": listed.body["ids"]}
        if body["examples"] != examples or body["replicates"] != list(range(run.plan.body["plan"]["replicates"])):
            yield Finding("error", place, f"{judge['name']} did not judge the run's examples in all its replicates")
        if listed is not None and body["split"] != listed.body["split"]:
            yield Finding("error", place, f"judges the split {body['split']}, the run is of {listed.body['split']}")
    if len(evaluations) > len(judges):
        yield Finding("error", f"seq {evaluations[len(judges)].seq}", "an evaluation of a judge that is not registered")
    table = run.first("table")
    if table is not None and (len(evaluations) < len(judges) or evaluations[-1].seq > table.seq):
        yield Finding("error", f"seq {table.seq}", "the table comes before every judge has judged")
    finished = run.first("finished")
    if finished is not None and (table is None or run.steps[-1] is not finished):
        yield Finding("error", f"seq {finished.seq}", "the run ends without its table, or goes on after its end")


def check_judging_openings(run: RunRecord) -> Iterator[Finding]:
    """Held-out examples are judged behind an exploratory opening for a stated reason; nothing else opens the seal."""
    assert run.plan is not None, "a judging run is known by it"
    reason, opened = run.plan.body["exploratory"], False
    for event in run.steps:
        if event.type == "seal_opened":
            stated = (event.body["lock"], event.body["exploratory"]) == (run.plan.body["lock_hash"], reason)
            if not is_look(event) or not stated or not reason:
                words = "an opening that is not exploratory, or not for the reason that was registered"
                yield Finding("error", f"seq {event.seq}", words)
            opened = True
        elif event.type == "evaluation" and event.body["split"] == "heldout" and not opened:
            yield Finding("error", f"seq {event.seq}", "held-out examples are judged outside an opening")


def check_table(run: RunRecord) -> Iterator[Finding]:
    """The table file is the table that the ledger recorded."""
    table, finished, text = run.first("table"), run.first("finished"), run.text("table.json")
    if finished is None or table is None:
        if text is not None:
            yield Finding("error", "table.json", "there is a table file, but the ledger has no finished run")
        return
    head = {"count": finished.seq + 1, "hash": finished.hash}
    if text is None and run.events[-1] is finished:
        words = "is missing beside a finished ledger"
        yield Finding("warning", "table.json", words, "resume the run, which writes it")
    elif text != pretty_json({**table.body["table"], "ledger_head": head}):
        yield Finding("error", "table.json", "is not the table and head that the ledger recorded (edited or missing)")
