"""What an experiment's report is written from: its directory, read back and verified."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineage.canonical import canonical_json
from lineage.errors import InputError, LedgerError
from lineage.ledger import Event, check_head, read_events
from lineage.records import VOLATILE
from optimize.crossing import RESULT

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExperimentData:
    """A finished experiment.

    Attributes:
        body: body of the first event: plan, hashes, marks, versions.
        result: what was found, as in ``experiment.json``.
        texts: instructions by prompt, the seed among them, as one text each.
        searches: bodies of the ``searched`` events.
        settings: bodies of the ``setting`` events.
        openings: bodies of the ``seal_opened`` events.
        spend: what the crossing itself paid for, limits and prices.
        groups: groups of each split.
        head: count and hash of the ledger at its ``finished`` event.
        begun: time of the first event.
        finished: time of the last.
    """

    body: Row
    result: Row
    texts: Mapping[str, str]
    searches: tuple[Row, ...]
    settings: tuple[Row, ...]
    openings: tuple[Row, ...]
    spend: Row
    groups: Row
    head: Row
    begun: str
    finished: str

    @property
    def order(self) -> list[str]:
        """Settings in the order of the plan."""
        found: list[str] = list(self.body["experiment"]["order"])
        return found

    @property
    def cells(self) -> dict[tuple[str, str], Row]:
        """Cells by prompt and setting; none where nothing was found."""
        return {(row["prompt"], row["setting"]): row for row in self.result["cells"]}


def collect_experiment(directory: Path) -> ExperimentData:
    """Read and verify a finished experiment.

    Raises:
        InputError: the directory holds no finished experiment.
        LedgerError: the ledger or the result is not what the ledger recorded.
    """
    path = directory / "ledger.jsonl"
    if not path.is_file():
        raise InputError(f"{directory}: holds no ledger.jsonl; give the directory of an experiment")
    events = read_events(path)
    check_head(path, events)
    if not events or events[0].type != "experiment":
        raise InputError(f"{directory}: holds no experiment; holdgate report is for campaigns")
    last = next((event for event in events if event.type == "finished"), None)
    if last is None:
        raise InputError(f"{directory}: the experiment is not finished; resume it, and write the report then")
    result = _all(events, "crossed")[0]["result"]
    head = {"count": last.seq + 1, "hash": last.hash}
    kept = directory / RESULT
    text = canonical_json(json.loads(kept.read_text(encoding="utf-8"))) if kept.is_file() else ""
    if text != canonical_json({**result, "ledger_head": head}):
        raise LedgerError(
            f"{kept}: is not the result that the ledger recorded; resume the experiment to write it again"
        )
    searches = _all(events, "searched")
    seed = _all(events, "candidate")[0]
    texts = {"seed": seed["texts"], **{body["setting"]: body["texts"] for body in searches}}
    return ExperimentData(
        body=events[0].body,
        result=result,
        texts={name: _one(text) for name, text in texts.items()},
        searches=searches,
        settings=_all(events, "setting"),
        openings=_all(events, "seal_opened"),
        spend=_all(events, "spend")[0][VOLATILE],
        groups=_all(events, "splits")[0]["groups"],
        head=head,
        begun=events[0].at,
        finished=last.at,
    )


def _all(events: tuple[Event, ...], kind: str) -> tuple[Row, ...]:
    return tuple(event.body for event in events if event.type == kind)


def _one(texts: Mapping[str, str]) -> str:
    return "\n\n".join(texts.values()) if len(texts) == 1 else "\n\n".join(f"{k}:\n{v}" for k, v in texts.items())
