"""One candidate, and the frontier, on the screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from experiments.explore.candidates import CandidateRecord, Row
from experiments.explore.frontier import Frontier
from lineage.records import minibatch_gain


def candidate_blocks(record: CandidateRecord) -> Iterator[RenderableType]:
    """What is known of a candidate, each text whole in a panel of its own."""
    row = record.row
    yield Text(f"{row.name}  {row.candidate}", style="bold")
    facts = [
        ("kind", row.kind + (f", by {row.operator}" if row.operator else "")),
        ("parents", ", ".join(row.parents) or "none"),
        ("children", ", ".join(record.children) or "none"),
        ("outcome", row.outcome + (", the winner" if row.winner else "") + (f": {row.reason}" if row.reason else "")),
        ("words", "text not published" if row.words is None else f"{row.words}"),
        *_measured(record),
    ]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in facts:
        table.add_row(name, Text(value))
    yield table
    for name, text in record.texts.items():
        yield Panel(Text(text), title=Text(name), title_align="left")
    if (reflection := record.reflection) is not None:
        for name, key in (("why", "why"), ("reflection prompt", "prompt"), ("reflector's answer", "answer")):
            if reflection.get(key):
                yield Panel(Text(str(reflection[key])), title=Text(name), title_align="left", border_style="dim")


def _measured(record: CandidateRecord) -> Iterator[tuple[str, str]]:
    row = record.row
    before, after = record.rewards
    if after:
        gain = minibatch_gain(before, after)
        changed = sum(after[example] != before[example] for example in after)
        yield "minibatch", f"{gain:+.4f} over {len(after)} examples, {changed} of them changed; estimates nothing"
    if record.accept is not None:
        yield "accept (optimistic)", _measure(record.accept["omissions"])
    elif row.paired is not None:
        yield "accept (optimistic)", f"paired discrimination {row.paired:.3f}"
    if row.score is not None:
        yield "score on accept", f"{row.score:.3f}, as published"
    if row.detection is not None:
        alarms = "undefined" if row.false_alarm is None else f"{row.false_alarm:.3f}"
        yield "detection on accept", f"{row.detection:.3f} at a false-alarm rate of {alarms}"
    if record.leads is not None:
        yield "leads on", f"{record.leads} accept examples, ties included"
    if record.heldout is not None:
        found = record.heldout["omissions"]
        if found["difference"] is not None:
            ends = "no interval" if found["low"] is None else f"{found['low']:+.3f} to {found['high']:+.3f}"
            yield "held-out, less baseline", f"{found['difference']:+.3f} ({ends})"


def _measure(measure: Row) -> str:
    if measure["value"] is None:
        return "paired discrimination undefined: no pair has a score in both of its documents"
    ends = "" if measure.get("low") is None else f", interval {measure['low']:.3f} to {measure['high']:.3f}"
    counts = f"{measure['wins']} won, {measure['ties']} tied, {measure['losses']} lost"
    return f"paired discrimination {measure['value']:.3f}{ends} ({counts})"


def leader_table(frontier: Frontier, *, target: str = "") -> Table:
    """Each leader with its examples; those that it shares with others stand in brackets."""
    pool, leaders, examples = len(frontier.pool), len(frontier.leaders), len(frontier.examples)
    of = f"{target}: " if target else ""
    unknown = f"; of {frontier.unscored} more no scores are known" if frontier.unscored else ""
    table = Table(
        title=f"{of}{leaders} of {pool} candidates of the pool lead somewhere on {examples} accept examples; "
        f"in brackets: shared with others{unknown}",
        title_justify="left",
        show_lines=True,
    )
    columns: list[tuple[str, dict[str, Any]]] = [
        ("candidate", {"no_wrap": True}),
        ("leads", {"justify": "right"}),
        ("alone", {"justify": "right"}),
        ("examples", {}),
    ]
    for name, look in columns:
        table.add_column(name, **look)
    for leader in frontier.leaders:
        name = leader.row.name + (" ★ winner" if leader.row.winner else "")
        led = [*leader.alone, *(f"[{example}]" for example in leader.shared)]
        table.add_row(Text(name), f"{leader.leads}", f"{len(leader.alone)}", Text(", ".join(led)))
    return table
