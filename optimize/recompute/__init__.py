"""Every number of a finished or interrupted campaign, computed again from its run directory alone.

No corpus and no model are needed: judgements hold the scores, ``examples.jsonl`` holds the structure of the examples,
and the ledger holds the plan. What needs text (word overlap, the traces that a reflector read) cannot be computed here.
"""

from optimize.recompute.comparing import differences
from optimize.recompute.numbers import audit_numbers
from optimize.recompute.recorded import RecordedRun, load_run, recorded_pool
from optimize.recompute.verdict import recompute_verdict, recorded_gate

__all__ = [
    "RecordedRun",
    "audit_numbers",
    "differences",
    "load_run",
    "recompute_verdict",
    "recorded_gate",
    "recorded_pool",
]
