"""A simulated transport: answers from a formula, for trying the whole protocol without a model."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Final

from lineage.errors import CallError
from lineage.records import Usage
from students.overlap import word_overlap
from students.transport.base import CallRequest, CallResult

_HELPFUL: Final = ("whole fact", "fragment", "other words", "every detail", "does not count")
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]?")


class SimulatedTransport:
    """Answers by the share of words that one text has of another, plus noise that some instructions lessen.

    It answers closed checks, keyed checks, scores, verdicts, grades and lists, and no prompt that asks for reasons. The
    same call always has the same answer. It is not a language model, and says nothing about one.
    """

    serial: Final = False
    simulated: Final = True

    def __init__(self, *, noise: float = 2.0) -> None:
        self.noise = noise
        self.identity = {"simulated": "word overlap with noise", "noise": noise}

    async def complete(self, request: CallRequest) -> CallResult:
        """Answer one call from the formula."""
        answered = _ANSWERS.get(request.prompt)
        if answered is None or "instruction" not in request.inputs:
            raise CallError(
                "the simulated judge answers judges only, not reflectors"
                if not request.prompt
                else f"the simulated judge has no formula for prompt {request.prompt}",
                reason="refused",
                transient=False,
            )
        text, top = answered(request.inputs, lambda margin, *of: margin + self._noise(request, *of))
        prompt_words = sum(len(re.findall(r"\w+", message["content"])) for message in request.messages)
        usage = Usage(calls=1, prompt_tokens=prompt_words, completion_tokens=len(text.split()))
        return CallResult(text, "stop", usage, top=top, version="simulated")

    async def prime(self, request: CallRequest) -> None:
        """Nothing to do: answers depend on the call alone."""

    async def aclose(self) -> None:
        """Nothing to release."""

    def _noise(self, request: CallRequest, *of: str) -> float:
        """A draw for the call, or for one item of it."""
        inputs = request.inputs
        rules = sum(phrase in inputs["instruction"].lower() for phrase in _HELPFUL)
        named = (sorted(inputs.items()), request.seed, request.replicate, *of)
        draw = hashlib.sha256(repr(named).encode()).digest()
        return NormalDist().inv_cdf((int.from_bytes(draw[:6], "big") + 0.5) / 2**48) * self.noise / (1 + 0.5 * rules)


_Top = tuple[tuple[str, float], ...]
_Noisy = Callable[..., float]
_Answer = Callable[[Mapping[str, str], _Noisy], tuple[str, _Top]]


def _closed(inputs: Mapping[str, str], noisy: _Noisy) -> tuple[str, _Top]:
    margin = noisy(8.0 * (word_overlap(inputs["fact"], inputs["document"]) - 0.6))
    yes = min(margin, 0.0) - math.log1p(math.exp(-abs(margin)))
    return "Yes" if margin > 0 else "No", (("Yes", yes), ("No", yes - margin))


def _stated(inputs: Mapping[str, str], noisy: _Noisy) -> tuple[str, _Top]:
    return _closed({**inputs, "fact": inputs["statement"], "document": inputs["source"]}, noisy)


def _stated_score(inputs: Mapping[str, str], noisy: _Noisy) -> tuple[str, _Top]:
    kept = word_overlap(inputs["statement"], inputs["source"])
    return f"Score: {min(10, max(0, round(10 * kept + noisy(0.0) / 2)))}", ()


def _score(inputs: Mapping[str, str], noisy: _Noisy) -> int:
    kept = word_overlap(inputs["source"], inputs["document"])
    return min(10, max(0, round(10 * kept + 3 + noisy(0.0) / 2)))


def _scored(inputs: Mapping[str, str], noisy: _Noisy) -> tuple[str, _Top]:
    return f"Score: {_score(inputs, noisy)}", ()


def _verdict(inputs: Mapping[str, str], noisy: _Noisy) -> tuple[str, _Top]:
    return f"Verdict: {'PASS' if _score(inputs, noisy) > 7 else 'FAIL'}", ()


def _grade(inputs: Mapping[str, str], noisy: _Noisy) -> tuple[str, _Top]:
    """A digit, and log-probabilities that fall with the distance to where the score lies between 1 and 5."""
    at = 1 + 0.4 * _score(inputs, noisy)
    weights = {digit: math.exp(-((digit - at) ** 2)) for digit in range(1, 6)}
    total = math.fsum(weights.values())
    top = tuple((str(digit), math.log(weight / total)) for digit, weight in weights.items())
    return max(top, key=lambda pair: pair[1])[0], top


def _listed(slot: str) -> _Answer:
    """The sentences of a text, as many as are wanted."""

    def answer(inputs: Mapping[str, str], noisy: _Noisy) -> tuple[str, _Top]:
        del noisy
        said = [found.strip() for found in _SENTENCE.findall(inputs[slot])]
        items = [text for text in said if len(text.split()) > 2][: int(inputs.get("count", 40))]
        return "\n".join(f"{number}. {text}" for number, text in enumerate(items, start=1)) or "NONE", ()

    return answer


def _keyed(slot: str, *, on: str, words: tuple[str, ...] = ("no", "yes")) -> _Answer:
    """A word for each listed item on a text, from the worst to the best; of three, the middle one where it is close."""

    def answer(inputs: Mapping[str, str], noisy: _Noisy) -> tuple[str, _Top]:
        lines = [line.split(": ", 1) for line in inputs[slot].splitlines()]
        margins = {key: noisy(8.0 * (word_overlap(text, inputs[on]) - 0.6), key) for key, text in lines}
        close = 1.0 if len(words) > 2 else 0.0
        best = len(words) - 1
        said = {
            key: words[best if margin > close else 0 if margin <= -close else best // 2]
            for key, margin in margins.items()
        }
        return "\n".join(f"{key}: {word}" for key, word in said.items()), ()

    return answer


def _sign(text: str, *, on: str) -> _Answer:
    """A sign for what is in one slot by the words of another."""

    def answer(inputs: Mapping[str, str], noisy: _Noisy) -> tuple[str, _Top]:
        margin = noisy(8.0 * (word_overlap(inputs[text], inputs[on]) - 0.3))
        plus = min(margin, 0.0) - math.log1p(math.exp(-abs(margin)))
        return "+" if margin > 0 else "-", (("+", plus), ("-", plus - margin))

    return answer


_ANSWERS: Final[Mapping[str, _Answer]] = {
    "per-fact": _closed,
    "per-fact-keyed": _keyed("facts", on="document"),
    "whole-note": _scored,
    "criterion-score": _scored,
    "criterion-yes-no": _verdict,
    "checklist-items": _listed("source"),
    "checklist-answers": _keyed("items", on="document"),
    "coverage-statements": _listed("text"),
    "coverage-stated": _keyed("statements", on="text"),
    "g-eval": _grade,
    "fact-list": _scored,
    "grounding": _stated,
    "grounding-score": _stated_score,
    "step-content": _sign("step", on="source"),
    "step-complete": _sign("source", on="written"),
    "step-end": _sign("source", on="written"),
    "pipeline-facts": _listed("source"),
    "pipeline-audit": _keyed("facts", on="source", words=("peripheral", "supporting", "critical")),
    "pipeline-check": _keyed("facts", on="document"),
    "pipeline-check-graded": _keyed("facts", on="document", words=("absent", "partial", "full")),
    "pipeline-second-look": _keyed("facts", on="document", words=("NONE", "NONE")),
}
"""Formulas by the names of the prompts that they answer."""
