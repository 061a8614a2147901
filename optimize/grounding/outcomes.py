"""What each arm did with each case: the gate, and the one call on the whole answer that it is measured against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lineage.records import Judgement
from optimize.grounding.cases import Case
from splits.corpus import Corpus, Example
from students.grounding.examination import asked_of, examine
from students.grounding.gate import Gated, decide
from students.grounding.student import ratings_of
from students.parsing import Unread

Outcome = Literal["delivered", "restated", "rejected", "undecided"]


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What became of one case in one arm.

    Attributes:
        case: the case.
        outcome: delivered as it stands, restated, rejected, or undecided where the judge's answer was not read.
        score: the arm's score, or None.
        reasons: why it was not delivered as it stands.
        spans: words of the note that bear on it.
        text: what was delivered, where anything was.
    """

    case: Case
    outcome: Outcome
    score: float | None
    reasons: tuple[str, ...] = ()
    spans: tuple[str, ...] = ()
    text: str | None = None

    @property
    def passed(self) -> bool:
        """Whether anything was passed on."""
        return self.outcome in ("delivered", "restated")

    @property
    def sound(self) -> bool:
        """Whether what was passed on is right, as it is of a silent case only where it was restated."""
        return self.case.label == "right" or (self.case.label == "silent" and self.outcome == "restated")

    @property
    def handled(self) -> bool:
        """Whether the right thing was done: right answers pass, wrong ones are rejected, silent ones pass not as is."""
        if self.case.label == "right":
            return self.passed
        return self.outcome == "rejected" if self.case.label == "wrong" else self.outcome != "delivered"

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        case = self.case
        return {
            "id": case.id,
            "group": case.group,
            "family": case.family,
            "type": case.type,
            "kind": case.kind,
            "cohort": case.cohort,
            "label": case.label,
            "expected": case.expected,
            "answer": case.answer,
            "outcome": self.outcome,
            "score": self.score,
            "reasons": list(self.reasons),
            "spans": list(self.spans),
            "text": self.text,
        }


def case_corpus(cases: Sequence[Case]) -> Corpus:
    """The cases as examples: the note is the source, the answer the document."""
    return Corpus(
        tuple(Example(case.id, case.group, case.type, case.note, case.answer, "clean", "clean") for case in cases), {}
    )


def whole_outcomes(
    cases: Sequence[Case], judgements: Mapping[str, Judgement], *, pass_mark: float
) -> tuple[CaseOutcome, ...]:
    """What one call on the whole answer does: delivered at the pass mark, and otherwise rejected."""
    found = []
    for case in cases:
        judgement = judgements[case.id]
        if judgement.score is None:
            found.append(CaseOutcome(case, "undecided", None, (judgement.reason or "",)))
            continue
        passed = judgement.score >= pass_mark
        reasons = () if passed else (f"the judge rates the answer {judgement.score:.2f}, below {pass_mark:g}",)
        found.append(
            CaseOutcome(
                case,
                "delivered" if passed else "rejected",
                judgement.score,
                reasons,
                text=case.answer if passed else None,
            )
        )
    return tuple(found)


def gate_outcomes(
    cases: Sequence[Case], judgements: Mapping[str, Judgement], *, pass_mark: float
) -> tuple[CaseOutcome, ...]:
    """What the gate does with the judge's ratings that are in the judgements."""
    found = []
    for case in cases:
        gated = gated_again(case.answer, case.note, judgements[case.id], pass_mark=pass_mark)
        spans = tuple(dict.fromkeys(span.of(case.note) for each in gated.sentences for span in each.spans))
        outcome: Outcome = "restated" if gated.outcome == "delivered restated" else gated.outcome
        found.append(CaseOutcome(case, outcome, gated.score, gated.reasons, spans, gated.text))
    return tuple(found)


def gated_again(answer: str, source: str, judgement: Judgement, *, pass_mark: float, question: str = "") -> Gated:
    """The gate's decision with the ratings of a stored judgement; those of a failed one are not there."""
    examined = examine(answer, source, question)
    known = ratings_of(judgement.facts)
    reason, _, seen = (judgement.reason or "empty: no rating").partition(": ")
    ratings = [known.get(asked, Unread(reason, seen)) for asked in asked_of(examined)]
    return decide(examined, ratings, answer=answer, question=question, pass_mark=pass_mark)
