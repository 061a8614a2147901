"""How a flag rule transfers: what it flags in other sets, at each of their sites and in each of their strata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from optimize.flag_rule import FlagRule
from optimize.flag_share import FlagShare, flag_share
from optimize.gate import CleanCounts
from optimize.score_table import Part, ScoredDocument, ScoreTable


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a rule flags in one set, or in a part of it.

    Attributes:
        on: name of the set.
        by: whether the part is a site or a stratum; None for the whole set.
        part: the site or the stratum; empty for the whole set.
        counts: verified and candidate clean documents.
        clean: flags on clean documents.
        flawed: flags on flawed documents by label; empty where there are none.
        cap: the rule's cap.
    """

    on: str
    by: Part | None
    part: str
    counts: CleanCounts
    clean: FlagShare
    flawed: Mapping[str, FlagShare]
    cap: float

    @property
    def words(self) -> str:
        """Whether the cap is kept here, as far as so many documents can say."""
        if not self.clean.n:
            return "no clean document: the rate is unknown"
        interval = self.clean.interval
        if interval.low > self.cap:
            return "above the cap"
        if interval.high <= self.cap:
            return "within the cap"
        return "too few to say"

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "on": self.on,
            "site": self.part if self.by == "site" else None,
            "stratum": self.part if self.by == "stratum" else None,
            "rate_is": self.counts.rate,
            "clean": self.clean.row(),
            "flawed": {label: share.row() for label, share in self.flawed.items()},
            "words": self.words,
        }


def transfers(rule: FlagRule, table: ScoreTable, *, level: float = 0.95) -> tuple[Transfer, ...]:
    """What a rule flags in a set: as a whole, and by site and by stratum where there are several.

    Many parts will hold a striking one by chance, and a part with few documents shows little.
    """
    found = [_transfer(rule, table, None, "", level)]
    keys: tuple[Part, ...] = ("site", "stratum")
    for by in keys:
        parts = table.parts(by)
        found += [_transfer(rule, table, by, part, level) for part in parts if len(parts) > 1]
    return tuple(found)


def _transfer(rule: FlagRule, table: ScoreTable, by: Part | None, part: str, level: float) -> Transfer:
    here = [document for document in table.documents if by is None or getattr(document, by) == part]

    def share(wanted: Iterable[ScoredDocument]) -> FlagShare:
        return flag_share(list(wanted), rule.threshold, level=level)

    clean = [document for document in here if document.label == "clean"]
    labels = sorted({document.label for document in here} - {"clean"})
    candidates = sum(document.candidate for document in clean)
    return Transfer(
        table.name,
        by,
        part,
        CleanCounts(len(clean) - candidates, candidates),
        share(clean),
        {label: share(document for document in here if document.label == label) for label in labels},
        rule.cap,
    )
