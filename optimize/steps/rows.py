"""The measures of a steps evaluation as JSON: what is undefined is None, with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from optimize.choice import number
from optimize.stats import Calibration, Estimate, Interval, wilson
from optimize.steps import preference
from optimize.steps.best_of import SelectionCurve, selection_curve
from optimize.steps.calibrating import step_calibration
from optimize.steps.length import SIZES, SizeDependence, size_dependence
from optimize.steps.localisation import Localisation, StepDetection, localisation
from optimize.steps.preference import PreferenceAccuracy, preference_accuracy, ways
from optimize.steps.scored import ScoredSteps
from optimize.steps.transfer import TransferGap
from optimize.steps.verification import VerificationAccuracy, verification_accuracy
from splits.steps import KINDS
from students.steps import AGGREGATIONS

LEVEL: Final = 0.95
"""Of every interval."""


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
    """A share of things that are so or not as JSON: where all agree, with Wilson's interval of as many groups.

    Steps, notes and replicates of one group are no trials of their own; of so many the interval would be too narrow.
    """
    if found.value not in (0.0, 1.0):
        return {**estimate_row(found), "wilson": None}
    groups = found.n_groups
    return {**estimate_row(found), "wilson": _ends(wilson(groups if found.value else 0, groups, level=LEVEL))}


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
        "strictly": found.strictly,
        "wilson": _ends(found.strict),
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


def gap_row(found: TransferGap) -> Mapping[str, Any]:
    """One measure on injected and on independently made errors, and the gap."""
    return {
        "measure": found.measure,
        "to": found.to,
        "injected": estimate_row(found.injected),
        "independent": estimate_row(found.independent),
        "gap": estimate_row(found.gap),
    }
