"""The transport protocol: one call to a model, what is sent, and what comes back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from lineage.canonical import digest
from lineage.records import Usage

Role = Literal["student", "reflector"]


@dataclass(frozen=True, slots=True)
class CallRequest:
    """One chat call.

    ``parameters`` is what is sent besides model, messages and seed. ``seed`` None sends none; 0 is a seed. ``after``
    is the key of the call before it in a chain, where the answer depends on that.

    What follows is not sent, and is no part of the key. ``inputs`` are the values of the prompt's slots and ``prompt``
    its name, which only a simulated transport reads. ``thinks`` marks the call for a scratchpad, and ``shared`` one
    about the source alone, which is the same for every document of a group.
    """

    messages: tuple[Mapping[str, str], ...]
    parameters: Mapping[str, Any]
    seed: int | None = None
    sample: int = 0
    replicate: int = 0
    after: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    prompt: str = ""
    thinks: bool = False
    shared: bool = False

    @property
    def sent(self) -> dict[str, Any]:
        """Parameters as they are sent."""
        return dict(self.parameters) | ({} if self.seed is None else {"seed": self.seed})

    def row(self) -> dict[str, Any]:
        """The JSON form, as in the call cache: with the endpoint's identity, everything that the key is made of."""
        return {
            "messages": [dict(message) for message in self.messages],
            "sent": self.sent,
            "sample": self.sample,
            "replicate": self.replicate,
            "after": self.after,
        }

    def key(self, identity: Mapping[str, Any]) -> str:
        """Cache key: SHA-256 over everything that can change an answer, replicate and sample index included."""
        return request_key(identity, self.row())


def request_key(identity: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """The cache key of a request from its JSON form (:meth:`CallRequest.row`), at the endpoint of this identity."""
    return digest({"identity": dict(identity), **row})


@dataclass(frozen=True, slots=True)
class CallResult:
    """A completed answer.

    ``top`` lists the most probable first tokens with their log-probabilities in nats, if they were asked for;
    ``version`` is the model version that the provider states.
    """

    text: str | None
    finish: str
    usage: Usage
    top: tuple[tuple[str, float], ...] = ()
    reasoning: str | None = None
    version: str | None = None
    latency_s: float = 0.0
    cached: bool = False

    def row(self) -> dict[str, Any]:
        """The JSON form, as in the call cache."""
        return {
            "text": self.text,
            "finish": self.finish,
            "usage": self.usage.row(),
            "top": [list(pair) for pair in self.top],
            "reasoning": self.reasoning,
            "version": self.version,
            "latency_s": self.latency_s,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> CallResult:
        """The result that :meth:`row` wrote, marked as cached."""
        return cls(
            text=row["text"],
            finish=row["finish"],
            usage=Usage(**row["usage"]),
            top=tuple((token, value) for token, value in row["top"]),
            reasoning=row["reasoning"],
            version=row["version"],
            latency_s=row["latency_s"],
            cached=True,
        )


@dataclass(frozen=True, slots=True)
class CallFailure:
    """A call without an answer after all its tries; never cached, never a number."""

    reason: str
    message: str


class Transport(Protocol):
    """A way to a model.

    ``identity`` names everything about the endpoint that can change an answer. ``serial`` transports take one call at
    a time. ``simulated`` ones answer from a formula, and everything made with them is marked.
    """

    @property
    def identity(self) -> Mapping[str, Any]:
        """What names the endpoint in cache keys."""
        ...

    @property
    def serial(self) -> bool:
        """Whether one call is made at a time."""
        ...

    @property
    def simulated(self) -> bool:
        """Whether answers come from a formula."""
        ...

    async def complete(self, request: CallRequest) -> CallResult:
        """Make one call.

        Raises:
            CallError: the call did not succeed; ``transient`` says whether another try may.
        """
        ...

    async def prime(self, request: CallRequest) -> None:
        """Bring the model's prompt cache into the state after ``request``, where answers depend on it."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


def readable(text: str) -> str:
    """Text that can be stored as UTF-8: half a surrogate pair, as a cut answer may hold, becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def first_tokens(logprobs: Mapping[str, Any] | None) -> tuple[tuple[str, float], ...]:
    """``(token, log-probability)`` pairs of the first answer token, out of an OpenAI-style ``logprobs`` object."""
    # An infinity is no JSON number, and says no more than a token that is not listed.
    content: Sequence[Mapping[str, Any]] = (logprobs or {}).get("content") or ()
    if not content:
        return ()
    pairs = ((readable(str(item["token"])), float(item["logprob"])) for item in content[0].get("top_logprobs") or ())
    return tuple((token, value) for token, value in pairs if math.isfinite(value))
