"""Candidate and judgement records, and their JSON rows."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal, get_args

from lineage.canonical import canonical_json, digest

VOLATILE: Final = "volatile"
"""Key of what may differ between a run and its resumption: times, latency, host, cached or paid."""

_LEAVES: Final = frozenset({str, int, float, bool, type(None)})

Status = Literal["scored", "failed", "abstained"]
Reason = Literal["truncated", "empty", "reasoning_only", "refused", "unparseable", "transport"]
REASONS: Final[tuple[str, ...]] = get_args(Reason)
"""Why a judgement failed: the first word of its reason, which ends at a colon."""
ABSTAINED: Final = "abstained"
"""First word of the reason of a judgement that abstained."""
CandidateKind = Literal["seed", "mutation", "merge"]
Outcome = Literal["accepted", "rejected", "invalid"]


def candidate_id(texts: Mapping[str, str]) -> str:
    """SHA-256 of a candidate's named texts, in full."""
    return _texts_digest(tuple(sorted(texts.items())))


@lru_cache(maxsize=1024)
def _texts_digest(texts: tuple[tuple[str, str], ...]) -> str:
    """Every call and every judgement names its candidate: its hash is taken once."""
    return digest(dict(texts))


@dataclass(frozen=True, slots=True)
class Candidate:
    """An instruction with its ancestry.

    ``texts`` maps the name of each evolving block to its text; ``parents`` holds candidate ids, none for a seed.
    """

    texts: Mapping[str, str]
    kind: CandidateKind
    parents: tuple[str, ...] = ()
    iteration: int = 0

    @property
    def id(self) -> str:
        """SHA-256 of the named texts."""
        return candidate_id(self.texts)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one or more calls. ``cost_usd`` is None where no price applies (a local model)."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.cached_tokens + other.cached_tokens,
            math.fsum(costs) if costs else None,
        )

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "cached_tokens": self.cached_tokens,
            "cost_usd": self.cost_usd,
        }


@dataclass(frozen=True, slots=True)
class FactVerdict:
    """What a per-fact judge said of one fact.

    ``p_yes`` is the probability of *yes* against *no* on the first answer token, in [0, 1]; ``margin`` the difference
    of their log-probabilities in nats, above 0 where *yes* leads; ``present`` is ``p_yes >= threshold``. A verdict in
    words has no margin (None), and its ``p_yes`` is 1 or 0, which is no probability.

    Where the judge made its own facts, ``text`` says which this is. ``severity`` is the fact's, which the checker never
    saw. ``grade`` is ``full``, ``partial`` or ``absent`` where the verdict has three values; a fact stated in part is
    present. ``mentions`` holds a grade for each section of the document. ``quote`` are words of the source that the
    fact rests on; ``rescue`` the words of the document that overruled the verdict that it is absent.
    """

    fact: str
    p_yes: float
    margin: float | None
    present: bool
    text: str | None = None
    severity: str | None = None
    grade: str | None = None
    mentions: tuple[str, ...] = ()
    quote: str | None = None
    rescue: str | None = None

    def row(self) -> dict[str, Any]:
        """The JSON form; what not every judge states stands in it only where it is stated."""
        more = {
            "text": self.text,
            "severity": self.severity,
            "grade": self.grade,
            "mentions": list(self.mentions) or None,
            "quote": self.quote,
            "rescue": self.rescue,
        }
        stated = {name: value for name, value in more.items() if value is not None}
        return {"fact": self.fact, "p_yes": self.p_yes, "margin": self.margin, "present": self.present, **stated}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> FactVerdict:
        """The verdict that :meth:`row` wrote."""
        return cls(**{**row, "mentions": tuple(row.get("mentions", ()))})


@dataclass(frozen=True, slots=True)
class Judgement:
    """One student's answer on one example.

    ``score`` is None unless ``status`` is ``scored``; higher means a better document. ``reason`` says why a judgement
    failed, with one of ``REASONS`` as its first word, or abstained. ``sent`` holds the parameters really sent and the
    reasoning budget, ``usage`` the reasoning tokens used. ``shared`` is what of ``usage`` went into calls about the
    source alone: every document of the group has it in full, and the group pays for it once. ``parts`` are named
    numbers that the score is made of, or that stand beside it. ``flags`` are what the student's own rule found.
    ``seed`` is None where none was sent. ``paid`` counts the calls that were sent rather than found in the cache.
    """

    example: str
    candidate: str
    student: str
    status: Status
    score: float | None
    seed: int | None = None
    sample: int = 0
    replicate: int = 0
    reason: str | None = None
    facts: tuple[FactVerdict, ...] = ()
    flags: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    shared: Usage = field(default_factory=Usage)
    parts: Mapping[str, float] = field(default_factory=dict)
    finish: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()
    sent: Mapping[str, Any] = field(default_factory=dict)
    latency_s: float = 0.0
    paid: int = 0

    def __post_init__(self) -> None:
        scored = self.status == "scored"
        if scored != (self.score is not None) or (self.score is not None and not math.isfinite(self.score)):
            raise ValueError(f"a {self.status} judgement cannot have the score {self.score!r}")
        if scored == (self.reason is not None):
            raise ValueError("a judgement has a reason exactly when it is not scored")
        allowed = REASONS if self.status == "failed" else (ABSTAINED,)
        if self.reason is not None and self.reason.partition(":")[0] not in allowed:
            raise ValueError(
                f"the reason of a {self.status} judgement begins with {', '.join(allowed)}: {self.reason!r}"
            )

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What orders and identifies a judgement within one student."""
        return self.example, self.candidate, self.replicate, self.sample

    def row(self) -> dict[str, Any]:
        """The JSON form; what may differ on resumption stands under ``volatile``."""
        return {
            "example": self.example,
            "candidate": self.candidate,
            "student": self.student,
            "status": self.status,
            "score": self.score,
            "seed": self.seed,
            "sample": self.sample,
            "replicate": self.replicate,
            "reason": self.reason,
            "facts": [verdict.row() for verdict in self.facts],
            "flags": list(self.flags),
            "usage": self.usage.row(),
            "shared": self.shared.row(),
            "parts": dict(self.parts),
            "finish": list(self.finish),
            "raw": list(self.raw),
            "sent": dict(self.sent),
            VOLATILE: {"latency_s": self.latency_s, "paid": self.paid},
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Judgement:
        """The judgement that :meth:`row` wrote."""
        fields = {key: value for key, value in row.items() if key != VOLATILE}
        return cls(
            **{
                **fields,
                **{name: sys.intern(row[name]) for name in ("example", "candidate", "student")},
                "facts": tuple(FactVerdict.from_row(verdict) for verdict in row["facts"]),
                "flags": tuple(row["flags"]),
                "usage": Usage(**row["usage"]),
                "shared": Usage(**row.get("shared", {})),
                "parts": row.get("parts", {}),
                "finish": tuple(row["finish"]),
                "raw": tuple(row["raw"]),
                "latency_s": row[VOLATILE]["latency_s"],
                "paid": row[VOLATILE]["paid"],
            }
        )


def minibatch_gain(before: Mapping[Any, float], after: Mapping[Any, float]) -> float:
    """Summed reward of a child less its parent's, exactly rounded: equal rewards in another order gain nothing.

    Args:
        before: the parent's rewards by example.
        after: the child's, of the same examples.
    """
    return math.fsum([*after.values(), *(-value for value in before.values())])


def stable(value: Any) -> Any:
    """A copy of a JSON value without anything that stands under ``volatile``, at any depth."""
    if type(value) in _LEAVES:
        return value
    if isinstance(value, Mapping):
        return {key: item if type(item) in _LEAVES else stable(item) for key, item in value.items() if key != VOLATILE}
    if isinstance(value, list | tuple):
        return [stable(item) for item in value]
    return value


def judgement_lines(judgements: Iterable[Judgement]) -> str:
    """JSON lines of judgements, ordered by their keys."""
    ordered = sorted(judgements, key=lambda judgement: judgement.key)
    return "".join(canonical_json(judgement.row()) + "\n" for judgement in ordered)
