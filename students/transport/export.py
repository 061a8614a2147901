"""A call cache as JSON rows, to take it elsewhere."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from lineage.canonical import digest
from lineage.errors import CacheError
from students.transport.cache_file import readable_database
from students.transport.upkeep import existing_cache

NAMED: Final = 20
"""Most campaigns that a message names."""


def export_cache(path: Path, *, campaign: str | None = None, texts: bool = True) -> Iterator[dict[str, Any]]:
    """Requests and answers as JSON rows, ordered by key.

    Args:
        path: the call cache.
        campaign: only what this campaign (its ledger identity, or a beginning of it) paid for; None is everything.
        texts: whether with texts; otherwise prompts and answers are there as their SHA-256 only.

    Raises:
        CacheError: the file is no call cache, or has no such campaign.
    """
    with closing(existing_cache(path)) as db, readable_database(path):
        notes: dict[str, list[dict[str, Any]]] = {}
        for key, paying, role, phase, candidate, at in db.execute(
            "SELECT key, campaign, role, phase, candidate, at FROM paid ORDER BY number"
        ):
            note = {"campaign": paying, "role": role, "phase": phase, "candidate": candidate, "at": at}
            notes.setdefault(key, []).append(note)
        wanted = None if campaign is None else _campaign(path, db, campaign)
        for key, identity, request, result, at in db.execute("SELECT * FROM calls ORDER BY key"):
            paid = [note for note in notes.get(key, []) if wanted in (None, note["campaign"])]
            if wanted is not None and not paid:
                continue
            row = {
                "key": key,
                "identity": json.loads(identity),
                "request": json.loads(request),
                "result": json.loads(result),
                "at": at,
                "paid": paid,
                "texts": texts,
            }
            yield row if texts else _hashed(row)


def _hashed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with texts replaced by their SHA-256; what is left holds no word of a prompt or an answer."""
    request, result = row["request"], row["result"]
    messages = [{**message, "content": digest(message["content"])} for message in request["messages"]]
    kept = ("finish", "usage", "version", "latency_s")
    answer = {
        **{name: result[name] for name in kept},
        "text": digest(result["text"]),
        "reasoning": digest(result["reasoning"]),
        "top": digest(result["top"]),
    }
    return {**row, "request": {**request, "messages": messages}, "result": answer}


def _campaign(path: Path, db: sqlite3.Connection, start: str) -> str:
    known = [name for (name,) in db.execute("SELECT DISTINCT campaign FROM paid ORDER BY campaign")]
    found = [name for name in known if name.startswith(start)]
    if len(found) != 1:
        raise CacheError(
            f"{path}: {'no' if not found else 'more than one'} campaign begins with {start!r}; it has: "
            f"{', '.join(name[:12] for name in known[:NAMED]) or 'none'}"
        )
    return str(found[0])
