"""What a campaign paid for, and what judging one document costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from experiments.report.blocks import Block, Paragraph, Section, Table
from experiments.report.data import ReportData
from experiments.report.wording import price, winner_words

_TOKENS: Final = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")
_HEAD: Final = ("Calls", "Prompt tokens", "of them cached", "Completion tokens", "Reasoning tokens", "US dollars")


def spend_section(data: ReportData) -> Section:
    """Paid calls, tokens and money by phase and by candidate; cost of one document; limits."""
    plan = data.plan["plan"]
    models = {"student": plan["student"]["model"], "reflector": plan["reflector"]["model"]}
    paid = data.spend["paid"]
    rows = [(name, *_counts(paid[name]), price(paid[name], models[name.split(" ", 1)[0]])) for name in sorted(paid)]
    total = _total(paid.values())
    unpriced = sum(row["cost_usd"] is None for row in paid.values())
    money = "no price" if total["cost_usd"] is None else f"{total['cost_usd']:.4f}"
    if total["cost_usd"] is not None and unpriced:
        money += f" and {unpriced} phases without a price"
    rows.append(("all", *_counts(total), money))
    parts: list[Block] = [
        Table(
            "Paid calls by role and phase, over all processes of this campaign; answers that were found in the call "
            "cache cost nothing.",
            ("Phase", *_HEAD),
            tuple(rows),
        )
    ]
    if by_candidate := _by_candidate(data):
        parts.append(Table("Paid calls of the student by candidate.", ("Candidate", *_HEAD), by_candidate))
    parts.append(_documents(data))
    lost = data.spend["unanswered"]
    if lost["calls"]:
        parts.append(
            Paragraph(
                f"Perhaps paid without an answer (cancelled, cut off, or under way when a process died): at most "
                f"{lost['calls']:,} calls and {lost['prompt_tokens'] + lost['completion_tokens']:,} tokens"
                + ("" if lost["cost_usd"] is None else f", {lost['cost_usd']:.4f} US dollars")
                + ". They count against the limits at their worst case."
            )
        )
    limits = ", ".join(f"{value:.10g} {name}" for name, value in _limits(data.spend["limits"]))
    parts.append(Paragraph(f"Limits of the plan when it finished: {limits or 'none'}."))
    return Section("spend", "Spend", tuple(parts))


def _documents(data: ReportData) -> Table:
    """Cost of one document, amortised and as if its group had no other."""
    names = {data.verdict["winner"]: winner_words(data), data.verdict["baseline"]: "baseline"}
    order = dict.fromkeys((data.verdict["winner"], data.verdict["baseline"]))
    rows = [
        (
            f"{names[candidate] if data.found else 'baseline'}: {cost.label}",
            f"{cost.units}",
            *(f"{getattr(cost, name):,.1f}" for name in _TOKENS),
            "no price" if cost.cost_usd is None else f"{cost.cost_usd:.6f}",
        )
        for candidate in order
        for cost in data.costs.get(candidate, ())
    ]
    return Table(
        "Mean cost of judging on held-out data. Amortised is what was used: a twin judged once for all of its flawed "
        "documents, cached prompt tokens at their price. One document per group: as if no other document of its group "
        "was judged: no shared twin, no cached token.",
        ("Cost of", "Mean of", *_HEAD),
        tuple(rows),
    )


def _by_candidate(data: ReportData) -> tuple[tuple[str, ...], ...]:
    names: dict[str, str] = {}
    for proposal in data.proposals:
        names.setdefault(proposal.candidate, proposal.name)
    model = data.plan["plan"]["student"]["model"]
    paid = [row for row in data.spend["candidates"] if row["role"] == "student"]
    found = []
    for candidate, name in names.items():
        usages = [row["usage"] for row in paid if row["candidate"] == candidate]
        if usages:
            total = _total(usages)
            found.append((name, *_counts(total), price(total, model)))
    return tuple(found)


def _total(usages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The sum of usages; its price is that of those that have one."""
    rows = list(usages)
    known = [row["cost_usd"] for row in rows if row["cost_usd"] is not None]
    total: dict[str, Any] = {name: sum(row[name] for row in rows) for name in _TOKENS}
    return total | {"cost_usd": sum(known) if known else None}


def _counts(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(f"{row[name]:,}" for name in _TOKENS)


def _limits(limits: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in sorted(limits.items()):
        if isinstance(value, Mapping):
            yield from ((f"{what} of the {name}", most) for what, most in _limits(value))
        elif value is not None:
            yield name, value
