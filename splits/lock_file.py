"""The file of a split lock: written once, and read back with every byte accounted for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from lineage.canonical import digest, pretty_json, write_once
from lineage.errors import SplitError
from splits.corpus import Corpus
from splits.exclusions import Exclusion
from splits.fingerprints import Fingerprint
from splits.lock import FORMAT, SplitLock
from splits.needs import NEEDS
from splits.partition import SPLITS, some_of
from splits.profiles import STRATIFY
from splits.provenance import Provenance, provenance_of
from splits.selection import Selection
from splits.unions import Union
from splits.verification import verify_lock

FIRST_FORMAT: Final = "holdgate split lock 1"


def commit_lock(lock: SplitLock, path: Path) -> SplitLock:
    """Write a planned lock once, with the commit of the repository that its directory lies in.

    Returns:
        The lock as it stands in the file.

    Raises:
        SplitError: there already is a lock at ``path``, also if another process has just written it; a committed split
            is never overwritten.
    """
    committed = replace(lock, git=provenance_of(path.parent), path=path)
    try:
        write_once(path, pretty_json(committed.row()))
    except FileExistsError as error:
        raise SplitError(
            f"{path} exists; a committed split lock is never overwritten: verify it, or commit another file"
        ) from error
    return committed


def load_lock(path: Path, corpus: Corpus) -> SplitLock:
    """Read a lock and check it again, field by field, against the corpus.

    Raises:
        SplitError: naming what changed: a field of the lock, a moved group, an edited example.
    """
    if not path.is_file():
        raise SplitError(f"{path}: there is no split lock; write one with: holdgate split commit")
    try:
        text = path.read_bytes().decode("utf-8")
        data = json.loads(text)
        lock = replace(parse_lock(data), path=path)
        whole, edited = lock.row(), _edited(data)
    except SplitError as error:
        raise SplitError(f"{path}: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise SplitError(
            f"{path}: is not a split lock ({type(error).__name__}: {error}), or not the whole of one; restore the file "
            "as it was committed"
        ) from error
    if plain := sorted(edited - {"splits", "fingerprints"}):  # what was edited within these two is named by its group
        raise SplitError(f"{path}: the lock was edited (differs in {', '.join(plain)}); restore it")
    verify_lock(lock, corpus)
    if whole != data or text != pretty_json(data):
        differs = sorted({*(key for key in {*whole, *data} if whole.get(key) != data.get(key)), *edited})
        raise SplitError(f"{path}: the lock was edited (differs in {', '.join(differs) or 'its layout'}); restore it")
    return lock


def parse_lock(data: Mapping[str, Any]) -> SplitLock:
    """The lock that a JSON object states, with nothing checked but its format.

    Raises:
        SplitError: it is a lock of another format, or states what no lock may.
        KeyError, TypeError, ValueError, AttributeError: it is no lock.
    """
    if data["format"] != FORMAT and str(data["format"]).startswith(FORMAT.rstrip("0123456789")):
        remedy = "use the version that wrote it"
        if data["format"] == FIRST_FORMAT:
            remedy += (
                ", or commit the split anew with the same sizes, seed and selection: --stratify stratum draws the same "
                "groups"
            )
        raise SplitError(f"is a {data['format']!r}, this version reads {FORMAT!r}: {remedy}")
    return SplitLock(
        corpus_hash=data["corpus_hash"],
        seed=data["seed"],
        selection=Selection(**data["selection"]),
        stratify=some_of(_names(data["stratify"]), STRATIFY, what="stratify"),
        needs=some_of(_names(data["needs"]), NEEDS, what="needs"),
        union=Union(data["union"]["near_duplicates"], _names(data["union"]["fields"])),
        united=tuple(_names(block) for block in data["union"]["united"]),
        sizes={name: data["sizes"][name] for name in SPLITS},
        splits={name: _names(data["splits"][name]) for name in SPLITS},
        counts=data["counts"],
        fingerprints={group: Fingerprint.parse(text) for group, text in data["fingerprints"].items()},
        exclusions={
            name: Exclusion(_names(entry["groups"]), _names(entry["pairs"]))
            for name, entry in data["exclusions"].items()
        },
        alpha=data["alpha"],
        comparisons=data["comparisons"],
        created_at=data["created_at"],
        git=None if data["git"] is None else Provenance(**data["git"]),
    )


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError(f"must be a list of names, got {value!r}")
    return tuple(value)


def _edited(data: Mapping[str, Any]) -> set[str]:
    """Fields that do not have the hash that the lock states for them; or the hashes themselves, if they were edited."""
    own = {"field_hashes", "lock_hash"}
    stated, hashes = data["field_hashes"], {name: digest(value) for name, value in data.items() if name not in own}
    found = {name for name in {*hashes, *stated} if hashes.get(name) != stated.get(name)}
    content = {name: value for name, value in data.items() if name != "lock_hash"}
    if data["lock_hash"] == digest({**content, "field_hashes": hashes}):
        return {"field_hashes"} if found else set()
    return found or {"lock_hash"}
