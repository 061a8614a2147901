"""Evaluation of the grounding gate: its case set, the gate against one call on the whole answer, and a stress test."""

from optimize.grounding.cases import Case, Equivalents, load_cases, load_equivalents
from optimize.grounding.run import GroundingResult, GroundingSettings, run_grounding, run_stress
from optimize.grounding.stress import Stress, equivalents_corpus, stress_of

__all__ = [
    "Case",
    "Equivalents",
    "GroundingResult",
    "GroundingSettings",
    "Stress",
    "equivalents_corpus",
    "load_cases",
    "load_equivalents",
    "run_grounding",
    "run_stress",
    "stress_of",
]
