"""MLflow against the ledger: what the mirror must hold, and what its local store holds, without a server."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from lineage.audit.mirrored import MirroredPrompt, MirroredRun, expected_store
from lineage.audit.mlflow_store import ARTIFACTS, Stored, StoredRun, read_store
from lineage.audit.record import Finding, RunRecord, Severity
from lineage.canonical import digest_bytes, pretty_json
from lineage.errors import LedgerError
from lineage.ledger import Event
from lineage.mirror.layout import PREFIX, TOP
from lineage.mirror.store import STATE

SQLITE: Final = "sqlite:///"
STORE: Final = "mlflow.db"
"""The local store of a run directory, unless another was named: beside it."""
SYNC: Final = "holdgate lineage sync RUN, into a new store if this one was edited"
COUNT: Final = f"{PREFIX}ledger.count"
TEXT: Final = "mlflow.prompt.text"
STATED: Final = ("campaign", "experiment", "mirrored", "run", "runs", "status", "tracking_uri")


def check_mirror(run: RunRecord) -> Iterator[Finding]:
    """The local MLflow store holds of this run what its ledger says, whole and nothing else."""
    if not run.events:
        return
    state, text = None, run.text(STATE)
    if text is not None:
        state = _state(text)
        if state is None:
            yield Finding("error", STATE, "is not what the mirror keeps there (edited)", SYNC)
            return
        if state["campaign"] != run.events[0].hash:
            yield Finding("error", STATE, "is of another campaign than the ledger", SYNC)
            return
        if not state["tracking_uri"].startswith(SQLITE):
            words = f"mirrored into {state['tracking_uri']}, a server, which an audit does not ask"
            yield Finding("info", STATE, words, "nothing to do; look at it with MLflow")
            return
    path = _store(run, state)
    if path is None:
        words = "not mirrored into MLflow" if state is None else f"its store {state['tracking_uri']} is not here"
        yield Finding("info", STATE, f"{words}: nothing to compare", "nothing to do, or holdgate lineage sync RUN")
        return
    place = _place(run, path)
    try:
        stored = read_store(path, run.events[0].hash)
    except (sqlite3.Error, OSError) as error:
        yield Finding("error", place, f"the MLflow store cannot be read ({error})", SYNC)
        return
    if state is None:
        if stored.runs:
            words = "is missing, while the store beside the run holds a mirror of it"
            yield Finding("warning", STATE, words, "holdgate lineage sync RUN, which writes it")
            yield from _compared(run, stored, place)
        else:
            yield Finding("info", STATE, "not mirrored into MLflow: nothing to compare", "holdgate lineage sync RUN")
        return
    yield from _remembered(run, stored, state)
    yield from _compared(run, stored, place)


# -- which store it is -------------------------------------------------------------------------------------------------


def _state(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not isinstance(found, dict) or sorted(found) != sorted(STATED) or pretty_json(found) != text:
        return None
    return found if isinstance(found["tracking_uri"], str) and urlsplit(found["tracking_uri"]).scheme else None


def _store(run: RunRecord, state: Mapping[str, Any] | None) -> Path | None:
    """The store: that of its name beside the run, as both may have been moved, or where it was."""
    if state is None:
        beside = run.directory.absolute().parent / STORE
        return beside if beside.is_file() else None
    there = Path(state["tracking_uri"].removeprefix(SQLITE))
    places = (run.directory.absolute().parent / there.name, there, run.directory.absolute().parent / STORE)
    return next((path for path in places if path.is_file()), None)


def _place(run: RunRecord, path: Path) -> str:
    return f"../{path.name}" if path.parent == run.directory.absolute().parent else str(path)


def _remembered(run: RunRecord, stored: Stored, state: Mapping[str, Any]) -> Iterator[Finding]:
    """What the run directory remembers of its mirror is what the store says."""
    top = next((one for one in stored.runs if one.tags.get(f"{PREFIX}key") == TOP), None)
    count = 0 if top is None else _number(top.tags.get(COUNT, "0"))
    said = {
        "run": None if top is None else top.id,
        "runs": len(stored.runs),
        "status": None if top is None else top.status,
        "experiment": None if top is None else stored.experiments.get(top.experiment),
        "mirrored": count,
    }
    # A process that is killed while it sends leaves a store that is behind the ledger and ahead of what is remembered.
    killed = isinstance(count, int) and state["mirrored"] <= count <= run.steps[-1].seq
    for name, value in said.items():
        if state[name] != value:
            words = f"{name} is {state[name]!r}, and the store says {value!r}"
            yield Finding("warning" if killed else "error", STATE, words, SYNC)
    there = Path(state["tracking_uri"].removeprefix(SQLITE))
    if not there.is_file() and top is not None:
        kept = Path(stored.locations.get(top.experiment, "").removeprefix("file://"))
        if kept.parent != there.parent or there.name != stored.path.name:
            words = f"names the store {there}, which is not there, nor was one where its artifacts say"
            yield Finding("error", STATE, words, SYNC)


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


# -- what it holds -----------------------------------------------------------------------------------------------------


def _compared(run: RunRecord, stored: Stored, place: str) -> Iterator[Finding]:
    by_key: dict[str, StoredRun] = {}
    for one in stored.runs:
        key = one.tags.get(f"{PREFIX}key", "")
        if key in by_key:
            yield Finding("error", f"{place} run {one.id}", f"a second run of {key!r}", SYNC)
        by_key[key] = one
    top = by_key.get(TOP)
    if top is None:
        yield Finding("error", place, "holds no run of this campaign", SYNC)
        return
    count = _number(top.tags.get(COUNT, "0"))
    steps = [event for event in run.steps if isinstance(count, int) and event.seq < count]
    behind = len(run.steps) - len(steps)
    if not isinstance(count, int) or (count and (not steps or steps[-1].seq + 1 != count)):
        words = f"says that {count!r} events are mirrored, and the ledger has no event before that"
        yield Finding("error", f"{place} run {top.id}", words, SYNC)
        return
    if behind:
        words = f"the mirror lacks the last {behind} events of the ledger"
        yield Finding("warning", place, words, "holdgate lineage sync RUN")
    if not steps:
        return
    version = max((found.version for found in stored.versions), default=None)
    ids = {key: one.id for key, one in by_key.items()}
    try:
        expected = expected_store(run.directory, steps, experiment_id=top.experiment, ids=ids, version=version)
    except LedgerError:  # a finding of its own
        words = "is not compared with a ledger whose judgements are damaged"
        yield Finding("warning", place, words, "restore the judgements first")
        return
    runs = expected.made
    # What a process that was killed had sent of the events that the mirror lacks is not told from an edit.
    severity: Severity = "warning" if behind else "error"
    for key in sorted({*by_key, *runs}):
        if key not in by_key:
            yield Finding("error", place, f"lacks the run of {_named(run, key)}", SYNC)
        elif key not in runs:
            where = f"{place} run {by_key[key].id}"
            yield Finding(severity, where, f"a run of {_named(run, key)}, which no mirrored event made", SYNC)
        else:
            where = f"{place} run {by_key[key].id}"
            for words in _differences(runs[key], by_key[key], stored, finished=steps[-1].type == "finished"):
                yield Finding(severity, where, f"{_named(run, key)}: {words}", SYNC)
            for file in _artifacts(runs[key], by_key[key], stored):
                words = "is not the artifact that the ledger gives it (edited or missing)"
                yield Finding(severity, file, words, SYNC)
    yield from _prompts(expected.prompts, stored, place)


def _named(run: RunRecord, key: str) -> str:
    event: Event | None = run.events[int(key)] if key.isdecimal() and int(key) < len(run.events) else None
    if event is None or event.type != "candidate":
        return "the campaign" if key == TOP else key
    return f"candidate {event.body['candidate'][:12]} (seq {key})"


def _differences(wanted: MirroredRun, found: StoredRun, stored: Stored, *, finished: bool) -> Iterator[str]:
    """Where a run differs from what it must be, in words; tags of others are theirs."""
    if (found.name, found.start, found.stage) != (wanted.name, wanted.start, "active"):
        yield f"is called {found.name!r}, begins at {found.start} and is {found.stage}"
    ended = wanted.ended
    if ended is None and (finished or found.status == "FINISHED"):
        yield f"has the status {found.status}, and no event ended it"
    elif ended is not None and (found.status, found.end) != ended:
        yield f"ended as {found.status} at {found.end}; the ledger says {ended[0]} at {ended[1]}"
    if found.artifacts != f"{stored.locations.get(found.experiment)}/{found.id}/artifacts":
        yield "its artifacts are not where its experiment has those of its runs"
    tags = {name: value for name, value in found.tags.items() if name.startswith(PREFIX) or name in wanted.tags}
    if not finished:  # how the last process ended is no event of the campaign
        tags.pop(f"{PREFIX}stopped", None)
    yield from _unequal("tag", {**wanted.tags, "mlflow.runName": wanted.name}, {**found.tags, **tags}, tags)
    yield from _unequal("parameter", wanted.params, found.params, found.params)
    metrics = {name: values[0] if len(values) == 1 else values for name, values in found.metrics.items()}
    yield from _unequal("metric", wanted.metrics, metrics, metrics)
    last: dict[str, tuple[float, int, int]] = {}
    for (name, step), (value, at) in sorted(wanted.metrics.items()):
        last[name] = (value, step, at)
    yield from _unequal("last metric", last, found.latest, found.latest)


def _unequal(what: str, wanted: Mapping[Any, Any], found: Mapping[Any, Any], ours: Mapping[Any, Any]) -> Iterator[str]:
    for name in sorted({*wanted, *ours}, key=str):
        if name not in found:
            yield f"lacks the {what} {_key(name)}"
        elif name not in wanted:
            yield f"has a {what} {_key(name)} that the ledger does not give it"
        elif found[name] != wanted[name]:
            yield f"the {what} {_key(name)} is {_short(found[name])}; the ledger says {_short(wanted[name])}"


def _key(name: Any) -> str:
    return str(name) if isinstance(name, str) else f"{name[0]} at step {name[1]}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _artifacts(wanted: MirroredRun, found: StoredRun, stored: Stored) -> Iterator[str]:
    """Where files of a run lie that are not what they must be."""
    for file, sha256 in sorted(wanted.files.items()):
        path = stored.artifact(found, file)
        if not path.is_file() or digest_bytes(path.read_bytes()) != sha256:
            yield f"{ARTIFACTS}/{found.id}/artifacts/{file}"


def _prompts(wanted: list[MirroredPrompt], stored: Stored, place: str) -> Iterator[Finding]:
    """The prompt registry has the prompt of a passing verdict, whole, and none of a refused one."""
    for prompt in wanted:
        same = [found for found in stored.versions if found.name == prompt.name]
        if len(same) != 1:
            words = f"the registry has {len(same)} versions of the prompt {prompt.name!r} from this campaign, not 1"
            yield Finding("error", place, words, SYNC)
            continue
        ours = {name: value for name, value in same[0].tags.items() if name.startswith(PREFIX) or name == TEXT}
        for words in _unequal("tag", {**prompt.tags, TEXT: prompt.text}, ours, ours):
            where = f"{place} prompt {prompt.name}/{same[0].version}"
            yield Finding("error", where, f"in the prompt registry: {words}", SYNC)
    names = {prompt.name for prompt in wanted}
    for found in stored.versions:
        if found.name not in names:
            where = f"{place} prompt {found.name}/{found.version}"
            yield Finding("error", where, "a prompt of this campaign, which emitted none", "delete that version")
