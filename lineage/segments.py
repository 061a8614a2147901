"""Judgement segments: one file an evaluation, whose hashes are in the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lineage.canonical import digest, digest_bytes, json_lines, write_atomic
from lineage.errors import LedgerError
from lineage.records import VOLATILE, Judgement, judgement_lines, stable


def write_segment(directory: Path, name: str, judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Write judgements ordered by key, and return what the ledger keeps of them.

    ``content`` is the hash of the judgements without what may differ on resumption; ``volatile.sha256`` that of the
    file's bytes.
    """
    text = judgement_lines(judgements)
    write_atomic(directory / f"{name}.jsonl", text)
    rows = json_lines(text)
    return {
        "name": name,
        "judgements": len(rows),
        "content": digest(stable(rows)),
        VOLATILE: {"sha256": digest_bytes(text.encode("utf-8"))},
    }


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
    return tuple(Judgement.from_row(row) for row in json_lines(data.decode("utf-8")))
