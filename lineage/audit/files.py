"""The files that a ledger vouches for: plan, split lock and example list, and the segments of judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lineage.audit.record import Finding, RunRecord
from lineage.audit.segments import Damaged, Judged, judged_segments
from lineage.audit.spend import sent_calls
from lineage.canonical import digest, digest_bytes, json_lines, pretty_json


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
    lock = run.json("split.lock.json")
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
    lock = run.json("split.lock.json")
    if not lock:
        return  # which is a finding of its own
    places = {name: sorted(groups) for name, groups in lock["splits"].items()}
    listed = {name: sorted({row["group"] for row in rows if row["split"] == name}) for name in places}
    if listed != places or len(run.examples) != len(rows):
        yield Finding("error", "examples.jsonl", "its groups are not those of the split lock")
    groups = {name: len(found) for name, found in places.items()}
    if (groups, lock["counts"], lock["lock_hash"]) != tuple(splits.body[k] for k in ("groups", "counts", "lock_hash")):
        yield Finding("error", f"seq {splits.seq}", "its counts or lock hash are not those of the split lock")


def check_evaluations(run: RunRecord) -> Iterator[Finding]:
    """Every segment is the one recorded, complete, of its split, and nothing else lies beside it."""
    directory, evaluations = run.directory / "judgements", run.all("evaluation")
    listed = _Listed.of(run)
    expected: set[str] = set()
    for count, judged in enumerate(judged_segments(directory, evaluations), start=1):
        body, place = judged.event.body, f"seq {judged.event.seq}"
        segment = body["segment"]
        file = f"judgements/{segment['name']}.jsonl"
        expected.add(f"{segment['name']}.jsonl")
        if segment["name"] != f"{count:04d}-{body['purpose']}":
            yield Finding("error", place, f"segment {segment['name']} is not the {count}th evaluation's")
        if isinstance(judged, Damaged):
            yield Finding("error", file, judged.words)
            continue
        run.sent.update(sent_calls(judged))
        yield from _segment(run, listed, judged, file)
    following = f"{len(expected) + 1:04d}-"
    for path in sorted(directory.iterdir()) if directory.is_dir() else []:
        if path.name in expected:
            continue
        unfinished = path.name.startswith(".") or (not run.finished and path.name.startswith(following))
        words = "is in no event of the ledger" + (" (a process was killed between the two)" if unfinished else "")
        remedy = "resume the campaign, or remove the file" if unfinished else "find out where it comes from; remove it"
        yield Finding("warning" if unfinished else "error", f"judgements/{path.name}", words, remedy)


@dataclass(slots=True)
class _Listed:
    """What the example list and the plan say of the splits, and what is known of lists of examples already."""

    counts: Mapping[str, Any] | None
    accept_groups: int | None
    known: dict[tuple[str, ...], tuple[str, Counter[str], frozenset[str], frozenset[str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, run: RunRecord) -> _Listed:
        """Of a run whose example list was read."""
        splits = run.first("splits")
        return cls(None if splits is None or not run.examples else splits.body["counts"], _accept_groups(run))

    def about(
        self, run: RunRecord, examples: Sequence[str]
    ) -> tuple[str, Counter[str], frozenset[str], frozenset[str]]:
        """Of sorted example ids: their hash, and kinds, splits and groups of those that are listed."""
        key = tuple(examples)
        if key not in self.known:
            rows = [run.examples.get(example, {}) for example in examples]
            splits, groups = (frozenset(str(row.get(name, "")) for row in rows) for name in ("split", "group"))
            kinds = Counter(str(row.get("kind", "")) for row in rows)
            self.known[key] = digest(list(examples)), kinds, splits, groups
        return self.known[key]


def _segment(run: RunRecord, listed: _Listed, judged: Judged, file: str) -> Iterator[Finding]:
    body, columns = judged.event.body, judged.columns
    if judged.content != body["segment"]["content"]:
        yield Finding("error", file, "its content does not have the recorded hash")
    states = Counter(columns["status"])
    held = (len(judged), states["failed"], states["abstained"])
    if held != (body["segment"]["judgements"], body["failed"], body["abstained"]):
        words = f"holds {held[0]} judgements, {held[1]} failed, {held[2]} abstained; the ledger says otherwise"
        yield Finding("error", file, words)
    examples = sorted(set(columns["example"]))
    hashed, kinds, splits, groups = listed.about(run, examples)
    if {"count": len(examples), "hash": hashed} != body["examples"]:
        yield Finding("error", file, "does not judge the examples that the evaluation was of")
    wanted = [(ex, one, rep) for ex in examples for one in sorted(body["candidates"]) for rep in body["replicates"]]
    made = list(zip(columns["example"], columns["candidate"], columns["replicate"], strict=True))
    if made != wanted and Counter(made) != Counter(wanted):
        yield Finding("error", file, "does not judge every example once by each candidate in each replicate")
    if set(columns["student"]) - {body["student"]}:
        yield Finding("error", file, "holds judgements of another student than the evaluation's")
    if listed.counts is None:
        return
    if splits != {body["split"]}:
        yield Finding("error", file, f"judges examples outside the split {body['split']}")
    elif body["split"] == "accept" and listed.accept_groups is not None:
        if len(groups) != listed.accept_groups:
            words = f"does not judge the {listed.accept_groups} accept groups that the plan's control asks for"
            yield Finding("error", file, words)
    elif body["split"] != "reflect" and kinds != listed.counts[body["split"]]["kind"]:
        yield Finding("error", file, f"does not judge the whole split {body['split']}")


def _accept_groups(run: RunRecord) -> int | None:
    """Groups of accept that a control leaves, where there is one."""
    controls = {} if run.plan is None else run.plan.body["plan"].get("controls", {})
    groups: int | None = controls.get("accept_groups")
    return groups
