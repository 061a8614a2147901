"""Looking at the candidates of a run directory: one whole, two word by word, and who leads on which examples."""

from experiments.explore.candidates import CandidateRecord, find_candidate, read_candidates
from experiments.explore.differences import TextDifference, text_differences
from experiments.explore.frontier import Frontier, Leader, read_frontiers

__all__ = [
    "CandidateRecord",
    "Frontier",
    "Leader",
    "TextDifference",
    "find_candidate",
    "read_candidates",
    "read_frontiers",
    "text_differences",
]
