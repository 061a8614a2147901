"""A lineage as it was published: candidates, what became of them, and the figures that stand beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lineage.canonical import digest, digest_bytes
from lineage.records import CandidateKind, candidate_id

ImportedOutcome = Literal["seed", "accepted", "rejected", "invalid"]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that a lineage was read from."""

    name: str
    sha256: str
    size: int

    @classmethod
    def of(cls, path: Path, data: bytes) -> SourceFile:
        """The file of this content."""
        return cls(path.name, digest_bytes(data), len(data))

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"name": self.name, "sha256": self.sha256, "bytes": self.size}


@dataclass(frozen=True, slots=True)
class ImportedCandidate:
    """One proposal of a published search. What the source lacks is None, or not there.

    Attributes:
        place: what the source calls it; others name it as their parent by this.
        name: what it is called here.
        target: what was evolved.
        kind: ``seed``, ``mutation`` or ``merge``.
        outcome: what became of it.
        iteration: of the search, from 1; seeds have 0.
        parents: places of its parents.
        texts: its named texts, as far as they were published.
        hashes: SHA-256 of texts that were not.
        chars: length of its text in characters.
        reason: why it was rejected, in words.
        minibatch: mean scores of parent and child on the minibatch, on the source's own scale.
        measures: what was published of it on accept, by the names of ``lineage.imported.MEASURES``.
        scores: its score on each accept example, by example id; higher is better.
        scale: the highest score there can be.
    """

    place: str
    name: str
    target: str
    kind: CandidateKind
    outcome: ImportedOutcome
    iteration: int | None = 0
    parents: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    chars: int | None = None
    reason: str | None = None
    minibatch: tuple[float | None, float | None] | None = None
    measures: Mapping[str, float] = field(default_factory=dict)
    scores: Mapping[str, float] | None = None
    scale: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Baseline against winner as published; figures stand as the source has them.

    Attributes:
        target: what was evolved.
        split: ``accept`` or ``heldout``.
        baseline: place of the baseline, or None where the source does not say which candidate that was.
        winner: place of the winner, likewise.
        figures: the published figures, verbatim.
    """

    target: str
    split: Literal["accept", "heldout"]
    baseline: str | None
    winner: str | None
    figures: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ImportedLineage:
    """A whole published lineage.

    Attributes:
        name: what it is called here.
        format: what it was read from.
        files: the files that it was read from.
        has: what the source has, in words.
        lacks: what it does not have, in words.
        candidates: every proposal, parents before children.
        comparisons: published comparisons.
        emitted: by target, whether a prompt was published as passing its rule.
        examples: what the accept examples are, without text, or None where the source does not say.
        settings: what the source says of the search, as JSON.
    """

    name: str
    format: str
    files: tuple[SourceFile, ...]
    has: tuple[str, ...]
    lacks: tuple[str, ...]
    candidates: tuple[ImportedCandidate, ...]
    comparisons: tuple[Comparison, ...] = ()
    emitted: Mapping[str, bool] = field(default_factory=dict)
    examples: Sequence[Mapping[str, Any]] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def targets(self) -> tuple[str, ...]:
        """What was evolved, in order."""
        return tuple(dict.fromkeys(candidate.target for candidate in self.candidates))


def imported_id(body: Mapping[str, Any]) -> str:
    """The id of an imported candidate, from its event's body.

    It is the hash of its texts, as for any candidate; where the texts were not published, or were proposed before, it
    is that of its place in the source instead.
    """
    if body["texts"] and not body["repeats"]:
        return candidate_id(body["texts"])
    named = ("target", "place", "hashes")
    return digest({"imported": {name: body[name] for name in named}, "texts": dict(body["texts"])})


def finite(value: Any) -> float | None:
    """A published number, or None where there is none: null, NaN, an infinity, or no number at all."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
