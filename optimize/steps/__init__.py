"""Evaluations of a step verifier: verification, preference, selection, localisation, calibration, length, transfer."""

from optimize.steps.best_of import Selection, SelectionCurve, expected_best, selection_curve
from optimize.steps.calibrating import step_calibration
from optimize.steps.length import SizeDependence, rank_correlation, size_dependence
from optimize.steps.localisation import Localisation, StepDetection, first_bad, localisation, step_auc, step_detection
from optimize.steps.preference import Preference, PreferenceAccuracy, preference_accuracy, preferences
from optimize.steps.report import VerifierScores, steps_report
from optimize.steps.scored import ScoredNote, ScoredSteps, scored_steps
from optimize.steps.transfer import TransferGap, transfer_gaps
from optimize.steps.verification import TwinSet, VerificationAccuracy, twin_sets, verification_accuracy

__all__ = [
    "Localisation",
    "Preference",
    "PreferenceAccuracy",
    "ScoredNote",
    "ScoredSteps",
    "Selection",
    "SelectionCurve",
    "SizeDependence",
    "StepDetection",
    "TransferGap",
    "TwinSet",
    "VerificationAccuracy",
    "VerifierScores",
    "expected_best",
    "first_bad",
    "localisation",
    "preference_accuracy",
    "preferences",
    "rank_correlation",
    "scored_steps",
    "selection_curve",
    "size_dependence",
    "step_auc",
    "step_calibration",
    "step_detection",
    "steps_report",
    "transfer_gaps",
    "twin_sets",
    "verification_accuracy",
]
