"""OpenAI-compatible endpoints over HTTP, the embedded model's server among them."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import httpx

from lineage.errors import CallError
from lineage.records import Usage
from students.transport.base import CallRequest, CallResult, first_tokens, readable

_TRANSIENT: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


class EndpointTransport:
    """Calls to ``{base_url}/chat/completions``.

    Args:
        base_url: address up to and including the version, such as ``http://127.0.0.1:8080/v1``.
        model: name sent as ``model``.
        api_key: bearer token, if the endpoint wants one.
        identity: what names the endpoint in cache keys; by default its address and model.
        serial: whether the endpoint takes one call at a time.
        deadline_s: seconds after which a call is given up.
    """

    simulated: Final = False

    def __init__(
        self,
        base_url: str,
        *,
        model: str,
        api_key: str | None = None,
        identity: Mapping[str, Any] | None = None,
        serial: bool = False,
        deadline_s: float = 120.0,
    ) -> None:
        address = urlsplit(base_url)
        if address.scheme not in ("http", "https") or not address.hostname or not _has_port(address):
            raise CallError(f"endpoint {base_url!r} is not an http(s) address", reason="address", transient=False)
        self.model = model
        self.identity = dict(identity or {"endpoint": base_url.rstrip("/"), "model": model})
        self.serial = serial
        self._where = base_url.rstrip("/")
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=deadline_s,
            trust_env=address.hostname not in ("127.0.0.1", "localhost", "::1"),
            limits=httpx.Limits(max_connections=256, max_keepalive_connections=64),
        )

    async def complete(self, request: CallRequest) -> CallResult:
        """Make one call (see :class:`~students.transport.base.Transport`)."""
        start = time.perf_counter()
        data = await self._post(request, request.sent)
        try:
            choice = data["choices"][0]
            message = choice["message"]
            used = data.get("usage") or {}
            text, reasoning = message.get("content"), message.get("reasoning_content")
            if not isinstance(text, str | None) or not isinstance(reasoning, str | None):
                raise TypeError("content is not text")
            details = used.get("completion_tokens_details") or {}
            prompt_details = used.get("prompt_tokens_details") or {}
            return CallResult(
                text=None if text is None else readable(text),
                finish=str(choice.get("finish_reason")),
                usage=Usage(
                    calls=1,
                    prompt_tokens=int(used.get("prompt_tokens") or 0),
                    completion_tokens=int(used.get("completion_tokens") or 0),
                    reasoning_tokens=int(details.get("reasoning_tokens") or 0),
                    cached_tokens=int(prompt_details.get("cached_tokens") or 0),
                ),
                top=first_tokens(choice.get("logprobs")),
                reasoning=None if reasoning is None else readable(reasoning),
                version=data.get("system_fingerprint") or data.get("model"),
                latency_s=time.perf_counter() - start,
            )
        except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise CallError(
                f"{self._where}: the answer is not a chat completion ({type(error).__name__}: {error})",
                reason="malformed",
                transient=True,
            ) from error

    async def prime(self, request: CallRequest) -> None:
        """Send the prompt of ``request`` and ask for no token (``n_predict: 0``): no answer and no judgement."""
        if self.serial:
            asked = ("max_tokens", "logprobs", "top_logprobs")
            silent = {key: value for key, value in request.sent.items() if key not in asked}
            await self._post(request, silent | {"n_predict": 0, "max_tokens": 0})

    async def aclose(self) -> None:
        """Release connections."""
        await self._client.aclose()

    async def _post(self, request: CallRequest, sent: Mapping[str, Any]) -> dict[str, Any]:
        body = {"model": self.model, "messages": [dict(message) for message in request.messages], **sent}
        try:
            answer = await self._client.post(f"{self._where}/chat/completions", json=body)
        except httpx.HTTPError as error:
            raise CallError(
                f"{self._where} cannot be reached ({type(error).__name__}{f': {error}' if str(error) else ''})",
                reason="transport",
                transient=True,
            ) from error
        if answer.status_code != httpx.codes.OK:
            raise CallError(
                f"{self._where} answered {answer.status_code}: {answer.text[:300]}",
                reason="refused" if answer.status_code not in _TRANSIENT else "transport",
                transient=answer.status_code in _TRANSIENT,
                retry_after_s=_seconds(answer.headers.get("Retry-After")),
            )
        try:
            data = answer.json()
        except ValueError as error:
            raise CallError(f"{self._where}: the answer is not JSON", reason="malformed", transient=True) from error
        if not isinstance(data, dict):
            raise CallError(f"{self._where}: the answer is not a JSON object", reason="malformed", transient=True)
        return data


def _seconds(retry_after: str | None) -> float | None:
    """A ``Retry-After`` header given in seconds; dates are left to our own backoff."""
    try:
        seconds = float(retry_after) if retry_after is not None else None
    except ValueError:
        return None
    return seconds if seconds is not None and math.isfinite(seconds) and seconds >= 0 else None


def _has_port(address: SplitResult) -> bool:
    """Whether the port of an address, if it has one, is a port."""
    try:
        return address.port is None or address.port > 0
    except ValueError:
        return False
