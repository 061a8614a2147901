"""The files that a ledger vouches for: plan, split lock and example list, and the segments of judgements."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from lineage.audit.record import Finding, RunRecord
from lineage.canonical import digest, digest_bytes, json_lines, pretty_json
from lineage.errors import LedgerError
from lineage.ledger import Event
from lineage.records import Judgement, stable
from lineage.segments import read_segment


def check_registered(run: RunRecord) -> Iterator[Finding]:
    """Plan and split lock are those that the ledger recorded before anything else."""
    if run.plan is None:
        yield Finding("error", "seq 0", "the first event is not the plan: it was not registered before the first call")
        return
    body = run.plan.body
    if digest(body["plan"]) != body["plan_hash"]:
        yield Finding("error", "seq 0", "the plan's hash is not the hash of the plan")
    if run.text("plan.json") != pretty_json(body["plan"]):
        yield Finding("error", "plan.json", "is not the plan that the ledger recorded (edited or missing)")
    text = run.text("split.lock.json")
    lock = {} if text is None else json.loads(text)
    content = {key: value for key, value in lock.items() if key != "lock_hash"}
    if text != pretty_json(lock) or not digest(content) == lock.get("lock_hash") == body["lock_hash"]:
        yield Finding("error", "split.lock.json", "is not the split lock that the ledger recorded (edited or missing)")
    elif lock["corpus_hash"] != body["corpus_hash"]:
        yield Finding("error", "split.lock.json", "was committed on another corpus than the campaign's")


def check_examples(run: RunRecord) -> Iterator[Finding]:
    """The example list is the recorded one, and its splits are those of the lock."""
    splits, text = run.first("splits"), run.text("examples.jsonl")
    if splits is None:
        return
    if text is None or digest_bytes(text.encode("utf-8")) != splits.body["examples"]:
        yield Finding("error", "examples.jsonl", "is not the example list that the ledger recorded (edited or missing)")
        return
    rows = json_lines(text)
    run.examples = {row["id"]: row for row in rows}
    lock = json.loads(run.text("split.lock.json") or "{}")
    places = {name: sorted(groups) for name, groups in lock["splits"].items()}
    listed = {name: sorted({row["group"] for row in rows if row["split"] == name}) for name in places}
    if listed != places or len(run.examples) != len(rows):
        yield Finding("error", "examples.jsonl", "its groups are not those of the split lock")
    groups = {name: len(found) for name, found in places.items()}
    if (groups, lock["counts"], lock["lock_hash"]) != tuple(splits.body[k] for k in ("groups", "counts", "lock_hash")):
        yield Finding("error", f"seq {splits.seq}", "its counts or lock hash are not those of the split lock")


def check_evaluations(run: RunRecord) -> Iterator[Finding]:
    """Every segment is the one recorded, complete, of its split, and nothing else lies beside it."""
    directory = run.directory / "judgements"
    expected: set[str] = set()
    for count, event in enumerate(run.all("evaluation"), start=1):
        body, place = event.body, f"seq {event.seq}"
        segment = body["segment"]
        file = f"judgements/{segment['name']}.jsonl"
        expected.add(f"{segment['name']}.jsonl")
        if segment["name"] != f"{count:04d}-{body['purpose']}":
            yield Finding("error", place, f"segment {segment['name']} is not the {count}th evaluation's")
        try:
            judged = read_segment(directory, segment)
        except LedgerError as error:
            yield Finding("error", file, str(error))
            continue
        yield from _segment(run, event, judged, file)
    following = f"{len(expected) + 1:04d}-"
    for path in sorted(directory.iterdir()) if directory.is_dir() else []:
        if path.name in expected:
            continue
        unfinished = path.name.startswith(".") or (not run.finished and path.name.startswith(following))
        words = "is in no event of the ledger" + (" (a process was killed between the two)" if unfinished else "")
        remedy = "resume the campaign, or remove the file" if unfinished else "find out where it comes from; remove it"
        yield Finding("warning" if unfinished else "error", f"judgements/{path.name}", words, remedy)


def _segment(run: RunRecord, event: Event, judged: tuple[Judgement, ...], file: str) -> Iterator[Finding]:
    body = event.body
    if digest(stable([judgement.row() for judgement in judged])) != body["segment"]["content"]:
        yield Finding("error", file, "its content does not have the recorded hash")
    states = Counter(judgement.status for judgement in judged)
    held = (len(judged), states["failed"], states["abstained"])
    if held != (body["segment"]["judgements"], body["failed"], body["abstained"]):
        words = f"holds {held[0]} judgements, {held[1]} failed, {held[2]} abstained; the ledger says otherwise"
        yield Finding("error", file, words)
    examples = sorted({judgement.example for judgement in judged})
    if {"count": len(examples), "hash": digest(examples)} != body["examples"]:
        yield Finding("error", file, "does not judge the examples that the evaluation was of")
    wanted = {(ex, cand, rep) for ex in examples for cand in body["candidates"] for rep in body["replicates"]}
    if Counter((j.example, j.candidate, j.replicate) for j in judged) != Counter(wanted):
        yield Finding("error", file, "does not judge every example once by each candidate in each replicate")
    if any(judgement.student != body["student"] for judgement in judged):
        yield Finding("error", file, "holds judgements of another student than the evaluation's")
    splits = run.first("splits")
    if splits is None or not run.examples:
        return
    listed = [run.examples[example] for example in examples if example in run.examples]
    if len(listed) < len(examples) or any(row["split"] != body["split"] for row in listed):
        yield Finding("error", file, f"judges examples outside the split {body['split']}")
    elif body["split"] == "accept" and (smaller := _accept_groups(run)) is not None:
        if len({row["group"] for row in listed}) != smaller:
            yield Finding("error", file, f"does not judge the {smaller} accept groups that the plan's control asks for")
    elif (
        body["split"] != "reflect"
        and Counter(row["kind"] for row in listed) != splits.body["counts"][body["split"]]["kind"]
    ):
        yield Finding("error", file, f"does not judge the whole split {body['split']}")


def _accept_groups(run: RunRecord) -> int | None:
    """Groups of accept that a control leaves, where there is one."""
    controls = {} if run.plan is None else run.plan.body["plan"].get("controls", {})
    groups: int | None = controls.get("accept_groups")
    return groups
