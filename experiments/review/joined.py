"""An item with its answer, and the numbers that are made of such: rates and tables of counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from experiments.review.answers import Answers
from experiments.review.key import Key
from experiments.review.questions import CANNOT_TELL, Question
from optimize.choice import number
from optimize.stats import Agreement, Interval, linearised_interval, wilson

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Joined:
    """An item of the key with one reviewer's answer.

    Attributes:
        name: of the item.
        stratum: what it was drawn as.
        group: of its source.
        truth: what the key says of it.
        answer: the answer, or None where there is none.
        said: what a judge said of it, in words; empty where no judge is looked at.
    """

    name: str
    stratum: str
    group: str
    truth: Row
    answer: str | None
    said: str = ""

    @property
    def decided(self) -> bool:
        """Whether the reviewer gave an answer other than that they cannot tell."""
        return self.answer not in (None, CANNOT_TELL)

    def flagged_by(self, judge: str) -> Joined:
        """The item with what a judge said of its document."""
        return replace(self, said="flagged" if self.truth["flags"][judge] else "not flagged")

    def claimed(self) -> Joined:
        """The item with whether its judge made the claim."""
        return replace(self, said="claimed" if self.truth["fired"] else "not claimed")


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of items that were decided, with an interval by group and with Wilson's.

    Wilson's takes items as independent, which items of one source are not. Both hold for the pack's mixture of strata
    alone.

    Attributes:
        name: of what, in words.
        k: items of which it holds.
        n: items that were decided.
        abstained: further items of which the reviewer could not tell.
        missing: further items without an answer.
        interval: Wilson's, for the share; undefined where nothing was decided.
        by_group: linearised, by group of the source; undefined where all groups agree, too.
    """

    name: str
    k: int
    n: int
    abstained: int
    missing: int
    interval: Interval
    by_group: Interval

    @property
    def value(self) -> float:
        """The share, in [0, 1]; NaN where nothing was decided."""
        return self.k / self.n if self.n else math.nan

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "name": self.name,
            "value": number(self.value),
            "low": number(self.interval.low),
            "high": number(self.interval.high),
            "level": self.interval.level,
            "method": self.interval.method,
            "by_group": {
                "low": number(self.by_group.low),
                "high": number(self.by_group.high),
                "groups": self.by_group.n_groups,
                "method": self.by_group.method,
                "reason": self.by_group.reason,
            },
            "k": self.k,
            "n": self.n,
            "abstained": self.abstained,
            "missing": self.missing,
            "reason": self.interval.reason,
        }


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of what is on record, in rows, against what was answered, in columns; abstentions are a column too."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "title": self.title,
            "rows": list(self.rows),
            "columns": list(self.columns),
            "counts": [list(row) for row in self.counts],
        }


def joined_items(key: Key, answers: Answers, section: str) -> list[Joined]:
    """The items of a section with the answers to them, in order."""
    return [
        Joined(name, truth["stratum"], truth["group"], truth, answers.given.get(name))
        for name, truth in key.items.items()
        if truth["section"] == section
    ]


def rate(name: str, items: Sequence[Joined], holds: Callable[[Joined], bool], *, level: float) -> Rate:
    """The share of the decided items for which something holds."""
    decided = [item for item in items if item.decided]
    held = [float(holds(item)) for item in decided]
    k = round(sum(held))
    abstained = sum(item.answer == CANNOT_TELL for item in items)
    missing = sum(item.answer is None for item in items)
    by_group = linearised_interval(held, [item.group for item in decided], level=level)
    return Rate(name, k, len(decided), abstained, missing, wilson(k, len(decided), level=level), by_group)


def confusion(title: str, items: Sequence[Joined], field: str, rows: Sequence[str], question: Question) -> Confusion:
    """Counts by a field of the key, or by what a judge said, and by answer; items without an answer are left out."""
    columns = tuple(name for name, _ in question.answers)
    cells = Counter((item.said if field == "said" else item.truth[field], item.answer) for item in items)
    counts = tuple(tuple(cells[row, column] for column in columns) for row in rows)
    return Confusion(title, tuple(rows), columns, counts)


def agreement_row(found: Agreement) -> dict[str, Any]:
    """The JSON form of an agreement."""
    return {
        "value": number(found.value),
        "low": number(found.interval.low),
        "high": number(found.interval.high),
        "observed": number(found.observed),
        "expected": number(found.expected),
        "method": found.method,
        "n": found.n,
        "groups": found.n_groups,
        "reason": found.reason or found.interval.reason,
    }
