"""The runs of one run directory in MLflow's store, and what the directory remembers of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from lineage.canonical import pretty_json, write_atomic
from lineage.errors import HoldgateError
from lineage.ledger import Event
from lineage.mirror.layout import PREFIX, TOP, word
from lineage.mirror.quiet import quiet, without_password

STATE: Final = "mlflow.json"
BATCH: Final = 100
"""Most tags or parameters that MLflow takes at once."""
METRICS: Final = 500
"""Metrics that are sent at once."""
PARENT: Final = "mlflow.parentRunId"
TABLES: Final = "mlflow.loggedArtifacts"
"""The tag by which MLflow's own pages find tables."""
NOTE: Final = "mlflow.note.content"
"""The tag that MLflow's own pages show as a run's description."""


class MirrorError(HoldgateError):
    """MLflow's store cannot be written. The ledger is complete without it; the mirror can be made later."""


@dataclass(slots=True)
class _Pending:
    """What is still to be sent of one run."""

    tags: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    metrics: dict[tuple[str, int], tuple[float, int]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)
    ended: tuple[str, int] | None = None


class RunStore:
    """The run of a run directory, under the key ``campaign``, and its child runs, under keys of their own.

    What is logged is kept until :meth:`flush`, and sent run by run. Everything has its event's time and place, so that
    writing it twice changes nothing.

    Args:
        tracking_uri: as in `MlflowMirror`.
        experiment: as in `MlflowMirror`.
        directory: as in `MlflowMirror`.
        beneath: MLflow's id of a run that the directory's own run is to be a child of, or None.

    Attributes:
        state: what has been mirrored into which store: the campaign, MLflow's id of its run and that run's status, how
            many runs there are, and the number of the first event that is not mirrored.
        runs: MLflow's ids of the runs, by key.
    """

    def __init__(self, tracking_uri: str, *, experiment: str, directory: Path, beneath: str | None = None) -> None:
        self._uri, self._experiment, self._directory = tracking_uri, experiment, directory
        self._beneath = beneath
        self._client: Any = None
        self._place = ""
        self._pending: dict[str, _Pending] = {}
        self._status: dict[str, str] = {}
        self._listed: dict[str, list[str]] = {}
        self.runs: dict[str, str] = {}
        self.state: dict[str, Any] = self._kept_state()

    @property
    def run_id(self) -> str | None:
        """MLflow's id of the directory's run; None before its first event is mirrored."""
        found: str | None = self.state["run"]
        return found

    @property
    def client(self) -> Any:
        """MLflow's client, within :meth:`call`."""
        return self._client

    @property
    def experiment_id(self) -> str:
        """MLflow's id of the experiment, within :meth:`call`."""
        return self._place

    def follow(self, campaign: str) -> None:
        """Begin anew if what is remembered is of another campaign than the one whose first event has this hash."""
        if self.state["campaign"] != campaign:
            self.state = {**self._new_state(), "campaign": campaign}

    def keep(self) -> None:
        """Write what is remembered into the run directory."""
        self.state |= {"run": self.runs.get(TOP), "runs": len(self.runs), "status": self._status.get(TOP)}
        write_atomic(self._directory / STATE, pretty_json(self.state))

    def call(self, step: Callable[[], None]) -> None:
        """Do something with the store, opened where it is not yet.

        Raises:
            MirrorError: the store cannot be written.
        """
        with quiet():
            import mlflow.exceptions
            import sqlalchemy.exc

            try:
                if self._client is None:
                    self._connect()
                step()
            except (mlflow.exceptions.MlflowException, sqlalchemy.exc.SQLAlchemyError, OSError) as error:
                raise MirrorError(
                    without_password(self._uri, f"the MLflow store {self._uri} cannot be written: {error}")
                    + "; correct the tracking address or the store, or go on without a mirror: it can be made later"
                ) from error

    # -- logging -------------------------------------------------------------------------------------------------------

    def open(self, key: str, name: str, event: Event, tags: Mapping[str, Any], *, note: str = "") -> str:
        """The run of a key, made where there is none."""
        marks = _marks(tags) | ({NOTE: note} if note else {})
        if key in self.runs:
            self._of(key).tags |= marks
            return self.runs[key]
        above = self._beneath if key == TOP else self.runs[TOP]
        marks |= _marks({"campaign": self.state["campaign"], "key": key}) | ({PARENT: above} if above else {})
        made = self._client.create_run(self._place, start_time=milliseconds(event), tags=marks, run_name=name)
        self.runs[key], self._status[key], self._listed[key] = made.info.run_id, "RUNNING", []
        return str(made.info.run_id)

    def end(self, key: str, event: Event) -> None:
        """End a run as finished, at an event's time."""
        self._of(key).ended = ("FINISHED", milliseconds(event))

    def end_open(self, status: str, event: Event | None = None) -> None:
        """End every run that is open with a status, the directory's own last; at an event's time, or now."""
        self.flush()
        for key in sorted((key for key, now in self._status.items() if now == "RUNNING"), key=lambda key: key == TOP):
            self._terminate(key, status, None if event is None else milliseconds(event))

    def log(
        self,
        key: str,
        event: Event,
        *,
        metrics: Mapping[str, float | None] | None = None,
        params: Mapping[str, Any] | None = None,
        tags: Mapping[str, Any] | None = None,
    ) -> None:
        """Log numbers at an event's time and place, parameters, and tags; an undefined number is left out."""
        pending = self._of(key)
        for name, value in (metrics or {}).items():
            if value is not None:
                pending.metrics[name, event.seq] = (float(value), milliseconds(event))
        pending.params |= {name: word(value) for name, value in (params or {}).items()}
        pending.tags |= _marks(tags or {})

    def note(self, key: str, text: str) -> None:
        """Describe a run, in Markdown."""
        self.mark(key, NOTE, word(text))

    def mark(self, key: str, name: str, value: str) -> None:
        """Set a tag of MLflow's own."""
        self._of(key).tags[name] = value

    def text(self, key: str, file: str, text: str) -> None:
        """Log a whole text as an artifact."""
        self._of(key).files[file] = text

    def table(
        self, key: str, file: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, listed: bool = True
    ) -> None:
        """Log a table as MLflow does, ``listed`` among the tables that its pages offer to compare."""
        self.text(key, file, json.dumps({"columns": list(columns), "data": list(rows)}, allow_nan=False))
        if listed:
            self._of(key).tables.append(file)

    def flush(self) -> None:
        """Send what was logged."""
        for key in list(self._pending):
            self._send(key, self._pending[key])
            del self._pending[key]

    def _of(self, key: str) -> _Pending:
        return self._pending.setdefault(key, _Pending())

    def _send(self, key: str, pending: _Pending) -> None:
        from mlflow.entities import Metric, Param, RunTag

        run = self.runs[key]
        if pending.files:
            with tempfile.TemporaryDirectory() as place:
                for file, text in pending.files.items():
                    path = Path(place) / file
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
                self._client.log_artifacts(run, place)
        if pending.tables:
            pending.tags[TABLES] = self._with_tables(key, pending.tables)
        metrics = [Metric(name, value, at, step) for (name, step), (value, at) in pending.metrics.items()]
        tags = [RunTag(name, value) for name, value in pending.tags.items()]
        params = [Param(name, value) for name, value in pending.params.items()]
        count = max(-(-len(metrics) // METRICS), -(-len(tags) // BATCH), -(-len(params) // BATCH))
        for part in range(count):
            parts = slice(part * BATCH, (part + 1) * BATCH)
            some = metrics[part * METRICS : (part + 1) * METRICS]
            self._client.log_batch(run, metrics=some, tags=tags[parts], params=params[parts])
        if pending.ended is not None and self._status[key] != "FINISHED":
            self._terminate(key, *pending.ended)

    def _with_tables(self, key: str, files: Sequence[str]) -> str:
        if key not in self._listed:
            found = self._client.get_run(self.runs[key]).data.tags.get(TABLES, "[]")
            self._listed[key] = [entry["path"] for entry in json.loads(found)]
        self._listed[key] += [file for file in files if file not in self._listed[key]]
        return json.dumps([{"path": file, "type": "table"} for file in self._listed[key]])

    def _terminate(self, key: str, status: str, at: int | None) -> None:
        self._client.set_terminated(self.runs[key], status, at)
        self._status[key] = status

    # -- what is remembered --------------------------------------------------------------------------------------------

    def _new_state(self) -> dict[str, Any]:
        where = {"tracking_uri": without_password(self._uri, self._uri), "experiment": self._experiment}
        return {**where, "campaign": None, "mirrored": 0, "run": None, "runs": 0, "status": None}

    def _kept_state(self) -> dict[str, Any]:
        """The state of an earlier process; one that is lost, damaged or of another store is made again from MLflow."""
        new = self._new_state()
        try:
            kept = json.loads((self._directory / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return new
        same = isinstance(kept, dict) and kept.keys() == new.keys()
        return kept if same and all(kept[key] == new[key] for key in ("tracking_uri", "experiment")) else new

    # -- opening the store ---------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        """Open the store, find the runs that an earlier process made, and let those that it did not finish run on."""
        from mlflow import MlflowClient

        client = MlflowClient(tracking_uri=self._uri, registry_uri=self._uri)
        found = client.get_experiment_by_name(self._experiment)
        place = found.experiment_id if found else client.create_experiment(self._experiment, self._artifacts())
        wanted = f"tags.`{PREFIX}campaign` = '{self.state['campaign']}'"
        runs: dict[str, Any] = {}
        page: str | None = None
        while page != "":
            some = client.search_runs([place], wanted, page_token=page)
            runs |= {run.data.tags[f"{PREFIX}key"]: run.info for run in some}
            page = some.token or ""
        if len(runs) < self.state["runs"]:  # the store lost runs: mirror everything again
            self.state = {**self._new_state(), "campaign": self.state["campaign"]}
        self.runs = {key: info.run_id for key, info in runs.items()}
        self._status = {key: info.status for key, info in runs.items()}
        for key, status in self._status.items():
            if status not in ("FINISHED", "RUNNING"):
                client.update_run(self.runs[key], status="RUNNING")
                self._status[key] = "RUNNING"
        self._client, self._place = client, place

    def _artifacts(self) -> str | None:
        """Artifacts of a local store lie beside it; elsewhere the server decides."""
        path = self._uri.removeprefix("sqlite:///")
        return None if path == self._uri else (Path(path).resolve().parent / "mlflow-artifacts").as_uri()


def milliseconds(event: Event) -> int:
    """An event's time, in milliseconds since 1970."""
    return round(datetime.fromisoformat(event.at).timestamp() * 1000)


def _marks(tags: Mapping[str, Any]) -> dict[str, str]:
    return {f"{PREFIX}{name}": word(value) for name, value in tags.items()}
