"""Canonical JSON, SHA-256 digests and atomic, durable file writes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no white space and no NaN, so that equal values have equal text.

    Raises:
        ValueError: the value holds NaN or an infinity, which JSON does not have.
    """
    return _encodable(_CANONICAL.encode(value))


def digest(value: Any) -> str:
    """SHA-256 over the canonical JSON of ``value``, in full."""
    return digest_bytes(canonical_json(value).encode("utf-8"))


def digest_bytes(data: bytes) -> str:
    """SHA-256 of raw bytes, in full."""
    return hashlib.sha256(data).hexdigest()


def write_atomic(path: Path, text: str) -> None:
    """Write UTF-8 text with LF ends so that a reader sees the old file or the new one, never a part.

    The text goes to a temporary file in the same directory, is flushed and synced, and takes the name by rename.
    """
    with _beside(path, text) as whole:
        whole.replace(path)
    sync_directory(path.parent)


def write_once(path: Path, text: str) -> None:
    """Write a text whole, as :func:`write_atomic` does, but only where nothing has the name yet.

    Raises:
        FileExistsError: something has, be it written by another process at the same moment.
    """
    if path.exists():
        raise FileExistsError(path)
    with _beside(path, text) as whole:
        try:
            os.link(whole, path)  # unlike a rename, this fails where the name is taken
        except FileExistsError:
            raise
        except OSError:  # a file system without links; the name is claimed first, and a crash here leaves it empty
            path.open("xb").close()
            whole.replace(path)
    sync_directory(path.parent)


@contextmanager
def _beside(path: Path, text: str) -> Iterator[Path]:
    """A temporary file beside ``path`` that holds the text, flushed and synced; gone afterwards, unless renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    whole = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        whole.chmod(0o644)
        yield whole
    finally:
        whole.unlink(missing_ok=True)


def sync_directory(directory: Path) -> None:
    """Make a rename or a new file in ``directory`` durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def json_lines(text: str) -> list[Any]:
    """The values of JSON lines; lines end by LF alone, as texts may hold what ``str.splitlines`` also cuts at."""
    return [json.loads(line) for line in text.split("\n") if line]


def pretty_json(value: Any) -> str:
    """JSON for people: sorted keys, two spaces, a final newline."""
    return _encodable(json.dumps(value, sort_keys=True, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def _encodable(text: str) -> str:
    """JSON in which half a surrogate pair, as a model may return it, is escaped: UTF-8 cannot hold it."""
    if text.isascii():
        return text
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
