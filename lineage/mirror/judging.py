"""A judging run in MLflow: a child run for each of its judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from lineage.canonical import pretty_json
from lineage.ledger import Event
from lineage.mirror.directory import DirectoryWriter
from lineage.mirror.layout import JUDGEMENT, TOP, metric_name
from lineage.mirror.store import RunStore
from lineage.records import stable

KIND: Final = "judging"
"""What the first event of such a run says that it is."""


class JudgingWriter(DirectoryWriter):
    """Writes events of a judging run into its runs: judgements and measures once its table is there."""

    def __init__(self, store: RunStore, directory: Path) -> None:
        super().__init__(store, directory)
        self._judges: Mapping[str, Mapping[str, Any]] = {}
        self._texts: dict[str, Mapping[str, str]] = {}
        self._evaluations: dict[str, Event] = {}
        self._steps |= {"examples": self.kept("examples.json"), "evaluation": self._evaluation, "table": self._table}

    def observe(self, event: Event) -> None:
        """Take note of an event, mirrored or not."""
        super().observe(event)
        if event.seq == 0:
            self._judges = {row["name"]: row for row in event.body["judges"]}
        elif event.type == "candidate":
            self._texts[event.body["candidate"]] = event.body["texts"]
        elif event.type == "evaluation":
            self._evaluations[event.body["purpose"]] = event

    def _evaluation(self, event: Event, body: Mapping[str, Any]) -> None:
        name, (candidate,) = body["purpose"], body["candidates"]
        judge = self._judges.get(name, {})
        tags = {"kind": "judge", "judge": name, "candidate": candidate, "student": body["student"], **self.marks}
        self.store.open(_key(name), name, event, tags | {part: judge.get(part) for part in ("design", "family")})
        for block, text in self._texts.get(candidate, {}).items():
            self.store.text(_key(name), f"{block}.md", text)

    def _table(self, event: Event, body: Mapping[str, Any]) -> None:
        table = body["table"]
        self.store.text(TOP, "table.json", pretty_json(table))
        for row in table["judges"]:
            key, evaluation = _key(row["name"]), self._evaluations[row["name"]]
            counts = {"scored": row["scored"], "judgements": row["judgements"]}
            self.store.log(key, event, metrics=counts | dict(_numbers(row)))
            self.store.text(key, "table.json", pretty_json(stable(row)))
            for rows in self.rows.by_candidate(evaluation).values():
                file = f"judgements/{evaluation.body['segment']['name']}.json"
                self.store.table(key, file, JUDGEMENT, rows)
            self.store.end(key, event)


def _key(judge: str) -> str:
    return f"judge:{judge}"


def _numbers(row: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    """Every measure of a judge with its interval, and what it costs."""
    named = {f"paired.{name}": found for name, found in row["paired"].items()}
    named |= {f"auc.{name}": found for name, found in row["auc"].items()} | {"ties": row["ties"]}
    for flagging in ("own", "swept"):
        parts = {name: found for name, found in (row[flagging] or {}).items() if isinstance(found, Mapping)}
        named |= {f"{flagging}.{name}": found for name, found in parts.items() if "value" in found}
    for name, found in named.items():
        for suffix, number in (("", "value"), (".low", "low"), (".high", "high")):
            yield metric_name(name + suffix), found[number]
    for name, value in row["cost"].items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield metric_name("cost", name), value
