"""The audit of a run directory's structure: the chain, the files it vouches for, and the order of the protocol.

It needs no corpus and no model. An unbroken chain shows that nothing was edited since it was written; a rewrite of
everything shows only against a head kept elsewhere (:func:`check_kept_head`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from lineage.canonical import digest, digest_bytes, pretty_json
from lineage.errors import LedgerError
from lineage.ledger import OPERATIONAL, Event, _read, check_head
from lineage.records import Judgement, candidate_id, stable
from lineage.segments import read_segment

Severity = Literal["error", "warning", "info"]
KNOWN: Final = (
    *("plan", "splits", "candidate", "evaluation", "calibration", "seal_opened", "measured", "word_overlap"),
    *("reflection", "outcome", "choice", "verdict", "spend", "finished"),
)
SPLIT_OF: Final = {
    "calibrate": "accept",
    "accept": "accept",
    "minibatch": "reflect",
    "baseline": "heldout",
    "confirm": "heldout",
}
RESTORE: Final = "restore the run directory from a copy; if there is none, do not rely on its result"


@dataclass(frozen=True, slots=True)
class Finding:
    """What an audit found at one place, and what to do. No finding is not a proof: see the head kept elsewhere."""

    severity: Severity
    place: str
    words: str
    remedy: str = RESTORE


@dataclass(slots=True)
class _Run:
    """A run directory whose chain holds, and the lookups that the checks share."""

    directory: Path
    events: tuple[Event, ...]
    steps: tuple[Event, ...] = ()
    finished: bool = False
    plan: Event | None = None
    candidates: dict[str, Event] = field(default_factory=dict)
    examples: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.steps = tuple(event for event in self.events if event.type not in OPERATIONAL)
        self.finished = any(event.type == "finished" for event in self.steps)
        self.plan = self.steps[0] if self.steps and self.steps[0].type == "plan" else None

    def all(self, kind: str) -> list[Event]:
        return [event for event in self.steps if event.type == kind]

    def first(self, kind: str) -> Event | None:
        return next((event for event in self.steps if event.type == kind), None)

    def text(self, name: str) -> str | None:
        path = self.directory / name
        return path.read_bytes().decode("utf-8") if path.is_file() else None


def audit_ledger(directory: Path) -> list[Finding]:
    """Check everything in a run directory that needs no recomputation of numbers.

    Returns:
        Findings in the order of the checks; without an ``error`` among them the directory is what its ledger says.
    """
    path = directory / "ledger.jsonl"
    if not path.is_file():
        return [Finding("error", "ledger.jsonl", "there is no ledger", "give the run directory of a campaign")]
    try:
        events, torn = _read(path)
    except LedgerError as error:
        return [Finding("error", "ledger.jsonl", str(error))]
    run = _Run(directory, events)
    found = list(_head(run, path, torn=torn))
    for check in (
        _registered,
        _examples,
        _order,
        _openings,
        _evaluations,
        _lineage,
        _choice,
        _verdict,
        _prompt,
        _state,
    ):
        found += _guarded(check, run)
    return found


def check_kept_head(directory: Path, head: str) -> list[Finding]:
    """Whether a head hash that was kept elsewhere is in the chain: what no rewrite of the whole directory can fake."""
    try:
        events, _ = _read(directory / "ledger.jsonl")
    except LedgerError as error:
        return [Finding("error", "ledger.jsonl", str(error))]
    for event in events:
        if event.hash == head.strip().lower():
            words = f"the kept head is event seq {event.seq}: it and everything before it is as it was"
            return [Finding("info", f"seq {event.seq}", words, "nothing to do")]
    words = f"the kept head {head} is the hash of no event: the ledger was rewritten, or the head is another campaign's"
    return [Finding("error", "ledger.jsonl", words)]


def _guarded(check: Callable[[_Run], Iterator[Finding]], run: _Run) -> list[Finding]:
    """The findings of one check; a body that lacks what its type must have is a finding too."""
    found: list[Finding] = []
    try:
        found.extend(check(run))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        words = f"a record does not have the form it must have ({check.__name__.strip('_')}: {error!r})"
        found.append(Finding("error", "ledger.jsonl", words))
    return found


def _head(run: _Run, path: Path, *, torn: bool) -> Iterator[Finding]:
    if torn:
        words = f"the last line (seq {len(run.events)}) has no terminator: a process was killed while writing it"
        yield Finding("warning", "ledger.jsonl", words, "resume the campaign, which repairs it")
    try:
        check_head(path, run.events)
    except LedgerError as error:
        try:
            check_head(path, run.events, repairing=True)
        except LedgerError:
            yield Finding("error", "ledger.head.json", str(error))
        else:
            killed = not run.finished or run.events[-1].type in OPERATIONAL
            yield Finding("warning" if killed else "error", "ledger.head.json", str(error), "resume the campaign")


def _registered(run: _Run) -> Iterator[Finding]:
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


def _examples(run: _Run) -> Iterator[Finding]:
    splits, text = run.first("splits"), run.text("examples.jsonl")
    if splits is None:
        return
    if text is None or digest_bytes(text.encode("utf-8")) != splits.body["examples"]:
        yield Finding("error", "examples.jsonl", "is not the example list that the ledger recorded (edited or missing)")
        return
    rows = [json.loads(line) for line in text.splitlines()]
    run.examples = {row["id"]: row for row in rows}
    lock = json.loads(run.text("split.lock.json") or "{}")
    places = {name: sorted(groups) for name, groups in lock["splits"].items()}
    listed = {name: sorted({row["group"] for row in rows if row["split"] == name}) for name in places}
    if listed != places or len(run.examples) != len(rows):
        yield Finding("error", "examples.jsonl", "its groups are not those of the split lock")
    groups = {name: len(found) for name, found in places.items()}
    if (groups, lock["counts"], lock["lock_hash"]) != tuple(splits.body[k] for k in ("groups", "counts", "lock_hash")):
        yield Finding("error", f"seq {splits.seq}", "its counts or lock hash are not those of the split lock")


def _order(run: _Run) -> Iterator[Finding]:
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
    if finished is not None and run.steps[-1] is not finished:
        yield Finding("error", f"seq {run.steps[-1].seq}", "an event of the campaign after its end")
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


def _openings(run: _Run) -> Iterator[Finding]:
    """Held-out examples are judged inside a planned opening only, each made once and at its place."""
    opened: dict[str, Event] = {}
    reflected = run.first("reflection")
    choice = run.first("choice")
    for event in run.steps:
        place = f"seq {event.seq}"
        if event.type == "seal_opened":
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
            if split == "heldout" and purpose not in opened:
                yield Finding("error", place, f"held-out examples are judged outside the {purpose} opening")


def _evaluations(run: _Run) -> Iterator[Finding]:
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


def _segment(run: _Run, event: Event, judged: tuple[Judgement, ...], file: str) -> Iterator[Finding]:
    body = event.body
    if digest(stable([judgement.row() for judgement in judged])) != body["segment"]["content"]:
        yield Finding("error", file, "its content does not have the recorded hash")
    failed = sum(judgement.score is None for judgement in judged)
    if (len(judged), failed) != (body["segment"]["judgements"], body["failed"]):
        yield Finding("error", file, f"holds {len(judged)} judgements, {failed} failed; the ledger says otherwise")
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
    elif (
        body["split"] != "reflect"
        and Counter(row["kind"] for row in listed) != splits.body["counts"][body["split"]]["kind"]
    ):
        yield Finding("error", file, f"does not judge the whole split {body['split']}")


def _lineage(run: _Run) -> Iterator[Finding]:
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


def _judged(run: _Run, proposed: Event, outcome: Event) -> bool:
    return any(
        event.body["purpose"] == "accept" and event.body["candidates"] == [proposed.body["candidate"]]
        for event in run.all("evaluation")
        if proposed.seq < event.seq < outcome.seq
    )


def _choice(run: _Run) -> Iterator[Finding]:
    choice = run.first("choice")
    if choice is None:
        return
    counts = Counter(event.body["outcome"] for event in run.all("outcome"))
    for outcome in ("accepted", "rejected", "invalid"):
        if choice.body[outcome] != counts[outcome]:
            words = f"counts {choice.body[outcome]} {outcome} candidates, the ledger holds {counts[outcome]}"
            yield Finding("error", f"seq {choice.seq}", words)
    if choice.body["winner"] != choice.body["ranking"][0]["candidate"]:
        yield Finding("error", f"seq {choice.seq}", "the winner is not the first of the ranking")
    seed = next((event.body["candidate"] for event in run.all("candidate") if event.body["kind"] == "seed"), None)
    confirm = [event for event in run.all("seal_opened") if event.body["opening"] == "confirm"]
    if choice.body["winner"] == seed and confirm:
        yield Finding(
            "error", f"seq {confirm[0].seq}", "the winner is the baseline, and confirm was opened all the same"
        )
    if choice.body["winner"] != seed and not confirm and run.first("verdict") is not None:
        yield Finding("error", f"seq {choice.seq}", "there is a verdict on a winner that was not confirmed")


def _verdict(run: _Run) -> Iterator[Finding]:
    event, finished, text = run.first("verdict"), run.first("finished"), run.text("verdict.json")
    if finished is None:
        if text is not None:
            yield Finding("error", "verdict.json", "there is a verdict file, but the ledger has no finished campaign")
    elif event is not None:
        head = {"count": finished.seq + 1, "hash": finished.hash}
        if text is None and run.events[-1] is finished:
            words = "is missing beside a finished ledger"
            yield Finding("warning", "verdict.json", words, "resume the campaign, which writes it")
        elif text != pretty_json({**event.body["verdict"], "ledger_head": head}):
            words = "is not the verdict and head that the ledger recorded (edited or missing)"
            yield Finding("error", "verdict.json", words)
        if finished.body["decision"] != event.body["verdict"]["decision"]:
            yield Finding("error", f"seq {finished.seq}", "the last decision is not the verdict's")
    if event is None:
        return
    verdict, place = event.body["verdict"], f"seq {event.seq}"
    if digest(verdict) != event.body["verdict_hash"]:
        yield Finding("error", place, "the verdict's hash is not the hash of the verdict")
    choice, plan = run.first("choice"), run.plan
    if choice is not None and verdict["winner"] != choice.body["winner"]:
        yield Finding("error", place, "the verdict is on another candidate than the chosen winner")
    if plan is not None:
        hashes = {"plan": plan.body["plan_hash"], "lock": plan.body["lock_hash"], "corpus": plan.body["corpus_hash"]}
        if any(verdict["hashes"][name] != value for name, value in hashes.items()):
            yield Finding("error", place, "the verdict's plan, lock or corpus hash is not the campaign's")
        if (verdict["exploratory"], verdict["simulated"]) != (plan.body["exploratory"], plan.body["simulated"]):
            yield Finding("error", place, "the verdict's exploratory or simulated mark is not the campaign's")
    students = {e.body["student"] for e in run.all("evaluation") if e.body["purpose"] != "calibrate"}
    if students != {verdict["hashes"]["student"]}:
        yield Finding("error", place, "the candidates were not all judged by the verdict's student")
    opened = next((e.body["comparison"] for e in run.all("seal_opened") if e.body["opening"] == "confirm"), None)
    if verdict["comparison"] != opened:
        yield Finding("error", place, "the verdict's place among the comparisons is not that of its opening")


def _prompt(run: _Run) -> Iterator[Finding]:
    """A prompt file exists exactly where the verdict passed."""
    event, text = run.first("verdict"), run.text("prompt.md")
    recorded = None if event is None else event.body["prompt"]
    emitted = event is not None and event.body["verdict"]["decision"] == "emit"
    if event is not None and (recorded is not None) != emitted:
        yield Finding(
            "error", f"seq {event.seq}", "a prompt is recorded although the verdict did not pass, or the reverse"
        )
    if emitted and event is not None and not event.body["verdict"]["confirmatory"]:
        yield Finding("error", f"seq {event.seq}", "an exploratory campaign emitted a prompt")
    if text is not None and not emitted:
        remedy = "remove it: it was not written by this campaign's verdict"
        yield Finding("error", "prompt.md", "there is a prompt file, but no passing verdict", remedy)
    elif emitted and text is None and not run.finished:
        yield Finding("warning", "prompt.md", "is not written yet", "resume the campaign, which writes it")
    elif emitted and (text is None or digest_bytes(text.encode("utf-8")) != recorded):
        yield Finding("error", "prompt.md", "is not the prompt that the ledger recorded (edited or missing)")


def _state(run: _Run) -> Iterator[Finding]:
    if not run.finished:
        last = run.events[-1].type if run.events else "nothing"
        words = f"the campaign is not finished: {len(run.events)} events, the last of them {last}"
        yield Finding("warning", "ledger.jsonl", words, "resume it with the same plan and run directory")
    if run.plan is not None and run.plan.body["exploratory"] is not None:
        words = f"exploratory ({run.plan.body['exploratory']}): its numbers confirm nothing"
        yield Finding("info", "seq 0", words, "confirm with a campaign that is not")
    if run.plan is not None and run.plan.body["simulated"]:
        yield Finding("info", "seq 0", "the judge is a simulation: nothing here is about a model", "nothing to do")
    resumed = sum(event.type == "resumed" for event in run.events)
    if resumed:
        yield Finding("info", "ledger.jsonl", f"the campaign was resumed {resumed} time(s)", "nothing to do")
