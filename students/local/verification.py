"""Size and hash of a model file, and a memory of files that were hashed before.

Hashing half a gigabyte takes a second or more, too long for every start. A file that passed is remembered in the cache
under its absolute path, size, modification time and expected hash; if any of them changes it is hashed again.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from lineage.canonical import digest, pretty_json, write_atomic
from lineage.errors import ModelError
from students.local.models import LocalModel
from students.local.watch import Progress

CHUNK = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Verification:
    """A model file that has the size and the hash of its model.

    ``hashed`` false means that the file was not read this time: it passed before and its size and modification time
    are unchanged. That says nothing about a change that also put the old modification time back.

    Args:
        path: absolute path of the file.
        size: bytes.
        sha256: SHA-256 of its content.
        hashed: whether the content was read and hashed just now.
        remembered: whether the next ``confirm_model`` can answer without hashing.
    """

    path: Path
    size: int
    sha256: str
    hashed: bool
    remembered: bool


def cache_directory() -> Path:
    """Where Holdgate keeps what it fetched: ``HOLDGATE_CACHE``, or ``holdgate`` in the user's cache directory."""
    own = os.environ.get("HOLDGATE_CACHE", "")
    if own:
        return Path(own).expanduser().absolute()
    shared = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG base directory specification says that a relative path is to be ignored.
    base = Path(shared) if Path(shared).is_absolute() else Path.home() / ".cache"
    return base / "holdgate"


def verify_model(path: Path, model: LocalModel, *, progress: Progress | None = None) -> Verification:
    """Hash the whole file, whatever is remembered about it.

    Raises:
        ModelError: the file is missing, or has another size or hash than the model; it is left as it is.
    """
    path = path.absolute()
    stat = _checked_size(path, model)
    actual = hash_file(path, total=model.size, progress=progress)
    if actual != model.sha256:
        _memory_of(path).unlink(missing_ok=True)
        raise ModelError(f"{path} is not {model.name}: {hash_difference(actual, model)}")
    return remember(path, model, stat)


def confirm_model(path: Path, model: LocalModel, *, progress: Progress | None = None) -> Verification:
    """Like ``verify_model``, but at once when this very file passed before.

    Raises:
        ModelError: as ``verify_model``.
    """
    path = path.absolute()
    stat = _checked_size(path, model)
    if _recall(path) == _facts(path, model, stat):
        return Verification(path=path, size=model.size, sha256=model.sha256, hashed=False, remembered=True)
    return verify_model(path, model, progress=progress)


def remember(path: Path, model: LocalModel, stat: os.stat_result) -> Verification:
    """Note that the content of ``path`` hashed to the model's hash while the file had the status ``stat``."""
    try:
        write_atomic(_memory_of(path), pretty_json(_facts(path, model, stat)))
        remembered = True
    except OSError:  # a cache that cannot be written only costs the next start a second; the result says so
        remembered = False
    return Verification(path=path, size=model.size, sha256=model.sha256, hashed=True, remembered=remembered)


def hash_difference(actual: str, model: LocalModel) -> str:
    """Both hashes, in words."""
    return f"its SHA-256 is {actual}, expected {model.sha256}"


def hash_file(path: Path, *, total: int, progress: Progress | None) -> str:
    """SHA-256 of a file's content, read in pieces; ``progress`` is told of bytes out of ``total``."""
    hasher = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            hasher.update(chunk)
            done += len(chunk)
            if progress is not None:
                progress(done, total, f"checking {path.name}")
    return hasher.hexdigest()


def _checked_size(path: Path, model: LocalModel) -> os.stat_result:
    if not path.is_file():
        raise ModelError(f"path must be a file, got {path}; fetch the model: holdgate model fetch {model.name}")
    stat = path.stat()
    if stat.st_size != model.size:
        raise ModelError(f"{path} is not {model.name}: it has {stat.st_size} bytes, expected {model.size}")
    return stat


def _facts(path: Path, model: LocalModel, stat: os.stat_result) -> dict[str, str | int]:
    return {"path": str(path), "size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": model.sha256}


def _memory_of(path: Path) -> Path:
    return cache_directory() / "models" / ".verified" / f"{digest(str(path))[:32]}.json"


def _recall(path: Path) -> object:
    try:
        return json.loads(_memory_of(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # no memory, or one that cannot be read: the file is hashed again
        return None
