"""Candidates and judgements as pandas data frames; pandas is loaded only when one is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lineage.canonical import json_lines
from lineage.ledger import Event, read_events
from lineage.segments import read_segment
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
    texts = {event.seq: "\n\n".join(event.body["texts"].values()) for event in known if event.type == "candidate"}
    rows = [{**asdict(row), "text": texts[row.seq]} for row in tree_rows(known)]
    return pd.DataFrame(rows, columns=list(CANDIDATE_COLUMNS))


def judgements_frame(directory: Path) -> pd.DataFrame:
    """One row a judgement of a run directory, with the structure of its example and no text.

    ``score`` is NaN where ``status`` is not ``scored``: leave those rows out of a mean and count them. Higher is a
    better document. The same judgement may stand in two segments, if two evaluations shared it through the call cache.
    ``latency_s`` is 0 for judgements answered from the cache; ``cost_usd`` is NaN where no price applies.

    Raises:
        LedgerError: the ledger or a segment is damaged.
    """
    import pandas as pd

    examples = _examples(directory / "examples.jsonl")
    rows: list[dict[str, Any]] = []
    for event in read_events(directory / "ledger.jsonl"):
        if event.type != "evaluation":
            continue
        shared = {name: event.body[name] for name in ("purpose", "split", "iteration")}
        shared["segment"] = event.body["segment"]["name"]
        for judgement in read_segment(directory / "judgements", event.body["segment"]):
            structure = examples.get(judgement.example, {})
            rows.append(
                {
                    **shared,
                    **{name: structure.get(name) for name in STRUCTURE},
                    **judgement.usage.row(),
                    "candidate": judgement.candidate,
                    "example": judgement.example,
                    "replicate": judgement.replicate,
                    "sample": judgement.sample,
                    "status": judgement.status,
                    "score": judgement.score,
                    "reason": judgement.reason,
                    "student": judgement.student,
                    "seed": judgement.seed,
                    "finish": ",".join(sorted(set(judgement.finish))),
                    "latency_s": judgement.latency_s,
                    "paid": judgement.paid,
                }
            )
    frame = pd.DataFrame(rows, columns=list(JUDGEMENT_COLUMNS))
    return frame.astype({"score": "float64", "cost_usd": "float64", "iteration": "Int64", "seed": "Int64"})


def _examples(path: Path) -> dict[str, dict[str, Any]]:
    rows = json_lines(path.read_text(encoding="utf-8")) if path.exists() else []
    return {row["id"]: row for row in rows}
