"""Precision and recall of an arm on the cases, by question type, kind and family, with intervals by note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from optimize.grounding.outcomes import CaseOutcome
from optimize.stats import Estimate, TypeAccuracy, accuracy_by_type, grouped_mean

Part = Literal["type", "kind", "family", "cohort", "all"]
MEASURES: Final[Mapping[str, str]] = {
    "precision": "of what was passed on, the share that is right",
    "recall": "of right answers, the share that was passed on, restated ones among them",
    "caught": "of wrong answers, the share that was rejected",
    "held": "of denials that the note does not state, the share that was not passed on as it stood",
}


@dataclass(frozen=True, slots=True)
class PartMeasures:
    """The measures of one arm on one part of the cases.

    Undecided cases are in no share, and counted beside them. An interval by note is undefined where one note has all;
    Wilson's takes cases of one note as independent, which they are not.

    Attributes:
        name: of the part.
        n: cases.
        outcomes: cases by label and outcome.
        shares: the measures by name (see :data:`MEASURES`).
    """

    name: str
    n: int
    outcomes: Mapping[str, Mapping[str, int]]
    shares: Mapping[str, TypeAccuracy]

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "name": self.name,
            "n": self.n,
            "outcomes": {label: dict(counts) for label, counts in self.outcomes.items()},
            **{name: share_row(share) for name, share in self.shares.items()},
        }


def measures_by(outcomes: Sequence[CaseOutcome], part: Part, *, level: float = 0.95) -> tuple[PartMeasures, ...]:
    """The measures of an arm on each part, in order of their names; with ``all``, one part of all.

    Args:
        outcomes: of one arm.
        part: what the cases are parted by.
        level: of the intervals, in (0, 1).
    """
    parts: dict[str, list[CaseOutcome]] = {}
    for outcome in outcomes:
        parts.setdefault("all" if part == "all" else getattr(outcome.case, part), []).append(outcome)
    return tuple(_measured(name, parts[name], level) for name in sorted(parts))


def _measured(name: str, outcomes: Sequence[CaseOutcome], level: float) -> PartMeasures:
    decided = [outcome for outcome in outcomes if outcome.outcome != "undecided"]
    by_label: dict[str, list[CaseOutcome]] = {label: [] for label in ("right", "wrong", "silent")}
    for outcome in decided:
        by_label[outcome.case.label].append(outcome)
    passed = [outcome for outcome in decided if outcome.passed]
    counts = {
        label: dict(sorted(Counter(str(each.outcome) for each in outcomes if each.case.label == label).items()))
        for label in by_label
    }
    shares = {
        "precision": _share(passed, lambda each: each.sound, level),
        "recall": _share(by_label["right"], lambda each: each.passed, level),
        "caught": _share(by_label["wrong"], lambda each: each.outcome == "rejected", level),
        "held": _share(by_label["silent"], lambda each: each.outcome != "delivered", level),
    }
    return PartMeasures(name, len(outcomes), counts, shares)


def _share(of: Sequence[CaseOutcome], holds: Callable[[CaseOutcome], bool], level: float) -> TypeAccuracy:
    return accuracy_by_type(
        [holds(each) for each in of], ["all"] * len(of), [each.case.group for each in of], level=level
    ).overall


def handled_difference(before: Sequence[CaseOutcome], after: Sequence[CaseOutcome], *, level: float = 0.95) -> Estimate:
    """How much larger the share of cases with the right outcome is after than before, over cases that both decided."""
    pairs = [
        (float(new.handled) - float(old.handled), new.case.group)
        for old, new in zip(before, after, strict=True)
        if "undecided" not in (old.outcome, new.outcome)
    ]
    return grouped_mean([value for value, _ in pairs], [group for _, group in pairs], level=level)


def share_row(share: TypeAccuracy) -> dict[str, Any]:
    """The JSON form of a share; undefined numbers are null, with their reason."""

    def ends(interval: Any) -> list[float] | None:
        return None if interval.reason else [interval.low, interval.high]

    return {
        "value": None if share.reason else share.value,
        "k": share.correct,
        "n": share.n,
        "groups": share.n_groups,
        "by_note": ends(share.interval),
        "by_note_reason": share.interval.reason,
        "wilson": ends(share.wilson),
        "reason": share.reason,
    }


def estimate_row(estimate: Estimate) -> dict[str, Any]:
    """The JSON form of an estimate; undefined numbers are null, with their reason."""
    interval = estimate.interval
    return {
        "value": None if estimate.reason else estimate.value,
        "low": None if interval.reason else interval.low,
        "high": None if interval.reason else interval.high,
        "n": estimate.n,
        "groups": estimate.n_groups,
        "reason": estimate.reason or interval.reason,
    }
