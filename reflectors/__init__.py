"""Reflectors: feedback on a student's failures, and what turns it into new instructions."""

from reflectors.diagnosis import SimulatedDiagnosisReflector
from reflectors.feedback import Feedback
from reflectors.human import HumanReflector, Waiting
from reflectors.llm import LlmReflector, reflector_sending
from reflectors.operators import OperatorReflector
from reflectors.random_edits import RandomEditReflector
from reflectors.reflector import FailedEdit, Reflection, ReflectionRequest, Reflector
from reflectors.replay import ReplayReflector
from reflectors.traces import Trace, build_traces, count_failures
from reflectors.validation import fixed_texts, invalid_reason

__all__ = [
    "FailedEdit",
    "Feedback",
    "HumanReflector",
    "LlmReflector",
    "OperatorReflector",
    "RandomEditReflector",
    "Reflection",
    "ReflectionRequest",
    "Reflector",
    "ReplayReflector",
    "SimulatedDiagnosisReflector",
    "Trace",
    "Waiting",
    "build_traces",
    "count_failures",
    "fixed_texts",
    "invalid_reason",
    "reflector_sending",
]
