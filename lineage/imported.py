"""Lineages that were made elsewhere: what the ledger of an imported, read-only campaign holds.

Its first event is of type ``imported`` and says what the source had and what it lacked. Candidates and outcomes follow
as in a campaign of ours, with the texts that the source has and with the hashes of those that it lacks. What was
published of them follows as ``published`` events: nothing of it was measured here.

===========  ============================================================================================
event        body
===========  ============================================================================================
imported     name, format, files (name, sha256, bytes), has and lacks (in words), targets, settings
examples     split, count, sha256 of ``examples.jsonl`` (only where the source says what its examples are)
candidate    candidate (id), name, target, kind, parents (ids), iteration, operator, texts, hashes, chars
outcome      candidate, target, parents, iteration, outcome, reason, minibatch (means of parent and child)
published    of ``accept``: candidate, target, measures (paired, detection, false_alarm, threshold, score)
published    of ``scores``: candidate, target, split, scale, scores by example id
published    of ``comparison``: target, split, baseline and winner (ids), figures as the source has them
published    of ``decision``: target, emitted
finished     candidates and published (counts)
===========  ============================================================================================

A number that the source lacks is None, which is shown as missing; it is never 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from lineage.errors import LedgerError

if TYPE_CHECKING:
    from lineage.ledger import Event

IMPORTED: Final = "imported"
"""Type of the first event of an imported lineage."""
PUBLISHED: Final = "published"
"""Type of the events that hold what was published of it."""

Published = Literal["accept", "scores", "comparison", "decision"]
"""What a ``published`` event is of."""

EVENTS: Final = (IMPORTED, "examples", "candidate", "outcome", PUBLISHED, "finished")
"""The only types of event that an imported lineage has: it opens no seal, judges nothing and decides nothing."""
MEASURES: Final = ("paired", "detection", "false_alarm", "threshold", "score")
"""Measures of a candidate on accept: those of ours, and the mean score that other optimisers go by."""


def is_imported(events: Sequence[Event]) -> bool:
    """Whether these are the events of an imported lineage, which no campaign of ours made."""
    return bool(events) and events[0].type == IMPORTED


def is_imported_run(directory: Path) -> bool:
    """Whether a run directory says that it is an imported lineage; its ledger need not be whole."""
    try:
        with (directory / "ledger.jsonl").open("rb") as file:
            return bool(json.loads(file.readline())["type"] == IMPORTED)
    except (OSError, ValueError, LookupError, TypeError):
        return False


def published(events: Sequence[Event], of: Published, *, target: str | None = None) -> list[Mapping[str, Any]]:
    """The bodies of what was published of one kind, in order.

    Args:
        events: the events of the ledger.
        of: the kind.
        target: only of this target; None is all.
    """
    bodies = (event.body for event in events if event.type == PUBLISHED)
    return [body for body in bodies if body["of"] == of and target in (None, body["target"])]


def refuse_imported(path: Path, events: Sequence[Event]) -> None:
    """Refuse to go on with an imported lineage.

    Raises:
        LedgerError: it is one.
    """
    if is_imported(events):
        raise LedgerError(
            f"{path}: is an imported lineage ({events[0].body.get('format')}), which is read-only: it cannot be "
            "resumed, and takes no event more; give another --out"
        )
