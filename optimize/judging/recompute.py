"""Every number of a judging run, computed again from its directory alone; the texts are not needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lineage._version import __version__
from lineage.audit import Finding
from lineage.errors import HoldgateError, PlanError
from lineage.records import VOLATILE, Judgement, stable
from optimize.judging.recorded import RecordedJudging, load_judging
from optimize.judging.table import table_row
from optimize.recompute.comparing import REMEDY, compared
from optimize.recompute.doubtful import ROUNDED
from optimize.recompute.judgements import recomputed_score
from students.designs import DESIGNS


def audit_judging(directory: Path) -> list[Finding]:
    """Compute every number of a judging run again and compare it with the recorded one.

    Returns:
        An ``error`` for each number that differs, and an ``info`` with what was compared and what could not be.
    """
    try:
        run = load_judging(directory)
        found = [*_scores(run), *_table(run)]
    except (HoldgateError, KeyError, TypeError, ValueError, IndexError, AssertionError) as error:
        return [Finding("error", "ledger.jsonl", f"the numbers were not computed again: {error!r}")]
    counts = f"{len(run.all('evaluation'))} evaluation, {len(run.all('table'))} table"
    return [*found, Finding("info", "ledger.jsonl", f"computed again: {counts}", "nothing to do")]


def _scores(run: RecordedJudging) -> Iterator[Finding]:
    """Document scores from the verdicts or the answers; designs that need more than the run holds are named."""
    untold: list[str] = []
    for event in run.all("evaluation"):
        judged = run.judged(event.body["purpose"])
        asked = judged.judge["asked"]
        scored = [judgement for judgement in judged.evaluation.judgements if judgement.score is not None]
        if scored and not _can_be_scored(scored[0], asked):
            untold.append(judged.judge["name"])
            continue
        for judgement in scored:
            value = recomputed_score(judgement, asked)
            if value is None or abs(value - (judgement.score or 0.0)) > ROUNDED:
                place = f"judgements/{event.body['segment']['name']}.jsonl"
                words = f"score of {judgement.example}: recorded {judgement.score!r}, computed {value!r}"
                yield Finding("error", place, words, REMEDY)
    if untold:
        words = f"scores of {', '.join(untold)} need more than the run holds and were not computed again"
        yield Finding("info", "ledger.jsonl", words, "nothing to do")


def _can_be_scored(judgement: Judgement, asked: Mapping[str, Any]) -> bool:
    """Whether a judge's scores can be computed again: not those of a baseline, or of a program that is not here."""
    if asked.get("shape") not in DESIGNS:
        return False
    try:
        recomputed_score(judgement, asked)
    except PlanError:
        return False
    return True


def _table(run: RecordedJudging) -> Iterator[Finding]:
    """All measures, costs and words of the table."""
    for event in run.all("table"):
        computed = table_row([run.judged(name) for name in run.judges], about=run.registered["about"])
        written_by = run.registered[VOLATILE].get("holdgate")
        recorded = stable(event.body["table"])
        yield from compared(event, recorded, stable(computed), reworded=written_by != __version__)
