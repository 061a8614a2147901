"""Scored examples as arrays: one row a document, one column a replicate, attributes as codes.

Every measure of a candidate is a few array operations on this form, whatever the number of examples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Self

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError
from optimize.objectives.pairs import BREAKDOWNS, Breakdown
from optimize.stats.groups import Floats
from optimize.stats.majority import majority_scores

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """One attribute of every document, as codes.

    Attributes:
        codes: shape (n,), positions in ``names``.
        names: the values that occur, sorted; ``unknown`` stands for none.
    """

    codes: Codes
    names: tuple[str, ...]

    @classmethod
    def of(cls, values: Iterable[str | None]) -> Self:
        """Codes of some values, one a document."""
        known = [UNKNOWN if value is None else value for value in values]
        names = tuple(sorted(set(known)))
        place = {name: code for code, name in enumerate(names)}
        return cls(np.fromiter((place[value] for value in known), dtype=np.intp, count=len(known)), names)

    def at(self, rows: Bools) -> Attribute:
        """The attribute of some documents; names that no longer occur stay."""
        return Attribute(self.codes[rows], self.names)

    def equal_to(self, name: str) -> Bools:
        """Which documents have this value."""
        code = self.names.index(name) if name in self.names else -1
        return np.asarray(self.codes == code)


@dataclass(frozen=True, eq=False)
class ScoredExamples:
    """Documents with the scores that one candidate gave them.

    Attributes:
        ids: of the documents, length n.
        groups: their consultations.
        attributes: label, kind, trace, severity, stratum and cohort.
        scores: shape (n, n_replicates), higher is a better document; NaN where the judgement has no score.
        twin_scores: shape (n, n_replicates), of the clean twin; NaN where there is none or it has no score.
        paired: shape (n,), whether a document names a twin, so that a pair was to be scored.
        replicates: their numbers, in the order of the columns.
        samples: draws that each score combines.
    """

    ids: tuple[str, ...]
    groups: Attribute
    attributes: Mapping[Breakdown, Attribute]
    scores: Floats
    twin_scores: Floats
    paired: Bools
    replicates: tuple[int, ...] = (0,)
    samples: int = 1

    def __post_init__(self) -> None:
        shape = (len(self.ids), len(self.replicates))
        if self.scores.shape != shape or self.twin_scores.shape != shape or self.paired.shape != shape[:1]:
            raise InputError(
                f"scores and twin_scores must be of shape (n, n_replicates) = {shape}, got {self.scores.shape} and "
                f"{self.twin_scores.shape}"
            )
        if np.isinf(self.scores).any() or np.isinf(self.twin_scores).any():
            raise InputError("scores must be finite, or NaN where a judgement has none")

    @classmethod
    def of_columns(
        cls,
        *,
        ids: Sequence[str],
        groups: Sequence[str],
        labels: Sequence[str],
        scores: npt.ArrayLike,
        twins: Sequence[str | None] | None = None,
        attributes: Mapping[Breakdown, Sequence[str | None]] | None = None,
        replicates: Sequence[int] | None = None,
        samples: int = 1,
    ) -> Self:
        """Scored examples from columns.

        Args:
            ids: unique, length n.
            groups: consultation of each.
            labels: ``clean``, ``omission`` or ``commission``.
            scores: shape (n,) or (n, n_replicates), NaN where a judgement has no score.
            twins: id of each flawed document's clean twin; None for a document without one.
            attributes: kind, trace, severity, stratum and cohort of each; one that is left out is unknown.
            replicates: numbers of the columns; 0, 1, and so on if left out.
            samples: draws that each score combines.

        Raises:
            InputError: columns differ in length, an id occurs twice, a label is unknown, or a score is infinite.
        """
        values = np.asarray(scores, dtype=np.float64)
        values = values[:, None] if values.ndim == 1 else values
        twin_ids = [None] * len(ids) if twins is None else twins
        lengths = {"groups": len(groups), "labels": len(labels), "scores": len(values), "twins": len(twin_ids)}
        for name, length in [*lengths.items(), *((key, len(column)) for key, column in (attributes or {}).items())]:
            if length != len(ids):
                raise InputError(f"{name} must have one entry an example, got {length} for {len(ids)} examples")
        if unknown := set(labels) - {"clean", "omission", "commission"}:
            raise InputError(f"labels must be clean, omission or commission, got {sorted(unknown)}")
        row_of = {name: row for row, name in enumerate(ids)}
        if len(row_of) != len(ids):
            raise InputError(f"ids must be unique, got {len(ids) - len(row_of)} that occur again")
        twin_rows = np.array([-1 if twin is None else row_of.get(twin, -1) for twin in twin_ids], dtype=np.intp)
        # Row -1 is the last one, so a document without a twin is blanked after the look-up.
        twin_scores = np.where(twin_rows[:, None] >= 0, values[twin_rows], np.nan) if len(ids) else values.copy()
        columns = {"label": labels, **(attributes or {})}
        return cls(
            ids=tuple(ids),
            groups=Attribute.of(groups),
            attributes={key: Attribute.of(columns.get(key, [None] * len(ids))) for key in BREAKDOWNS},
            scores=values,
            twin_scores=twin_scores,
            paired=np.array([twin is not None for twin in twin_ids], dtype=np.bool_),
            replicates=tuple(range(values.shape[1])) if replicates is None else tuple(replicates),
            samples=samples,
        )

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def clean(self) -> Bools:
        """Which documents are clean, shape (n,)."""
        return self.attributes["label"].equal_to("clean")

    @cached_property
    def flawed(self) -> Bools:
        """Which documents are flawed, shape (n,)."""
        return ~self.clean

    @cached_property
    def middle(self) -> Floats:
        """Score that decides each document's majority flag, shape (n,); see `majority_scores`.

        Raises:
            InputError: the number of replicates is even.
        """
        return majority_scores(self.scores)

    @cached_property
    def ranks(self) -> Codes:
        """Ranks of the scores from 0, equal for equal scores, shape (n, n_replicates); missing scores rank highest."""
        ranks = np.unique(self.scores, return_inverse=True)[1]
        return np.asarray(ranks, dtype=np.intp).reshape(self.scores.shape)

    @cached_property
    def credit(self) -> Floats:
        """Paired credit within each replicate, shape (n, n_replicates): 1, 0.5, 0; NaN where a score is missing."""
        below, level = self.scores < self.twin_scores, self.scores == self.twin_scores
        missing = np.isnan(self.scores) | np.isnan(self.twin_scores)
        return np.where(missing, np.nan, below + 0.5 * level)

    def where(self, rows: Bools) -> ScoredExamples:
        """Some of the documents; a flawed one keeps its twin's score even where the twin is left out."""
        part = ScoredExamples(
            ids=tuple(compress(self.ids, rows.tolist())),
            groups=self.groups.at(rows),
            attributes={key: attribute.at(rows) for key, attribute in self.attributes.items()},
            scores=self.scores[rows],
            twin_scores=self.twin_scores[rows],
            paired=self.paired[rows],
            replicates=self.replicates,
            samples=self.samples,
        )
        # What is computed row by row, or holds among some documents as among all, is not computed anew for each part.
        for name in ("credit", "ranks", "middle"):
            if name in self.__dict__:
                part.__dict__[name] = self.__dict__[name][rows]
        return part
