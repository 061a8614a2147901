"""The position-only judge: where flaws stand, and what reading one part of each document reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from optimize.objectives.confounds import ConfoundCheck, Text, confound_check, known
from optimize.objectives.measures import Measure
from optimize.objectives.measuring import auc
from optimize.objectives.scored import Bools, ScoredExamples
from optimize.stats.groups import Floats
from optimize.stats.results import check_count, check_level

PARTS: Final = 4
"""Parts of a document that the position-only judge may read, one of them."""


@dataclass(frozen=True, slots=True)
class PositionCheck:
    """Where flaws stand, and what a judge reaches that reads one part of each document only.

    The position-only judge reads one of equal parts of a document, always the same, sees every difference from the
    clean twin in it, and nothing elsewhere. If flaws are spread evenly over k parts it reaches 0.5 + 0.5/k; more means
    that flaws stand where a reader could learn to look. The part is the one that serves it best on these documents, so
    its value is optimistic.

    Attributes:
        counts: flawed documents by the part in which they first differ from their twin, from the beginning.
        part: which part the judge reads, from 0.
        check: that judge beside the judge under test.
        place: AUC of the place of the flaw between pairs that the judge wins and those it does not: 0.5 where the place
            says nothing, above where it wins on early flaws.
        n_unplaced: flawed documents whose text equals their twin's, or that have none; left out.
    """

    counts: tuple[int, ...]
    part: int
    check: ConfoundCheck
    place: Measure
    n_unplaced: int

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of the check, and whether the judge's wins go with the place of the flaw."""
        found = list(self.check.warnings)
        interval = self.place.interval
        if interval.defined and not interval.contains(0.5):
            where = "early" if self.place.value > 0.5 else "late"
            found.append(
                f"the judge wins more on flaws that stand {where}: {self.place.value:.4f}, interval {interval}"
            )
        return tuple(found)

    def __str__(self) -> str:
        spread = ", ".join(f"{count} in part {part + 1}" for part, count in enumerate(self.counts))
        place = f"place undefined ({self.place.reason})" if self.place.reason else f"place {self.place.value:.4f}"
        extra = [f"WARNING: {words}" for words in self.warnings[len(self.check.warnings) :]]
        return "; ".join([str(self.check), f"flaws: {spread}, {self.n_unplaced} without a place", place, *extra])


def position_only(
    scored: ScoredExamples, texts: Sequence[Text], *, parts: int = PARTS, level: float = 0.95
) -> PositionCheck:
    """The judge that reads one part of each document, and where flaws stand.

    The place of a flaw is where its document first differs from its twin, as a share of the twin's characters. A change
    that repeats what stands before it is placed a little late.

    Args:
        scored: documents of the judge under test.
        texts: the same documents, in any order.
        parts: equal parts of a document, at least 2.
        level: in (0, 1), of the intervals.

    Raises:
        InputError: a document has no text, or ``parts`` is below 2.
    """
    check_level(level)
    check_count("parts", parts, at_least=2)
    by_id = {text.id: text for text in texts}
    places = np.full(len(scored), np.nan)
    for row in np.flatnonzero(scored.paired & scored.flawed):
        text = known(by_id, scored.ids[row])
        twin = by_id.get(text.twin or "")
        if twin is not None and text.document != twin.document:
            places[row] = first_difference(text.document, twin.document) / max(len(twin.document), 1)
    placed = ~np.isnan(places)
    codes = np.minimum(np.nan_to_num(places) * parts, parts - 1).astype(np.intp)
    counts = np.bincount(codes[placed], minlength=parts)
    part = int(counts.argmax())
    seen = np.where(placed & (codes == part), 0.0, 1.0)
    kept = scored.clean | placed
    check = confound_check(
        "position only",
        f"a difference from the twin in part {part + 1} of {parts} is seen, and no other",
        scored.where(kept),
        seen[kept],
        np.where(placed, 1.0, np.nan)[kept],
        level,
    )
    unplaced = int((scored.flawed & ~placed).sum())
    return PositionCheck(tuple(counts.tolist()), part, check, _place(scored, places, placed, level), unplaced)


def first_difference(first: str, second: str) -> int:
    """Characters that two texts share at their beginning."""
    size = min(len(first), len(second))
    ours, theirs = (
        np.frombuffer(text[:size].encode("utf-32-le", "surrogatepass"), np.uint32) for text in (first, second)
    )
    unlike = np.flatnonzero(ours != theirs)
    return int(unlike[0]) if len(unlike) else size


def _place(scored: ScoredExamples, places: Floats, placed: Bools, level: float) -> Measure:
    """AUC of the flaw's place between pairs won and not won, in the judge's first replicate."""
    credit = scored.credit[:, 0]
    kept = placed & ~np.isnan(credit)
    label = replace(
        scored.attributes["label"],
        codes=np.where(credit == 1.0, 0, 1).astype(np.intp),
        names=("won", "clean"),
    )
    # Pairs that are not won take the role of the clean documents: early flaws are won where the AUC is above 0.5.
    of = replace(
        scored,
        attributes={**scored.attributes, "label": label},
        scores=np.where(kept, places, np.nan)[:, None],
        twin_scores=np.full((len(scored), 1), np.nan),
        replicates=scored.replicates[:1],
    )
    measure = auc(of.where(kept), level=level)
    reason = measure.reason and "the judge wins all placed pairs, or none"
    return replace(
        measure,
        name="place of the flaw",
        method="AUC of the place between pairs won and not won, in the first replicate",
        counted=(("won", int((kept & (credit == 1.0)).sum())), ("not won", int((kept & (credit != 1.0)).sum()))),
        unit="pairs",
        reason=reason,
    )
