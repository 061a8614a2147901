"""Candidates and judgements as pandas data frames; pandas is loaded only when one is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lineage.canonical import json_lines
from lineage.judgement_table import judgement_table
from lineage.ledger import Event, read_events
from lineage.tree import tree_rows

if TYPE_CHECKING:
    import pandas as pd

CANDIDATE_COLUMNS: Final = (
    "seq",
    "name",
    "candidate",
    "parents",
    "kind",
    "operator",
    "iteration",
    "outcome",
    "reason",
    "gain",
    "paired",
    "detection",
    "false_alarm",
    "threshold",
    "words",
    "winner",
    "text",
)
STRUCTURE: Final = ("group", "stratum", "label", "kind", "severity", "trace", "twin", "fact")
JUDGEMENT_COLUMNS: Final = (
    "segment",
    "purpose",
    "split",
    "iteration",
    "candidate",
    "example",
    "replicate",
    "sample",
    "status",
    "score",
    "reason",
    *STRUCTURE,
    "student",
    "seed",
    "finish",
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cached_tokens",
    "cost_usd",
    "latency_s",
    "paid",
)


def candidates_frame(events: Iterable[Event]) -> pd.DataFrame:
    """One row a proposal, the seed first; see :class:`~lineage.tree.TreeRow` for what its numbers cannot mean.

    ``parents`` holds tuples of names, ``text`` the whole instruction (named texts joined by a blank line).
    """
    import pandas as pd

    known = tuple(events)
    texts = {
        event.seq: "\n\n".join(event.body["texts"].values()) or None for event in known if event.type == "candidate"
    }
    stated = CANDIDATE_COLUMNS[:-1]
    rows = [{**{name: getattr(row, name) for name in stated}, "text": texts[row.seq]} for row in tree_rows(known)]
    return pd.DataFrame(rows, columns=list(CANDIDATE_COLUMNS))


def judgements_frame(directory: Path) -> pd.DataFrame:
    """One row a judgement of a run directory, with the structure of its example and no text.

    ``score`` is NaN where ``status`` is not ``scored``: leave those rows out of a mean and count them. Higher is a
    better document. The same judgement may stand in two segments, if two evaluations shared it through the call cache.
    ``latency_s`` is 0 for judgements answered from the cache; ``cost_usd`` is NaN where no price applies. ``reason`` of
    a held-out judgement is its kind alone, as answers quote documents. Columns that repeat few values are categorical.

    Raises:
        LedgerError: the ledger or a segment is damaged.
    """
    evaluations = [event for event in read_events(directory / "ledger.jsonl") if event.type == "evaluation"]
    return evaluations_frame(directory, evaluations)


def evaluations_frame(directory: Path, evaluations: Sequence[Event]) -> pd.DataFrame:
    """:func:`judgements_frame` of some of the evaluations of a run directory.

    Args:
        directory: the run directory.
        evaluations: verified events of type ``evaluation``.

    Raises:
        LedgerError: a segment is damaged.
    """
    import pandas as pd

    table = judgement_table(directory, evaluations)
    examples = _examples(directory / "examples.jsonl")
    frame: pd.DataFrame = table.to_pandas()
    codes, named = frame["example"].cat.codes.to_numpy(), frame["example"].cat.categories
    for name in STRUCTURE:
        known = pd.Categorical([examples.get(example, {}).get(name) for example in named])
        frame[name] = pd.Categorical.from_codes(known.codes.take(codes), dtype=known.dtype)
    return frame[list(JUDGEMENT_COLUMNS)].astype(
        {"score": "float64", "cost_usd": "float64", "iteration": "Int64", "seed": "Int64"}
    )


def _examples(path: Path) -> dict[str, dict[str, Any]]:
    rows = json_lines(path.read_text(encoding="utf-8")) if path.exists() else []
    return {row["id"]: row for row in rows}
