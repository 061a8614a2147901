"""What a model accepts: efforts, thinking tokens, temperature, seed, log-probabilities, cap, and its context length."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from lineage.errors import PlanError

OVERRIDES: Final = Path(__file__).parent / "capabilities.yaml"
MOST_TOP_LOGPROBS: Final = 20
"""Alternatives that a log-probability read asks for, where the model gives as many."""
REASONING_EFFORTS: Final = ("minimal", "low", "medium", "high", "xhigh", "max")

Cap = Literal["max_tokens", "max_completion_tokens"]
Temperature = float | Literal["any", "refused"]
Place = Literal["hosted", "endpoint", "local", "simulated"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one model accepts. The defaults are those of an OpenAI-compatible endpoint about which nothing is known.

    Args:
        model: the model's name, for messages.
        efforts: values of ``reasoning_effort`` that it accepts; ``none`` among them if it accepts that one.
        reasons_unasked: whether it reasons where no effort is sent, so that ``none`` must be sent or cannot be had.
        thinking: least and most thinking tokens that it accepts as a budget, or None where it takes none.
        temperature: ``any``, ``refused``, or the one value that is accepted.
        reasoning_temperature: the same while it reasons.
        seed: whether a seed is accepted; where it is not none is sent, and replicates and samples differ by chance.
        top_logprobs: most alternatives a token with log-probabilities, 0 where there are none.
        reasoning_logprobs: whether there are log-probabilities while it reasons.
        cap: name of the parameter that caps the completion, reasoning tokens included.
        context_tokens: tokens of prompt and completion together, or None where it is not known.
        completion_tokens: highest cap, or None where it is not known.
        scratchpad: whether thinking tokens may be a scratchpad: not where the model has reasoning of its own.
        sources: what the entries come from.
    """

    model: str = "the endpoint's model"
    efforts: tuple[str, ...] = REASONING_EFFORTS
    reasons_unasked: bool = False
    thinking: tuple[int, int] | None = None
    temperature: Temperature = "any"
    reasoning_temperature: Temperature = "any"
    seed: bool = True
    top_logprobs: int = MOST_TOP_LOGPROBS
    reasoning_logprobs: bool = True
    cap: Cap = "max_tokens"
    context_tokens: int | None = None
    completion_tokens: int | None = None
    scratchpad: bool = True
    sources: tuple[str, ...] = ()

    def sampling(self, temperature: float | None, *, reasoning: bool) -> dict[str, Any]:
        """The temperature as it is sent; None sends none.

        Raises:
            PlanError: the model does not take this temperature.
        """
        if temperature is None:
            return {}
        accepted = self.reasoning_temperature if reasoning and self.temperature == "any" else self.temperature
        if accepted == "any" or temperature == accepted:
            return {"temperature": temperature}
        rule = "it takes none" if accepted == "refused" else f"it is fixed at {accepted:g}"
        also = " while it reasons" if reasoning and self.temperature == "any" else ""
        choices = "temperature: null" + ("" if accepted == "refused" else f" or {accepted:g}")
        raise PlanError(f"{self.model} does not accept temperature = {temperature:g}, {rule}{also}; give {choices}")

    def unsampled(self, *, reasoning: bool) -> float | None:
        """The temperature where log-probabilities are read and nothing is sampled: 0, or None where it is not free."""
        free = self.temperature == "any" and (not reasoning or self.reasoning_temperature == "any")
        return 0 if free else None

    def logprobs(self, *, reasoning: bool) -> dict[str, Any]:
        """What asks for the first token's alternatives.

        Raises:
            PlanError: the model states no log-probabilities.
        """
        if self.top_logprobs < 2 or (reasoning and not self.reasoning_logprobs):
            also = " while it reasons" if self.top_logprobs >= 2 else ""
            raise PlanError(
                f"{self.model} does not accept top_logprobs = {MOST_TOP_LOGPROBS}, accepted: none{also}; shape "
                "per-fact reads log-probabilities: give shape: per-fact-keyed, or another model"
            )
        return {"logprobs": True, "top_logprobs": min(MOST_TOP_LOGPROBS, self.top_logprobs)}

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


@cache
def known_capabilities(name: str, *, place: Place) -> Capabilities:
    """What is known of a model: litellm's bundled data where it is hosted, then our overrides file, last entries last.

    Args:
        name: the model's name, ``provider/model`` where it is hosted.
        place: how the model is reached.

    Raises:
        PlanError: the overrides file breaks its format.
    """
    found = Capabilities(model=name)
    if place == "hosted":
        found = _bundled(found)
    full = f"{place}:{name}".lower()
    last = full.rsplit("/", 1)[-1].rsplit(":", 1)[-1]
    for entry in _overrides():
        for pattern in entry["match"]:
            if fnmatchcase(full, pattern) or fnmatchcase(last, pattern):
                sources = (*found.sources, f"{OVERRIDES.name}: {pattern}")
                found = replace(found, **entry["set"], sources=sources)
                break
    return found


@cache
def _overrides() -> tuple[Mapping[str, Any], ...]:
    known = {field.name for field in fields(Capabilities)} - {"model", "sources"}
    entries = []
    for number, row in enumerate(yaml.safe_load(OVERRIDES.read_text(encoding="utf-8")), start=1):
        given = {key: value for key, value in row.items() if key not in ("match", "source")}
        if wrong := sorted(set(given) - known) or [key for key in ("match",) if not row.get(key)]:
            raise PlanError(f"{OVERRIDES}: entry {number}: {', '.join(wrong)} is unknown or missing")
        frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
        entries.append({"match": [pattern.lower() for pattern in row["match"]], "set": frozen})
    return tuple(entries)


def _bundled(base: Capabilities) -> Capabilities:
    """What litellm's data say; a model that they do not hold keeps what is true of any endpoint."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm  # imported on use: it takes seconds

    first, _, rest = base.model.partition("/")
    short = rest or first
    entry = litellm.model_cost.get(base.model) or litellm.model_cost.get(short)
    if not entry:
        return base
    provider = first if rest else entry.get("litellm_provider")
    accepts = frozenset(litellm.get_supported_openai_params(model=short, custom_llm_provider=provider) or ())
    reasons = bool(entry.get("supports_reasoning"))
    claude = "claude" in base.model
    efforts: tuple[str, ...] = ()
    if reasons and "reasoning_effort" in accepts and (not claude or entry.get("supports_output_config")):
        usual = ("low", "medium", "high")
        efforts = tuple(
            effort
            for effort in ("none", *REASONING_EFFORTS)
            if entry.get(f"supports_{effort}_reasoning_effort", effort in usual)
        )
    budgets = reasons and claude and "thinking" in accepts
    if entry.get("supports_adaptive_thinking") and not entry.get("supports_legacy_thinking"):
        budgets = False
    unasked = bool(entry.get("thinking_always_on") or entry.get("thinking_on_by_default"))
    sampled = entry.get("supports_sampling_params", "temperature" in accepts)
    return replace(
        base,
        efforts=efforts,
        reasons_unasked=unasked or (bool(efforts) and not claude),
        thinking=(1024, int(entry.get("max_output_tokens") or 32_000)) if budgets else None,
        temperature="any" if sampled else "refused",
        reasoning_temperature=1.0 if claude else "any",
        seed="seed" in accepts,
        top_logprobs=MOST_TOP_LOGPROBS if {"logprobs", "top_logprobs"} <= accepts else 0,
        context_tokens=entry.get("max_input_tokens"),
        completion_tokens=entry.get("max_output_tokens"),
        scratchpad=not efforts and not budgets,
        sources=("litellm",),
    )
