"""Per-fact pipelines: extraction from the source alone, audit, keyed check, second look, scores and decision rules."""

from students.pipeline.checking import Checked, SecondLook
from students.pipeline.facts import FactList, SourceFact
from students.pipeline.quotes import LEAST_QUOTE, parse_quotes, stands_in
from students.pipeline.rules import FactRule, FactRuleName
from students.pipeline.scoring import CREDITS, WEIGHTS, Capture
from students.pipeline.sections import sections_of
from students.pipeline.student import FactPipeline, FactSource

__all__ = [
    "CREDITS",
    "LEAST_QUOTE",
    "WEIGHTS",
    "Capture",
    "Checked",
    "FactList",
    "FactPipeline",
    "FactRule",
    "FactRuleName",
    "FactSource",
    "SecondLook",
    "SourceFact",
    "parse_quotes",
    "sections_of",
    "stands_in",
]
