"""Hosted models against a real server on loopback: dspy's native engine, litellm behind it, and nothing left out."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from lineage.errors import CallError
from students.transport import CallRequest, CallResult, HostedTransport

pytestmark = pytest.mark.integration

NATIVE = "openai/gpt-4.1-mini"
BY_LITELLM = "nebius/judge"
"""A provider that litellm knows and dspy's native engine does not."""
PARAMETERS = {"max_tokens": 9, "temperature": 0.0, "logprobs": True, "top_logprobs": 2}
TOP = [{"token": "Yes", "logprob": -0.1, "bytes": None}, {"token": "No", "logprob": -2.5, "bytes": None}]
ANSWER = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "served-7",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Yes"},
            "finish_reason": "length",
            "logprobs": {"content": [{**TOP[0], "top_logprobs": TOP}]},
        }
    ],
    "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 5,
        "total_tokens": 105,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": 3},
    },
}


class Provider:
    """Answers chat completions, or with ``status``, and keeps what it was sent."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.status = 200
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                pass

            def do_POST(self) -> None:
                outer.sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                data = json.dumps(ANSWER if outer.status == 200 else {"error": {"message": "no"}}).encode()
                self.send_response(outer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Retry-After", "7")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def ask(self, model: str, **parameters: Any) -> CallResult:
        address = f"http://127.0.0.1:{self.server.server_port}/v1"

        async def one() -> CallResult:
            transport = HostedTransport(model, options={"api_base": address, "api_key": "secret"})
            try:
                messages = ({"role": "user", "content": "Is it there?"},)
                return await transport.complete(CallRequest(messages, {**PARAMETERS, **parameters}, seed=0))
            finally:
                await transport.aclose()

        return asyncio.run(one())


@pytest.fixture
def provider() -> Iterator[Provider]:
    made = Provider()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_a_provider_without_a_native_route_is_reached_through_litellm(provider: Provider) -> None:
    import dspy
    from dspy.clients.backend_selection import select_backend

    assert select_backend(dspy.LM(NATIVE)).native is True
    assert select_backend(dspy.LM(BY_LITELLM)).native is False
    native, other = provider.ask(NATIVE), provider.ask(BY_LITELLM)
    for found in (native, other):
        assert (found.text, found.finish, found.top) == ("Yes", "length", (("Yes", -0.1), ("No", -2.5)))
        assert (found.usage.prompt_tokens, found.usage.cached_tokens, found.usage.reasoning_tokens) == (100, 40, 3)
    assert native.version == "served-7"
    assert other.version == "nebius/served-7"


def test_litellm_sends_what_was_asked_seed_zero_among_it(provider: Provider) -> None:
    provider.ask(BY_LITELLM)
    (sent,) = provider.sent
    assert sent.pop("messages") == [{"role": "user", "content": "Is it there?"}]
    assert sent == {"model": "judge", "seed": 0, **PARAMETERS}


@pytest.mark.parametrize("model", [NATIVE, BY_LITELLM])
@pytest.mark.parametrize(
    ("status", "reason", "transient", "wait"),
    [(429, "transport", True, 7.0), (500, "transport", True, None), (400, "refused", False, None)],
)
def test_a_failure_is_one_request_on_either_way(
    provider: Provider, model: str, status: int, reason: str, transient: bool, wait: float | None
) -> None:
    provider.status = status
    with pytest.raises(CallError) as caught:
        provider.ask(model)
    assert (caught.value.reason, caught.value.transient) == (reason, transient)
    if wait is not None:
        assert caught.value.retry_after_s == wait
    assert len(provider.sent) == 1, "no client retries inside ours"


@pytest.mark.parametrize(
    ("model", "parameters", "named"),
    [
        (BY_LITELLM, {"reasoning_effort": "high"}, r"nebius/judge: .*reasoning_effort"),
        ("anthropic/claude-sonnet-4-5", {}, r"claude-sonnet-4-5 does not take .*seed is dropped.*logprobs is dropped"),
    ],
)
def test_a_parameter_that_would_be_left_out_is_named_before_anything_is_sent(
    provider: Provider, model: str, parameters: dict[str, Any], named: str
) -> None:
    with pytest.raises(CallError, match=named) as caught:
        provider.ask(model, **parameters)
    assert (caught.value.reason, caught.value.transient) == ("refused_parameter", False)
    assert "drop_params" not in str(caught.value)
    assert provider.sent == []
