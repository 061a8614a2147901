"""The choice of the winner, on the accept split alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from optimize.evaluation import Evaluation
from optimize.objectives import DetectionAtFa, PairedDiscrimination, detection_at_fa, paired_discrimination
from optimize.search import PoolEntry, SearchResult


@dataclass(frozen=True, slots=True)
class Standing:
    """A candidate's measures on accept. They are optimistic for whichever candidate is chosen by them.

    ``paired`` is on omissions; ``detection`` flags all flawed examples below the most sensitive threshold whose
    false-alarm rate on clean ones is at most 0.10, and that threshold goes with the candidate to held-out data.
    """

    entry: PoolEntry
    paired: PairedDiscrimination
    detection: DetectionAtFa

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "candidate": self.entry.candidate.id,
            "name": self.entry.name,
            "paired": number(self.paired.value),
            "wins": self.paired.wins,
            "ties": self.paired.ties,
            "losses": self.paired.losses,
            "detection": number(self.detection.detection),
            "false_alarm": number(self.detection.false_alarm),
            "threshold": number(self.detection.threshold),
            "words": sum(len(text.split()) for text in self.entry.candidate.texts.values()),
        }


def standing(entry: PoolEntry) -> Standing:
    """Measures of one candidate on accept."""
    return Standing(entry, paired_discrimination(entry.accept.pairs("omission")), detection(entry.accept))


def detection(evaluation: Evaluation) -> DetectionAtFa:
    """Detection at a false-alarm rate of at most 0.10, of all flawed examples."""
    flawed = evaluation.scores(label="omission") + evaluation.scores(label="commission")
    return detection_at_fa(flawed, evaluation.scores(label="clean"), cap=0.10)


def choose(pool: Sequence[PoolEntry]) -> tuple[Standing, list[Standing]]:
    """The winner and all standings, best first.

    By paired discrimination on omissions, then detection, then the shorter prompt, then the earlier candidate. A
    measure that is undefined ranks last.
    """
    ranked = sorted((standing(entry) for entry in pool), key=_rank)
    return ranked[0], ranked


def choice_row(result: SearchResult, winner: Standing, ranked: Sequence[Standing]) -> dict[str, Any]:
    """The choice as the ledger holds it: winner, ranking, and how many accept examples each candidate leads."""
    leads = {entry.candidate.id: 0 for entry in result.pool}
    for leaders in result.frontier().values():
        for leader in leaders:
            leads[leader] += 1
    return {
        "winner": winner.entry.candidate.id,
        "ranking": [place.row() for place in ranked],
        "leads": leads,
        "accepted": len(result.pool) - 1,
        "rejected": result.rejected,
        "invalid": result.invalid,
    }


def _rank(place: Standing) -> tuple[float, float, int, int]:
    texts = place.entry.candidate.texts.values()
    return (
        -_defined(place.paired.value),
        -_defined(place.detection.detection),
        sum(len(text) for text in texts),
        place.entry.candidate.iteration,
    )


def _defined(value: float) -> float:
    return value if value == value else -1.0


def number(value: float) -> float | None:
    """A JSON number: None for what is undefined."""
    return value if value == value and abs(value) != float("inf") else None
