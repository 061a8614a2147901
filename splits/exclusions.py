"""What earlier campaigns were trained on, and a new partition must leave out: groups, or single pairs of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from lineage.canonical import digest, digest_bytes, json_lines
from lineage.errors import HoldgateError, SplitError
from lineage.ledger import read_events

Grain = Literal["groups", "pairs"]
"""What a list of names means: whole groups, or single pairs by the ids of their flawed examples."""

TRAINED: Final = ("reflect", "accept")
"""Splits that every campaign trains on."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Groups, and pairs by the ids of their flawed examples, that a partition leaves out; sorted and without repeats.

    A pair that is left out leaves its clean twin in place, which other pairs share.
    """

    groups: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in ("groups", "pairs"):
            object.__setattr__(self, field, tuple(sorted(set(getattr(self, field)))))

    def row(self) -> dict[str, Any]:
        """The JSON form, with the hash of the lists."""
        lists = {"groups": list(self.groups), "pairs": list(self.pairs)}
        return {**lists, "hash": digest(lists)}


def read_exclusion(path: Path, *, grain: Grain = "groups") -> Exclusion:
    """What to leave out, from the run directory of an earlier campaign or from an exclusions file.

    A run directory stands for what its campaign trained on, reflect and accept, and for its held-out split if that was
    opened. A file is JSON or YAML, a list of names or a mapping with the lists ``groups`` and ``pairs``, or else plain
    text with one name a line, where ``#`` begins a comment.

    Args:
        path: the run directory or the file.
        grain: what the names of a plain list are, and what of a campaign is left out.

    Raises:
        SplitError: there is nothing at the path, it cannot be read, or it names nothing.
    """
    if path.is_dir():
        return _of_run(path, grain)
    if not path.is_file():
        raise SplitError(f"{path}: there is no such exclusions file or run directory")
    try:
        text = path.read_bytes().decode("utf-8")
        found = _parsed(path, text)
    except (ValueError, yaml.YAMLError) as error:
        raise SplitError(f"{path}: is not a readable exclusions file ({error})") from error
    if isinstance(found, Mapping) and found and set(found) <= {"groups", "pairs"}:
        exclusion = Exclusion(*(_names(path, name, found.get(name)) for name in ("groups", "pairs")))
    elif isinstance(found, list):
        exclusion = Exclusion(**{grain: _names(path, grain, found)})
    else:
        raise SplitError(
            f"{path}: must be a list of names, or a mapping with the lists groups and pairs and nothing else"
        )
    if exclusion == Exclusion():
        raise SplitError(f"{path}: names nothing to exclude; leave the option out")
    return exclusion


def _parsed(path: Path, text: str) -> Any:
    if path.suffix == ".json":
        return json.loads(text)
    if path.suffix in (".yaml", ".yml"):
        return yaml.safe_load(text)
    lines = (line.partition("#")[0].strip() for line in text.split("\n"))
    return [line for line in lines if line]


def _names(path: Path, field: str, value: Any) -> tuple[str, ...]:
    names = [] if value is None else value
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise SplitError(f"{path}: {field} must be a list of names; quote a name that looks like a number")
    return tuple(names)


def _of_run(directory: Path, grain: Grain) -> Exclusion:
    """What the ledger of a run directory vouches for."""
    try:
        events = read_events(directory / "ledger.jsonl")
        splits = next((event.body for event in events if event.type == "splits"), None)
        if splits is None:
            raise SplitError("it has no ledger that records splits")
        data = (directory / "examples.jsonl").read_bytes()
        if digest_bytes(data) != splits["examples"]:
            raise SplitError("examples.jsonl is not the list that its ledger recorded")
        rows = json_lines(data.decode("utf-8"))
    except (HoldgateError, OSError, ValueError, KeyError, TypeError) as error:
        raise SplitError(f"{directory}: is no run directory that exclusions can be read from ({error})") from error
    opened = any(event.type == "seal_opened" for event in events)
    return _used(rows, (*TRAINED, *(("heldout",) if opened else ())), grain)


def _used(rows: Sequence[Mapping[str, Any]], splits: Sequence[str], grain: Grain) -> Exclusion:
    used = [row for row in rows if row["split"] in splits]
    if grain == "groups":
        return Exclusion(groups=tuple(row["group"] for row in used))
    return Exclusion(pairs=tuple(row["id"] for row in used if row["twin"] is not None))
