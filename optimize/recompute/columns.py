"""Evaluations as columns: scores of a million judgements are held, and whatever else a judgement says is read anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from lineage.audit.segments import verified
from lineage.errors import LedgerError
from lineage.ledger import Event
from lineage.records import Judgement
from optimize.evaluation import Evaluation
from splits.corpus import Example

CHUNK: Final = 32 * 2**20
"""Bytes of segments that are parsed together."""
BLOCK: Final = 8 * 2**20
Reading = Callable[[], tuple[Judgement, ...]]


@dataclass(frozen=True)
class Columns:
    """The scores of one evaluation's judgements, in the order of their lines; NaN where there is none."""

    examples: tuple[str, ...]
    candidates: tuple[str, ...]
    replicates: tuple[int, ...]
    samples: tuple[int, ...]
    scores: np.ndarray[tuple[int], np.dtype[np.float64]]

    def __len__(self) -> int:
        return len(self.examples)


class RecordedEvaluation(Evaluation):
    """One candidate's judgements as recorded: its scores are at hand, the judgements are read when they are asked for.

    Args:
        candidate: as of an evaluation.
        examples: as of an evaluation.
        columns: of this candidate alone.
        read: the judgements of the whole segment.
    """

    def __init__(self, candidate: str, examples: tuple[Example, ...], columns: Columns, read: Reading) -> None:
        for name, value in (("candidate", candidate), ("examples", examples), ("_columns", columns), ("_read", read)):
            object.__setattr__(self, name, value)

    @cached_property
    def judgements(self) -> tuple[Judgement, ...]:
        """The judgements, in the order of their keys."""
        return tuple(judgement for judgement in self._of_segment() if judgement.candidate == self.candidate)

    @cached_property
    def _scores(self) -> dict[tuple[str, int], float]:
        held = self._held()
        keys = zip(held.examples, held.replicates, strict=True)
        return {key: score for key, score in zip(keys, held.scores.tolist(), strict=True) if score == score}

    @cached_property
    def _samples(self) -> dict[tuple[str, int], int]:
        held = self._held()
        return dict(zip(zip(held.examples, held.replicates, strict=True), held.samples, strict=True))

    @cached_property
    def replicates(self) -> tuple[int, ...]:
        """Replicate numbers, sorted."""
        return tuple(sorted(set(self._held().replicates)))

    def rewards(self, *, scale: float, margin: float, clean_weight: float) -> dict[str, float]:
        """See :meth:`Evaluation.rewards`; computed once, as one objective asks for them again and again."""
        asked = (scale, margin, clean_weight)
        if asked not in self._rewards:
            self._rewards[asked] = super().rewards(scale=scale, margin=margin, clean_weight=clean_weight)
        return dict(self._rewards[asked])

    @cached_property
    def _rewards(self) -> dict[tuple[float, float, float], dict[str, float]]:
        return {}

    def _held(self) -> Columns:
        found: Columns = self.__dict__["_columns"]
        return found

    def _of_segment(self) -> tuple[Judgement, ...]:
        read: Reading = self.__dict__["_read"]
        return read()


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some segments, parsed together: their events, where each begins in the table, and the table.

    The table has the columns of a judgement's score; with ``facts`` those of its verdicts too.
    """

    events: Sequence[Event]
    starts: Sequence[int]
    table: Any

    def columns(self) -> Iterator[tuple[Event, Columns]]:
        """The scores of each segment."""
        table = self.table
        names = ("example", "candidate", "replicate")
        examples, candidates, replicates = (table[name].to_pylist() for name in names)
        samples = [
            1 if sent is None or sent["samples"] is None else sent["samples"] for sent in table["sent"].to_pylist()
        ]
        scores = table["score"].to_numpy()
        ends = [*self.starts[1:], table.num_rows]
        for event, start, end in zip(self.events, self.starts, ends, strict=True):
            lists = {
                "examples": tuple(examples[start:end]),
                "candidates": tuple(candidates[start:end]),
                "replicates": tuple(replicates[start:end]),
                "samples": tuple(samples[start:end]),
            }
            yield event, Columns(**lists, scores=scores[start:end].copy())


def chunks(directory: Path, events: Sequence[Event], *, facts: bool = False) -> Iterator[Chunk]:
    """The segments of evaluations in order, each verified against its event.

    Raises:
        LedgerError: a segment is missing, is not the recorded one, or does not hold judgements.
    """
    held: list[tuple[Event, bytes]] = []
    size = 0
    for event in events:
        segment = event.body["segment"]
        data = verified(directory / f"{segment['name']}.jsonl", segment)
        held.append((event, data))
        size += len(data)
        if size >= CHUNK:
            yield _chunk(held, facts=facts)
            held, size = [], 0
    if held:
        yield _chunk(held, facts=facts)


def _chunk(held: Sequence[tuple[Event, bytes]], *, facts: bool) -> Chunk:
    import pyarrow as pa

    counts = [event.body["segment"]["judgements"] for event, _ in held]
    place = held[0][0].body["segment"]["name"]
    try:
        table = _parsed(b"".join(data for _, data in held), facts=facts)
    except (pa.ArrowInvalid, ValueError, TypeError) as error:
        raise LedgerError(f"segment {place} or one after it does not hold judgements ({error})") from error
    if table.num_rows != sum(counts) or any(data.count(b"\n") != n for (_, data), n in zip(held, counts, strict=True)):
        raise LedgerError(f"segment {place} or one after it does not hold as many judgements as the ledger says")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).tolist()
    return Chunk([event for event, _ in held], starts, table)


def _parsed(data: bytes, *, facts: bool) -> Any:
    import pyarrow as pa
    from pyarrow import json as arrow_json

    verdict = pa.struct([("p_yes", pa.float64()), ("margin", pa.float64()), ("present", pa.bool_())])
    schema = pa.schema(
        [
            ("example", pa.string()),
            ("candidate", pa.string()),
            ("replicate", pa.int64()),
            ("score", pa.float64()),
            ("sent", pa.struct([("samples", pa.int64())])),
            *([("facts", pa.list_(verdict))] if facts else []),
        ]
    )
    if not data:
        return schema.empty_table()
    options = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        return arrow_json.read_json(
            pa.BufferReader(data), read_options=arrow_json.ReadOptions(block_size=BLOCK), parse_options=options
        )
    except pa.ArrowInvalid:  # half a surrogate pair in an answer, or a line longer than a block
        import io
        import json

        rows = [json.loads(line) for line in io.BytesIO(data)]
        return pa.Table.from_pylist([{name: row[name] for name in schema.names} for row in rows], schema=schema)


def by_candidate(columns: Columns, candidates: Sequence[str]) -> Mapping[str, Columns]:
    """The columns of each candidate."""
    if len(candidates) == 1 and set(columns.candidates) <= {candidates[0]}:
        return {candidates[0]: columns}
    found = {}
    for candidate in candidates:
        places = [place for place, one in enumerate(columns.candidates) if one == candidate]
        found[candidate] = Columns(
            tuple(columns.examples[place] for place in places),
            tuple(columns.candidates[place] for place in places),
            tuple(columns.replicates[place] for place in places),
            tuple(columns.samples[place] for place in places),
            columns.scores[places],
        )
    return found
