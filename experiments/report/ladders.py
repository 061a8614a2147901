"""The budget ladder and the cost ladder: what more tokens, and what dearer judging, bought."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from experiments.costs import UnitCost
from experiments.report.arms import Arm
from experiments.report.blocks import Block, Paragraph, Pictures, Section, Table
from experiments.report.charts import Dot, DotRow, dots_picture
from experiments.report.data import ReportData
from experiments.report.record import budget_words
from experiments.report.wording import measure, winner_words
from optimize.evaluation import Evaluation


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of a ladder.

    Attributes:
        name: of the judge.
        step: what it costs, in words.
        amount: the same as a number, by which rungs are ordered; the unit is the ladder's.
        measures: paired discrimination on omissions, as a row of numbers.
    """

    name: str
    step: str
    amount: float
    measures: dict[str, object]


def ladders_section(data: ReportData) -> Section:
    """Both ladders of a campaign, on held-out data."""
    return Section("ladders", "Budget and cost ladders", (*_budget(data), *_cost(data)))


def _budget(data: ReportData) -> Iterator[Block]:
    """Completion tokens a judgement: the same baseline at its own budget and at the winner's."""
    if data.equal is None:
        row = data.verdict.get("equal_budget")
        why = "" if row is None else f" The baseline was not judged at equal budget: {row['words']}."
        yield Paragraph(
            "Budget ladder: none. A campaign judges at one reasoning budget "
            f"({budget_words(data.plan['plan']['student']['budget'])}).{why} A judging plan with several budgets "
            "judges the same text at each: holdgate judge."
        )
        return
    arms = [("baseline", data.baseline), ("baseline, more samples", data.equal), (winner_words(data), data.winner)]
    rungs = []
    for name, arm in arms:
        spent = completion_tokens(arm.evaluation)
        rungs.append(Rung(name, f"{spent:.1f} tokens", spent, dict(arm.measures["omissions"])))
    yield from ladder("Budget ladder, held-out", rungs, unit="Completion tokens a judgement", key="budget")


def _cost(data: ReportData) -> Iterator[Block]:
    """What judging one document costs, beside what it is worth."""
    found: dict[str, tuple[str, Arm]] = {data.verdict["baseline"]: ("baseline", data.baseline)}
    if data.confirmed:
        found[data.verdict["winner"]] = (winner_words(data), data.winner)
    rungs = []
    for candidate, (name, arm) in found.items():
        rungs += [
            Rung(name, cost_words(cost), _amount(cost), dict(arm.measures["omissions"]))
            for cost in data.costs.get(candidate, ())
            if (cost.unit, cost.sharing) == ("document", "amortised")
        ]
    if data.overlap is not None and data.overlap["all"]["value"] is not None:
        plain = data.overlap["all"]
        row = {"value": plain["value"], "low": None, "high": None, "pairs": plain["pairs"], "failed": 0}
        rungs.append(Rung("word overlap (no model)", "0 tokens", 0.0, row))
    if len(rungs) < 2:
        yield Paragraph("Cost ladder: none. One judge alone was measured on held-out data.")
        return
    yield from ladder("Cost ladder, held-out", rungs, unit="Cost a document, amortised", key="cost")


def ladder(title: str, rungs: Sequence[Rung], *, unit: str, key: str) -> Iterator[Block]:
    """A ladder as a picture, the cheapest rung first.

    Args:
        title: what it shows.
        rungs: in any order.
        unit: what the steps count.
        key: unique in the page.
    """
    ordered = sorted(rungs, key=lambda rung: (rung.amount, rung.name))
    table = Table(
        f"{title}: paired discrimination on omissions with 95% intervals, the cheapest first.",
        ("Judge", unit, "Omissions, paired"),
        tuple((rung.name, rung.step, measure(rung.measures)) for rung in ordered),
    )
    rows = [DotRow(f"{rung.name}: {rung.step}", (Dot.of(rung.measures),)) for rung in ordered]
    desc = f"{unit}, least at the top, and paired discrimination on omissions with 95% intervals; 0.5 is a coin flip."
    yield Pictures((dots_picture(title, desc, rows, series=("omissions",), key=f"ladder-{key}", table=table),))


def cost_words(cost: UnitCost) -> str:
    """Tokens, and money where there is a price."""
    tokens = cost.prompt_tokens + cost.completion_tokens
    return f"{tokens:.0f} tokens" + ("" if cost.cost_usd is None else f", {cost.cost_usd:.6f} US dollars")


def completion_tokens(evaluation: Evaluation) -> float:
    """Mean completion tokens of a judgement, reasoning among them; 0 where none is recorded."""
    used = [judgement.usage.completion_tokens for judgement in evaluation.judgements]
    return sum(used) / len(used) if used else 0.0


def _amount(cost: UnitCost) -> float:
    return cost.cost_usd if cost.cost_usd is not None else cost.prompt_tokens + cost.completion_tokens
