"""Reading a judging run back: what was registered, its examples without their texts, and each judge's evaluation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from lineage.canonical import json_lines
from lineage.errors import InputError, LedgerError
from lineage.ledger import OPERATIONAL, Event, read_events
from lineage.records import VOLATILE
from lineage.segments import read_segment
from optimize.evaluation import Evaluation
from optimize.judging.costs import JudgePrices
from optimize.judging.registering import KIND
from optimize.judging.table import Judged
from splits.corpus import Example


@dataclass(frozen=True, slots=True)
class RecordedJudging:
    """A judging run read back: verified events, and the examples without their texts."""

    directory: Path
    events: tuple[Event, ...]
    examples: Mapping[str, Example]

    @property
    def registered(self) -> Mapping[str, Any]:
        """What was registered before the first call."""
        return self.events[0].body

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges, in order."""
        return tuple(judge["name"] for judge in self.registered["judges"])

    @property
    def corpus_hash(self) -> str:
        """Hash of the corpus that was judged."""
        return str(self.registered["corpus_hash"])

    def all(self, kind: str) -> list[Event]:
        """The events of one type, in order."""
        return [event for event in self.events if event.type == kind]

    def judged(self, name: str) -> Judged:
        """One judge's evaluation.

        Raises:
            InputError: there is no such judge; suggests the near name.
            LedgerError: it has not judged yet, or its judgements are not those that were recorded.
        """
        if name not in self.judges:
            near = get_close_matches(name, self.judges, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(self.judges)}"
            raise InputError(f"{self.directory}: has no judge {name!r}; {hint}")
        event = next((event for event in self.all("evaluation") if event.body["purpose"] == name), None)
        if event is None:
            raise LedgerError(f"{self.directory}: {name} has not judged yet; give the same command to go on")
        judgements = read_segment(self.directory / "judgements", event.body["segment"])
        ids = sorted({judgement.example for judgement in judgements})
        if unknown := [example for example in ids if example not in self.examples]:
            raise LedgerError(f"seq {event.seq}: judges {unknown[0]!r}, which is not in examples.jsonl")
        registered = next(judge for judge in self.registered["judges"] if judge["name"] == name)
        (candidate,) = event.body["candidates"]
        return Judged(
            registered,
            Evaluation(candidate, tuple(self.examples[example] for example in ids), judgements),
            JudgePrices.from_row(self.registered[VOLATILE]["prices"][name]),
        )


def is_judging(directory: Path) -> bool:
    """Whether a directory holds a judging run, finished or not."""
    try:
        with (directory / "ledger.jsonl").open(encoding="utf-8") as ledger:
            return bool(json.loads(ledger.readline())["body"].get("kind") == KIND)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False  # what it holds instead is another reader's to say


def load_judging(directory: Path) -> RecordedJudging:
    """Read the directory of a judging run.

    Raises:
        InputError: it holds no judging run.
        LedgerError: the ledger is damaged, or the list of examples is missing or not in its format.
    """
    path = directory / "ledger.jsonl"
    if not path.is_file():
        raise InputError(
            f"{directory}: holds no ledger.jsonl; give the directory of a judging run, such as runs/designs"
        )
    events = tuple(event for event in read_events(path) if event.type not in OPERATIONAL)
    if not events or events[0].body.get("kind") != KIND:
        raise InputError(f"{directory}: is no judging run; make one with holdgate judge")
    try:
        listed = json_lines((directory / "examples.jsonl").read_text(encoding="utf-8"))
        rows = [{key: value for key, value in row.items() if key != "split"} for row in listed]
        examples = {row["id"]: Example(source="", document="", **row) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LedgerError(f"{directory}: examples.jsonl is missing or damaged ({error!r})") from error
    return RecordedJudging(directory, events, examples)
