"""Hosted models through ``dspy.LM``: its native engine, and litellm where that has no route."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Mapping
from typing import Any, Final

from lineage.canonical import canonical_json
from lineage.errors import CallError
from lineage.records import Usage
from students.transport.base import CallRequest, CallResult, first_tokens, readable

_CHANGES: Final = frozenset({"dropped", "clamped", "substituted", "client_side"})
"""What the native engine may do to a parameter that alters the answer."""


class HostedTransport:
    """Calls to a provider's model, named as in litellm (``provider/model``); keys come from the environment.

    dspy's cache, history and retries are off: cache, spend and retries are ours alone. Where its native engine has no
    route, dspy hands the call to litellm before anything is sent; litellm refuses parameters that a provider does not
    take, and the native engine would leave some out: both are errors that name them, and cost nothing.

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
        from dspy.clients import execution

        logging.getLogger("dspy.clients.lm").setLevel(logging.ERROR)
        # What pydantic says of litellm's own types, at the first call that goes to it, is nothing to a user of ours.
        warnings.filterwarnings("ignore", message=r"Items? .* on TypedDict class .* `ReadOnly`", category=UserWarning)
        self.model = model
        self.identity = {"hosted": model, **{key: value for key, value in (options or {}).items() if key != "api_key"}}
        self._errors, self._execution = dspy.utils.exceptions, execution
        self._lm = dspy.LM(model, cache=False, num_retries=0, timeout=deadline_s, **(options or {}))
        self._settings = dspy.context
        self._planned: set[str] = set()

    async def complete(self, request: CallRequest) -> CallResult:
        """Make one call (see :class:`~students.transport.base.Transport`)."""
        start = time.perf_counter()
        errors = self._errors
        try:
            with self._settings(disable_history=True):
                # What LM.aforward does, except that it then reports every native answer as finished with "stop".
                messages = [dict(message) for message in request.messages]
                call = self._execution.prepare(self._lm, None, messages, request.sent, asynchronous=True, direct=True)
                self._refuse_changes(call, request)
                result = await self._execution.aexecute(self._lm, call)
        except errors.LMUnsupportedFeatureError as error:
            said = str(error).split(" To drop these", 1)[0].strip()
            raise CallError(f"{self.model}: {said}", reason="refused_parameter", transient=False) from error
        except (errors.LMTransportError, errors.LMRateLimitError, errors.LMTimeoutError, errors.LMServerError) as error:
            wait = getattr(error, "retry_after", None)
            raise CallError(
                f"{self.model}: {error}",
                reason="transport",
                transient=True,
                retry_after_s=wait,
                throttled=isinstance(error, errors.LMRateLimitError),
                unanswered=isinstance(error, errors.LMTransportError | errors.LMTimeoutError),
            ) from error
        except errors.LMError as error:
            served = type(error) is errors.LMProviderError and error.status in (None, 200)  # such as a proxy's page
            reason = "malformed" if served else "refused"
            raise CallError(f"{self.model}: {error}", reason=reason, transient=served) from error
        return self._read(result, time.perf_counter() - start)

    def _refuse_changes(self, call: Any, request: CallRequest) -> None:
        """Refuse, before anything is sent, what the native engine would send otherwise than it was asked to.

        Raises:
            CallError: naming the parameters.
        """
        kind = canonical_json({**request.parameters, "seed": request.seed is not None})
        if kind in self._planned:
            return
        engine, native, _ = self._execution._engine(self._lm, call, True)
        changed = [] if native is None else [note for note in engine.plan(native) if note.action in _CHANGES]
        if changed:
            notes = "; ".join(
                f"{note.field.removeprefix('config.')} is {note.action}: {note.reason}" for note in changed
            )
            raise CallError(
                f"{self.model} does not take what would be sent ({notes}); leave it out of the plan",
                reason="refused_parameter",
                transient=False,
            )
        self._planned.add(kind)

    def _read(self, result: Any, latency_s: float) -> CallResult:
        answer = result.provider_response()
        try:
            choice = answer.choices[0]
            message = choice.message
            logprobs = getattr(choice, "logprobs", None)
            if logprobs is not None and not isinstance(logprobs, Mapping):
                logprobs = logprobs.model_dump()
            text, reasoning = message.content, getattr(message, "reasoning_content", None)
            usage = self._usage(getattr(answer, "usage", None))
            if not text and not reasoning and not usage.completion_tokens:
                raise ValueError("it says nothing, and no token is counted for it")  # dspy's view of no choices
            return CallResult(
                text=None if text is None else readable(text),
                finish=str(getattr(result.raw, "finish_reason", None) or choice.finish_reason),
                usage=usage,
                top=first_tokens(logprobs),
                reasoning=None if reasoning is None else readable(reasoning),
                version=getattr(answer, "model", None),
                latency_s=latency_s,
            )
        except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise CallError(
                f"{self.model}: the answer is not a chat completion ({type(error).__name__}: {error})",
                reason="malformed",
                transient=True,
            ) from error

    def _usage(self, used: Any) -> Usage:
        details = getattr(used, "completion_tokens_details", None)
        prompt_details = getattr(used, "prompt_tokens_details", None)
        return Usage(
            calls=1,
            prompt_tokens=int(getattr(used, "prompt_tokens", 0) or 0),
            completion_tokens=int(getattr(used, "completion_tokens", 0) or 0),
            reasoning_tokens=int(getattr(details, "reasoning_tokens", 0) or 0),
            cached_tokens=int(getattr(prompt_details, "cached_tokens", 0) or 0),
        )

    async def prime(self, request: CallRequest) -> None:
        """Nothing to do: a hosted model's answer does not depend on what was sent before."""

    async def aclose(self) -> None:
        """Release connections."""
        await self._lm.aclose()
