"""The list of what is in a bundle, with a hash of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lineage.canonical import digest, pretty_json
from lineage.errors import BundleError

FORMAT: Final = "holdgate bundle 1"
MANIFEST: Final = "bundle.json"


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a bundle: its name there, SHA-256 and size in bytes."""

    name: str
    sha256: str
    bytes: int

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"name": self.name, "sha256": self.sha256, "bytes": self.bytes}


def sealed_manifest(content: Mapping[str, Any], members: Sequence[Member]) -> str:
    """The text of a manifest: what is said of the bundle, its files in order, and the hash of all that."""
    rows = [member.row() for member in sorted(members, key=lambda member: member.name)]
    whole = {**content, "format": FORMAT, "files": rows}
    return pretty_json({**whole, "hash": digest(whole)})


def read_manifest(data: bytes, *, where: str) -> tuple[dict[str, Any], dict[str, Member], bool]:
    """A manifest, its files by name, and whether it has the hash that it states.

    Raises:
        BundleError: it is no manifest of a bundle that this version reads.
    """
    try:
        whole = json.loads(data.decode("utf-8"))
        stated = whole.pop("hash")
        found = whole["format"]
        members = {row["name"]: Member(row["name"], row["sha256"], row["bytes"]) for row in whole["files"]}
        sound = all(
            isinstance(one.name, str) and isinstance(one.sha256, str) and type(one.bytes) is int and one.bytes >= 0
            for one in members.values()
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BundleError(f"{where}: {MANIFEST} is no manifest ({error!r}); get the bundle again") from (error)
    if found != FORMAT or not sound:
        raise BundleError(f"{where}: is of format {found!r}, and {FORMAT!r} is read here; use its version")
    intact = digest(whole) == stated and pretty_json({**whole, "hash": stated}).encode("utf-8") == data
    return whole, members, intact
