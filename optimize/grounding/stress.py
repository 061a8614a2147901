"""A stress test for any student: how far a score falls from a true statement to denials that say the same.

The statement and its equivalents are true of the same source, so that a metric of truth gives them the same score. A
fall is what wording alone takes away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lineage.records import Judgement
from optimize.grounding.cases import Equivalents
from optimize.grounding.measures import estimate_row
from optimize.stats import Estimate, grouped_mean
from splits.corpus import Corpus, Example, Fact


@dataclass(frozen=True, slots=True)
class Fall:
    """One equivalent against its statement; scores are shares of the student's scale."""

    family: str
    kind: str
    statement: str
    equivalent: str
    base: float
    score: float

    @property
    def fall(self) -> float:
        """How much lower the equivalent scores, in [-1, 1]; below 0 where it scores higher."""
        return self.base - self.score


@dataclass(frozen=True, slots=True)
class Stress:
    """What a stress test found.

    Attributes:
        falls: every equivalent that has a score, as has its statement.
        overall: mean fall with its interval by family.
        kinds: mean falls by kind of equivalence.
        unscored: why others have none, by the first word of the reason, with counts.
        pass_mark: share of the scale that counts as passing.
    """

    falls: tuple[Fall, ...]
    overall: Estimate
    kinds: Mapping[str, Estimate]
    unscored: Mapping[str, int]
    pass_mark: float

    @property
    def turned(self) -> tuple[Fall, ...]:
        """Those whose statement passes and which do not, though they are as true."""
        return tuple(fall for fall in self.falls if fall.base >= self.pass_mark > fall.score)

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "mean_fall": estimate_row(self.overall),
            "by_kind": {kind: estimate_row(estimate) for kind, estimate in self.kinds.items()},
            "scored": len(self.falls),
            "passing_statements": sum(fall.base >= self.pass_mark for fall in self.falls),
            "turned": len(self.turned),
            "pass_mark": self.pass_mark,
            "unscored": dict(self.unscored),
            "falls": [
                {
                    "family": fall.family,
                    "kind": fall.kind,
                    "statement": fall.statement,
                    "equivalent": fall.equivalent,
                    "base": fall.base,
                    "score": fall.score,
                }
                for fall in self.falls
            ],
        }


def equivalents_corpus(families: Sequence[Equivalents]) -> Corpus:
    """Every phrasing as an example, a group a family; the statement is the group's fact, for students that need one.

    A student that checks facts is then asked whether each phrasing states the statement.
    """
    examples, facts = [], {}
    for family in families:
        for number, phrasing in enumerate((family.statement, *family.equivalents)):
            name = _name(family, number)
            examples.append(Example(name, family.id, family.kind, family.source, phrasing, "clean", "clean"))
        facts[family.id] = (Fact(f"{family.id}.f1", family.id, family.statement, (), "supporting", True),)
    return Corpus(tuple(examples), facts)


def stress_of(
    families: Sequence[Equivalents],
    judgements: Sequence[Judgement],
    *,
    scale: float,
    pass_mark: float = 0.7,
    level: float = 0.95,
) -> Stress:
    """How far scores fall.

    Args:
        families: the phrasings.
        judgements: of the examples of :func:`equivalents_corpus`, in one replicate; a failed one is no number.
        scale: score of a flawless document.
        pass_mark: share of the scale that counts as passing.
        level: of the intervals, in (0, 1).
    """
    by_id = {judgement.example: judgement for judgement in judgements}
    falls: list[Fall] = []
    unscored: Counter[str] = Counter()
    for family in families:
        base = by_id[_name(family, 0)]
        for number, phrasing in enumerate(family.equivalents, start=1):
            found = by_id[_name(family, number)]
            if base.score is None or found.score is None:
                missing = found if found.score is None else base
                unscored[(missing.reason or "").partition(":")[0]] += 1
                continue
            falls.append(
                Fall(family.id, family.kind, family.statement, phrasing, base.score / scale, found.score / scale)
            )
    kinds = sorted({family.kind for family in families})
    return Stress(
        tuple(falls),
        _mean(falls, level),
        {kind: _mean([fall for fall in falls if fall.kind == kind], level) for kind in kinds},
        dict(sorted(unscored.items())),
        pass_mark,
    )


def _mean(falls: Sequence[Fall], level: float) -> Estimate:
    return grouped_mean([fall.fall for fall in falls], [fall.family for fall in falls], level=level)


def _name(family: Equivalents, number: int) -> str:
    return f"{family.id}-{number}"
