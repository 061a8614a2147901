"""Which of many judgements may not add up: computed in arrays, with doubt where arrays and exact sums could differ."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineage.ledger import Event
from optimize.recompute.columns import Chunk

ROUNDED: Final = 0.5e-3 + 1e-6
"""Half a unit in the last place of a stored soft score, and of the six decimals it is computed again from."""
UNROUNDED: Final = 1e-6
"""Most that a stored P(yes) differs from the one that was compared."""
CLOSE: Final = 1e-9
"""More than sums of floats in another order differ by."""


def doubtful_scores(chunk: Chunk, aggregator: str) -> list[Event]:
    """Evaluations with a score that may not be what its verdicts amount to.

    Args:
        chunk: segments with their verdicts.
        aggregator: of the student: ``soft``, ``share``, ``margin`` or ``minimum``.
    """
    scores = _numbers(chunk.table["score"])
    ends, verdicts = _verdicts(chunk)
    counts = np.diff(ends)
    name = {"share": "present", "margin": "margin"}.get(aggregator, "p_yes")
    values = _numbers(verdicts.field(name))
    starts = ends[:-1][counts > 0]
    amount = np.full(len(scores), np.nan)
    if len(starts):
        gather = np.minimum if aggregator == "minimum" else np.add
        held = gather.reduceat(values, starts) if len(values) else values
        amount[counts > 0] = held if aggregator == "minimum" else held / counts[counts > 0]
    if aggregator == "margin":
        amount = 1 / (1 + np.exp(-amount))
    sure = np.abs(amount - scores) <= ROUNDED - CLOSE  # an undefined amount is never sure
    return _events(chunk, ~np.isnan(scores) & ~sure)


def doubtful_verdicts(chunk: Chunk, threshold: float) -> list[Event]:
    """Evaluations with a verdict that may not be that of its P(yes) at a threshold."""
    ends, verdicts = _verdicts(chunk)
    p_yes, present = _numbers(verdicts.field("p_yes")), _numbers(verdicts.field("present"))
    sure = (present == (p_yes >= threshold)) | (np.abs(p_yes - threshold) <= UNROUNDED - CLOSE)
    rows = np.searchsorted(ends, np.flatnonzero(~sure), side="right") - 1
    wrong = np.zeros(len(ends) - 1, dtype=bool)
    wrong[rows] = True
    return _events(chunk, wrong)


def _verdicts(chunk: Chunk) -> tuple[Any, Any]:
    """Where each judgement's verdicts begin, with the end of the last, and all verdicts."""
    import pyarrow as pa

    facts = chunk.table["facts"].combine_chunks()
    facts = facts.chunk(0) if isinstance(facts, pa.ChunkedArray) and facts.num_chunks else facts
    counts = np.nan_to_num(_numbers(facts.value_lengths())).astype(np.int64)
    return np.concatenate([[0], np.cumsum(counts)]), facts.flatten()


def _numbers(column: Any) -> Any:
    """A column as floats, NaN for what is not there."""
    import pyarrow as pa

    return (
        np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
        if isinstance(column, pa.Array)
        else np.asarray(column.cast(pa.float64()).to_numpy())
    )


def _events(chunk: Chunk, rows: Any) -> list[Event]:
    """The evaluations that some judgements are of, in order."""
    places = np.unique(np.searchsorted(chunk.starts, np.flatnonzero(rows), side="right") - 1)
    return [chunk.events[place] for place in places.tolist()]
