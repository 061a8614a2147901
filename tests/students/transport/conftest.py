"""A real HTTP endpoint on this machine that misbehaves about one note on demand, and keeps its own bill."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

Fault = Callable[["FaultyHandler", bytes], None]


class FaultyHandler(BaseHTTPRequestHandler):
    """One connection. A fault is given this handler and the answer that is withheld, as bytes."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: FaultyEndpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        note = next(name for name in self.server.notes if f"{name}." in body["messages"][-1]["content"])
        with self.server.lock:
            self.server.requests[note] += 1
            fault = self.server.faults[note].popleft() if self.server.faults.get(note) else None
        answer = json.dumps(completion(body)).encode()
        if fault is not None:
            fault(self, answer)
        else:
            self.bill(answer)
            self.say(answer)

    def bill(self, answer: bytes) -> None:
        """The model has done its work, whatever becomes of the answer."""
        usage = json.loads(answer).get("usage") or {}
        with self.server.lock:
            self.server.billed_calls += 1
            self.server.billed_tokens += usage["prompt_tokens"] + usage["completion_tokens"]

    def say(self, data: bytes, status: int = 200, **headers: str) -> None:
        self.begin(len(data), status, **headers)
        self.wfile.write(data)

    def begin(self, length: int, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def cut(self) -> None:
        """Reset the connection."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self.connection.close()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        pass


class FaultyEndpoint(ThreadingHTTPServer):
    """Answers every call, but first does what ``faults`` hold for its note; counts requests, and what it would bill."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), FaultyHandler)
        self.lock = threading.Lock()
        self.notes: tuple[str, ...] = ()
        self.faults: dict[str, deque[Fault]] = {}
        self.requests: Counter[str] = Counter()
        self.billed_calls = self.billed_tokens = 0
        self.gone = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of the tests."""


def completion(body: dict[str, Any]) -> dict[str, Any]:
    """A chat completion whose score depends on the request alone."""
    score = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()[0] % 11
    message = {"role": "assistant", "content": f"Score: {score}"}
    usage = {"prompt_tokens": 100, "completion_tokens": 5}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage, "model": "m-1"}


@pytest.fixture
def faulty_endpoint() -> Iterator[FaultyEndpoint]:
    """A fresh endpoint on loopback."""
    with FaultyEndpoint() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield made
        made.gone.set()
        made.shutdown()
        thread.join()
