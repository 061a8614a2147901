"""Reflectors: feedback traces, and what turns them into new instructions."""

from reflectors.llm import LlmReflector, reflector_sending
from reflectors.operators import OperatorReflector
from reflectors.reflector import Reflection, ReflectionRequest, Reflector
from reflectors.traces import Trace, build_traces, count_failures
from reflectors.validation import invalid_reason

__all__ = [
    "LlmReflector",
    "OperatorReflector",
    "Reflection",
    "ReflectionRequest",
    "Reflector",
    "Trace",
    "build_traces",
    "count_failures",
    "invalid_reason",
    "reflector_sending",
]
