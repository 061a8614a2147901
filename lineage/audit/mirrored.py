"""What MLflow's store must hold of a run directory: everything that the mirror writes, kept instead of sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from lineage.canonical import digest_bytes
from lineage.ledger import OPERATIONAL, Event
from lineage.mirror.campaign import CampaignWriter
from lineage.mirror.judging import KIND, JudgingWriter
from lineage.mirror.layout import PREFIX, TOP
from lineage.mirror.store import PARENT, TABLES, RunStore

LACKING: Final = "(not in the store)"
"""Stands for the id of a run that the store lacks."""


@dataclass(slots=True)
class MirroredRun:
    """One run: what it is called, begins and ends with, and carries; files by their SHA-256.

    ``metrics`` are values and times (milliseconds) by name and step.
    """

    name: str
    start: int
    ended: tuple[str, int] | None = None
    tags: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    metrics: dict[tuple[str, int], tuple[float, int]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class MirroredPrompt:
    """A version in the prompt registry."""

    name: str
    text: str
    tags: dict[str, str]


class ExpectedStore(RunStore):
    """A store to which a mirror writes, and that keeps what is written.

    Args:
        directory: the run directory.
        experiment_id: MLflow's id of the experiment that the runs are in.
        ids: MLflow's ids of the runs, by key.
        version: number of the prompt version in the registry that has the verdict's hash, or None.
    """

    def __init__(self, directory: Path, *, experiment_id: str, ids: Mapping[str, str], version: int | None) -> None:
        super().__init__("", experiment="", directory=directory)
        self._place, self._ids, self._version = experiment_id, dict(ids), version
        self._client = self
        self.made: dict[str, MirroredRun] = {}
        self.prompts: list[MirroredPrompt] = []

    def written(self) -> dict[str, MirroredRun]:
        """Every run by its key, as it is when the last event is mirrored."""
        for key, run in self.made.items():
            pending = self._of(key)
            run.tags |= pending.tags
            run.params, run.metrics, run.files = pending.params, pending.metrics, pending.files
            run.ended = pending.ended
            if pending.tables:
                listed = [{"path": file, "type": "table"} for file in dict.fromkeys(pending.tables)]
                run.tags[TABLES] = json.dumps(listed)
        return self.made

    # -- a store that keeps --------------------------------------------------------------------------------------------

    def keep(self) -> None:
        """Leave the run directory alone."""

    def flush(self) -> None:
        """Keep what was logged."""

    def text(self, key: str, file: str, text: str) -> None:
        """Keep the hash of a text."""
        self._of(key).files[file] = digest_bytes(text.encode("utf-8", errors="backslashreplace"))

    def end(self, key: str, event: Event) -> None:
        """See :meth:`RunStore.end`; what has ended does not end again."""
        if self._status[key] != "FINISHED":
            super().end(key, event)
            self._status[key] = "FINISHED"

    def _terminate(self, key: str, status: str, at: int | None) -> None:
        assert at is not None, "only events end runs here"
        self._of(key).ended, self._status[key] = (status, at), status

    def _kept_state(self) -> dict[str, Any]:
        return self._new_state()

    # -- MLflow's client, as the store and the registry call it --------------------------------------------------------

    def create_run(self, experiment_id: str, *, start_time: int, tags: Mapping[str, str], run_name: str) -> Any:
        """Note a run; its id is that which the store has it under."""
        del experiment_id
        key = tags[f"{PREFIX}key"]
        self.made[key] = MirroredRun(run_name, start_time, tags=dict(tags))
        return SimpleNamespace(info=SimpleNamespace(run_id=self._ids.get(key, LACKING)))

    def get_prompt(self, name: str) -> str:
        """Any prompt is there."""
        return name

    def search_prompt_versions(self, name: str, *, page_token: str | None) -> Any:
        """No version is there yet, so that one is made."""
        del name, page_token

        class _NoVersions(list[Any]):
            token = ""

        return _NoVersions()

    def create_prompt_version(self, name: str, text: str, *, tags: Mapping[str, str]) -> Any:
        """Note a version of a prompt."""
        self.prompts.append(MirroredPrompt(name, text, dict(tags)))
        return SimpleNamespace(version=self._version or 0)


def expected_store(
    directory: Path, events: Sequence[Event], *, experiment_id: str, ids: Mapping[str, str], version: int | None
) -> ExpectedStore:
    """What a mirror has written once these events are mirrored; arguments as in `ExpectedStore`.

    Raises:
        LedgerError: a judgement segment is damaged.
    """
    store = ExpectedStore(directory, experiment_id=experiment_id, ids=ids, version=version)
    store.follow(events[0].hash)
    judging = events[0].body.get("kind") == KIND
    writer = (JudgingWriter if judging else CampaignWriter)(store, directory)
    for event in events:
        if event.type not in OPERATIONAL:
            writer.observe(event)
            writer.mirror(event)
            writer.after(event)
    runs = store.written()
    if TOP in runs:
        runs[TOP].tags.pop(PARENT, None)  # a sweep's trial is mirrored beneath its study, which is elsewhere
    return store
