"""OpenAI-compatible endpoints over HTTP, the embedded model's server among them."""

from __future__ import annotations

import json
import math
import ssl
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import aiohttp
import certifi

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
        deadline_s: seconds after which a call is given up, from its first byte sent to its last byte read.
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
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._deadline = aiohttp.ClientTimeout(total=deadline_s)
        self._secure = address.scheme == "https"
        self._loopback = address.hostname in ("127.0.0.1", "localhost", "::1")
        self._session: aiohttp.ClientSession | None = None

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
            return CallResult(
                text=None if text is None else readable(text),
                finish=str(choice.get("finish_reason")),
                usage=_usage(used),
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
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _connected(self) -> aiohttp.ClientSession:
        """The session, made on first use: it belongs to the event loop that the calls run on."""
        if self._session is None:
            # The bundled certificates make one plan work on machines that have none of their own.
            trusted = ssl.create_default_context(cafile=certifi.where()) if self._secure else True
            self._session = aiohttp.ClientSession(
                headers=self._headers,
                timeout=self._deadline,
                trust_env=not self._loopback,
                connector=aiohttp.TCPConnector(limit=0, ssl=trusted),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    async def _post(self, request: CallRequest, sent: Mapping[str, Any]) -> dict[str, Any]:
        body = {"model": self.model, "messages": [dict(message) for message in request.messages], **sent}
        try:
            async with self._connected().post(
                f"{self._where}/chat/completions",
                data=json.dumps(body).encode("ascii"),
                headers={"Content-Type": "application/json"},
                allow_redirects=False,
            ) as answer:
                status, asked, raw = answer.status, answer.headers.get("Retry-After"), await answer.read()
        except TimeoutError as error:
            raise CallError(
                f"{self._where} did not answer within {self._deadline.total:g} s",
                reason="transport",
                transient=True,
                unanswered=True,
            ) from error
        except (aiohttp.ClientError, OSError) as error:
            raise CallError(
                f"{self._where} cannot be reached ({type(error).__name__}{f': {error}' if str(error) else ''})",
                reason="transport",
                transient=True,
                unanswered=not isinstance(error, aiohttp.ClientConnectorError),
            ) from error
        if status != 200:
            raise CallError(
                f"{self._where} answered {status}: {raw.decode('utf-8', 'replace')[:300]}",
                reason="refused" if status not in _TRANSIENT else "transport",
                transient=status in _TRANSIENT,
                retry_after_s=_seconds(asked),
                throttled=status == 429,
            )
        try:
            data = json.loads(raw)
        except ValueError as error:
            raise CallError(f"{self._where}: the answer is not JSON", reason="malformed", transient=True) from error
        if not isinstance(data, dict):
            raise CallError(f"{self._where}: the answer is not a JSON object", reason="malformed", transient=True)
        return data


def _usage(used: Mapping[str, Any]) -> Usage:
    """What an answer says that it used.

    Raises:
        ValueError: a count is negative: nobody is given tokens back.
    """
    details = used.get("completion_tokens_details") or {}
    prompt_details = used.get("prompt_tokens_details") or {}
    prompt = int(used.get("prompt_tokens") or 0)
    completion = int(used.get("completion_tokens") or 0)
    reasoning = int(details.get("reasoning_tokens") or 0)
    cached = int(prompt_details.get("cached_tokens") or 0)
    if min(prompt, completion, reasoning, cached) < 0:
        raise ValueError(f"negative usage: {dict(used)}")
    # Prompt tokens from a provider's cache are some of the prompt's; more of them would make a price negative.
    return Usage(1, prompt, completion, reasoning, min(cached, prompt))


def _seconds(retry_after: str | None) -> float | None:
    """Seconds that a ``Retry-After`` header asks to wait, by number or by date; None where it says neither."""
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
        return max(seconds, 0.0)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _has_port(address: SplitResult) -> bool:
    """Whether the port of an address, if it has one, is a port."""
    try:
        return address.port is None or address.port > 0
    except ValueError:
        return False
