"""The MLflow mirror: a campaign as a parent run, every candidate as a child run with its whole text.

The ledger stays the record; the mirror is a view of it for MLflow's own tools, and can be made again from the ledger at
any time (:func:`sync`). Nothing here uses MLflow's global state: no active run, no global tracking address. MLflow is
loaded only when there is something to mirror.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from lineage.canonical import pretty_json, write_atomic
from lineage.errors import HoldgateError
from lineage.ledger import OPERATIONAL, Event, _read
from lineage.segments import read_segment
from lineage.tree import TreeRow, minibatch_gain, tree_rows

Status = Literal["FINISHED", "FAILED", "KILLED"]

STATE: Final = "mlflow.json"
BATCH: Final = 100
"""Most tags or parameters that MLflow takes at once."""

ENVIRONMENT: Final = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
}
"""MLflow's settings while it is called, where the user has not set them: no reports home, no lines on our output, and
an error within seconds rather than minutes where a store is gone."""


class MirrorError(HoldgateError):
    """MLflow's store cannot be written. The ledger is complete without it; the mirror can be made later."""


class MlflowMirror:
    """Mirrors the events of one campaign, as they come, into one parent run and its child runs.

    Every event may come again: those mirrored before cost nothing, and a resumed campaign goes on in the same runs.
    Everything written has its event's time and place, so that writing it twice changes nothing. Use it from one thread.

    Args:
        tracking_uri: MLflow's tracking address, such as ``sqlite:////abs/path/mlflow.db``.
        experiment: name of the experiment; created where there is none, with its artifacts beside a local store.
        directory: the run directory, whose ``mlflow.json`` keeps what has been mirrored.
    """

    def __init__(self, tracking_uri: str, *, experiment: str, directory: Path) -> None:
        self._uri, self._experiment, self._directory = tracking_uri, experiment, directory
        self._client: Any = None
        self._state: dict[str, Any] = self._kept_state()
        self._seen: list[Event] = []
        self._rows: list[TreeRow] = []
        self._reflection: Mapping[str, Any] | None = None

    @property
    def run_id(self) -> str | None:
        """MLflow's id of the campaign's run; None before its first event is mirrored."""
        found: str | None = self._state["runs"].get("campaign")
        return found

    def event(self, event: Event) -> None:
        """Mirror one event; every event of the campaign is to come, in order, those of earlier processes included.

        Raises:
            MirrorError: the store cannot be written.
            LedgerError: a judgement segment that belongs to the event is damaged.
        """
        if event.type in OPERATIONAL:
            return
        if event.seq == 0 and self._state["campaign"] != event.hash:
            self._state = {**self._new_state(), "campaign": event.hash}
        self._seen.append(event)
        if event.seq >= self._state["mirrored"]:
            self._calling(self._catch_up)

    def close(self, status: Status) -> None:
        """Say how the process ended: ``FAILED`` or ``KILLED`` is noted on runs that are open; a finished one stays so.

        ``FINISHED`` notes nothing: that is the ledger's ``finished`` event to say.

        Raises:
            ValueError: the status is not one of MLflow's final ones.
            MirrorError: the store cannot be written.
        """
        if status not in ("FINISHED", "FAILED", "KILLED"):
            raise ValueError(f"status must be FINISHED, FAILED or KILLED, got {status!r}")
        if status == "FINISHED" or not self._state["open"]:
            return
        self._calling(lambda: self._end_open(status))
        self._keep_state()

    # -- what is remembered --------------------------------------------------------------------------------------------

    def _new_state(self) -> dict[str, Any]:
        where = {"tracking_uri": _without_password(self._uri, self._uri), "experiment": self._experiment}
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

    def _keep_state(self) -> None:
        write_atomic(self._directory / STATE, pretty_json(self._state))

    # -- calling MLflow ------------------------------------------------------------------------------------------------

    def _calling(self, step: Callable[[], None]) -> None:
        with _quiet():
            import mlflow.exceptions
            import sqlalchemy.exc

            try:
                if self._client is None:
                    self._connect()
                step()
            except (mlflow.exceptions.MlflowException, sqlalchemy.exc.SQLAlchemyError, OSError) as error:
                raise MirrorError(
                    _without_password(self._uri, f"the MLflow store {self._uri} cannot be written: {error}")
                    + "; correct the tracking address or the store, or go on without a mirror: it can be made later"
                ) from error

    def _connect(self) -> None:
        """Open the store, and find the runs that an earlier process made."""
        from mlflow import MlflowClient

        client = MlflowClient(tracking_uri=self._uri)
        found = client.get_experiment_by_name(self._experiment)
        place = found.experiment_id if found else client.create_experiment(self._experiment, self._artifacts())
        self._client, self._place = client, place
        wanted = f"tags.`holdgate.campaign` = '{self._state['campaign']}'"
        runs: dict[str, str] = {}
        page: str | None = None
        while page != "":
            some = client.search_runs([place], wanted, page_token=page)
            runs |= {run.data.tags["holdgate.key"]: run.info.run_id for run in some}
            page = some.token or ""
        if not self._state["runs"].items() <= runs.items():  # the store lost runs: mirror everything again
            self._state = {**self._new_state(), "campaign": self._state["campaign"]}
        self._state["runs"] = runs
        for key in self._state["open"]:
            client.update_run(runs[key], status="RUNNING")

    def _catch_up(self) -> None:
        """Mirror every event that has come and is not mirrored yet."""
        for place, event in enumerate(self._seen):
            if event.seq >= self._state["mirrored"]:
                self._mirror(event, self._seen[: place + 1])
                self._state["mirrored"] = event.seq + 1
                self._keep_state()

    def _artifacts(self) -> str | None:
        """Artifacts of a local store lie beside it; elsewhere the server decides."""
        path = self._uri.removeprefix("sqlite:///")
        return None if path == self._uri else (Path(path).resolve().parent / "mlflow-artifacts").as_uri()

    def _open(self, key: str, name: str, event: Event, tags: Mapping[str, Any]) -> str:
        """The run of a key, made where there is none, and running again."""
        runs = self._state["runs"]
        if key not in runs:
            identity = {"holdgate.campaign": self._state["campaign"], "holdgate.key": key}
            made = self._client.create_run(self._place, start_time=_time(event), tags=identity, run_name=name)
            runs[key] = made.info.run_id
        else:
            self._client.update_run(runs[key], status="RUNNING")
        if key not in self._state["open"]:
            self._state["open"].append(key)
        self._log(key, event, tags=tags)
        return str(runs[key])

    def _end(self, key: str, event: Event) -> None:
        self._client.set_terminated(self._state["runs"][key], "FINISHED", _time(event))
        self._state["open"] = [other for other in self._state["open"] if other != key]

    def _end_open(self, status: str) -> None:
        for key in self._state["open"]:
            self._client.set_terminated(self._state["runs"][key], status)

    def _log(
        self,
        key: str,
        event: Event,
        *,
        metrics: Mapping[str, float | None] | None = None,
        params: Mapping[str, Any] | None = None,
        tags: Mapping[str, Any] | None = None,
    ) -> None:
        from mlflow.entities import Metric, Param, RunTag

        run = self._state["runs"][key]
        numbers = {name: value for name, value in (metrics or {}).items() if value is not None}
        measured = [Metric(name, float(value), _time(event), event.seq) for name, value in numbers.items()]
        marks = [RunTag(f"holdgate.{name}", _word(value)) for name, value in (tags or {}).items()]
        marks += [RunTag("mlflow.parentRunId", self._state["runs"]["campaign"])] if key != "campaign" and tags else []
        stated = [Param(name, _word(value)) for name, value in (params or {}).items()]
        if measured or marks:
            self._client.log_batch(run, metrics=measured, tags=marks)
        for start in range(0, len(stated), BATCH):
            self._client.log_batch(run, params=stated[start : start + BATCH])

    def _text(self, key: str, file: str, text: str) -> None:
        self._client.log_text(self._state["runs"][key], text, file)

    # -- events --------------------------------------------------------------------------------------------------------

    def _mirror(self, event: Event, past: Sequence[Event]) -> None:
        body = event.body
        self._reflection = next((seen.body for seen in reversed(past) if seen.type == "reflection"), None)
        step: Callable[[Event, Mapping[str, Any]], None] | None = {
            "plan": self._plan,
            "candidate": self._candidate,
            "evaluation": self._evaluation,
            "outcome": self._outcome,
            "measured": self._measured,
            "choice": self._choice,
            "verdict": self._verdict,
        }.get(event.type)
        if step is not None:
            self._rows = tree_rows(past)
            step(event, body)
        self._log("campaign", event, tags={"ledger.count": event.seq + 1, "ledger.hash": event.hash})
        if event.type == "finished":
            self._log("campaign", event, tags={"decision": body["decision"]})
            self._end("campaign", event)

    def _plan(self, event: Event, body: Mapping[str, Any]) -> None:
        tags = {name: body[name] for name in ("plan_hash", "lock_hash", "corpus_hash", "simulated", "exploratory")}
        self._open("campaign", f"{body['plan']['name']} {event.hash[:8]}", event, {"kind": "campaign", **tags})
        self._log("campaign", event, params=dict(_flat(body["plan"])))
        self._text("campaign", "plan.json", pretty_json(body["plan"]))

    def _candidate(self, event: Event, body: Mapping[str, Any]) -> None:
        row, key = self._rows[-1], str(event.seq)
        parents = [str(self._state["runs"][str(seq)]) for seq in row.parent_seqs]
        tags = {name: body[name] for name in ("candidate", "kind", "operator", "iteration")}
        tags |= {"name": row.name, "parents": ",".join(body["parents"]), "parent_runs": ",".join(parents)}
        self._open(key, row.name, event, {**tags, "outcome": row.outcome})
        self._log(key, event, metrics={"words": row.words})
        for name, text in body["texts"].items():
            self._text(key, f"{name}.md", text)
        if body["kind"] == "seed" or self._reflection is None:
            return
        self._text(key, "reflection/reflection.json", pretty_json(dict(self._reflection)))
        for part in ("prompt", "answer"):
            if (text := self._reflection["reflection"][part]) is not None:
                self._text(key, f"reflection/{part}.md", text)

    def _evaluation(self, event: Event, body: Mapping[str, Any]) -> None:
        """Per-example scores on accept; held-out scores stay in their segments."""
        if body["purpose"] != "accept":
            return
        judged = read_segment(self._directory / "judgements", body["segment"])
        for candidate in body["candidates"]:
            row = self._row(candidate)
            scores = {judgement.example: judgement.score for judgement in judged if judgement.candidate == candidate}
            self._text(str(row.seq), "scores/accept.json", pretty_json(scores))
            self._log(str(row.seq), event, metrics={"accept.failed": sum(score is None for score in scores.values())})
            if row.kind == "seed":
                self._end(str(row.seq), event)

    def _outcome(self, event: Event, body: Mapping[str, Any]) -> None:
        key = str(next(row.seq for row in reversed(self._rows) if row.candidate == body["candidate"]))
        rewards = {name: body[name] for name in ("parent_rewards", "child_rewards")}
        self._text(key, "scores/minibatch.json", pretty_json(rewards))
        self._text(key, "outcome.json", pretty_json(dict(body)))
        gain = minibatch_gain(body["parent_rewards"], body["child_rewards"])
        tags = {"outcome": body["outcome"], "reason": body["reason"]}
        self._log(key, event, metrics={"minibatch.gain": gain}, tags=tags)
        self._end(key, event)

    def _measured(self, event: Event, body: Mapping[str, Any]) -> None:
        row = self._row(body["candidate"])
        measures = {"omissions": body["measures"]["omissions"], "commissions": body["measures"]["commissions"]}
        measures |= {f"omissions.{trace}": found for trace, found in body["measures"]["by_trace"].items()}
        flat = {
            f"{name}{suffix}": found[number]
            for name, found in measures.items()
            for suffix, number in (("", "value"), (".low", "low"), (".high", "high"), (".failed", "failed"))
        }
        on_accept = body["purpose"] == "accept"
        first = "accept" if on_accept else f"heldout.{body['purpose']}"
        self._log(str(row.seq), event, metrics={f"{first}.{name}": value for name, value in flat.items()})
        if not on_accept:
            arm = "baseline" if row.kind == "seed" else "winner"
            self._log("campaign", event, metrics={f"{first}.{arm}.{name}": value for name, value in flat.items()})

    def _choice(self, event: Event, body: Mapping[str, Any]) -> None:
        self._text("campaign", "choice.json", pretty_json(dict(body)))
        self._log("campaign", event, metrics={name: body[name] for name in ("accepted", "rejected", "invalid")})
        self._log("campaign", event, tags={"winner": body["winner"]})
        for place, standing in enumerate(body["ranking"], start=1):
            key = str(self._row(standing["candidate"]).seq)
            numbers = ("paired", "detection", "false_alarm", "threshold")
            metrics = {f"accept.{name}": standing[name] for name in numbers}
            metrics |= {"accept.rank": place, "accept.leads": body["leads"][standing["candidate"]]}
            self._log(key, event, metrics=metrics, tags={"winner": standing["candidate"] == body["winner"]})

    def _verdict(self, event: Event, body: Mapping[str, Any]) -> None:
        verdict = body["verdict"]
        self._text("campaign", "verdict.json", pretty_json(verdict))
        numbers = {"accept.gain": verdict["accept"]["gain"], "accept.optimism": verdict["accept"].get("optimism")}
        for name, found in verdict.get("heldout", {}).items():
            for number in ("difference", "low", "high", "sign_flip_p") if found is not None else ():
                numbers[f"heldout.{name}.{number}"] = found[number]
        marks = ("decision", "reason", "confirmatory")
        self._log("campaign", event, metrics=numbers, tags={name: verdict[name] for name in marks})

    def _row(self, candidate: str) -> TreeRow:
        """The proposal that a candidate id means; an invalid repetition never does."""
        found = [row for row in self._rows if row.candidate == candidate]
        return next((row for row in found if row.outcome != "invalid"), found[0])


def sync(ledger_path: Path, *, tracking_uri: str, experiment: str) -> str | None:
    """Mirror a finished or interrupted campaign from its run directory, and return MLflow's id of its run.

    Raises:
        MirrorError: the store cannot be written, or the campaign is running: its own process mirrors it.
        LedgerError: the ledger or a segment is damaged.
    """
    with (ledger_path.parent / "run.lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise MirrorError(f"{ledger_path.parent}: the campaign is running; sync it when it has ended") from error
        events, _ = _read(ledger_path)  # an unfinished last line is the next process's to repair
        mirror = MlflowMirror(tracking_uri, experiment=experiment, directory=ledger_path.parent)
        for event in events:
            mirror.event(event)
        if events and not any(event.type == "finished" for event in events):
            mirror.close("KILLED")
        return mirror.run_id


@contextmanager
def _quiet() -> Iterator[None]:
    """MLflow without its log lines, its dependencies' deprecation warnings and its reports home, for one call."""
    loggers = [logging.getLogger(name) for name in ("mlflow", "alembic", "urllib3.connectionpool")]
    unset = {name: value for name, value in ENVIRONMENT.items() if name not in os.environ}
    os.environ.update(unset)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import mlflow.entities  # noqa: F401 - loading it sets the levels of its loggers

            levels = [logger.level for logger in loggers]
            for logger in loggers:
                logger.setLevel(logging.ERROR)
            try:
                yield
            finally:
                for logger, level in zip(loggers, levels, strict=True):
                    logger.setLevel(level)
    finally:
        for name in unset:
            os.environ.pop(name, None)


def _time(event: Event) -> int:
    """Milliseconds since 1970."""
    return round(datetime.fromisoformat(event.at).timestamp() * 1000)


def _word(value: Any) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _flat(item, f"{path}.{name}" if path else str(name))
    else:
        yield path, value


def _without_password(uri: str, text: str) -> str:
    password = urlsplit(uri).password
    return text if password is None else text.replace(f":{password}@", ":***@")
