"""What tokens cost."""

from __future__ import annotations

import os

from lineage.errors import CallError


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
    import litellm  # imported on use: it takes seconds

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
