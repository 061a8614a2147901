"""Accuracy by type of question, of judges that answer a question about every fact of the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from experiments.report.blocks import Block, Paragraph, Pictures, Section, Table
from experiments.report.charts import Dot, DotRow, dots_picture
from experiments.report.data import ReportData
from experiments.report.wording import sides
from lineage.records import FactVerdict
from optimize.evaluation import Evaluation
from optimize.stats import AccuracyByType, TypeAccuracy, accuracy_by_type
from splits.corpus import Example

STATED: Final = "fact of a clean document"
KEPT: Final = "other fact of a flawed document"
CHANGED: Final = "changed fact"
_ORDER: Final = ("complete", "partial-weak", "partial-strong", "unknown")
NOTE: Final = (
    "A question is one fact and one document, in every replicate. The corpus says what is right: a fact is present in "
    "its clean document and in flawed documents that leave it alone, and missing where it was left out or changed. "
    "Where a fragment or a restatement of a left-out fact survives, to find it missing (or there in part) counts as "
    "right, because the document is flawed by it; that is the least certain of the answers."
)


@dataclass(frozen=True, slots=True)
class Questions:
    """What one judge answered.

    Attributes:
        accuracy: by type of question; None where no question has a known answer.
        by_severity: of left-out facts, by severity.
        own: questions about facts that the judge listed itself, of which the corpus does not say what is right.
    """

    accuracy: AccuracyByType | None
    by_severity: AccuracyByType | None
    own: int


def questions_section(data: ReportData) -> Section:
    """Accuracy of both arms where they were judged last, by type of question."""
    split, arms = sides(data)[-1]
    found = {name: questions(arm.evaluation) for name, arm in arms}
    return Section("questions", "Accuracy by type of question", tuple(questions_blocks(found, split)))


def questions(evaluation: Evaluation) -> Questions:
    """What one judge answered on some documents, beside what is right."""
    examples = {example.id: example for example in evaluation.examples}
    asked: list[tuple[str, bool, str]] = []
    severe: list[tuple[str, bool, str]] = []
    counts: Counter[str] = Counter()
    for judgement in evaluation.judgements:
        example = examples[judgement.example]
        for verdict in judgement.facts:
            if verdict.text is not None:
                counts["own"] += 1
                continue
            kind, right = _answered(example, verdict)
            asked.append((kind, right, example.group))
            if example.label == "omission" and verdict.fact == example.fact:
                severe.append((f"left-out fact, {example.severity or 'unknown severity'}", right, example.group))
    return Questions(_accuracy(asked), _accuracy(severe), counts["own"])


def questions_blocks(found: Mapping[str, Questions], split: str, *, key: str = "") -> Iterator[Block]:
    """Accuracy as a picture and as tables, or why there is none.

    Args:
        found: what at most four judges answered on the same documents, by name.
        split: where, in words.
        key: makes ids unique where a page has several of these; the first has the note.
    """
    told = {name: one for name, one in found.items() if one.accuracy is not None}
    if not told:
        own = sum(one.own for one in found.values())
        yield Paragraph(
            f"Not known: the judge lists its own facts ({own:,} answers), and the corpus does not say which are right."
            if own
            else "Not asked: the judge answers no question about single facts of the corpus."
        )
        return
    if not key:
        yield Paragraph(NOTE)
    accuracies = {name: one.accuracy for name, one in told.items() if one.accuracy is not None}
    kinds = list(dict.fromkeys(entry.name for one in accuracies.values() for entry in one.types))
    kinds.sort(key=lambda name: (name.startswith("left-out"), [word in name for word in _ORDER][::-1], name))
    rows = [DotRow(kind, tuple(_dot(_entry(one, kind)) for one in accuracies.values())) for kind in kinds]
    title = f"Right answers by type of question, {split}"
    desc = "Share of right answers with 95% intervals by group, one type of question a row."
    picture = dots_picture(
        title,
        desc,
        rows,
        series=tuple(told),
        key=f"questions{key}",
        table=_table(title, accuracies),
        chance=None,
        floor=0.0,
    )
    yield Pictures((picture,))
    severe = {name: one.by_severity for name, one in told.items() if one.by_severity is not None}
    if severe:
        yield _table(f"Left-out facts found missing, by severity, {split}", severe)


def _answered(example: Example, verdict: FactVerdict) -> tuple[str, bool]:
    """Type of a question, and whether the answer is right."""
    if example.label == "clean":
        return STATED, verdict.present
    if verdict.fact != example.fact:
        return KEPT, verdict.present
    missed = not verdict.present or verdict.grade in ("partial", "absent")
    if example.label == "omission":
        return f"left-out fact, trace {example.trace or 'unknown'}", missed
    return CHANGED, missed


def _accuracy(asked: Sequence[tuple[str, bool, str]]) -> AccuracyByType | None:
    if not asked:
        return None
    kinds, right, groups = zip(*asked, strict=True)
    return accuracy_by_type(right, kinds, groups)


def _entry(found: AccuracyByType, kind: str) -> TypeAccuracy | None:
    return next((entry for entry in found.types if entry.name == kind), None)


def _dot(entry: TypeAccuracy | None) -> Dot | None:
    if entry is None or entry.reason:
        return None
    ends = (entry.interval.low, entry.interval.high) if entry.interval.defined else ()
    return Dot(entry.value, *ends)


def _table(title: str, found: Mapping[str, AccuracyByType]) -> Table:
    return Table(
        f"{title}: shares with 95% intervals by group and by Wilson, which takes questions as independent.",
        ("Question", "Judge", "Right", "Asked", "Groups", "Share", "By group", "Wilson"),
        tuple(_row(entry, name) for name, one in found.items() for entry in (*one.types, one.overall)),
    )


def _row(entry: TypeAccuracy, judge: str) -> tuple[str, ...]:
    counts = (f"{entry.correct}", f"{entry.n}", f"{entry.n_groups}")
    intervals = (
        f"[{found.low:.3f}, {found.high:.3f}]" if found.defined else "no interval"
        for found in (entry.interval, entry.wilson)
    )
    return (entry.name, judge, *counts, "not defined" if entry.reason else f"{entry.value:.3f}", *intervals)
