"""Lineage: records of candidates and judgements, the hash-chained ledger, its MLflow mirror and its audit."""

from lineage._version import __version__
from lineage.ledger import Event, Head, Ledger, canonical_state, read_events
from lineage.records import Candidate, FactVerdict, Judgement, Usage, candidate_id

__all__ = [
    "Candidate",
    "Event",
    "FactVerdict",
    "Head",
    "Judgement",
    "Ledger",
    "Usage",
    "__version__",
    "candidate_id",
    "canonical_state",
    "read_events",
]
