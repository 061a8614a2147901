"""Segments of judgements in streams: verified byte by byte, and held as columns rather than as a million records."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from lineage.canonical import canonical_json, digest_bytes
from lineage.errors import LedgerError
from lineage.ledger import Event
from lineage.records import ABSTAINED, REASONS, VOLATILE, Judgement, stable

CHUNK: Final = 32 * 2**20
"""Bytes of segments that are parsed together."""
BLOCK: Final = 8 * 2**20
COLUMNS: Final = ("example", "candidate", "student", "status", "reason", "replicate", "sample", "score")
_END: Final = re.compile(rb',"volatile":\{"latency_s":[-+.0-9eE]+,"paid":[0-9]+\}\}\n')
_WORD: Final = b'"volatile"'


@dataclass(frozen=True, slots=True)
class Judged:
    """What an audit holds of one evaluation's judgements, in the order of their lines.

    ``content`` is the hash of the judgements without what may differ on resumption; ``paid`` the calls that each sent.
    """

    event: Event
    content: str
    columns: Mapping[str, Sequence[Any]]
    paid: Sequence[int]

    def __len__(self) -> int:
        return len(self.paid)


@dataclass(frozen=True, slots=True)
class Damaged:
    """An evaluation whose segment is missing, edited or not made of judgements, and what is wrong with it."""

    event: Event
    words: str


def judged_segments(directory: Path, evaluations: Sequence[Event]) -> Iterator[Judged | Damaged]:
    """Every evaluation's judgements in order, each segment read once and let go.

    Args:
        directory: where the segments lie.
        evaluations: events of type ``evaluation``.
    """
    waiting: list[tuple[Event, bytes]] = []
    held = 0
    for event in evaluations:
        segment = event.body["segment"]
        path = directory / f"{segment['name']}.jsonl"
        try:
            data = verified(path, segment)
        except LedgerError as error:
            yield from _columns(waiting)
            waiting, held = [], 0
            yield Damaged(event, str(error))
            continue
        waiting.append((event, data))
        held += len(data)
        if held >= CHUNK:
            yield from _columns(waiting)
            waiting, held = [], 0
    yield from _columns(waiting)


def verified(path: Path, segment: Mapping[str, Any]) -> bytes:
    """The bytes of a segment, which have the recorded hash.

    Raises:
        LedgerError: the file is missing or is not the one the ledger recorded.
    """
    if not path.is_file():
        raise LedgerError(f"{path}: the judgement segment {segment['name']} is missing")
    data = path.read_bytes()
    if digest_bytes(data) != segment[VOLATILE]["sha256"]:
        raise LedgerError(f"{path}: judgements of segment {segment['name']} were edited after they were recorded")
    return data


def content_hash(data: bytes) -> str:
    """Hash of a segment's judgements without what may differ on resumption, as it was taken when they were written.

    That part is the last of a line, and is cut off without parsing the line; a line of another form is parsed.
    """
    found = sha256(b"[")
    for place, line in enumerate(io.BytesIO(data)):
        end = line.rfind(b',"volatile":{')
        if end > 0 and line.count(_WORD) == 1 and _END.fullmatch(line, end):
            kept = line[:end] + b"}"
        else:
            kept = canonical_json(stable(json.loads(line))).encode("utf-8")
        found.update(b"," + kept if place else kept)
    found.update(b"]")
    return found.hexdigest()


def _columns(segments: Sequence[tuple[Event, bytes]]) -> Iterator[Judged | Damaged]:
    if not segments:
        return
    table = _table(b"".join(data for _, data in segments))
    counts = [data.count(b"\n") + (not data.endswith(b"\n") and bool(data)) for _, data in segments]
    if table is None or table.num_rows != sum(counts):
        for event, data in segments:  # one of them is not what it must be: one by one says which
            yield _by_line(event, data)
        return
    start = 0
    columns = {name: table[name].to_pylist() for name in COLUMNS}
    paid = [row["paid"] for row in table[VOLATILE].to_pylist()]
    for (event, data), count in zip(segments, counts, strict=True):
        part = slice(start, start + count)
        found = {name: column[part] for name, column in columns.items()}
        start += count
        whole = all(value is not None for name in (*COLUMNS[:3], "replicate") for value in found[name])
        if whole and None not in paid[part] and all(map(_sound, found["status"], found["score"], found["reason"])):
            yield Judged(event, content_hash(data), found, paid[part])
        else:
            yield _by_line(event, data)


def _table(data: bytes) -> Any:
    """The columns of some lines, or None where Arrow cannot read them."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    text, whole = pa.string(), pa.int64()
    kinds = {"replicate": whole, "sample": whole, "score": pa.float64()}
    schema = pa.schema([*((name, kinds.get(name, text)) for name in COLUMNS), (VOLATILE, pa.struct([("paid", whole)]))])
    if not data:
        return schema.empty_table()
    options = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        return arrow_json.read_json(
            pa.BufferReader(data), read_options=arrow_json.ReadOptions(block_size=BLOCK), parse_options=options
        )
    except pa.ArrowInvalid:
        return None


def _sound(status: str | None, score: float | None, reason: str | None) -> bool:
    """Whether a judgement's status, score and reason go together; if not, its record says how."""
    if status == "scored":
        return score is not None and reason is None and math.isfinite(score)
    if score is not None or reason is None:
        return False
    word = reason.partition(":")[0]
    return word in REASONS if status == "failed" else status == ABSTAINED == word


def _by_line(event: Event, data: bytes) -> Judged | Damaged:
    """A segment read as records, which say what is wrong where something is."""
    try:
        judged = [Judgement.from_row(json.loads(line)) for line in io.BytesIO(data)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return Damaged(event, f"holds what is no judgement ({error!r})")
    columns = {name: [getattr(judgement, name) for judgement in judged] for name in COLUMNS}
    return Judged(event, content_hash(data), columns, [judgement.paid for judgement in judged])
