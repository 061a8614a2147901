"""The audit of an imported lineage: whether it is what its source was, and the numbers that can be computed again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from lineage.audit import Finding
from lineage.canonical import digest_bytes, json_lines
from lineage.errors import HoldgateError
from lineage.imported import EVENTS, is_imported, published
from lineage.ledger import OPERATIONAL, Event, read_events
from optimize.importing.records import imported_id
from optimize.importing.writing import EXAMPLES
from optimize.objectives import ScoredPair, detection_at_fa, paired_discrimination

PLACES: Final = 5e-5
"""Half a unit in the last printed place of a measure."""
ONLY_OURS: Final = ("prompt.md", "verdict.json", "plan.json", "judgements")
"""What a campaign of ours has, and an imported lineage never."""
AGAIN: Final = "import the source again: holdgate import"

Body = Mapping[str, Any]


def audit_imported(directory: Path) -> list[Finding]:
    """Every check of an imported lineage but that of its chain, which is as any ledger's.

    Returns:
        Findings; an ``info`` says what the source lacked, so that nobody takes silence for confirmation.
    """
    try:
        events = read_events(directory / "ledger.jsonl")
    except HoldgateError as error:
        return [Finding("error", "ledger.jsonl", str(error))]
    if not is_imported(events):
        return [Finding("error", "seq 0", "the ledger is not that of an imported lineage", AGAIN)]
    found: list[Finding] = []
    for check in (_check_types, _check_candidates, _check_published):
        try:
            found += check(events)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            words = f"a record does not have the form it must have ({check.__name__.strip('_')}: {error!r})"
            found.append(Finding("error", "ledger.jsonl", words, AGAIN))
    found += _files(directory, events)
    found += _stated(events)
    return found


def _check_types(events: Sequence[Event]) -> Iterator[Finding]:
    for event in events:
        if event.type in OPERATIONAL or event.type not in EVENTS:
            words = f"an event of type {event.type!r}, which no imported lineage has: it judges and decides nothing"
            yield Finding("error", f"seq {event.seq}", words, AGAIN)
    for event in [event for event in events if event.type == "imported"][1:]:
        yield Finding("error", f"seq {event.seq}", "a second event of type 'imported'; there is one", AGAIN)
    last = events[-1]
    if last.type != "finished":
        yield Finding("error", f"seq {last.seq}", "the import was not finished: events are missing", AGAIN)
        return
    counts = {kind: sum(event.type == kind for event in events) for kind in ("candidate", "published")}
    if (last.body["candidates"], last.body["published"]) != (counts["candidate"], counts["published"]):
        yield Finding("error", f"seq {last.seq}", "counts other events than the ledger has", AGAIN)


def _check_candidates(events: Sequence[Event]) -> Iterator[Finding]:
    """Ids, parents before children, and one outcome each."""
    seen: dict[str, Event] = {}
    decided: set[str] = set()
    for event in events:
        body, place = event.body, f"seq {event.seq}"
        if event.type == "candidate":
            if imported_id(body) != body["candidate"]:
                yield Finding("error", place, "the candidate's id is not that of its texts or its place", AGAIN)
            if body["candidate"] in seen:
                yield Finding("error", place, "a second candidate of this id", AGAIN)
            if {"seed": 0, "mutation": 1, "merge": 2}.get(body["kind"], -1) > len(body["parents"]):
                yield Finding("error", place, f"a {body['kind']} with {len(body['parents'])} parents", AGAIN)
            for parent in body["parents"]:
                if parent not in seen:
                    yield Finding("error", place, f"its parent {parent[:12]} is no earlier candidate", AGAIN)
            seen[body["candidate"]] = event
        elif event.type == "outcome":
            if body["candidate"] not in seen or body["candidate"] in decided:
                yield Finding("error", place, "an outcome without its candidate, or a second one", AGAIN)
            decided.add(body["candidate"])
        elif event.type == "published" and body.get("candidate", next(iter(seen), None)) not in seen:
            yield Finding("error", place, "published of a candidate that is none", AGAIN)
    for candidate in seen.keys() - decided:
        yield Finding("error", f"seq {seen[candidate].seq}", "a candidate without an outcome", AGAIN)


def _check_published(events: Sequence[Event]) -> Iterator[Finding]:
    """What was published of a candidate on accept, against its scores where they were published too."""
    stated = {body["candidate"]: body["measures"] for body in published(events, "accept")}
    for event in events:
        if event.type != "published" or event.body["of"] != "scores":
            continue
        measures = stated.get(event.body["candidate"], {})
        mean = fmean(event.body["scores"].values())
        if "score" in measures and abs(measures["score"] - mean) > PLACES:
            yield _differs(event, "mean score", measures["score"], mean)


def recomputed_measures(examples: Sequence[Body], scores: Mapping[str, float]) -> dict[str, float]:
    """Paired discrimination on omissions, and detection with its false alarms, from published scores.

    Args:
        examples: rows of the accept examples.
        scores: scores by example id, of all of them.
    """
    pairs = [
        ScoredPair(
            row["id"], row["group"], scores[row["id"]], scores[row["twin"]], row["label"], row["kind"], row["trace"]
        )
        for row in examples
        if row["label"] == "omission"
    ]
    clean = [scores[row["id"]] for row in examples if row["label"] == "clean"]
    swept = detection_at_fa([pair.score for pair in pairs], clean)
    return {
        "paired": paired_discrimination(pairs).value,
        "detection": swept.detection,
        "false_alarm": swept.false_alarm,
        "threshold": swept.threshold,
    }


def _files(directory: Path, events: Sequence[Event]) -> Iterator[Finding]:
    for name in ONLY_OURS:
        if (directory / name).exists():
            yield Finding("error", name, "an imported lineage has no such file: nothing was decided here", "remove it")
    listed = next((event for event in events if event.type == "examples"), None)
    path = directory / EXAMPLES
    if listed is None:
        if path.exists():
            yield Finding("error", EXAMPLES, "is in no event of the ledger", "remove it")
        return
    data = path.read_bytes() if path.is_file() else b""
    if digest_bytes(data) != listed.body["examples"]:
        yield Finding("error", EXAMPLES, "is not the example list that the ledger recorded (edited or missing)", AGAIN)
        return
    try:
        yield from _from_scores(events, json_lines(data.decode("utf-8")))
    except (KeyError, TypeError, ValueError, json.JSONDecodeError, HoldgateError) as error:
        yield Finding("error", EXAMPLES, f"the measures could not be computed again: {error!r}", AGAIN)


def _from_scores(events: Sequence[Event], examples: Sequence[Body]) -> Iterator[Finding]:
    stated = {body["candidate"]: body["measures"] for body in published(events, "accept")}
    again = 0
    for event in events:
        if event.type != "published" or event.body["of"] != "scores":
            continue
        computed = recomputed_measures(examples, event.body["scores"])
        for name, value in stated.get(event.body["candidate"], {}).items():
            if name in computed:
                again += 1
                if abs(value - computed[name]) > PLACES:
                    yield _differs(event, name, value, computed[name])
    if again:
        yield Finding("info", EXAMPLES, f"computed again from published scores: {again} measures", "nothing to do")


def _differs(event: Event, name: str, value: float, computed: float) -> Finding:
    words = f"{name} was published as {value:g}, and its published scores give {computed:g}"
    return Finding("warning", f"seq {event.seq}", words, "see what the source says of either")


def _stated(events: Sequence[Event]) -> Iterator[Finding]:
    body = events[0].body
    files = ", ".join(file["name"] for file in body.get("files", ()))
    words = f"imported from {body.get('format')} ({files}): nothing of it was measured or decided here"
    yield Finding("info", "seq 0", words, "nothing to do")
    for lacking in body.get("lacks", ()):
        yield Finding("info", "seq 0", f"the source lacks {lacking}", "nothing to do")
