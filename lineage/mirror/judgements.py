"""Judgements of a run directory as rows without any text: ids, structure and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from lineage.canonical import json_lines
from lineage.ledger import Event
from lineage.mirror.layout import STRUCTURE
from lineage.records import Judgement
from lineage.segments import read_segment


class JudgementRows:
    """Reads the judgements of evaluations, each verified against the ledger.

    Args:
        directory: the run directory.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def by_candidate(self, event: Event) -> dict[str, list[list[Any]]]:
        """Rows of an evaluation by candidate, in the columns of ``JUDGEMENT``, ordered by example.

        Raises:
            LedgerError: the segment is missing or was edited.
        """
        found: dict[str, list[list[Any]]] = {candidate: [] for candidate in event.body["candidates"]}
        for judgement in read_segment(self._directory / "judgements", event.body["segment"]):
            found[judgement.candidate].append(list(self._row(judgement)))
        return found

    def _row(self, judgement: Judgement) -> Iterator[Any]:
        """A judgement's row; of a reason its kind alone, as the rest may quote an answer."""
        example, usage = self._examples.get(judgement.example, {}), judgement.usage
        yield judgement.example
        yield from (example.get(name) for name in STRUCTURE)
        yield from (judgement.replicate, judgement.sample, judgement.status, judgement.score)
        yield None if judgement.reason is None else judgement.reason.partition(":")[0]
        yield ",".join(sorted(set(judgement.finish)))
        yield from (usage.calls, usage.prompt_tokens, usage.completion_tokens)
        yield from (usage.reasoning_tokens, usage.cached_tokens, usage.cost_usd)

    @cached_property
    def _examples(self) -> dict[str, Mapping[str, Any]]:
        """Structure of every example of the run, by id."""
        path = self._directory / "examples.jsonl"
        rows = json_lines(path.read_text(encoding="utf-8")) if path.exists() else []
        return {row["id"]: row for row in rows}
