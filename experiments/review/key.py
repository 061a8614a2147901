"""The key of a pack: what each item is. The pack holds its hash alone, which says nothing of it and pins it down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from experiments.review.questions import QUESTIONS
from lineage.canonical import digest
from lineage.errors import InputError

Row = Mapping[str, Any]
FORMAT: Final = "holdgate review key 1"


@dataclass(frozen=True, slots=True)
class Key:
    """The key of one pack.

    Attributes:
        pack: SHA-256 of the pack that it belongs to.
        body: run, seed, salt, sections and items. The salt is drawn at random, so that nobody can try bodies until one
            has the hash that the pack holds.
    """

    pack: str
    body: Row

    @property
    def commitment(self) -> str:
        """SHA-256 of the body, which the pack and every file of answers hold."""
        return digest(dict(self.body))

    @property
    def items(self) -> Mapping[str, Row]:
        """What each item is, by its name in the pack."""
        found = self.body["items"].items()
        return {name: item for section in QUESTIONS for name, item in found if item["section"] == section}

    @property
    def sections(self) -> Mapping[str, Row]:
        """What was hidden in each section and what it was drawn from, in the order in which they were shown."""
        return {name: self.body["sections"][name] for name in QUESTIONS if name in self.body["sections"]}

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"format": FORMAT, "pack": self.pack, "commitment": self.commitment, "key": dict(self.body)}


def read_key(path: Path) -> Key:
    """Read a key.

    Raises:
        InputError: it is no key, or was changed after its pack was made.
    """
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        stated, key = row["commitment"], Key(row["pack"], row["key"])
        sound = row["format"] == FORMAT and bool(key.items) and bool(key.sections)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InputError(f"{path}: is not the key of a review pack ({error}); name the key.json of the pack") from error
    if not sound:
        raise InputError(f"{path}: is not a key that this version reads, {FORMAT!r}; use the version that wrote it")
    if key.commitment != stated:
        raise InputError(f"{path}: was changed after its pack was made: its hash is not the one it was made with")
    return key
