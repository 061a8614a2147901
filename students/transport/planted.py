"""A simulated transport with a planted improvement: an instruction is better by as much as it was set to be."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final

from lineage.errors import CallError
from lineage.records import Usage
from students.overlap import word_overlap
from students.transport.base import CallRequest, CallResult

STATED: Final = 0.95
RESTATED: Final = 0.60
FRAGMENT: Final = 0.20
"""Shares of a fact's words in a document from which it is stated, stated vaguely, or hinted at."""
SURE: Final = 2.0
"""Nats of margin at which a fact counts as present, and with the other sign as absent."""
HALF: Final = 0.1
"""Share of the planted effect that one of the two clauses has without the other."""
THOUGHT: Final = 40
"""Tokens that the judge is said to reason for, at any effort."""


@dataclass(frozen=True, slots=True)
class Planted:
    """An improvement that needs two clauses and reasoning.

    The judge takes a fragment of a fact, and a vaguer restatement of it, for the fact. It stops doing so where its
    instruction holds a clause against each of both and it reasons; with one of them it hardly changes, and without
    reasoning not at all.

    Attributes:
        fragment: the clause against fragments, word for word.
        restated: the clause against restatements.
        effect: nats by which the margin of such a fact falls; 0 is a null student, whose instructions do nothing.
        noise: standard deviation of the noise of each answer, in nats of margin.
    """

    fragment: str
    restated: str
    effect: float = 3.0
    noise: float = 1.0

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)

    def seen(self, instruction: str, *, reasons: bool) -> tuple[float, float]:
        """Nats by which an instruction lowers the margin of fragments and of restatements."""
        if not reasons:
            return 0.0, 0.0
        has = self.fragment in instruction, self.restated in instruction
        fragment, restated = (self.effect * (1.0 if all(has) else HALF if one else 0.0) for one in has)
        return fragment, restated

    def margin(self, overlap: float, seen: tuple[float, float]) -> float:
        """Margin of *yes* over *no* without noise, in nats.

        Args:
            overlap: share of the fact's words that the document holds.
            seen: what the instruction does.
        """
        if overlap >= STATED:
            return SURE
        if overlap >= RESTATED:
            return SURE - seen[1]
        return SURE - seen[0] if overlap >= FRAGMENT else -SURE

    def drawn(self, instruction: str, document: str, fact: str, *, seed: int | None, replicate: int) -> float:
        """The noise of one answer: the same for the same call."""
        named = "\x1f".join((instruction, document, fact, str(seed), str(replicate)))
        draw = hashlib.blake2b(named.encode("utf-8"), digest_size=6).digest()
        return _NORMAL.inv_cdf((int.from_bytes(draw, "big") + 0.5) / 2**48) * self.noise


_NORMAL: Final = NormalDist()


class PlantedTransport:
    """Answers per-fact checks by what was planted. It is not a language model, and says nothing about one."""

    serial: Final = False
    simulated: Final = True

    def __init__(self, planted: Planted) -> None:
        self.planted = planted
        self.identity: Mapping[str, Any] = {"simulated": "planted improvement", **planted.row()}

    async def complete(self, request: CallRequest) -> CallResult:
        """Answer one call from the formula."""
        inputs = request.inputs
        if "fact" not in inputs:
            raise CallError(
                "the simulated judge with a planted improvement answers checks of single facts only",
                reason="refused",
                transient=False,
            )
        instruction, document, fact = inputs["instruction"], inputs["document"], inputs["fact"]
        reasons = request.parameters.get("reasoning_effort", "none") != "none"
        seen = self.planted.seen(instruction, reasons=reasons)
        margin = self.planted.margin(overlap_of(fact, document), seen)
        margin += self.planted.drawn(instruction, document, fact, seed=request.seed, replicate=request.replicate)
        yes = min(margin, 0.0) - math.log1p(math.exp(-abs(margin)))
        words = sum(len(re.findall(r"\w+", message["content"])) for message in request.messages)
        thought = THOUGHT if reasons else 0
        usage = Usage(calls=1, prompt_tokens=words, completion_tokens=1 + thought, reasoning_tokens=thought)
        top = (("Yes", yes), ("No", yes - margin))
        return CallResult("Yes" if margin > 0 else "No", "stop", usage, top=top, version="simulated")

    async def prime(self, request: CallRequest) -> None:
        """Nothing to do: answers depend on the call alone."""

    async def aclose(self) -> None:
        """Nothing to release."""


@lru_cache(maxsize=65_536)
def overlap_of(fact: str, document: str) -> float:
    """Share of the fact's words in a document, taken once."""
    return word_overlap(fact, document)
