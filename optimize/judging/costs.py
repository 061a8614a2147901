"""What judging one document costs: as if it were the only one of its group, and amortised over the group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from lineage.records import Judgement, Usage
from optimize.evaluation import Evaluation
from students.transport import Price


@dataclass(frozen=True, slots=True)
class JudgingCost:
    """Mean cost of judging one document, unscored judgements included, as they cost too.

    Attributes:
        documents: judgements, each of one document in one replicate.
        groups: groups, times replicates.
        alone: as if the document were the only one of its group: everything about its source is paid for it alone, and
            no prompt token is found in a provider's cache.
        amortised: as it was used: what is about the source alone is paid once for all documents of a group, and cached
            tokens are at their price.
        group: what is about the source alone, once a group.
        priced: whether US dollars are known; no price applies to a model on this machine.
    """

    documents: int
    groups: int
    alone: Usage
    amortised: Usage
    group: Usage
    priced: bool

    def row(self) -> dict[str, Any]:
        """The JSON form: means, and None in US dollars where no price applies."""
        return {
            "documents": self.documents,
            "groups": self.groups,
            "alone": self._mean(self.alone, self.documents),
            "amortised": self._mean(self.amortised, self.documents),
            "group": self._mean(self.group, self.groups),
        }

    def _mean(self, total: Usage, count: int) -> dict[str, Any]:
        means = {key: value / count for key, value in total.row().items() if key != "cost_usd"} if count else {}
        tokens = (total.prompt_tokens + total.completion_tokens) / count if count else 0.0
        return {**means, "tokens": tokens, "usd": (total.cost_usd or 0.0) / count if self.priced and count else None}


@dataclass(frozen=True, slots=True)
class JudgePrices:
    """What the tokens of a judge's models cost.

    Attributes:
        model: of its model; None where no price applies or none is known.
        lister: of the model that answers what is about the source alone.
        known: whether US dollars can be stated: one has a price, and none lacks a price that applies.
    """

    model: Price | None
    lister: Price | None
    known: bool

    def row(self) -> dict[str, Any]:
        """The JSON form, in US dollars a token."""
        return {"model": _price_row(self.model), "lister": _price_row(self.lister), "known": self.known}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> JudgePrices:
        """The prices that :meth:`row` wrote."""
        return cls(_price(row["model"]), _price(row["lister"]), row["known"])


def judging_cost(evaluation: Evaluation, prices: JudgePrices) -> JudgingCost:
    """The cost of one judge's evaluation; each of its judgements has what its source needed in full."""
    group_of = {example.id: example.group for example in evaluation.examples}
    once: dict[tuple[str, int], Usage] = {}
    for judgement in evaluation.judgements:
        key = (group_of[judgement.example], judgement.replicate)
        # A judgement that failed on the way may have less of it than the others of its group.
        once[key] = max(once.get(key, Usage()), judgement.shared, key=_size)
    own = [_less(judgement.usage, judgement.shared) for judgement in evaluation.judgements]
    alone = [
        _uncached(used, prices.model) + _uncached(judgement.shared, prices.lister)
        for used, judgement in zip(own, evaluation.judgements, strict=True)
    ]
    group = sum(once.values(), Usage())
    return JudgingCost(len(own), len(once), sum(alone, Usage()), sum(own, Usage()) + group, group, prices.known)


def latency_row(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Median latency, in seconds, of the judgements whose own calls were all made now rather than found.

    It is the sum of a judgement's calls, so one whose calls are made at once is answered sooner.
    """
    made = [
        judgement.latency_s
        for judgement in judgements
        if judgement.paid >= judgement.usage.calls - judgement.shared.calls > 0
    ]
    return {"median_s": median(made) if made else None, "of": len(made)}


def parts_row(judgements: Iterable[Judgement]) -> dict[str, float]:
    """Mean of each named number that stands beside the scores, over the judgements that have it."""
    found: dict[str, list[float]] = {}
    for judgement in judgements:
        for name, value in judgement.parts.items():
            found.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in sorted(found.items())}


def _price_row(price: Price | None) -> Mapping[str, float] | None:
    if price is None:
        return None
    return {"prompt_usd": price.prompt, "completion_usd": price.completion, "cached_usd": price.cached}


def _price(row: Mapping[str, Any] | None) -> Price | None:
    return None if row is None else Price(row["prompt_usd"], row["completion_usd"], row["cached_usd"])


def _size(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens


def _less(usage: Usage, part: Usage) -> Usage:
    """What is left of some use without a part of it."""
    cost = None if usage.cost_usd is None else usage.cost_usd - (part.cost_usd or 0.0)
    return Usage(
        usage.calls - part.calls,
        usage.prompt_tokens - part.prompt_tokens,
        usage.completion_tokens - part.completion_tokens,
        usage.reasoning_tokens - part.reasoning_tokens,
        usage.cached_tokens - part.cached_tokens,
        cost,
    )


def _uncached(used: Usage, price: Price | None) -> Usage:
    """The same calls without a token from a provider's cache."""
    cost = None if price is None else price.cost(used.prompt_tokens, used.completion_tokens, 0)
    return Usage(used.calls, used.prompt_tokens, used.completion_tokens, used.reasoning_tokens, 0, cost)
