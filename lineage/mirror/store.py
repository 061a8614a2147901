"""The runs of one campaign in MLflow's store, and what a run directory remembers of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from lineage.canonical import pretty_json, write_atomic
from lineage.errors import HoldgateError
from lineage.ledger import Event
from lineage.mirror.quiet import quiet, without_password

STATE: Final = "mlflow.json"
BATCH: Final = 100
"""Most tags or parameters that MLflow takes at once."""


class MirrorError(HoldgateError):
    """MLflow's store cannot be written. The ledger is complete without it; the mirror can be made later."""


class RunStore:
    """The parent run of a campaign, under the key ``campaign``, and its child runs, under their candidates' places.

    Everything written has its event's time and place, so that writing it twice changes nothing.

    Args:
        tracking_uri: as in `MlflowMirror`.
        experiment: as in `MlflowMirror`.
        directory: as in `MlflowMirror`.

    Attributes:
        state: what has been mirrored, and MLflow's ids of the runs, all of them and those that are open.
    """

    def __init__(self, tracking_uri: str, *, experiment: str, directory: Path) -> None:
        self._uri, self._experiment, self._directory = tracking_uri, experiment, directory
        self._client: Any = None
        self.state: dict[str, Any] = self._kept_state()

    @property
    def run_id(self) -> str | None:
        """MLflow's id of the campaign's run; None before its first event is mirrored."""
        found: str | None = self.state["runs"].get("campaign")
        return found

    def follow(self, campaign: str) -> None:
        """Begin anew if what is remembered is of another campaign than the one whose first event has this hash."""
        if self.state["campaign"] != campaign:
            self.state = {**self._new_state(), "campaign": campaign}

    def keep(self) -> None:
        """Write what is remembered into the run directory."""
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

    def open(self, key: str, name: str, event: Event, tags: Mapping[str, Any]) -> str:
        """The run of a key, made where there is none, and running again."""
        runs = self.state["runs"]
        if key not in runs:
            identity = {"holdgate.campaign": self.state["campaign"], "holdgate.key": key}
            made = self._client.create_run(self._place, start_time=_milliseconds(event), tags=identity, run_name=name)
            runs[key] = made.info.run_id
        else:
            self._client.update_run(runs[key], status="RUNNING")
        if key not in self.state["open"]:
            self.state["open"].append(key)
        self.log(key, event, tags=tags)
        return str(runs[key])

    def end(self, key: str, event: Event) -> None:
        """End a run as finished, at an event's time."""
        self._client.set_terminated(self.state["runs"][key], "FINISHED", _milliseconds(event))
        self.state["open"] = [other for other in self.state["open"] if other != key]

    def end_open(self, status: str) -> None:
        """End every run that is open with a status."""
        for key in self.state["open"]:
            self._client.set_terminated(self.state["runs"][key], status)

    def log(
        self,
        key: str,
        event: Event,
        *,
        metrics: Mapping[str, float | None] | None = None,
        params: Mapping[str, Any] | None = None,
        tags: Mapping[str, Any] | None = None,
    ) -> None:
        """Log numbers at an event's time and place, parameters, and tags; tags tie a child run to its parent."""
        from mlflow.entities import Metric, Param, RunTag

        run = self.state["runs"][key]
        numbers = {name: value for name, value in (metrics or {}).items() if value is not None}
        measured = [Metric(name, float(value), _milliseconds(event), event.seq) for name, value in numbers.items()]
        marks = [RunTag(f"holdgate.{name}", _word(value)) for name, value in (tags or {}).items()]
        marks += [RunTag("mlflow.parentRunId", self.state["runs"]["campaign"])] if key != "campaign" and tags else []
        stated = [Param(name, _word(value)) for name, value in (params or {}).items()]
        if measured or marks:
            self._client.log_batch(run, metrics=measured, tags=marks)
        for start in range(0, len(stated), BATCH):
            self._client.log_batch(run, params=stated[start : start + BATCH])

    def text(self, key: str, file: str, text: str) -> None:
        """Log a whole text as an artifact."""
        self._client.log_text(self.state["runs"][key], text, file)

    # -- what is remembered --------------------------------------------------------------------------------------------

    def _new_state(self) -> dict[str, Any]:
        where = {"tracking_uri": without_password(self._uri, self._uri), "experiment": self._experiment}
        return {**where, "campaign": None, "mirrored": 0, "runs": {}, "open": []}

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
        """Open the store, and find the runs that an earlier process made."""
        from mlflow import MlflowClient

        client = MlflowClient(tracking_uri=self._uri)
        found = client.get_experiment_by_name(self._experiment)
        place = found.experiment_id if found else client.create_experiment(self._experiment, self._artifacts())
        self._client, self._place = client, place
        wanted = f"tags.`holdgate.campaign` = '{self.state['campaign']}'"
        runs: dict[str, str] = {}
        page: str | None = None
        while page != "":
            some = client.search_runs([place], wanted, page_token=page)
            runs |= {run.data.tags["holdgate.key"]: run.info.run_id for run in some}
            page = some.token or ""
        if not self.state["runs"].items() <= runs.items():  # the store lost runs: mirror everything again
            self.state = {**self._new_state(), "campaign": self.state["campaign"]}
        self.state["runs"] = runs
        for key in self.state["open"]:
            client.update_run(runs[key], status="RUNNING")

    def _artifacts(self) -> str | None:
        """Artifacts of a local store lie beside it; elsewhere the server decides."""
        path = self._uri.removeprefix("sqlite:///")
        return None if path == self._uri else (Path(path).resolve().parent / "mlflow-artifacts").as_uri()


def _milliseconds(event: Event) -> int:
    """Milliseconds since 1970."""
    return round(datetime.fromisoformat(event.at).timestamp() * 1000)


def _word(value: Any) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
