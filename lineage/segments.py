"""Judgement segments: one file an evaluation, whose hashes are in the ledger."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lineage.canonical import canonical_json, digest_bytes, write_atomic
from lineage.errors import LedgerError
from lineage.records import VOLATILE, Judgement, stable


def write_segment(directory: Path, name: str, judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Write judgements ordered by key, and return what the ledger keeps of them.

    ``content`` is the hash of the judgements without what may differ on resumption; ``volatile.sha256`` that of the
    file's bytes.
    """
    lines: list[str] = []
    content = hashlib.sha256()  # of one canonical list, row by row, so that no second copy of it is held
    for judgement in sorted(judgements, key=lambda judgement: judgement.key):
        line, kept = _line(judgement)
        content.update((("," if lines else "[") + kept).encode("utf-8"))
        lines.append(line)
    content.update(b"]" if lines else b"[]")
    text = "".join(lines)
    write_atomic(directory / f"{name}.jsonl", text)
    return {
        "name": name,
        "judgements": len(lines),
        "content": content.hexdigest(),
        VOLATILE: {"sha256": digest_bytes(text.encode("utf-8"))},
    }


def _line(judgement: Judgement) -> tuple[str, str]:
    """A judgement's line, and its canonical JSON without what may differ on resumption."""
    row = judgement.row()
    volatile = row.pop(VOLATILE)
    assert max(row) < VOLATILE, "it is the last key of the line"
    text = canonical_json(row)
    line = f'{text[:-1]},"{VOLATILE}":{canonical_json(volatile)}}}\n'
    return line, text if VOLATILE not in text else canonical_json(stable(row))


def read_segment(directory: Path, entry: Mapping[str, Any]) -> tuple[Judgement, ...]:
    """The judgements of a ledger entry, verified against its hash.

    Raises:
        LedgerError: the file is missing or is not the one the ledger recorded.
    """
    path = directory / f"{entry['name']}.jsonl"
    if not path.exists():
        raise LedgerError(f"{path}: the judgement segment {entry['name']} is missing")
    data = path.read_bytes()
    if digest_bytes(data) != entry[VOLATILE]["sha256"]:
        raise LedgerError(f"{path}: judgements of segment {entry['name']} were edited after they were recorded")
    # Line by line: the rows of a large segment take several times the memory of its judgements.
    return tuple(Judgement.from_row(json.loads(line)) for line in io.BytesIO(data))
