"""The final screen: winner against baseline, the decision with its reason, and where everything is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from experiments.costs import read_costs
from lineage.ledger import read_events
from optimize import CampaignResult

HEADLINES = {
    "emit": "EMITTED: the gate passed; the prompt file is written",
    "refuse": "REFUSED: no prompt file is written",
    "undecided": "UNDECIDED: too many judgements failed to decide",
    "nothing-found": "NOTHING BETTER WAS FOUND: no prompt file is written",
    "not-confirmed": "NOT CONFIRMED: too little was gained on accept to open held-out data; no prompt file is written",
}


def final_screen(console: Console, directory: Path, result: CampaignResult, *, report: Path, store: str | None) -> None:
    """Print a finished campaign's result."""
    verdict = result.verdict
    events = _typed_bodies(directory)
    measured = {(e["purpose"], e["candidate"]): e["measures"] for e in _bodies(events, "measured")}
    table = Table(title="paired discrimination on omissions (0.5 is a coin flip)", title_justify="left")
    for column in ("", "baseline", "winner", "difference"):
        table.add_column(column, justify="left" if not column else "right")
    winner, baseline = verdict["winner"], verdict["baseline"]
    same, confirmed = winner == baseline, "heldout" in verdict
    accept = [measured.get(("accept", candidate)) for candidate in (baseline, winner)]
    gain = verdict["accept"]["gain"]
    table.add_row("accept (optimistic)", *(_value(row) for row in accept), f"{gain:+z.3f}" if gain is not None else "")
    first = measured.get(("baseline", baseline))
    if not confirmed:
        table.add_row("held-out", _value(first), "not opened", "")
    else:
        held = verdict["heldout"]
        arms = [measured.get(("confirm", candidate)) for candidate in (baseline, winner)]
        table.add_row("held-out", *(_value(row) for row in arms), _difference(held["omissions"]))
        if held["equal_budget"] is not None:
            arm = measured.get(("equal-budget", baseline))
            values = (_value(row) for row in (arm, arms[1]))
            table.add_row("held-out, baseline at equal budget", *values, _difference(held["equal_budget"]))
    for body in _bodies(events, "word_overlap"):
        overlap = body["omissions"]["all"]["value"]
        complete = body["omissions"]["by_trace"].get("complete", {}).get("value")
        if overlap is not None:
            seen = f"{overlap:.3f}" + (f"; complete omissions {complete:.3f}" if complete is not None else "")
            table.add_row("word overlap, no model, held-out", Text(seen), "", "")
    console.print()
    console.print(table)
    said = [f"[bold]{HEADLINES[verdict['decision']]}[/bold]", f"because {verdict['reason']}", *verdict["words"]]
    if confirmed:
        said += [
            f"guardrail {g['name']}: {'holds' if g['holds'] else 'BROKEN'} ({g['words']})"
            for g in verdict["guardrails"]
        ]
    said += _overlap_words(events, measured, winner)
    if verdict["simulated"]:
        said.append("[bold]SIMULATED[/bold] judge: this says nothing about any model.")
    if not verdict["confirmatory"]:
        said.append("[bold]EXPLORATORY[/bold]: these numbers confirm nothing.")
    console.print(Panel("\n".join(said), title="decision", title_align="left"), highlight=False)
    if not same:
        text = next(e["texts"] for e in _bodies(events, "candidate") if e["candidate"] == winner)
        console.print(
            Panel("\n".join(text.values()), title="the winner's instruction", title_align="left"), highlight=False
        )
    console.print(f"calls: {result.paid} paid, {result.cached} found in the cache", highlight=False)
    said_costs = "; ".join(
        f"{cost.label}: {cost.words()}" for cost in read_costs(directory)[winner if confirmed else baseline][:2]
    )
    console.print(f"costs: {said_costs}", soft_wrap=True, highlight=False)
    console.print(f"report:  {report}", soft_wrap=True, highlight=False)
    if (directory / "prompt.md").exists():
        console.print(f"prompt:  {directory / 'prompt.md'}", soft_wrap=True, highlight=False)
    if store is not None:
        console.print(f"MLflow:  {store}   (look at it with: holdgate ui {directory})", soft_wrap=True, highlight=False)
    console.print(
        f"check:   holdgate audit {directory}   and   holdgate lineage {directory}", soft_wrap=True, highlight=False
    )


def _overlap_words(
    events: list[tuple[str, Mapping[str, Any]]], measured: Mapping[tuple[str, str], Any], winner: str
) -> list[str]:
    """Whether plain word overlap beats the winner on complete omissions, where both have a number."""
    row = measured.get(("confirm", winner)) or measured.get(("baseline", winner)) or {}
    judge = row.get("by_trace", {}).get("complete", {}).get("value")
    for body in _bodies(events, "word_overlap"):
        plain = body["omissions"]["by_trace"].get("complete", {}).get("value")
        if plain is not None and judge is not None:
            verb = "beats" if plain > judge else "does not beat"
            return [
                f"On complete omissions plain word overlap, which needs no model, {verb} this judge: "
                f"{plain:.3f} against {judge:.3f}."
            ]
    return []


def _typed_bodies(directory: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """Type and body of every event, in order."""
    return [(event.type, event.body) for event in read_events(directory / "ledger.jsonl")]


def _bodies(events: list[tuple[str, Mapping[str, Any]]], kind: str) -> list[Mapping[str, Any]]:
    return [body for name, body in events if name == kind]


def _value(measures: Mapping[str, Any] | None) -> str:
    row = (measures or {}).get("omissions")
    if row is None or row["value"] is None:
        return "undefined"
    spread = f" [{row['low']:.3f}, {row['high']:.3f}]" if row["low"] is not None else ""
    return f"{row['value']:.3f}{spread}"


def _difference(row: Mapping[str, Any]) -> str:
    if row["difference"] is None:
        return "undefined"
    spread = f" [{row['low']:+z.3f}, {row['high']:+z.3f}]" if row["low"] is not None else " (no interval)"
    return f"{row['difference']:+z.3f}{spread}"
