"""dspy's way to a campaign's reflector model: through our calls, with our cache, spend and limits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import dspy
from dspy import lm15
from dspy.utils.exceptions import AdapterParseError

from lineage.canonical import digest
from lineage.errors import PlanError
from optimize.engines.desk import Desk
from optimize.engines.relay import Relay
from reflectors.llm import UNFINISHED, LlmReflector
from reflectors.reflector import ReflectionRequest, Reflector
from reflectors.traces import Trace
from students.programs.replaying import _messages
from students.student import draw_seed
from students.transport.base import CallFailure, CallRequest

MODEL: Final = "holdgate/reflector"


@dataclass(frozen=True, slots=True)
class Answered:
    """A prompt of the optimiser, what the model said, and why that cannot be used, if it cannot."""

    prompt: str
    text: str
    problem: str | None


class ReflectorEngine:
    """A dspy engine on the calls of the reflector's role.

    What is sent besides the messages is the plan's: budget and temperature that dspy would like are not sent. dspy
    tells rollouts of one prompt apart by a number that it keeps to itself, so the same messages asked for the n-th time
    are the n-th sample, with a seed of their own. An answer that is not whole is given to dspy as an empty one.

    Args:
        desk: what the search may see, and its records.
        relay: the way into the serving thread.
    """

    def __init__(self, desk: Desk, relay: Relay) -> None:
        self._desk, self._relay = desk, relay
        self._reflector = model_reflector(desk.space.reflector, desk.operator)
        self._asked: Counter[str] = Counter()
        self.answers: list[Answered] = []

    def complete(self, request: Any) -> Any:
        """Answer one request of dspy's."""
        messages = _messages(request)
        answered = self._relay.ask(lambda: self._answer(messages))
        text = "" if answered.problem else answered.text
        message = lm15.Message(role="assistant", parts=(lm15.TextPart(text),))
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=lm15.Usage())

    def written(self, text: str) -> Answered | None:
        """The latest answer that holds a text."""
        return next((answered for answered in reversed(self.answers) if text in answered.text), None)

    def __deepcopy__(self, memo: object) -> ReflectorEngine:
        """Copies of a model share their engine."""
        return self

    def _answer(self, messages: tuple[dict[str, str], ...]) -> Answered:
        prompt = "\n\n".join(message["content"] for message in messages)
        key = digest([dict(message) for message in messages])
        sample = self._asked[key]
        self._asked[key] += 1
        seed, iteration = self._desk.space.settings.seed, self._desk.iteration
        told = ReflectionRequest("", (Trace("prompt", None, prompt),), frozenset(), seed, iteration, len(self.answers))
        self._desk.space.contamination.request(told)
        sending = self._reflector.sending
        seeded = draw_seed(seed, len(self.answers), 0) if sending.seeded else None
        (answer,) = self._reflector.ask([CallRequest(messages, sending.answer, seed=seeded, sample=sample)])
        if isinstance(answer, CallFailure):
            answered = Answered(prompt, "", f"no answer: {answer.reason}: {answer.message}")
        else:
            problem = UNFINISHED.get(answer.finish) or (None if (answer.text or "").strip() else "empty answer")
            answered = Answered(prompt, answer.text or "", problem)
        self.answers.append(answered)
        return answered


class LenientAdapter(dspy.ChatAdapter):  # type: ignore[misc]  # dspy has no types
    """dspy's adapter, in which an answer that cannot be read is an empty one and does not end the whole search."""

    def __call__(self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any) -> list[dict[str, Any]]:
        """Ask and read, with dspy's own second try in JSON."""
        try:
            found: list[dict[str, Any]] = super().__call__(lm, lm_kwargs, signature, demos, inputs)
        except AdapterParseError:
            return [dict.fromkeys(signature.output_fields, "")]
        return found


def reflector_lm(engine: ReflectorEngine) -> Any:
    """The campaign's reflector model as a ``dspy.LM``; dspy caches nothing and tries nothing again."""
    return dspy.LM(MODEL, engine=engine, cache=False, num_retries=0)


def model_reflector(reflector: Reflector, engine: str) -> LlmReflector:
    """The reflector, which must be a model.

    Raises:
        PlanError: it is not.
    """
    if not isinstance(reflector, LlmReflector):
        raise PlanError(
            f"search.engine: {engine} asks a model for its prompts; give reflector: {{kind: llm, model: …}}"
        )
    return reflector
