"""Openings of the held-out seal as a ledger holds them, and what an unplanned one makes of its campaign."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from lineage.ledger import Event

OPENED: Final = "seal_opened"
"""Type of the event of every opening."""
PLANNED: Final = ("baseline", "confirm")
"""The two openings that each target has."""
EXPLORATORY: Final = "exploratory"
"""Every other opening."""


def is_look(event: Event) -> bool:
    """Whether an event is an exploratory opening."""
    return event.type == OPENED and event.body["opening"] == EXPLORATORY


def taint(events: Iterable[Event]) -> str | None:
    """Why the numbers after an exploratory opening confirm nothing, in words; None where there was none.

    An opening after the verdict comes too late to have changed it, and does not count.
    """
    for event in events:
        if event.type == "verdict":
            return None
        if is_look(event):
            return f"the held-out split was also opened for {event.body['purpose']}: {event.body['exploratory']}"
    return None


def exploratory_reason(events: Sequence[Event]) -> str | None:
    """Why a campaign confirms nothing: what its plan was registered with, or an exploratory opening; else None."""
    stated: str | None = events[0].body.get("exploratory") if events else None
    return taint(events) if stated is None else stated
