"""A simulated transport: answers from a formula, for trying the whole protocol without a model."""

from __future__ import annotations

import hashlib
import math
import re
from statistics import NormalDist
from typing import Final

from lineage.errors import CallError
from lineage.records import Usage
from students.overlap import word_overlap
from students.transport.base import CallRequest, CallResult

_HELPFUL: Final = ("whole fact", "fragment", "other words", "every detail", "does not count")


class SimulatedTransport:
    """Answers per-fact checks by the share of the fact's words in the note, plus noise that some instructions lessen.

    The same call always has the same answer. It is not a language model, and says nothing about one.
    """

    serial: Final = False
    simulated: Final = True

    def __init__(self, *, noise: float = 2.0) -> None:
        self.noise = noise
        self.identity = {"simulated": "word overlap with noise", "noise": noise}

    async def complete(self, request: CallRequest) -> CallResult:
        """Answer one call from the formula."""
        inputs = request.inputs
        if "document" not in inputs:
            raise CallError(
                "the simulated judge answers judges only, not reflectors", reason="refused", transient=False
            )
        rules = sum(phrase in inputs["instruction"].lower() for phrase in _HELPFUL)
        draw = hashlib.sha256(repr((sorted(inputs.items()), request.seed, request.replicate)).encode()).digest()
        noise = NormalDist().inv_cdf((int.from_bytes(draw[:6], "big") + 0.5) / 2**48) * self.noise / (1 + 0.5 * rules)
        prompt_words = sum(len(re.findall(r"\w+", message["content"])) for message in request.messages)
        usage = Usage(calls=1, prompt_tokens=prompt_words, completion_tokens=1)
        if "fact" in inputs:
            margin = 8.0 * (word_overlap(inputs["fact"], inputs["document"]) - 0.6) + noise
            yes = min(margin, 0.0) - math.log1p(math.exp(-abs(margin)))
            top = (("Yes", yes), ("No", yes - margin))
            return CallResult("Yes" if margin > 0 else "No", "stop", usage, top=top, version="simulated")
        kept = word_overlap(inputs["source"], inputs["document"])
        score = min(10, max(0, round(10 * kept + 3 + noise / 2)))
        return CallResult(f"Score: {score}", "stop", usage, version="simulated")

    async def prime(self, request: CallRequest) -> None:
        """Nothing to do: answers depend on the call alone."""

    async def aclose(self) -> None:
        """Nothing to release."""
