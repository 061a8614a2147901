"""What it costs to judge one document, from the recorded judgements of a finished campaign."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from lineage.canonical import json_lines
from lineage.ledger import Event, read_events
from lineage.records import VOLATILE, Judgement, Usage
from lineage.segments import read_segment
from splits.corpus import Example
from students.transport import Price

Unit = Literal["document", "pair"]
Sharing = Literal["amortised", "alone"]
UNIT_WORDS: Final[Mapping[Unit, str]] = {"document": "a document", "pair": "a flawed document and its twin"}
SHARING_WORDS: Final[Mapping[Sharing, str]] = {"amortised": "amortised", "alone": "one document per group"}


@dataclass(frozen=True, slots=True)
class UnitCost:
    """Mean cost of one unit of judging, failed judgements included, as they cost too.

    ``document`` is one judgement; ``pair`` a flawed document and its clean twin, as paired discrimination needs them.
    ``amortised`` is what was used: a twin judged once for all of its flawed documents, calls about the source alone
    made once for a group, and prompt tokens that the provider found in its cache at their price. ``alone`` is as if
    each group had this one document, or pair: nothing shared beyond it, and no cached token. ``cost_usd`` is None where
    no price applies. Search and retries are in none of them.
    """

    unit: Unit
    sharing: Sharing
    units: int
    calls: float
    prompt_tokens: float
    cached_tokens: float
    completion_tokens: float
    reasoning_tokens: float
    cost_usd: float | None

    @property
    def label(self) -> str:
        """What it is the cost of, in words."""
        return f"{SHARING_WORDS[self.sharing]}, for {UNIT_WORDS[self.unit]}"

    def words(self) -> str:
        """Calls, tokens and money in words."""
        money = "" if self.cost_usd is None else f", {self.cost_usd:.6f} USD"
        tokens = self.prompt_tokens + self.completion_tokens
        return f"{self.calls:.1f} calls, {tokens:.0f} tokens ({self.cached_tokens:.0f} cached){money}"


def unit_costs(
    judgements: Sequence[Judgement], examples: Mapping[str, Example], price: Price | None
) -> tuple[UnitCost, ...]:
    """Both units, amortised and alone, from the judgements of one candidate in one evaluation.

    Args:
        judgements: the judgements.
        examples: all examples by id.
        price: what tokens cost, or None where no price applies.

    Returns:
        The costs of units that there are any of.
    """
    usage = {(judgement.example, judgement.replicate): judgement.usage for judgement in judgements}
    of_source = {(judgement.example, judgement.replicate): judgement.shared for judgement in judgements}
    own = {key: _less(used, of_source[key]) for key, used in usage.items()}
    pairs = [
        (key, (twin, key[1]))
        for key in usage
        if (twin := examples[key[0]].twin) is not None and (twin, key[1]) in usage
    ]
    shared = {key for pair in pairs for key in pair}

    def amortised(keys: Iterable[tuple[str, int]]) -> list[Usage]:
        keys = list(keys)
        once = {(examples[example].group, replicate): of_source[example, replicate] for example, replicate in keys}
        return [own[key] for key in keys] + list(once.values())

    alone = [_alone(used, price) for used in usage.values()]
    alone_pairs = [_alone(usage[flawed] + own[twin], price) for flawed, twin in pairs]
    found = (
        _mean("document", "amortised", amortised(usage), len(usage)),
        _mean("document", "alone", alone, len(usage)),
        _mean("pair", "amortised", amortised(key for key in usage if key in shared), len(pairs)),
        _mean("pair", "alone", alone_pairs, len(pairs)),
    )
    return tuple(cost for cost in found if cost is not None)


def heldout_costs(
    events: Sequence[Event], segments: Path, examples: Iterable[Example]
) -> dict[str, tuple[UnitCost, ...]]:
    """What judging held-out documents cost in a finished campaign, by candidate; a baseline's is the latest.

    Args:
        events: the ledger.
        segments: directory of its judgements.
        examples: all examples; their texts are not needed.

    Raises:
        LedgerError: a segment is missing or is not the one the ledger recorded.
    """
    spend = next(event.body[VOLATILE] for event in events if event.type == "spend")
    price, by_id = recorded_price(spend, "student"), {example.id: example for example in examples}
    found: dict[str, tuple[UnitCost, ...]] = {}
    for event in events:
        if event.type == "evaluation" and event.body["purpose"] in ("baseline", "confirm"):
            judged = read_segment(segments, event.body["segment"])
            for candidate in event.body["candidates"]:
                found[candidate] = unit_costs([j for j in judged if j.candidate == candidate], by_id, price)
    return found


def read_costs(directory: Path) -> dict[str, tuple[UnitCost, ...]]:
    """:func:`heldout_costs` of a run directory."""
    rows = json_lines((directory / "examples.jsonl").read_text(encoding="utf-8"))
    examples = [Example(**{key: row[key] for key in row if key != "split"}, source="", document="") for row in rows]
    return heldout_costs(read_events(directory / "ledger.jsonl"), directory / "judgements", examples)


def recorded_price(spend: Mapping[str, Any], role: str) -> Price | None:
    """The price of a role's model as the ``spend`` event has it; None where none applies."""
    row = spend.get("prices", {}).get(role)
    return None if row is None else Price(row["prompt_usd"], row["completion_usd"], row["cached_usd"])


def _less(used: Usage, part: Usage) -> Usage:
    """Usage without a part of it; unpriced where nothing of it has a price."""
    cost = None if used.cost_usd is None else used.cost_usd - (part.cost_usd or 0.0)
    return Usage(
        used.calls - part.calls,
        used.prompt_tokens - part.prompt_tokens,
        used.completion_tokens - part.completion_tokens,
        used.reasoning_tokens - part.reasoning_tokens,
        used.cached_tokens - part.cached_tokens,
        cost,
    )


def _alone(used: Usage, price: Price | None) -> Usage:
    """The same calls without a token from the provider's cache."""
    cost = None if price is None else price.cost(used.prompt_tokens, used.completion_tokens, 0)
    return Usage(used.calls, used.prompt_tokens, used.completion_tokens, used.reasoning_tokens, 0, cost)


def _mean(unit: Unit, sharing: Sharing, usages: Iterable[Usage], units: int) -> UnitCost | None:
    if not units:
        return None
    total = sum(usages, Usage())
    return UnitCost(
        unit,
        sharing,
        units,
        total.calls / units,
        total.prompt_tokens / units,
        total.cached_tokens / units,
        total.completion_tokens / units,
        total.reasoning_tokens / units,
        None if total.cost_usd is None else total.cost_usd / units,
    )
