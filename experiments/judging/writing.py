"""The files of a finished judging run besides its ``table.json``: the table in Markdown, and every score in CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from experiments.judging.sheets import Row, Sheet, further_sheets, sheets
from lineage.canonical import write_atomic
from lineage.errors import InputError
from lineage.records import Judgement
from optimize.judging.recorded import RecordedJudging, load_judging
from optimize.judging.run import TABLE
from splits.corpus import Example

COLUMNS: Final = (
    *("id", "group", "label", "kind", "trace", "severity", "student", "budget", "replicate", "status", "reason"),
    *("score", "flagged", "flags", "calls", "prompt_tokens", "completion_tokens", "shared_tokens", "cost_usd"),
)


@dataclass(frozen=True, slots=True)
class TablePaths:
    """Where the files of a table lie."""

    json: Path
    markdown: Path
    scores: Path


def write_table(directory: Path) -> TablePaths:
    """Write ``table.md`` and ``scores.csv`` of a finished judging run, from its directory alone.

    Raises:
        InputError: the run has no table yet.
        LedgerError: the run is not what its ledger says.
    """
    run = load_judging(directory)
    paths = TablePaths(directory / TABLE, directory / "table.md", directory / "scores.csv")
    table = read_table(directory)
    write_atomic(paths.markdown, markdown(table))
    write_atomic(paths.scores, scores_csv(run))
    return paths


def read_table(directory: Path) -> dict[str, Any]:
    """The table of a finished judging run.

    Raises:
        InputError: it has none yet.
    """
    path = directory / TABLE
    if not path.is_file():
        raise InputError(f"{directory}: the run has no table yet; give the same command to go on")
    table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return table


def markdown(table: Row) -> str:
    """The table as Markdown, with what it says of itself first."""
    lines = [f"# Judges of {_cell(table['name'])}", "", *(f"- {_cell(words)}" for words in table["words"]), ""]
    for sheet in (*sheets(table), *further_sheets(table)):
        lines += _sheet(sheet)
    head = table["ledger_head"]
    lines.append(f"Ledger of {head['count']} events, head {head['hash']}.")
    return "\n".join(lines) + "\n"


def scores_csv(run: RecordedJudging) -> str:
    """Every judgement as a row: judges in order of the plan, examples in order of their ids.

    The texts of flags may quote documents: those of held-out ones are counted only.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    told = run.registered["about"]["split"] != "heldout"
    for name in run.judges:
        judged = run.judged(name)
        by_id = {example.id: example for example in judged.evaluation.examples}
        for judgement in judged.evaluation.judgements:
            writer.writerow(_score_row(judgement, by_id[judgement.example], judged.judge, told=told))
    return text.getvalue()


def _score_row(judgement: Judgement, example: Example, judge: Row, *, told: bool) -> dict[str, Any]:
    usage, decided = judgement.usage, judge["rule"] is not None and judgement.score is not None
    shared = judgement.shared
    return {
        **{name: getattr(example, name) for name in ("id", "group", "label", "kind", "trace", "severity")},
        "student": judge["name"],
        "budget": judge["budget"],
        "replicate": judgement.replicate,
        "status": judgement.status,
        "reason": (judgement.reason or "").partition(":")[0],
        "score": judgement.score,
        "flagged": ("yes" if judgement.flags else "no") if decided else None,
        "flags": " | ".join(judgement.flags) if told else len(judgement.flags),
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "shared_tokens": shared.prompt_tokens + shared.completion_tokens,
        "cost_usd": usage.cost_usd,
    }


def _sheet(sheet: Sheet) -> Iterator[str]:
    yield from (f"## {_cell(sheet.title[:1].upper() + sheet.title[1:])}", "")
    yield f"| {' | '.join(_cell(column) for column in sheet.columns)} |"
    yield f"|{' --- |' * len(sheet.columns)}"
    yield from (f"| {' | '.join(_cell(cell) for cell in row)} |" for row in sheet.rows)
    yield ""


def _cell(text: str) -> str:
    """Text on one line that ends no cell and begins no markup."""
    for mark in ("\\", "|", "*", "_", "<", "`"):
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
