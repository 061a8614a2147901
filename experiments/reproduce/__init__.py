"""Reproductions: published figures recomputed from published records, one module a set of figures."""

from experiments.reproduce.accept import Resampling
from experiments.reproduce.decisions import RuleReading
from experiments.reproduce.figures import Figure
from experiments.reproduce.omissionbench import Reproduction, reproduce_omissionbench

__all__ = ["Figure", "Reproduction", "Resampling", "RuleReading", "reproduce_omissionbench"]
