"""What a steps evaluation found, as JSON: every measure of every verifier on every corpus, and what it cannot say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from optimize.choice import number
from optimize.stats import Calibration, Estimate, Interval, wilson
from optimize.steps import best_of, preference, verification
from optimize.steps.best_of import SelectionCurve, selection_curve
from optimize.steps.calibrating import step_calibration
from optimize.steps.length import SIZES, SizeDependence, size_dependence
from optimize.steps.localisation import Localisation, StepDetection, localisation
from optimize.steps.preference import PreferenceAccuracy, preference_accuracy, ways
from optimize.steps.scored import ScoredSteps
from optimize.steps.transfer import CAVEAT, TransferGap, transfer_gaps
from optimize.steps.verification import VerificationAccuracy, verification_accuracy
from splits.steps import KINDS
from students.steps import AGGREGATIONS

LEVEL: Final = 0.95
INJECTED: Final = "injected"


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


def source_row(scored: ScoredSteps) -> dict[str, Any]:
    """All measures on one corpus, or on a part of it."""
    planned = scored.planned
    return {
        "name": scored.name,
        "read": scored.read,
        "threshold": scored.threshold,
        "aggregation": scored.aggregation,
        "notes": {
            "planned": len(planned),
            "groups": len({note.example.group for note in planned}),
            "errors": dict(sorted(Counter(note.error or "none" for note in planned).items())),
            "candidates": sum(note.example.candidate for note in planned),
            "scored": len(scored.notes),
            "unscored": scored.reasons,
        },
        "aggregations": {
            aggregation: {
                "verification": _verification(verification_accuracy(scored, aggregation=aggregation, level=LEVEL)),
                "preference": [
                    _preference(preference_accuracy(scored, aggregation=aggregation, by=by, level=LEVEL))
                    for by in ways(scored)
                ],
                "selection": _selection(selection_curve(scored, aggregation=aggregation, level=LEVEL)),
                "size": [
                    _size(size_dependence(scored, aggregation=aggregation, size=size, level=LEVEL)) for size in SIZES
                ],
            }
            for aggregation in AGGREGATIONS
        },
        "localisation": _localisation(localisation(scored, level=LEVEL)),
        "calibration": {
            "all steps": _calibration(step_calibration(scored, level=LEVEL)),
            **{
                kind: _calibration(found)
                for kind in KINDS
                if (found := step_calibration(scored, kinds=(kind,), level=LEVEL)).n
            },
        },
    }


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
            _gap(gap)
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
        f"of level {LEVEL:g}, by group"
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


def estimate_row(found: Estimate) -> dict[str, Any]:
    """An estimate as JSON; what is undefined is None, with its reason."""
    return {
        "value": number(found.value),
        **_ends(found.interval),
        "n": found.n,
        "groups": found.n_groups,
        "reason": found.reason or found.interval.reason,
    }


def rate_row(found: Estimate) -> dict[str, Any]:
    """A share of things that are so or not as JSON: with the Wilson interval, which there is even where all agree."""
    if found.reason:
        return {**estimate_row(found), "wilson": None}
    return {**estimate_row(found), "wilson": _ends(wilson(round(found.value * found.n), found.n, level=LEVEL))}


def _ends(interval: Interval) -> dict[str, Any]:
    return {"low": number(interval.low), "high": number(interval.high)}


def _verification(found: VerificationAccuracy) -> dict[str, Any]:
    return {
        **estimate_row(found.estimate),
        "strictly": found.strictly,
        "wilson": _ends(found.strict),
        "chance": number(found.chance),
        "ties": found.ties,
        "left_out": found.left_out,
        "worst": number(found.worst),
        "by_error": {error: _verification(part) for error, part in found.by_error.items()},
    }


def _preference(found: PreferenceAccuracy) -> dict[str, Any]:
    return {
        "by": found.by,
        **estimate_row(found.estimate),
        "chance": preference.CHANCE,
        "p": number(found.above_chance.p),
        "ties": found.ties,
        "left_out": found.left_out,
    }


def _selection(found: SelectionCurve) -> dict[str, Any]:
    points = [
        {
            "n": point.n,
            "verifier": estimate_row(point.verifier),
            "gain": estimate_row(point.gain),
            "drawn": point.drawn,
            "best": point.best,
        }
        for point in found.points
    ]
    return {"quality": found.quality, "points": points, "left_out": found.left_out}


def _size(found: SizeDependence) -> dict[str, Any]:
    return {
        "size": found.size,
        "clean": estimate_row(found.clean),
        "flawed": estimate_row(found.flawed),
        "accuracy": [
            {"at_most": edge, **estimate_row(part)} for edge, part in zip(found.edges, found.accuracy, strict=True)
        ],
    }


def _localisation(found: Localisation) -> dict[str, Any]:
    return {
        "threshold": found.threshold,
        "first": rate_row(found.first),
        "lowest": estimate_row(found.lowest),
        "lowest_chance": number(found.lowest_chance),
        "unflagged": rate_row(found.unflagged),
        "unknown": found.unknown,
        "steps": [_detection(part) for part in found.steps],
    }


def _detection(found: StepDetection) -> dict[str, Any]:
    return {
        "kinds": found.kinds,
        "recall": rate_row(found.recall),
        "alarms": rate_row(found.alarms),
        "auc": estimate_row(found.auc),
        "wrong": found.wrong,
        "right": found.right,
    }


def _calibration(found: Calibration) -> dict[str, Any]:
    return {
        "ece": number(found.ece),
        "ece_by_chance": number(found.ece_by_chance),
        "brier": {"value": number(found.brier), **_ends(found.brier_interval)},
        "base_rate": number(found.base_rate),
        "method": found.method,
        "n": found.n,
        "groups": found.n_groups,
        "reason": found.reason,
        "bins": [
            {
                "low": entry.low,
                "high": entry.high,
                "n": entry.n,
                "mean_probability": entry.mean_probability,
                "rate": entry.rate,
                "wilson": _ends(entry.wilson),
            }
            for entry in found.bins
        ],
    }


def _gap(found: TransferGap) -> Mapping[str, Any]:
    return {
        "measure": found.measure,
        "to": found.to,
        "injected": estimate_row(found.injected),
        "independent": estimate_row(found.independent),
        "gap": estimate_row(found.gap),
    }
