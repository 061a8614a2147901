"""The report of a judging run: every judge on the same documents, and no search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from experiments.judging.sheets import further_sheets, sheets
from experiments.report.blocks import Block, Bullets, Document, Notice, Pairs, Paragraph, Pictures, Section, Table
from experiments.report.charts import Dot, DotRow, dots_picture
from experiments.report.compression import compression_blocks
from experiments.report.judges_flagged import operating_pictures, rejected_blocks
from experiments.report.ladders import Rung, ladder
from experiments.report.parts import ORDER, part_rows
from experiments.report.pictures import distribution_picture
from experiments.report.questions import questions, questions_blocks
from experiments.report.wording import measure, split_words
from lineage.ledger import read_events
from optimize.judging.recorded import RecordedJudging
from optimize.judging.table import Judged
from optimize.objectives import ScoredExamples, scored_evaluation
from optimize.objectives.scored import UNKNOWN
from optimize.verdict_words import count_of

Row = Mapping[str, Any]
DRAWN: Final = 24
"""Judges in a drawing."""
BESIDE: Final = 4
"""Judges in one drawing that tells them apart by their marks."""


@dataclass(frozen=True, slots=True)
class JudgingData:
    """A finished judging run: its table, each judge's evaluation and its scores, in the order of the plan."""

    run: RecordedJudging
    table: Row
    judged: Mapping[str, Judged]
    scored: Mapping[str, ScoredExamples]


def collect_judging(run: RecordedJudging, table: Row) -> JudgingData:
    """Read the judgements of a finished judging run.

    Raises:
        LedgerError: they are not those that the ledger recorded.
    """
    judged = {name: run.judged(name) for name in run.judges}
    return JudgingData(run, table, judged, {name: scored_evaluation(one.evaluation) for name, one in judged.items()})


def judging_document(data: JudgingData) -> Document:
    """The whole report."""
    table = data.table
    lead: list[Block] = []
    if table["simulated"]:
        lead.append(Notice(f"SIMULATED: {', '.join(table['simulated'])} answered from a formula, not a model."))
    if table["exploratory"] is not None:
        lead.append(Notice(f"EXPLORATORY, confirms nothing. The reason given: {table['exploratory']}"))
    lead.append(Bullets(tuple(table["words"])))
    count = table["examples"]
    title = (
        f"{count_of(len(data.judged), 'judge')} on {count['count']} documents of {count_of(count['groups'], 'group')}"
    )
    sections = (
        Section("paired", "Paired discrimination", tuple(_paired(data))),
        Section("operating", "Operating points", tuple(_operating(data))),
        Section("parts", "Discrimination by trace and severity", tuple(_parts(data))),
        Section("scores", "Scores of clean and flawed documents", tuple(_scores(data))),
        Section("compression", "Score compression", tuple(compression_blocks(data.scored))),
        Section("ladders", "Budget and cost ladders", (*_budgets(data), *_costs(data))),
        Section("questions", "Accuracy by type of question", tuple(_questions(data))),
        Section("rejected", "What the judges flagged and what has no score", tuple(rejected_blocks(data.judged))),
        Section("tables", "Tables", tuple(_tables(data))),
        Section("denominators", "Denominators", (_denominators(data),)),
        Section("record", "Record", tuple(_record(data))),
    )
    name = str(table["name"])
    return Document(name, f"No search: {title}", tuple(lead), sections, over=f"Holdgate report of judging run {name}")


def _paired(data: JudgingData) -> Iterator[Block]:
    yield Paragraph(
        "Paired discrimination is the share of flawed documents scored strictly below their own clean twin, ties "
        "counting half; 0.5 is a coin flip. Intervals are by group. No judge was chosen by a gate, and comparisons of "
        "two of these judges on the same documents are made with holdgate compare."
    )
    judges = data.table["judges"]
    kept = judges[:DRAWN]
    rows = [DotRow(one["name"], tuple(Dot.of(one["paired"][label]) for label in _LABELS)) for one in kept]
    title = "Paired discrimination of every judge"
    of = "" if len(kept) == len(judges) else f" The first {len(kept)} of {len(judges)} judges are drawn."
    table = Table(
        f"{title}, with 95% intervals by group.{of}",
        ("Judge", "Omissions", "Commissions"),
        tuple((one["name"], *(_measure(one["paired"][label]) for label in _LABELS)) for one in kept),
    )
    desc = f"Paired discrimination with 95% intervals, one judge a row; the dotted line at 0.5 is a coin flip.{of}"
    yield Pictures((dots_picture(title, desc, rows, series=("omissions", "commissions"), key="paired", table=table),))


_LABELS: Final = ("omission", "commission")


def _measure(row: Row) -> str:
    return measure({**row, "pairs": row["n"]})


def _operating(data: JudgingData) -> Iterator[Block]:
    yield Paragraph(
        "Each judge's own rule was fixed in its design. A swept threshold was chosen on these documents, so that its "
        "detection is optimistic; verdicts of yes or no are not swept. Points on the diagonal flag flawed and clean "
        "documents alike, which takes no judge."
    )
    found = tuple(operating_pictures(data.judged, data.scored, together=BESIDE))
    yield Pictures(found) if found else Paragraph("No picture: no judge has flags.")


def _parts(data: JudgingData) -> Iterator[Block]:
    """One drawing by trace and one by severity: judges in rows, parts as marks."""
    pictures = []
    names = list(data.scored)[:DRAWN]
    for by in ORDER:
        rows = {name: part_rows(data.scored[name], by) for name in names}
        known = [part for part in ORDER[by] if any(part in found for found in rows.values())]
        if not known or known == [UNKNOWN]:
            yield Paragraph(f"By {by}: no omission of these documents has a {by} on record.")
            continue
        title = f"Omissions by {by}"
        table = Table(
            f"{title}: paired discrimination with 95% intervals by group.",
            ("Judge", *known),
            tuple((name, *(measure(rows[name].get(part)) for part in known)) for name in names),
        )
        drawn = [DotRow(name, tuple(Dot.of(rows[name].get(part)) for part in known)) for name in names]
        desc = f"Paired discrimination with 95% intervals, one judge a row and one {by} a mark."
        pictures.append(dots_picture(title, desc, drawn, series=tuple(known), key=f"parts-{by}", table=table))
    if pictures:
        yield Pictures(tuple(pictures))


def _scores(data: JudgingData) -> Iterator[Block]:
    pictures = []
    for number, (name, scored) in enumerate(list(data.scored.items())[:DRAWN]):
        evaluation = data.judged[name].evaluation
        flawed = evaluation.scores(label="omission") + evaluation.scores(label="commission")
        clean = evaluation.scores(label="clean")
        if clean or flawed:
            top = max([1.0, *clean, *flawed])
            scale = float(data.judged[name].judge.get("scale") or (10.0 if top > 1.0 else 1.0))
            pictures.append(
                distribution_picture(f"Scores of {name}", clean, flawed, scale=scale, key=f"scores-{number}")
            )
        else:
            yield Paragraph(f"{name}: none of {len(scored)} documents has a score.")
    if pictures:
        yield Pictures(tuple(pictures))


def _budgets(data: JudgingData) -> Iterator[Block]:
    """Judges of one design and text at several reasoning budgets."""
    families: dict[tuple[str, str], list[Row]] = {}
    for judge in data.table["judges"]:
        if judge["budget"] is not None:
            families.setdefault((judge["design"], judge["candidate"]), []).append(judge)
    ladders = [(design, judges) for (design, _), judges in families.items() if len(judges) > 1]
    if not ladders:
        yield Paragraph("Budget ladder: none. No text was judged at more than one reasoning budget.")
        return
    for number, (design, judges) in enumerate(ladders):
        rungs = []
        for judge in judges:
            cost = judge["cost"]["amortised"]
            spent = cost.get("completion_tokens", 0.0)
            rungs.append(Rung(judge["name"], f"{spent:.1f} tokens", spent, _paired_row(judge)))
        unit = "Completion tokens a judgement, amortised"
        yield from ladder(f"Budget ladder of {design}", rungs, unit=unit, key=f"budget-{number}")


def _costs(data: JudgingData) -> Iterator[Block]:
    judges = data.table["judges"]
    if len(judges) < 2:
        yield Paragraph("Cost ladder: none. There is one judge.")
        return
    priced = all(judge["cost"]["amortised"]["usd"] is not None for judge in judges)
    rungs = []
    for judge in judges[:DRAWN]:
        cost = judge["cost"]["amortised"]
        money = "" if cost["usd"] is None else f", {cost['usd']:.6f} US dollars"
        amount = cost["usd"] if priced else cost["tokens"]
        rungs.append(Rung(judge["name"], f"{cost['tokens']:.0f} tokens{money}", float(amount), _paired_row(judge)))
    yield from ladder("Cost ladder", rungs, unit="Cost a document, amortised", key="cost")


def _paired_row(judge: Row) -> dict[str, Any]:
    return {**judge["paired"]["omission"], "pairs": judge["paired"]["omission"]["n"]}


def _questions(data: JudgingData) -> Iterator[Block]:
    found = {name: questions(one.evaluation) for name, one in data.judged.items()}
    told = [name for name, one in found.items() if one.accuracy is not None]
    own = [name for name, one in found.items() if one.accuracy is None and one.own]
    if own:
        yield Paragraph(f"Not known of {', '.join(own)}: they list their own facts, whose answers nothing here checks.")
    if not told:
        yield from questions_blocks({}, split_words(data.table["split"]))
        return
    for start in range(0, len(told), BESIDE):
        part = {name: found[name] for name in told[start : start + BESIDE]}
        yield from questions_blocks(part, "all judged documents", key=f"-{start}" if start else "")


def _tables(data: JudgingData) -> Iterator[Table]:
    for sheet in (*sheets(data.table), *further_sheets(data.table)):
        yield Table(f"{sheet.title[:1].upper()}{sheet.title[1:]}.", sheet.columns, sheet.rows)


def _denominators(data: JudgingData) -> Table:
    count = data.table["examples"]
    rows: list[tuple[str, str]] = [("groups", f"{count['groups']}"), ("documents", f"{count['count']}")]
    rows += [(f"documents, {name}", f"{number}") for name, number in count["by_label"].items()]
    rows += [(f"documents of kind {name}", f"{number}") for name, number in count["by_kind"].items()]
    rows += [
        ("clean documents, verified", f"{count['clean']['verified']}"),
        ("clean documents, not verified", f"{count['clean']['candidates']}"),
        ("replicates", f"{data.table['replicates']}"),
        ("documents in replicates, scored by all", f"{count['scored_by_all']} of {count['of']}"),
    ]
    rows += [
        (f"judgements of {judge['name']} with a score", f"{judge['scored']} of {judge['judgements']}")
        for judge in data.table["judges"]
    ]
    return Table("What every share is a share of.", ("What", "Number"), tuple(rows))


def _record(data: JudgingData) -> Iterator[Block]:
    table, registered = data.table, data.run.registered
    events = read_events(data.run.directory / "ledger.jsonl")
    yield Pairs(
        (
            ("Split", split_words(table["split"])),
            ("Documents, hash of their ids", table["examples"]["hash"]),
            ("Corpus hash", registered["corpus_hash"]),
            ("Ledger head", f"{table['ledger_head']['hash']} after {table['ledger_head']['count']} events"),
            ("Begun", events[0].at),
            ("Last event", events[-1].at),
        )
    )
