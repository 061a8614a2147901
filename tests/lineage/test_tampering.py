"""Two hundred random changes to a finished, mirrored run, one at a time: the audit names each; and what it cannot."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lineage.audit import Finding, audit_ledger, check_kept_head
from lineage.canonical import canonical_json, digest, digest_bytes, pretty_json
from lineage.ledger import GENESIS, read_events
from lineage.mirror import sync
from lineage.records import stable
from optimize.recompute import audit_numbers

pytestmark = pytest.mark.integration
STORE = "mlflow.db"
FILES = (
    *("plan.json", "split.lock.json", "split.lock.register.jsonl", "examples.jsonl", "prompt.md", "verdict.json"),
    *("ledger.head.json", "mlflow.json"),
)


class Place:
    """A finished run with its mirror, that can be changed and is whole again afterwards."""

    def __init__(self, root: Path) -> None:
        self.root, self.run = root, root / "run"
        self._whole = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}

    def restore(self) -> None:
        for path in [path for path in self.root.rglob("*") if path.is_file() and path not in self._whole]:
            path.unlink()
        for path, data in self._whole.items():
            if not path.is_file() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)


@pytest.fixture(scope="module")
def mirrored(finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    root = tmp_path_factory.mktemp("tampered")
    shutil.copytree(finished_run, root / "run")
    sync(root / "run" / "ledger.jsonl", tracking_uri=f"sqlite:///{root / STORE}", experiment="tampering")
    return Place(root)


@pytest.fixture
def place(mirrored: Place) -> Iterator[Place]:
    yield mirrored
    mirrored.restore()


def audit(run: Path) -> list[Finding]:
    """What the command does: the structure, and the numbers of a run whose structure holds."""
    found = audit_ledger(run)
    return found if any(one.severity == "error" for one in found) else [*found, *audit_numbers(run)]


def errors(run: Path) -> list[Finding]:
    return [found for found in audit(run) if found.severity == "error"]


# -- changes: each makes one, and says what the audit must name --------------------------------------------------------

Change = Callable[[Place, random.Random], str]


def flip(path: Path, rng: random.Random) -> int:
    """Change one byte to any other; its place."""
    data = bytearray(path.read_bytes())
    place = rng.randrange(len(data))
    data[place] ^= rng.randrange(1, 256)
    path.write_bytes(bytes(data))
    return place


def ledger_lines(place: Place) -> list[bytes]:
    return (place.run / "ledger.jsonl").read_bytes().splitlines(keepends=True)


def write_lines(place: Place, lines: list[bytes]) -> None:
    (place.run / "ledger.jsonl").write_bytes(b"".join(lines))


def ledger_byte(place: Place, rng: random.Random) -> str:
    lines = ledger_lines(place)
    at = flip(place.run / "ledger.jsonl", rng)
    return f"seq {next(seq for seq in range(len(lines)) if at < sum(map(len, lines[: seq + 1])))}"


def event_dropped(place: Place, rng: random.Random) -> str:
    lines = ledger_lines(place)
    seq = rng.choice([rng.randrange(len(lines)), len(lines) - 1])
    write_lines(place, lines[:seq] + lines[seq + 1 :])
    return f"seq {seq}"


def events_swapped(place: Place, rng: random.Random) -> str:
    lines = ledger_lines(place)
    one, other = sorted(rng.sample(range(len(lines)), 2))
    lines[one], lines[other] = lines[other], lines[one]
    write_lines(place, lines)
    return f"seq {one}"


def events_truncated(place: Place, rng: random.Random) -> str:
    lines = ledger_lines(place)
    kept = rng.randrange(1, len(lines))
    write_lines(place, lines[:kept])
    return f"seq {kept}"


def segment_byte(place: Place, rng: random.Random) -> str:
    path = rng.choice(sorted((place.run / "judgements").iterdir()))
    flip(path, rng)
    return f"judgements/{path.name}"


def judgement_edited(place: Place, rng: random.Random) -> str:
    path = rng.choice(sorted((place.run / "judgements").iterdir()))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    row = rng.choice(rows)
    row["score"] = round(1 - row["score"], 3) if row["score"] != 0.5 else 0.6
    path.write_text("".join(canonical_json(one) + "\n" for one in rows))
    return f"judgements/{path.name}"


def judgement_dropped(place: Place, rng: random.Random) -> str:
    path = rng.choice(sorted((place.run / "judgements").iterdir()))
    lines = path.read_text().splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    path.write_text("".join(lines))
    return f"judgements/{path.name}"


def file_byte(place: Place, rng: random.Random) -> str:
    name = rng.choice(FILES)
    flip(place.run / name, rng)
    return name


def file_missing(place: Place, rng: random.Random) -> str:
    names = [name for name in FILES if name not in ("verdict.json", "mlflow.json", "split.lock.register.jsonl")]
    name = rng.choice([*names, *(f"judgements/{path.name}" for path in (place.run / "judgements").iterdir())])
    (place.run / name).unlink()
    return name


def candidate_renamed(place: Place, rng: random.Random) -> str:
    """Everywhere in the ledger, in the judgements, or in the mirror."""
    events = read_events(place.run / "ledger.jsonl")
    candidate = rng.choice(sorted({event.body["candidate"] for event in events if event.type == "candidate"}))
    name = digest(candidate)
    where = rng.choice(["ledger", "judgements", "mirror"])
    if where == "mirror":
        with closing(sqlite3.connect(place.root / STORE)) as store, store:
            query = "UPDATE tags SET value = ? WHERE key = 'holdgate.candidate' AND value = ?"
            assert store.execute(query, (name, candidate)).rowcount
        return f"../{STORE}"
    paths = [place.run / "ledger.jsonl"] if where == "ledger" else sorted((place.run / "judgements").iterdir())
    changed = [path for path in paths if candidate.encode() in path.read_bytes()]
    for path in changed:
        path.write_bytes(path.read_bytes().replace(candidate.encode(), name.encode()))
    return "seq " if where == "ledger" else f"judgements/{changed[0].name}"


COLUMNS = {
    "tags": ("value", "key"),
    "params": ("value", "key"),
    "metrics": ("value", "timestamp", "step", "key"),
    "latest_metrics": ("value", "timestamp", "step", "key"),
    "runs": ("name", "status", "start_time", "end_time", "lifecycle_stage", "artifact_uri"),
    "model_version_tags": ("value", "key"),
    "experiments": ("name", "artifact_location"),
}
"""What the store holds of a campaign; its other columns are MLflow's own."""
OURS = {
    "model_version_tags": "key LIKE 'holdgate.%' OR key = 'mlflow.prompt.text'",
    "experiments": "name = 'tampering'",
}


def row_changed(place: Place, rng: random.Random) -> str:
    table = rng.choice(list(COLUMNS))
    column = rng.choice(COLUMNS[table])
    with closing(sqlite3.connect(place.root / STORE)) as store, store:
        where = OURS.get(table, "1")
        rows = store.execute(f"SELECT rowid, {column} FROM {table} WHERE {where} ORDER BY rowid").fetchall()
        row, value = rng.choice(rows)
        changed = value + 1 if isinstance(value, int | float) else other_text(str(value), rng)
        if column == "status":  # of which MLflow knows five
            changed = "KILLED"
        store.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (changed, row))
    return f"../{STORE}" if table != "experiments" or column != "name" else "mlflow.json"


def other_text(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text)) if text else 0
    return f"{text[:place]}{'x' if text[place : place + 1] != 'x' else 'y'}{text[place + 1 :]}"


def row_deleted(place: Place, rng: random.Random) -> str:
    table = rng.choice(["tags", "params", "metrics", "latest_metrics", "runs", "model_version_tags"])
    with closing(sqlite3.connect(place.root / STORE)) as store, store:
        rows = store.execute(f"SELECT rowid FROM {table} WHERE {OURS.get(table, '1')} ORDER BY rowid").fetchall()
        store.execute(f"DELETE FROM {table} WHERE rowid = ?", rng.choice(rows))
    return f"../{STORE}"


def artifact_changed(place: Place, rng: random.Random) -> str:
    path = rng.choice(sorted(path for path in (place.root / "mlflow-artifacts").rglob("*") if path.is_file()))
    if rng.random() < 0.7 and path.stat().st_size:
        flip(path, rng)
    else:
        path.unlink()
    return path.relative_to(place.root).as_posix()


CHANGES: dict[str, tuple[Change, int]] = {
    "a byte of the ledger": (ledger_byte, 30),
    "a dropped event": (event_dropped, 15),
    "swapped events": (events_swapped, 15),
    "a truncated ledger": (events_truncated, 15),
    "a byte of a segment": (segment_byte, 20),
    "an edited judgement": (judgement_edited, 10),
    "a dropped judgement": (judgement_dropped, 5),
    "a byte of a file": (file_byte, 40),
    "a missing file": (file_missing, 5),
    "a renamed candidate": (candidate_renamed, 10),
    "a changed row of the mirror": (row_changed, 20),
    "a deleted row of the mirror": (row_deleted, 10),
    "a changed artifact of the mirror": (artifact_changed, 5),
}


def test_there_are_two_hundred_changes() -> None:
    assert sum(count for _, count in CHANGES.values()) == 200


def test_an_untouched_run_with_its_mirror_has_no_finding_but_remarks(place: Place) -> None:
    assert {found.severity for found in audit(place.run)} == {"info"}


@pytest.mark.parametrize("name", CHANGES)
def test_the_audit_names_every_change(place: Place, name: str) -> None:
    change, count = CHANGES[name]
    for seed in range(count):
        named = change(place, random.Random(f"{name} {seed}"))
        found = errors(place.run)
        said = [f"{one.place}: {one.words}" for one in found]
        assert any(named in words for words in said), f"{name}, seed {seed}: {named} is not in {said}"
        place.restore()


def rewritten(run: Path) -> None:
    """A consistent rewrite of everything: another score, and every hash, number, head and file after it made anew."""
    path = next(path for path in sorted((run / "judgements").iterdir()) if "calibrate" in path.name)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["raw"] = ["No"]
    text = "".join(canonical_json(row) + "\n" for row in rows)
    path.write_text(text)
    events = [json.loads(line) for line in (run / "ledger.jsonl").read_text().splitlines()]
    prev = GENESIS
    for row in events:
        if row["type"] == "evaluation" and row["body"]["segment"]["name"] == path.stem:
            row["body"]["segment"] |= {
                "content": digest(stable(rows)),
                "volatile": {"sha256": digest_bytes(text.encode())},
            }
        row["prev"] = prev
        prev = row["hash"] = digest({key: value for key, value in row.items() if key != "hash"})
    (run / "ledger.jsonl").write_text("".join(canonical_json(row) + "\n" for row in events))
    head = {"count": len(events), "hash": prev}
    (run / "ledger.head.json").write_text(pretty_json(head))
    verdict = next(row["body"]["verdict"] for row in events if row["type"] == "verdict")
    (run / "verdict.json").write_text(pretty_json({**verdict, "ledger_head": head}))


def test_a_consistent_rewrite_is_found_against_a_head_kept_elsewhere_and_not_without(
    place: Place, holdgate: Callable[..., tuple[int, str, str]]
) -> None:
    kept = read_events(place.run / "ledger.jsonl")[-1].hash
    assert holdgate("audit", place.run, "--head", kept)[0] == 0
    rewritten(place.run)
    for name in ("mlflow.json", "split.lock.register.jsonl", f"../{STORE}"):
        (place.run / name).unlink()
    again = place.root / "again.db"
    sync(place.run / "ledger.jsonl", tracking_uri=f"sqlite:///{again}", experiment="tampering")
    assert errors(place.run) == []
    assert holdgate("audit", place.run)[0] == 0
    (found,) = check_kept_head(place.run, kept)
    assert (found.severity, found.place) == ("error", "ledger.jsonl")
    status, said, _ = holdgate("audit", place.run, "--head", kept)
    assert status == 1
    assert "the ledger was rewritten" in said
