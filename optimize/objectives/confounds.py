"""Confound checks: what a judge reaches that counts characters, or that reads one part of each document.

A constructed flaw leaves traces that have nothing to do with its content: a deletion makes a document shorter, an
insertion longer, and both may stand where flaws always stand. If a judge without any understanding does as well, a
high measure does not show understanding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from lineage.errors import InputError
from optimize.objectives.differences import MeasureDifference, measure_difference
from optimize.objectives.measures import Measure
from optimize.objectives.measuring import auc, discrimination_measure
from optimize.objectives.scored import ScoredExamples
from optimize.stats.groups import Floats
from optimize.stats.results import check_level


class Text(Protocol):
    """A document with its id and that of its clean twin, such as an example of a corpus."""

    @property
    def id(self) -> str:
        """Unique id."""
        ...

    @property
    def document(self) -> str:
        """The text that is judged."""
        ...

    @property
    def twin(self) -> str | None:
        """Id of the clean twin of a flawed document."""
        ...


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ConfoundCheck:
    """A judge that understands nothing, beside the judge under test, on the same documents.

    A judge that beats a confound may still use it. A confound that does as well as the judge does not show that the
    judge uses it, but leaves the judge's measure without proof of anything more.

    Attributes:
        name: such as ``length only``.
        rule: what it scores by, in words.
        paired: its paired discrimination, 0.5 where it sees nothing.
        auc: its AUC.
        judge_paired: the judge's paired discrimination.
        judge_auc: the judge's AUC.
        ahead: the judge less the confound in paired discrimination, with a grouped interval.
        auc_ahead: the judge less the confound in AUC.
    """

    name: str
    rule: str
    paired: Measure
    auc: Measure
    judge_paired: Measure
    judge_auc: Measure
    ahead: MeasureDifference
    auc_ahead: MeasureDifference

    @property
    def warnings(self) -> tuple[str, ...]:
        """Where the confound does as well as the judge, or is not excluded from it; empty where the judge is ahead."""
        found = []
        for gap, judge, confound in (
            (self.ahead, self.judge_paired, self.paired),
            (self.auc_ahead, self.judge_auc, self.auc),
        ):
            if gap.reason:
                continue
            if gap.value <= 0.0:
                found.append(
                    f"{self.name} does as well as the judge in {confound.name}: {confound.value:.4f} against "
                    f"{judge.value:.4f}, so the judge's value shows no understanding"
                )
            elif not (gap.interval.defined and gap.interval.low > 0.0):
                found.append(
                    f"the judge is not shown to be above {self.name} in {confound.name}: {judge.value:.4f} against "
                    f"{confound.value:.4f}, difference {gap.interval}"
                )
        return tuple(found)

    def __str__(self) -> str:
        values = ", ".join(
            f"{measure.name} undefined ({measure.reason})" if measure.reason else f"{measure.name} {measure.value:.4f}"
            for measure in (self.paired, self.auc)
        )
        ahead = f"not compared with the judge: {self.ahead.reason}" if self.ahead.reason else "the judge is ahead of it"
        said = "; ".join(f"WARNING: {words}" for words in self.warnings) or ahead
        return f"{self.name} ({self.rule}): {values}; {said}"


def length_only(scored: ScoredExamples, texts: Sequence[Text], *, level: float = 0.95) -> ConfoundCheck:
    """The judge "longer is better": a document's score is its number of characters.

    Omissions by deletion give it a paired discrimination of 1, insertions of 0. Read omissions and commissions apart:
    over a mix of both it may be near 0.5 while each is fully predictable.

    Args:
        scored: documents of the judge under test.
        texts: the same documents, in any order.
        level: in (0, 1), of the intervals.

    Raises:
        InputError: a document has no text.
    """
    check_level(level)
    length = {text.id: float(len(text.document)) for text in texts}
    own = np.array([known(length, name) for name in scored.ids], dtype=np.float64)
    twin_of = {text.id: text.twin for text in texts}
    twins = np.array([length.get(twin_of[name] or "", np.nan) for name in scored.ids], dtype=np.float64)
    return confound_check("length only", "more characters are better", scored, own, twins, level)


def confound_check(
    name: str, rule: str, scored: ScoredExamples, own: Floats, twins: Floats, level: float
) -> ConfoundCheck:
    """A confound with these scores of the documents and their twins, beside the judge under test."""
    columns = len(scored.replicates)
    alike = replace(
        scored,
        scores=np.repeat(own[:, None], columns, axis=1),
        twin_scores=np.repeat(twins[:, None], columns, axis=1),
    )
    ahead = measure_difference(scored, alike, lambda arm: discrimination_measure(arm, level=level), level=level)
    auc_ahead = measure_difference(scored, alike, lambda arm: auc(arm, level=level), level=level)
    return ConfoundCheck(
        name,
        rule,
        ahead.baseline,
        auc_ahead.baseline,
        ahead.candidate,
        auc_ahead.candidate,
        ahead,
        auc_ahead,
    )


def known(found: Mapping[str, T], name: str) -> T:
    """What belongs to a document.

    Raises:
        InputError: there is nothing for it.
    """
    if name not in found:
        raise InputError(f"document {name!r} has no text; pass the examples that were judged")
    return found[name]
