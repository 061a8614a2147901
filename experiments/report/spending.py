"""What a campaign paid for, and what judging one document costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from experiments.report.blocks import Block, Paragraph, Section, Table
from experiments.report.data import ReportData
from experiments.report.selection import ROWS
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
        parts.append(
            Table(
                "Paid calls of the student by candidate, or of the dearest where there are too many.",
                ("Candidate", *_HEAD),
                by_candidate,
            )
        )
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
    """Candidates that were paid for, the dearest first where there are too many; their names are of first proposals."""
    model = data.plan["plan"]["student"]["model"]
    paid: dict[str, list[Mapping[str, Any]]] = {}
    for row in data.spend["candidates"]:
        if row["role"] == "student":
            paid.setdefault(row["candidate"], []).append(row["usage"])
    totals = {candidate: _total(usages) for candidate, usages in paid.items()}
    order = [proposal.candidate for proposal in data.known_in_order if proposal.candidate in totals]
    if len(order) > ROWS:
        order.sort(key=lambda candidate: -(totals[candidate]["prompt_tokens"] + totals[candidate]["completion_tokens"]))
    rows = [
        (data.proposal(candidate).name, *_counts(totals[candidate]), price(totals[candidate], model))
        for candidate in order[:ROWS]
    ]
    if len(order) > ROWS:
        rest = _total(totals[candidate] for candidate in order[ROWS:])
        rows.append((f"{len(order) - ROWS:,} others, together", *_counts(rest), price(rest, model)))
    return tuple(rows)


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
