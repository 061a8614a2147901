"""Replay: the reflections of a recorded campaign, each given again where the campaign comes to the same request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from lineage.canonical import digest
from lineage.errors import CampaignError, PlanError
from lineage.ledger import Event, read_events
from reflectors.reflector import Reflection, ReflectionRequest, Reflector
from students.shape import INSTRUCTION


@dataclass(frozen=True, slots=True)
class _Recorded:
    """One reflection event: what was answered, the texts of its parents, and the hash of what was told of them."""

    reflection: Reflection
    parents: tuple[str, ...]
    traces: str
    seq: int


class ReplayReflector(Reflector):
    """Gives the recorded reflection of the same iteration, call and block, and asks nobody.

    The texts of all parents and what was told of the first must be those of the recording; else the campaigns have gone
    different ways, and nothing recorded answers the request.

    Args:
        path: the ledger of the recorded campaign, or its run directory.
        traces: whether the traces must be the recorded ones too, and not the texts alone; another student judges
            otherwise.

    Raises:
        PlanError: there is no ledger, or it holds no reflection.
        LedgerError: it is damaged.
    """

    name: ClassVar[str] = "replay"

    def __init__(self, path: Path, *, traces: bool = True) -> None:
        self.path = path / "ledger.jsonl" if path.is_dir() else path
        if not self.path.is_file():
            raise PlanError(
                f"reflector.ledger: there is no ledger {self.path}; name a run directory or its ledger.jsonl"
            )
        events = read_events(self.path)
        self._traces = traces
        self._recorded = _recorded(events)
        if not self._recorded:
            raise PlanError(f"reflector.ledger: {self.path} holds no reflection that could be given again")
        self._head = events[-1].hash

    def settings(self) -> dict[str, Any]:
        """The head of the recorded ledger, and what is checked."""
        return {"reflector": self.name, "ledger": self._head, "traces": self._traces}

    def reflect(self, request: ReflectionRequest) -> Reflection:
        """The recorded reflection.

        Raises:
            CampaignError: there is none for this request, or it answered another; names the difference.
        """
        where = f"iteration {request.iteration}, call {request.call}, block {request.component!r}"
        found = self._recorded.get((request.iteration, request.call, request.component))
        if found is None:
            raise CampaignError(f"{self.path}: holds no reflection of {where}; the recorded campaign ended before")
        if found.parents != (texts := (request.parent, *request.others)):
            place = next(
                (number for number, pair in enumerate(zip(found.parents, texts, strict=False)) if pair[0] != pair[1]),
                min(len(found.parents), len(texts)),
            )
            recorded, present = (each[place] if place < len(each) else None for each in (found.parents, texts))
            raise CampaignError(
                f"{self.path}: the reflection of {where} (seq {found.seq}) was of another parent: parent {place + 1} "
                f"is {_shown(present)} here and {_shown(recorded)} there; replay with the recorded plan, corpus, seed"
            )
        if self._traces and found.traces != digest([trace.text for trace in request.traces]):
            raise CampaignError(
                f"{self.path}: the reflection of {where} (seq {found.seq}) was told something else of its parent: the "
                "traces differ; replay with the recorded student, corpus and feedback, or give reflector.traces: false"
            )
        return found.reflection


def _recorded(events: Sequence[Event]) -> dict[tuple[int, int, str], _Recorded]:
    """Reflections by iteration, call and block, with the texts of the candidates that they name as parents."""
    texts: dict[str, Mapping[str, str]] = {}
    found: dict[tuple[int, int, str], _Recorded] = {}
    for event in events:
        body = event.body
        if event.type == "candidate":
            texts[body["candidate"]] = body["texts"]
        elif event.type == "reflection":
            block = body.get("component", INSTRUCTION)
            parents = tuple(texts[parent][block] for parent in (body["parent"], *body.get("others", ())))
            found[body["iteration"], body["call"], block] = _Recorded(
                Reflection.from_row(body["reflection"]), parents, body["traces"], event.seq
            )
    return found


def _shown(text: str | None) -> str:
    if text is None:
        return "none"
    words = text.split()
    return repr(" ".join(words[:8]) + (" ..." if len(words) > 8 else ""))
