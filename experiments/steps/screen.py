"""A build and the score of one note on the screen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from experiments.judging.screen import say
from experiments.steps.planning import EVAL_PLAN
from experiments.steps.scoring import NoteScore


def show_built(console: Console, out: Path, manifest: Mapping[str, Any], plan: Path) -> None:
    """Print what a build made, and what it is not."""
    table = Table(title=f"{out}: notes and steps", title_justify="left")
    for column in ("part", "groups", "notes", "by origin", "steps + / - / unlabelled", "chat lines + / -"):
        table.add_column(column)
    for part, counts in manifest["counts"].items():
        steps = [sum(kind.get(label, 0) for kind in counts["steps"].values()) for label in ("+", "-", "unlabelled")]
        labels = counts["chat"]["labels"]
        table.add_row(
            part,
            f"{counts['groups']}",
            f"{sum(counts['notes'].values())}",
            ", ".join(f"{origin} {count}" for origin, count in counts["notes"].items()),
            " / ".join(map(str, steps)),
            f"{labels.get('+', 0)} / {labels.get('-', 0)}",
        )
    console.print(table, highlight=False)
    parts = manifest["parts"]
    if parts["sealed"]:
        say(console, f"{parts['sealed']} held-out groups of the lock stay behind the seal and are in no part")
    if manifest["unmade"]:
        missing = ", ".join(f"{what} {count}" for what, count in manifest["unmade"].items())
        say(console, f"not made, as no rule applied: {missing}")
    if manifest["clean_candidates"]:
        say(console, f"{manifest['clean_candidates']} clean notes are candidates: their steps are taken to be right")
    for words in manifest["caveats"]:
        say(console, words)
    say(console, f"evaluate:  holdgate steps eval {plan}   after naming the verifier in {EVAL_PLAN}")


def show_score(console: Console, found: NoteScore) -> None:
    """Print every step of a note with its P(+), the score and the first bad step."""
    judgement = found.judgement
    if judgement.score is None:
        say(console, f"no score: {judgement.reason}")
        return
    table = Table(title=f"{found.student}: steps of {found.name} ({found.read})", title_justify="left")
    for column in ("step", "place", "P(+)", "text"):
        table.add_column(column, justify="right" if column == "P(+)" else "left")
    for step, verdict in zip(found.note.steps, judgement.facts, strict=True):
        mark = "" if verdict.present else " bad"
        table.add_row(step.id, step.place, f"{verdict.p_yes:.3f}{mark}", step.text[:60])
    console.print(table, highlight=False)
    say(console, f"score {judgement.score:g} ({found.aggregation}); higher is a better note")
    say(console, ", ".join(f"{name} {value:g}" for name, value in judgement.parts.items()))
    say(console, f"first bad step: {judgement.flags[0] if judgement.flags else 'none'}")
