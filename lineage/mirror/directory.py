"""The run that a run directory has itself, whatever it holds: plan, splits, spend, and how far it is mirrored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lineage.canonical import pretty_json
from lineage.imported import IMPORTED
from lineage.ledger import Event
from lineage.mirror.judgements import JudgementRows
from lineage.mirror.layout import TOP, flat, metric_name, usage_metrics
from lineage.mirror.store import RunStore
from lineage.openings import is_look
from lineage.records import VOLATILE, stable

Step = Callable[[Event, Mapping[str, Any]], None]


class DirectoryWriter:
    """Writes events of one run directory into its run; see the classes for what it may hold.

    Every event is to come once, in order: :meth:`observe`, :meth:`mirror` where it is not mirrored yet, :meth:`after`.

    Args:
        store: the runs.
        directory: the run directory, for its judgements.
    """

    def __init__(self, store: RunStore, directory: Path) -> None:
        self.store, self.rows = store, JudgementRows(directory)
        self.campaign, self.kind = "", "campaign"
        self.plan: Mapping[str, Any] = {}
        self.marks: dict[str, Any] = {}
        self.decided = False
        self._deciding: tuple[str, ...] = ("finished",)
        self._steps: dict[str, Step] = {
            "plan": self._opened_run,
            "experiment": self._opened_run,
            IMPORTED: self._opened_run,
            "splits": self._splits,
            "calibration": self.kept("calibration.json"),
            "seal_opened": self._seal_opened,
            "spend": self._spend,
        }

    def observe(self, event: Event) -> None:
        """Take note of an event, mirrored or not."""
        if not self.campaign:
            body = event.body
            self.campaign, self.marks = event.hash, _marks(event)
            self.plan = body.get("plan") or body.get("experiment") or body.get("settings") or {}
            self.kind = body.get("kind") or ("trial" if "trial" in body else "campaign")
            self.kind = event.type if event.type in ("experiment", IMPORTED) else self.kind

    def mirror(self, event: Event) -> None:
        """Mirror an event that was just observed.

        Raises:
            LedgerError: a judgement segment that belongs to the event is damaged.
        """
        if (step := self._steps.get(event.type)) is not None:
            step(event, event.body)
        self.store.log(TOP, event, tags={"ledger.count": event.seq + 1, "ledger.hash": event.hash})
        if event.type == "finished":
            self._finished(event, event.body)

    def after(self, event: Event) -> None:
        """What follows an event, mirrored or not: held-out judgements may be seen once it has decided."""
        self.decided = self.decided or event.type in self._deciding

    def kept(self, file: str) -> Step:
        """A step that keeps an event's body as a file of the directory's run."""

        def step(event: Event, body: Mapping[str, Any]) -> None:
            del event
            self.store.text(TOP, file, pretty_json(stable(body)))

        return step

    def _opened_run(self, event: Event, body: Mapping[str, Any]) -> None:
        hashes = {name: body.get(name) for name in ("plan_hash", "lock_hash", "corpus_hash", "models_hash")}
        more = {name: body[name] for name in ("study", "trial") if name in body}
        environment = body.get(VOLATILE, {})
        tags = {"kind": self.kind, **hashes, **self.marks, **more, "version": environment.get("holdgate")}
        name = f"{body.get('name') or self.plan.get('name', self.kind)} {event.hash[:8]}"
        self.store.open(TOP, f"trial {body['trial']:04d}" if self.kind == "trial" else name, event, tags)
        self.store.log(TOP, event, params=dict(flat(self.plan)))
        if self.kind == IMPORTED:
            self.store.text(TOP, "imported.json", pretty_json(stable(body)))
            return
        self.store.text(TOP, "plan.json", pretty_json(dict(self.plan)))
        self.store.text(TOP, "environment.json", pretty_json(environment))

    def _splits(self, event: Event, body: Mapping[str, Any]) -> None:
        self.kept("splits.json")(event, body)
        groups = {metric_name("groups", name): count for name, count in body["groups"].items()}
        self.store.log(TOP, event, metrics=groups)

    def _seal_opened(self, event: Event, body: Mapping[str, Any]) -> None:
        """An exploratory opening marks the campaign at once; one after the verdict is only noted."""
        if is_look(event):
            looked = f"{body['purpose']}: {body['exploratory']}"
            early = {"exploratory": looked, "confirmatory": False}
            self.store.log(TOP, event, tags={"opened_after_verdict": looked} if self.decided else early)

    def _spend(self, event: Event, body: Mapping[str, Any]) -> None:
        record = body[VOLATILE]
        self.store.text(TOP, "spend.json", pretty_json(record))
        self.store.log(TOP, event, metrics=usage_metrics("spend", list(record.get("paid", {}).values())))
        for path, usage in record.get("paid", {}).items():
            self.store.log(TOP, event, metrics=usage_metrics(metric_name("spend", *path.split(" ", 1)), [usage]))

    def _finished(self, event: Event, body: Mapping[str, Any]) -> None:
        tags = {"stopped": None} | ({"decision": body["decision"]} if "decision" in body else {})
        if "outcome" in body:  # of a trial
            self.store.text(TOP, "outcome.json", pretty_json(stable(body["outcome"])))
            values = (body["outcome"].get("reading") or {}).get("values", {})
            self.store.log(
                TOP, event, metrics={metric_name("objective", name): value for name, value in values.items()}
            )
        self.store.log(TOP, event, tags=tags)
        self.store.end_open("FINISHED", event)


def _marks(event: Event) -> dict[str, Any]:
    """What the numbers of a run are not, for it and its children, by its first event."""
    body = event.body
    plan = body.get("plan") or body.get("experiment") or {}
    controls = plan.get("controls") or {}
    return {
        "simulated": body.get("simulated", False),
        "exploratory": body.get("exploratory"),
        "replayed": bool(body.get("replayed")),
        "imported": event.type == IMPORTED,
        "control": any(value not in (None, False) for value in controls.values()),
    }
