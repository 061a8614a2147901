"""What a steps evaluation found, as JSON: every measure of every verifier on every corpus, and what it cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from optimize.steps import best_of, preference, verification
from optimize.steps.rows import LEVEL, gap_row, source_row
from optimize.steps.scored import ScoredSteps
from optimize.steps.transfer import CAVEAT, transfer_gaps

INJECTED: Final = "injected"
"""Origin of notes whose errors were injected by rules."""


@dataclass(frozen=True, slots=True)
class VerifierScores:
    """One verifier's judgements: on the corpus that is evaluated, and on others with independently made errors.

    Args:
        name: of the verifier.
        scored: on the corpus that is evaluated.
        others: on further corpora.
        simulated: whether it answers from a formula.
    """

    name: str
    scored: ScoredSteps
    others: tuple[ScoredSteps, ...] = ()
    simulated: bool = False


def steps_report(verifiers: Sequence[VerifierScores], *, title: str) -> dict[str, Any]:
    """The whole report.

    Args:
        verifiers: the verifiers, in order.
        title: name of the evaluation.
    """
    rows = [_verifier_row(verifier) for verifier in verifiers]
    return {
        "kind": "steps",
        "name": title,
        "level": LEVEL,
        "verifiers": rows,
        "words": [*_words(verifiers)],
    }


def parts_of(scored: ScoredSteps) -> tuple[ScoredSteps, ...]:
    """A corpus by the origin of its flawed notes, where there are several; clean notes are in each part."""
    if len(scored.origins) < 2:
        return (scored,)
    return tuple(
        scored.part(f"{scored.name}: {origin}", lambda note, origin=origin: note.origin == origin)  # type: ignore[misc]
        for origin in scored.origins
    )


def _verifier_row(verifier: VerifierScores) -> dict[str, Any]:
    parts = parts_of(verifier.scored)
    injected = next((part for part in parts if part.origins == (INJECTED,)), verifier.scored)
    independent = [*(part for part in parts if part is not injected), *verifier.others]
    return {
        "name": verifier.name,
        "read": verifier.scored.read,
        "simulated": verifier.simulated,
        "sources": [source_row(part) for part in (*parts, *verifier.others)],
        "transfer": [
            gap_row(gap)
            for other in independent
            for gap in transfer_gaps(injected, other, aggregation=verifier.scored.aggregation, level=LEVEL)
        ],
        "injected": injected.origins == (INJECTED,),
    }


def _words(verifiers: Sequence[VerifierScores]) -> Iterator[str]:
    yield CAVEAT
    yield f"verification accuracy: {verification.TIE_RULE}; chance is the mean of 1 over the notes of a set"
    yield f"preference accuracy: {preference.TIE_RULE}"
    yield (
        f"best of N is an exact expectation over all draws without replacement, N up to {best_of.MOST}; intervals are "
        f"of level {LEVEL:g}, by group; Wilson's take sets, pairs, steps and replicates as independent, which those of "
        "one group are not, except where all agree on a share: there it is of as many groups; p values are one-sided, "
        "and not corrected for how many there are"
    )
    for verifier in verifiers:
        corpora = (verifier.scored, *verifier.others)
        if verifier.simulated:
            yield f"SIMULATED: {verifier.name} answers from a formula; nothing of it says anything about a model"
        if verifier.scored.read == "votes":
            yield (
                f"{verifier.name} gives no log-probabilities: P(+) is (k + 1/2) / (n + 1) of k votes in n samples, "
                "coarse, and never near 0 or 1"
            )
        if verifier.scored.origins != (INJECTED,) and INJECTED not in verifier.scored.origins:
            yield f"{verifier.scored.name}: its errors were not injected by rules; transfer compares corpora"
        if not verifier.others and len(verifier.scored.origins) < 2:
            yield f"{verifier.name}: no corpus with independently made errors was given, so transfer is not known"
        for scored in corpora:
            if scored.unscored:
                why = ", ".join(f"{reason} {count}" for reason, count in scored.reasons.items())
                yield f"{verifier.name} on {scored.name}: {len(scored.unscored)} judgements have no score ({why})"
            candidates = sum(note.example.candidate for note in scored.planned)
            if candidates:
                yield (
                    f"{scored.name}: {candidates} clean notes are candidates that nobody verified; their steps count "
                    "as right, and some of them may not be"
                )
            if any("incorrect" in note.example.meta for note in scored.planned):
                yield f"{scored.name}: statements that its judges left unjudged count as right"
