"""What an adapter is, and what it hands back: a corpus, and a notice of everything it repaired, left out or met."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from splits.corpus import Corpus

Action = Literal["repaired", "left out", "noted"]
ACTIONS: Final[tuple[Action, ...]] = ("repaired", "left out", "noted")
NOT_RUN: Final = "not run on the real file"
"""Said of an adapter that was written from a description and tested on invented files alone."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One kind of thing that an adapter did to, or met in, the upstream data.

    Attributes:
        action: ``repaired`` (text changed), ``left out``, or ``noted`` (kept as it is; the user should know).
        what: what and why, in words.
        count: how often.
        places: ids of upstream records, each once, in order of the file.
    """

    action: Action
    what: str
    count: int
    places: tuple[str, ...]

    def __str__(self) -> str:
        shown = ", ".join(self.places[:_SHOWN]) + (", ..." if len(self.places) > _SHOWN else "")
        return f"{self.action}: {self.what} ({self.count}{f': {shown}' if shown else ''})"


_SHOWN: Final = 4


class Notices:
    """Gathers notices while an adapter reads; equal ones are counted together."""

    def __init__(self) -> None:
        self._found: dict[tuple[Action, str], tuple[list[int], dict[str, None]]] = {}

    def add(self, action: Action, what: str, place: str, count: int = 1) -> None:
        """Note something at a record; a count of 0 is nothing."""
        if count:
            counts, places = self._found.setdefault((action, what), ([], {}))
            counts.append(count)
            places[place] = None

    def all(self) -> tuple[Notice, ...]:
        """Repairs first, then what was left out, then what was merely met, each in order of appearance."""
        found = [
            Notice(action, what, sum(counts), tuple(places)) for (action, what), (counts, places) in self._found.items()
        ]
        return tuple(sorted(found, key=lambda notice: ACTIONS.index(notice.action)))


@dataclass(frozen=True, slots=True)
class Imported:
    """A corpus in Holdgate's form, with what was done to get there."""

    corpus: Corpus
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class Adapter:
    """How one public corpus is read.

    Attributes:
        name: as in ``holdgate corpus import NAME`` and in a plan.
        summary: one line: what the corpus is, and its unit.
        files: names of the files it reads, with the SHA-256 of the release it was checked on where there is one.
        licence: SPDX expression.
        attribution: the line that the licence asks for.
        read: reads a folder, or the first of the files, into a corpus.
        caveat: what the user must know about the adapter itself.
    """

    name: str
    summary: str
    files: Mapping[str, str | None]
    licence: str
    attribution: str
    read: Callable[[Path], Imported]
    caveat: str = field(default="")
