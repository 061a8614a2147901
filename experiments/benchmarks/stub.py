"""A stub of an OpenAI-compatible endpoint in a process of its own: a fixed answer after a fixed latency.

It reads no more of a request than where it ends, so that it is never the slow part of what is measured with it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

_HEAD_END: Final = b"\r\n\r\n"
_LENGTH: Final = b"content-length:"
_FIELDS: Final = b"[[ ## "


def _response(text: str) -> bytes:
    """A chat completion with this text, as it goes over the wire."""
    body = {
        "id": "stub",
        "object": "chat.completion",
        "created": 0,
        "model": "stub-1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 600, "completion_tokens": 5, "total_tokens": 605},
    }
    return _http(json.dumps(body).encode())


def _http(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


SCORE: Final = _response("Score: 8")
FIELDS: Final = _response("[[ ## score ## ]]\n8\n\n[[ ## completed ## ]]")
"""The same score for a client that asks for marked fields."""


class StubProtocol(asyncio.Protocol):
    """One connection: every POST is answered ``latency_s`` later, a GET at once with the server's own figures."""

    answered = 0

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Take whole requests off the buffer."""
        self._buffer += data
        while (end := self._buffer.find(_HEAD_END)) >= 0:
            head = self._buffer[:end].lower()
            at = head.find(_LENGTH)
            length = 0 if at < 0 else int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0])
            whole = end + len(_HEAD_END) + length
            if len(self._buffer) < whole:
                return
            request, self._buffer = self._buffer[:whole], self._buffer[whole:]
            self._answer(request)

    def _answer(self, request: bytes) -> None:
        assert self._transport is not None
        if not request.startswith(b"POST"):
            figures = {"answered": StubProtocol.answered, "cpu_s": time.process_time()}
            self._transport.write(_http(json.dumps(figures).encode()))
            return
        answer = FIELDS if _FIELDS in request else SCORE
        asyncio.get_running_loop().call_later(self._latency_s, self._send, answer)

    def _send(self, answer: bytes) -> None:
        assert self._transport is not None
        if not self._transport.is_closing():
            StubProtocol.answered += 1
            self._transport.write(answer)


async def serve(latency_s: float) -> None:
    """Serve on a free port of this machine, which is printed, until the process is ended."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: StubProtocol(latency_s), "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


@dataclass(frozen=True, slots=True)
class Figures:
    """What a stub says of itself: calls answered, and the CPU seconds of its process."""

    answered: int
    cpu_s: float


class Stub:
    """A stub endpoint in a process of its own, for the time of a ``with`` block.

    Args:
        latency_s: seconds between a request and its answer.
    """

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def __enter__(self) -> Self:
        command = [sys.executable, __file__, "--latency", str(self._latency_s)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}/v1"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.communicate()

    def figures(self) -> Figures:
        """Calls answered so far, and CPU time used."""
        with urllib.request.urlopen(self.url, timeout=10) as answer:  # noqa: S310 - an http address of our own
            found: dict[str, Any] = json.loads(answer.read())
        return Figures(found["answered"], found["cpu_s"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve a fixed answer after a fixed latency.")
    parser.add_argument("--latency", type=float, default=0.2, metavar="S", help="seconds before each answer")
    asyncio.run(serve(parser.parse_args().latency))
