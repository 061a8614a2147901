"""The report of a study: one page that requests nothing, and the same as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.report.blocks import Block, Bullets, Document, Notice, Pairs, Paragraph, Pictures, Section, Table
from experiments.report.page import page
from experiments.sweep.loading import LoadedStudy
from experiments.sweep.picture import pictures
from experiments.sweep.tables import (
    FAILED_HEAD,
    PRUNED_HEAD,
    best_head,
    best_rows,
    best_words,
    column,
    counts,
    failed_rows,
    pruned_rows,
    usage_words,
)
from lineage.canonical import pretty_json, write_atomic
from lineage.ledger import read_head
from optimize.sweep import StudyResult
from optimize.sweep.results import RESULT
from optimize.sweep.study import WORKERS
from optimize.sweep.worker import TRIALS

REPORT = "report.html"


@dataclass(frozen=True, slots=True)
class StudyPaths:
    """Where a study's result was written."""

    html: Path
    json: Path


def write_study(loaded: LoadedStudy, result: StudyResult, directory: Path) -> StudyPaths:
    """Write ``report.html`` and ``result.json`` into the study's directory.

    Equal records give equal bytes; no number is computed here that is not in the result.
    """
    paths = StudyPaths(directory / REPORT, directory / RESULT)
    write_atomic(paths.json, pretty_json({**result.row(), "ledgers": dict(_heads(directory))}))
    write_atomic(paths.html, page(document(loaded, result, directory)))
    return paths


def document(loaded: LoadedStudy, result: StudyResult, directory: Path) -> Document:
    """The whole page."""
    best = result.ranked[0] if result.ranked else None
    title = best_words(best)
    lead: list[Block] = []
    if result.simulated:
        lead.append(Notice("SIMULATED: the judge answers from a formula; nothing here says anything about a model."))
    if not result.finished:
        lead.append(Notice(f"The study is not finished: {counts(result)}."))
    lead += [
        Notice(
            "Nothing here is confirmed. Every number is of accept, where each search chose its winner, and the best of "
            f"{len(result.trials)} trials is optimistic once more."
        ),
        Bullets(
            (
                f"{counts(result)}.",
                f"{result.candidates} candidates were looked at on accept over all trials; a campaign that confirms a "
                "point states them (studied in its plan), and its verdict says so.",
                "Held-out groups stayed sealed, and no comparison was spent: the gate's correction counts held-out "
                "comparisons alone.",
                f"Paid for by all workers together: {usage_words(result.spend.paid)}.",
            )
        ),
    ]
    sections = [_best(result), _pictures(result), _pruned(result), _failed(result), _space(loaded, result)]
    sections += [_spend(loaded, result), _record(loaded, result, directory)]
    return Document(
        result.name,
        title[0].upper() + title[1:],
        tuple(lead),
        tuple(section for section in sections if section is not None),
        f"Holdgate report of study {result.name}",
    )


def _best(result: StudyResult) -> Section:
    if not result.ranked:
        return Section("best", "Complete trials", (Paragraph("No trial is complete."),))
    caption = (
        "Best first by the first objective. A star marks the Pareto front. Intervals are by group, of the winner on "
        "accept, where it was chosen."
    )
    first = result.ranked[0].number
    where = f"Every candidate of a trial, with its text, is in its own ledger: holdgate lineage …/{TRIALS}/{first:04d}."
    table = Table(caption, best_head(result), tuple(best_rows(result)))
    return Section("best", "Complete trials", (table, Paragraph(where)))


def _pictures(result: StudyResult) -> Section | None:
    drawn = pictures(result)
    return Section("front", "Objectives", (Pictures(drawn),)) if drawn else None


def _pruned(result: StudyResult) -> Section | None:
    if not (rows := pruned_rows(result)):
        return None
    caption = "Judges that were pruned, with the baseline instruction on the last set of accept groups."
    return Section("pruned", "Pruned trials", (Table(caption, PRUNED_HEAD, tuple(rows)),))


def _failed(result: StudyResult) -> Section | None:
    if not (rows := failed_rows(result)):
        return None
    return Section("failed", "Failed trials", (Table("Trials without a number, and why.", FAILED_HEAD, tuple(rows)),))


def _space(loaded: LoadedStudy, result: StudyResult) -> Section:
    plan = loaded.plan
    rows = tuple((path, _dimension(found.model_dump(exclude_unset=True))) for path, found in plan.space.items())
    pruning = "none"
    if plan.pruning is not None:
        sets = ", ".join(map(str, plan.pruning.groups))
        pruning = (
            f"successive halving on nested sets of {sets} accept groups: one of {plan.pruning.reduction} goes on, by "
            f"the first objective ({column(result, result.objectives[0])})"
        )
    settings = (
        ("Objectives", ", ".join(column(result, measure) for measure in result.objectives)),
        ("Sampler", f"{plan.sampler.kind}, seed {plan.sampler.seed}"),
        ("Pruning", pruning),
        ("Campaign plan", str(plan.base) if isinstance(plan.base, str) else "in the study plan"),
    )
    return Section(
        "space", "What was varied", (Table("Settings and their values.", ("Setting", "Values"), rows), Pairs(settings))
    )


def _dimension(row: dict[str, Any]) -> str:
    when = "; ".join(f"{path} is {wanted}" for path, wanted in row.get("when", {}).items())
    if "choices" in row:
        said = ", ".join(str(choice) for choice in row["choices"])
    else:
        said = f"{row['low']} to {row['high']}"
        said += f" by {row['step']}" if "step" in row else ""
        said += ", by logarithm" if row.get("log") else ""
    return f"{said} (when {when})" if when else said


def _spend(loaded: LoadedStudy, result: StudyResult) -> Section:
    paid, perhaps, limits = result.spend.paid, result.spend.unanswered, loaded.plan.limits
    rows = (
        ("Paid for", usage_words(paid)),
        ("Perhaps paid for without an answer, at most", usage_words(perhaps) if perhaps.calls else "nothing"),
        (
            "Limits",
            ", ".join(f"{value:.10g} {name}" for name, value in limits.model_dump().items() if value is not None)
            or "none",
        ),
    )
    said = (
        "Every call's worst case was reserved in the study's database before it was sent, by whichever worker: what "
        "was paid for, and the worst cases of calls under way or left by a dead worker, are never more than a limit."
    )
    return Section("spend", "Spend", (Paragraph(said), Pairs(rows)))


def _record(loaded: LoadedStudy, result: StudyResult, directory: Path) -> Section:
    rows = [("Study", result.fingerprint), ("Split lock", loaded.lock.hash), ("Corpus", loaded.corpus.hash)]
    rows += [
        (f"Ledger of worker {name}", f"{head['count']} events, {head['hash']}") for name, head in _heads(directory)
    ]
    return Section("record", "Record", (Pairs(tuple(rows)),))


def _heads(directory: Path) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for path in sorted((directory / WORKERS).glob("*/ledger.jsonl")):
        if (head := read_head(path)) is not None:
            found.append((path.parent.name, {"count": head.count, "hash": head.hash}))
    return found
