"""MLflow's own user interface on the store of a campaign, on this machine alone, for as long as it is wanted."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from lineage.errors import HoldgateError, InputError

HOST: Final = "127.0.0.1"
START_S: Final = 90.0
"""Longest that the server may take until it answers."""
STOP_S: Final = 10.0
"""Longest that it may take to end when it is asked to."""
ENVIRONMENT: Final = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    "PYTHONSAFEPATH": "1",  # nothing is imported from the folder that the command is given in
}


@dataclass(frozen=True, slots=True)
class StoreServer:
    """A server that answers.

    Attributes:
        url: its address.
        process: its process, the leader of a session of its own.
    """

    url: str
    process: subprocess.Popen[bytes]

    def wait(self) -> None:
        """Until it ends by itself.

        Raises:
            HoldgateError: it has ended.
        """
        status = self.process.wait()
        raise HoldgateError(f"MLflow's server ended by itself, with status {status}; give the command again")


def check_port(port: int) -> None:
    """Refuse a port that something else has.

    Raises:
        InputError: it is taken, or may not be used; names one that is free.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind((HOST, port))
        except OSError as error:
            raise InputError(
                f"port {port} of {HOST} cannot be used ({error.strerror}); end what has it, or give another: "
                f"--port {_free_port()}"
            ) from error


@contextmanager
def store_server(store: str, *, port: int, log: Path) -> Iterator[StoreServer]:
    """Serve a store on this machine until the block is left; the server's processes all end with it.

    Args:
        store: MLflow's address of a local store.
        port: where to listen.
        log: file for what the server says.

    Raises:
        InputError: the port is taken.
        HoldgateError: the server does not start; says where its words are.
    """
    check_port(port)
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", store, "--host", HOST]
    command += ["--port", f"{port}", "--workers", "1"]
    if (artifacts := _artifacts(store)) is not None:
        command += ["--default-artifact-root", artifacts]
    with log.open("wb") as words:
        process = subprocess.Popen(
            command, stdout=words, stderr=words, env={**os.environ, **ENVIRONMENT}, start_new_session=True
        )
        try:
            yield StoreServer(_until_it_answers(process, port, words, log), process)
        finally:
            _end(process)


def _until_it_answers(process: subprocess.Popen[bytes], port: int, words: IO[bytes], log: Path) -> str:
    url = f"http://{HOST}:{port}"
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            words.flush()
            last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            raise HoldgateError(f"MLflow's server does not start: {''.join(last)}; all that it said is in {log}")
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2.0) as answer:  # noqa: S310 - our own loopback
                if answer.status == 200:
                    return url
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise HoldgateError(f"MLflow's server has not answered on {url} in {START_S:.0f} s; what it said is in {log}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the server and the workers that it started: they are one session."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def _artifacts(store: str) -> str | None:
    """Where the mirror puts the artifacts of a local store; None where the store says it."""
    path = store.removeprefix("sqlite:///")
    return None if path == store else (Path(path).resolve().parent / "mlflow-artifacts").as_uri()


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
        return port
