"""Judgement segments as one Arrow table: a million judgements are read in seconds, and their texts are stepped over."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from lineage.canonical import digest_bytes
from lineage.errors import LedgerError
from lineage.ledger import Event
from lineage.records import VOLATILE

CHUNK: Final = 5_000
"""Judgements that are parsed at once: some megabytes, which the allocator keeps from one chunk to the next."""
WORKERS: Final = 4
"""Most chunks whose lines are held at once."""
BLOCK: Final = 16 * 2**20
"""Bytes that Arrow parses at once; a line that is longer is read without it."""
USAGE: Final = ("calls", "prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
REPEATED: Final = ("example", "candidate", "student", "status")
"""Columns with few values, which are held as codes."""
TOLD: Final = (*REPEATED, "reason")


def judgement_table(directory: Path, evaluations: Sequence[Event]) -> Any:
    """A ``pyarrow.Table``, one row a judgement, with the columns of its evaluation: segment, purpose, split, iteration.

    Columns that repeat few values are dictionaries. ``reason`` of a held-out judgement is its kind alone.

    Args:
        directory: the run directory.
        evaluations: verified events of type ``evaluation``; each segment is verified against its event.

    Raises:
        LedgerError: a segment is missing, is not the one that the ledger recorded, or does not hold judgements.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    chunks = list(_chunks(directory / "judgements", evaluations))
    with ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, WORKERS)) as pool:
        parts = list(pool.map(_read, chunks))  # reading, hashing and parsing are C code that runs side by side
    table = pa.concat_tables(parts) if parts else _flat(_schema().empty_table())
    counts = [event.body["segment"]["judgements"] for event in evaluations]
    if table.num_rows != sum(counts):
        raise LedgerError(f"{directory}: {table.num_rows} judgements are in the segments, {sum(counts)} in the ledger")
    place = pa.array(_repeated(counts))
    bodies = [event.body for event in evaluations]
    for name, kind, values in (
        ("segment", pa.string(), [body["segment"]["name"] for body in bodies]),
        ("purpose", pa.string(), [body["purpose"] for body in bodies]),
        ("split", pa.string(), [body["split"] for body in bodies]),
        ("iteration", pa.int64(), [body["iteration"] for body in bodies]),
    ):
        column = pa.array(values, kind)
        table = table.append_column(name, (column if name == "iteration" else column.dictionary_encode()).take(place))
    kinds = pc.replace_substring_regex(table["reason"], "(?s):.*", "")
    sealed = pa.array([body["split"] == "heldout" for body in bodies], pa.bool_()).take(place)
    told = pc.if_else(sealed, kinds, table["reason"])
    return table.set_column(table.schema.get_field_index("reason"), "reason", told)


def _chunks(directory: Path, evaluations: Sequence[Event]) -> Iterator[list[tuple[Path, str]]]:
    """Segments in order, several together, each with its hash in the ledger."""
    held: list[tuple[Path, str]] = []
    judgements = 0
    for event in evaluations:
        entry: Mapping[str, Any] = event.body["segment"]
        held.append((directory / f"{entry['name']}.jsonl", entry[VOLATILE]["sha256"]))
        judgements += entry["judgements"]
        if judgements >= CHUNK:
            yield held
            held, judgements = [], 0
    if held:
        yield held


def _read(segments: Sequence[tuple[Path, str]]) -> Any:
    """The judgements of some segments, each verified."""
    found = []
    for path, recorded in segments:
        try:
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise LedgerError(f"{path}: the judgement segment {path.stem} is missing") from error
        if digest_bytes(data) != recorded:
            raise LedgerError(f"{path}: judgements of segment {path.stem} were edited after they were recorded")
        found.append(data)
    return _flat(_parsed(b"".join(found), str(segments[0][0])))


def _parsed(data: bytes, place: str) -> Any:
    """The fields of the schema; what else stands in a line is skipped by the parser."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    if not data:
        return _schema().empty_table()
    options = arrow_json.ParseOptions(explicit_schema=_schema(), unexpected_field_behavior="ignore")
    try:
        return arrow_json.read_json(
            pa.BufferReader(data), read_options=arrow_json.ReadOptions(block_size=BLOCK), parse_options=options
        )
    except pa.ArrowInvalid:
        # A line longer than a block, or half a surrogate pair in an answer, which JSON may hold and Arrow does not.
        try:
            rows = [json.loads(line) for line in io.BytesIO(data)]
            return pa.Table.from_pylist(rows, schema=_schema())
        except (ValueError, TypeError, pa.ArrowInvalid) as error:
            raise LedgerError(f"{place}: it or a segment after it does not hold judgements ({error})") from error


def _schema() -> Any:
    import pyarrow as pa

    usage = pa.struct([*((name, pa.int64()) for name in USAGE), ("cost_usd", pa.float64())])
    return pa.schema(
        [
            *((name, pa.string()) for name in TOLD),
            *((name, pa.int64()) for name in ("replicate", "sample", "seed")),
            ("score", pa.float64()),
            ("finish", pa.list_(pa.string())),
            ("usage", usage),
            (VOLATILE, pa.struct([("latency_s", pa.float64()), ("paid", pa.int64())])),
        ]
    )


def _flat(table: Any) -> Any:
    """Nested fields as columns, and how answers ended as one text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    joined = pc.binary_join(table["finish"], ",").combine_chunks().dictionary_encode()
    ends = pa.array([",".join(sorted(set(text.split(",")))) for text in joined.dictionary.to_pylist()], pa.string())
    columns = {name: table[name].dictionary_encode() for name in REPEATED}
    columns |= {name: table[name] for name in ("reason", "replicate", "sample", "seed", "score")}
    columns["finish"] = ends.take(joined.indices).dictionary_encode()
    columns |= {name: pc.struct_field(table["usage"], name) for name in (*USAGE, "cost_usd")}
    columns |= {name: pc.struct_field(table[VOLATILE], name) for name in ("latency_s", "paid")}
    return pa.table(columns)


def _repeated(counts: Sequence[int]) -> Any:
    """The place of each judgement's evaluation."""
    import numpy as np

    return np.repeat(np.arange(len(counts)), counts)
