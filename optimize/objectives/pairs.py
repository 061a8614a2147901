"""Scored pairs, and what of them is shared by every measure: breakdowns, credit by pair and replicate, groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from lineage.errors import InputError
from optimize.stats.credit import paired_credit

Breakdown = Literal["label", "kind", "trace", "severity", "stratum", "cohort"]
BREAKDOWNS: Final[tuple[Breakdown, ...]] = get_args(Breakdown)


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A flawed example and its twin, both scored by one candidate in one replicate.

    Attributes:
        example: id of the flawed example.
        group: the consultation.
        score: score of the flawed document, in [0, 1] or on the student's scale; higher is a better document.
        twin_score: score of its clean twin, on the same scale.
        label: ``omission`` or ``commission``.
        kind: such as ``add`` or ``change``.
        trace: how much of an omitted fact survives; None if unknown.
        severity: of the flaw; None if unknown.
        stratum: of the group; None if there are no strata.
        replicate: which repetition of the whole evaluation, from 0.
        cohort: where the example comes from, such as a site or a build of the corpus; None if it has none.
        samples: draws that each of the two scores combines.

    Raises:
        InputError: a score is not finite (a failed judgement has no pair; it is counted), or the label is another.
    """

    example: str
    group: str
    score: float
    twin_score: float
    label: str
    kind: str
    trace: str | None = None
    severity: str | None = None
    stratum: str | None = None
    replicate: int = 0
    cohort: str | None = None
    samples: int = 1

    def __post_init__(self) -> None:
        if not (math.isfinite(self.score) and math.isfinite(self.twin_score)):
            raise InputError(
                f"scores of {self.example!r} must be finite, got {self.score} and {self.twin_score}; "
                "leave a failed pair out and count it in n_failed"
            )
        if self.label not in ("omission", "commission"):
            raise InputError(f"label of {self.example!r} must be 'omission' or 'commission', got {self.label!r}")

    @property
    def credit(self) -> float:
        """1, 0.5 or 0; see `paired_credit`."""
        return paired_credit(self.score, self.twin_score)


def by(pairs: Sequence[ScoredPair], key: Breakdown) -> dict[str, tuple[ScoredPair, ...]]:
    """Pairs by one of their attributes, keys sorted; an unknown value has the key ``unknown`` and is reported apart.

    Sub-groups are tested only after the overall gate passes. Many breakdowns of one result will hold a striking one
    by chance.

    Raises:
        InputError: the key is no attribute to break down by.
    """
    if key not in BREAKDOWNS:
        raise InputError(f"key must be {', '.join(BREAKDOWNS[:-1])} or {BREAKDOWNS[-1]}, got {key!r}")
    parts: dict[str, list[ScoredPair]] = {}
    for pair in pairs:
        value: str | None = getattr(pair, key)
        parts.setdefault("unknown" if value is None else value, []).append(pair)
    return {name: tuple(parts[name]) for name in sorted(parts)}


def credits_of(pairs: Sequence[ScoredPair]) -> dict[tuple[str, int], float]:
    """Credit by example and replicate of one arm."""
    units: dict[tuple[str, int], float] = {}
    for pair in pairs:
        unit = (pair.example, pair.replicate)
        if unit in units:
            raise InputError(f"pair {pair.example!r} occurs twice in replicate {pair.replicate}; number the replicates")
        units[unit] = pair.credit
    return units


def groups_of(pairs: Sequence[ScoredPair]) -> dict[str, str]:
    """Group by example id."""
    groups: dict[str, str] = {}
    for pair in pairs:
        if groups.setdefault(pair.example, pair.group) != pair.group:
            raise InputError(
                f"pair {pair.example!r} is in groups {groups[pair.example]!r} and {pair.group!r}; a pair has one"
            )
    return groups
