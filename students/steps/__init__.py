"""The step verifier: what it is asked, how steps are read, and how they make the score of a note."""

from students.steps.aggregating import AGGREGATIONS, Aggregation, aggregated, sum_of_logs
from students.steps.asking import BLOCKS, prompt_hashes, step_messages, step_values
from students.steps.flagging import StepRule
from students.steps.reading import StepRead, of_votes, parse_sign, parse_vote
from students.steps.verifier import Read, StepVerifier, stored_read

__all__ = [
    "AGGREGATIONS",
    "BLOCKS",
    "Aggregation",
    "Read",
    "StepRead",
    "StepRule",
    "StepVerifier",
    "aggregated",
    "of_votes",
    "parse_sign",
    "parse_vote",
    "prompt_hashes",
    "step_messages",
    "step_values",
    "stored_read",
    "sum_of_logs",
]
