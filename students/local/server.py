"""A local model server as a context manager: started, watched and stopped with certainty."""

from __future__ import annotations

import atexit
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path
from types import TracebackType
from typing import Self

from lineage.errors import ModelError
from students.local.watch import stop_child, tail_of

POLL_S = 0.05
LOG_LINES = 15


class LocalServer:
    """Runs one model file behind an OpenAI-compatible endpoint on 127.0.0.1 for as long as the context lasts.

        with LocalServer(path) as server:
            ask(server.base_url, model=server.model)

    The server is a child process. It is stopped when the context ends, when the interpreter ends, and when this
    process is killed in any way, because it watches a pipe that only this process holds open.

    A proxy set in the environment is not for this endpoint: clients should not take proxies from the environment.

    Args:
        model_path: the model file (GGUF).
        context_tokens: tokens that one request may use, prompt and answer together, at least 64.
        slots: requests answered at the same time, at least 1; each slot has its own context of ``context_tokens``.
        threads: compute threads; by default the processors that this process may use.
        startup_s: seconds within which the server must answer, greater than 0.

    Raises:
        ModelError: an argument breaks its rule, or the file does not exist.
    """

    def __init__(
        self,
        model_path: str | os.PathLike[str],
        *,
        context_tokens: int = 4096,
        slots: int = 1,
        threads: int | None = None,
        startup_s: float = 120,
    ) -> None:
        self.model_path = Path(model_path).absolute()
        if not self.model_path.is_file():
            raise ModelError(f"model_path must be a model file, got {self.model_path}; fetch one: holdgate model fetch")
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.context_tokens = _at_least("context_tokens", context_tokens, 64)
        self.slots = _at_least("slots", slots, 1)
        self.threads = _at_least("threads", processors if threads is None else threads, 1)
        if not startup_s > 0:
            raise ModelError(f"startup_s must be greater than 0, got {startup_s}; use 120")
        self.startup_s = startup_s
        self._child: subprocess.Popen[bytes] | None = None
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._address = ""
        self._owner = os.getpid()

    @property
    def base_url(self) -> str:
        """Base address of the endpoint, such as ``http://127.0.0.1:41234/v1``.

        Raises:
            ModelError: the server is not running.
        """
        self._running()
        return f"{self._address}/v1"

    @property
    def model(self) -> str:
        """Name of the model in requests and answers."""
        return self.model_path.stem

    @property
    def pid(self) -> int:
        """Process id of the server.

        Raises:
            ModelError: the server is not running.
        """
        return self._running().pid

    def start(self) -> Self:
        """Start the server and wait until it answers. Does nothing if it already runs.

        Raises:
            ModelError: it ended or did not answer within ``startup_s`` seconds; the message holds the end of its log.
        """
        if self._child is not None:
            self.ensure_alive()
            return self
        self._owner = os.getpid()
        self._directory = tempfile.TemporaryDirectory(prefix="holdgate-server-")
        atexit.register(self.stop)
        try:
            with self._log.open("wb") as log:
                self._child = subprocess.Popen(
                    self._command(),
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=self._environment(),
                    # Ctrl-C in a terminal is for the parent, which may still want answers before it stops the server.
                    start_new_session=True,
                )
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def ensure_alive(self) -> None:
        """Check that the server process still runs.

        Raises:
            ModelError: it was never started, was stopped, or has died; then the message holds the end of its log.
        """
        child = self._running()
        if child.poll() is not None:
            raise ModelError(self._failure(f"died ({_status(child.returncode)})", "start a new LocalServer"))

    def stop(self) -> None:
        """Stop the server. Does nothing if it does not run, or in a fork of the process that started it."""
        child, directory = self._child, self._directory
        if self._owner != os.getpid():  # the server belongs to the process that started it
            return
        self._child, self._directory, self._address = None, None, ""
        atexit.unregister(self.stop)
        try:
            if child is not None:
                _end(child)
        finally:
            if directory is not None:
                directory.cleanup()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def _log(self) -> Path:
        if self._directory is None:
            raise ModelError("the server is not running; use LocalServer as a context manager")
        return Path(self._directory.name) / "server.log"

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            raise ModelError("the server is not running; use LocalServer as a context manager")
        return self._child

    def _command(self) -> list[str]:
        sizes = {"--port": 0, "--ctx": self.context_tokens, "--threads": self.threads, "--slots": self.slots}
        command = [sys.executable, "-P", "-m", "students.local.serve", "--model", str(self.model_path)]
        return command + [str(part) for pair in sizes.items() for part in pair]

    def _environment(self) -> dict[str, str]:
        # With -P the child does not look into the working directory; it must find this very package.
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(part for part in (root, os.environ.get("PYTHONPATH", "")) if part)
        return {**os.environ, "OMP_WAIT_POLICY": "passive", "PYTHONPATH": path}

    def _wait_until_ready(self) -> None:
        child = self._running()
        deadline = time.monotonic() + self.startup_s
        while True:
            if child.poll() is not None:
                remedy = f"check the file: holdgate model verify, or {self.model_path} by hand"
                raise ModelError(self._failure(f"could not start ({_status(child.returncode)})", remedy))
            # The system chooses the port and the child tells it, so no other process can take it in between.
            self._address = self._address or _announced_address(self._log)
            if self._address and _healthy(self._address):
                return
            if time.monotonic() > deadline:
                remedy = "raise startup_s, or use a smaller model"
                raise ModelError(self._failure(f"did not answer within {self.startup_s:g} s", remedy))
            time.sleep(POLL_S)

    def _failure(self, what: str, remedy: str) -> str:
        tail = tail_of(self._log, lines=LOG_LINES) or "(empty)"
        return f"the local server for {self.model_path} {what}; {remedy}. End of its log:\n{tail}"


def _at_least(argument: str, value: int, least: int) -> int:
    if value < least:
        raise ModelError(f"{argument} must be at least {least}, got {value}; use {max(least, 1)} or more")
    return value


def _end(child: subprocess.Popen[bytes]) -> None:
    """Close its input, which asks it to end; insist if that is not enough."""
    if child.stdin is not None:
        child.stdin.close()
    try:
        child.wait(timeout=3.0)
    except subprocess.TimeoutExpired:
        stop_child(child, grace_s=2.0)


def _announced_address(log: Path) -> str:
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True):
        if line.startswith('{"address"') and line.endswith("\n"):
            return str(json.loads(line)["address"])
    return ""


def _healthy(address: str) -> bool:
    """Whether ``/health`` answers 200; it answers 503 while the model loads."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(address).netloc, timeout=2.0)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):  # not listening yet; the caller asks again until its deadline
        return False
    finally:
        connection.close()


def _status(returncode: int) -> str:
    return f"signal {-returncode}" if returncode < 0 else f"exit status {returncode}"
