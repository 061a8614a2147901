"""Hosted models through ``dspy.LM``: its native engine, and litellm where that has no route."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from typing import Any, Final

from lineage.errors import CallError
from lineage.records import Usage
from students.transport.base import CallRequest, CallResult, first_tokens


class HostedTransport:
    """Calls to a provider's model, named as in litellm (``provider/model``); keys come from the environment.

    dspy's cache, history and retries are off: cache, spend and retries are ours alone.

    Args:
        model: such as ``openai/gpt-4.1-mini``.
        deadline_s: seconds after which a call is given up.
        options: further settings of ``dspy.LM``, such as ``api_base``.
    """

    serial: Final = False
    simulated: Final = False

    def __init__(self, model: str, *, deadline_s: float = 180.0, options: Mapping[str, Any] | None = None) -> None:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import dspy  # imported on use: it takes a second, and campaigns on a local model do without it

        logging.getLogger("dspy.clients.lm").setLevel(logging.ERROR)
        self.model = model
        self.identity = {"hosted": model, **{key: value for key, value in (options or {}).items() if key != "api_key"}}
        self._errors = dspy.utils.exceptions
        self._lm = dspy.LM(model, cache=False, num_retries=0, timeout=deadline_s, **(options or {}))
        self._settings = dspy.context

    async def complete(self, request: CallRequest) -> CallResult:
        """Make one call (see :class:`~students.transport.base.Transport`)."""
        start = time.perf_counter()
        errors = self._errors
        try:
            with self._settings(disable_history=True):
                answer = await self._lm.aforward(messages=[dict(message) for message in request.messages], **request.sent)
        except (errors.LMTransportError, errors.LMRateLimitError, errors.LMTimeoutError, errors.LMServerError) as error:
            wait = getattr(error, "retry_after", None)
            raise CallError(f"{self.model}: {error}", reason="transport", transient=True, retry_after_s=wait) from error
        except errors.LMError as error:
            raise CallError(f"{self.model}: {error}", reason="refused", transient=False) from error
        choice = answer.choices[0]
        logprobs = getattr(choice, "logprobs", None)
        if logprobs is not None and not isinstance(logprobs, Mapping):
            logprobs = logprobs.model_dump()
        return CallResult(
            text=choice.message.content,
            finish=str(choice.finish_reason),
            usage=self._usage(answer),
            top=first_tokens(logprobs),
            reasoning=getattr(choice.message, "reasoning_content", None),
            version=getattr(answer, "model", None),
            latency_s=time.perf_counter() - start,
        )

    def _usage(self, answer: Any) -> Usage:
        used = answer.usage
        details = getattr(used, "completion_tokens_details", None)
        prompt_details = getattr(used, "prompt_tokens_details", None)
        prompt, completion = int(used.prompt_tokens or 0), int(used.completion_tokens or 0)
        cached = int(getattr(prompt_details, "cached_tokens", 0) or 0)
        return Usage(
            calls=1,
            prompt_tokens=prompt,
            completion_tokens=completion,
            reasoning_tokens=int(getattr(details, "reasoning_tokens", 0) or 0),
            cached_tokens=cached,
            cost_usd=price_of(self.model).cost(prompt, completion, cached),
        )

    async def prime(self, request: CallRequest) -> None:
        """Nothing to do: a hosted model's answer does not depend on what was sent before."""

    async def aclose(self) -> None:
        """Release connections."""
        await self._lm.aclose()


class Price:
    """US dollars a token: prompt, completion, and prompt tokens that the provider found in its cache."""

    __slots__ = ("cached", "completion", "prompt")

    def __init__(self, prompt: float, completion: float, cached: float | None = None) -> None:
        self.prompt, self.completion = prompt, completion
        self.cached = prompt if cached is None else cached

    def cost(self, prompt: int, completion: int, cached: int) -> float:
        """Cost in US dollars; reasoning tokens are part of the completion tokens."""
        return (prompt - cached) * self.prompt + cached * self.cached + completion * self.completion


def price_of(model: str) -> Price:
    """The price of a model from litellm's bundled map.

    Raises:
        CallError: the model has no price there; an unknown price is never zero.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm  # imported on use, as dspy above

    entry = litellm.model_cost.get(model) or litellm.model_cost.get(model.split("/", 1)[-1])
    if not entry or entry.get("input_cost_per_token") is None or entry.get("output_cost_per_token") is None:
        raise CallError(
            f"the price of {model!r} is not known; state it in the plan: "
            "price: {prompt_usd_per_million: …, completion_usd_per_million: …}",
            reason="price",
            transient=False,
        )
    return Price(
        entry["input_cost_per_token"], entry["output_cost_per_token"], entry.get("cache_read_input_token_cost")
    )
