"""The verdict: what the gate decided, with every number, in words and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optimize.choice import Standing, number
from optimize.equal_budget import EqualBudgetReading
from optimize.gate import CleanCounts, Finding, GateReading, Subgroups
from optimize.gate.subgroups import NOT_TESTED
from optimize.measured import comparison_row
from optimize.noise import NoiseFloor
from optimize.studied_plan import StudiedPlan
from optimize.verdict_words import AcceptReading, accept_words, heldout_words, in_points
from splits.lock import SplitLock
from splits.register import Comparison as Place


@dataclass(frozen=True, slots=True)
class Setting:
    """What a verdict says of its campaign whether or not something was found.

    Args:
        baseline: the incumbent on accept.
        lock: the committed split; its share of alpha is the comparison's.
        exploratory: why the campaign confirms nothing, or None.
        simulated: whether the judge is a formula.
        proposed: proposals of the search.
        accepted: those among them that entered the pool.
        noise: the baseline against itself on held-out data.
        clean: verified and candidate clean documents, by split.
        hashes: of plan, lock, corpus and student.
        studied: the study that chose the campaign's settings, if one did.
    """

    baseline: Standing
    lock: SplitLock
    exploratory: str | None
    simulated: bool
    proposed: int
    accepted: int
    noise: NoiseFloor
    clean: Mapping[str, CleanCounts]
    hashes: Mapping[str, str]
    studied: StudiedPlan | None = None

    def row(self, winner: Standing, place: Place | None) -> dict[str, Any]:
        """The part of a verdict that every decision has."""
        return {
            "confirmatory": self.exploratory is None,
            "exploratory": self.exploratory,
            "simulated": self.simulated,
            "comparison": None if place is None else {"k": place.k, "of": place.of, "alpha": place.alpha},
            "alpha": self.lock.spend,
            "accept": {
                "winner": winner.row(),
                "baseline": self.baseline.row(),
                "gain": number(winner.paired.value - self.baseline.paired.value),
                "candidates": 1 + self.proposed,
                "accepted": self.accepted,
                "studied": None if self.studied is None else self.studied.model_dump(mode="json"),
            },
            "noise_floor": self.noise.row(),
            "clean_documents": {split: counts.row() for split, counts in self.clean.items()},
            "winner": winner.entry.candidate.id,
            "baseline": self.baseline.entry.candidate.id,
            "hashes": dict(self.hashes),
        }


def verdict_row(
    reading: GateReading,
    *,
    winner: Standing,
    place: Place | None,
    setting: Setting,
    accept: AcceptReading,
    confirmed: Finding | None = None,
    equal_budget: EqualBudgetReading | None = None,
) -> dict[str, Any]:
    """The verdict of a campaign whose winner was compared with its baseline on held-out data.

    Args:
        reading: what the gate read.
        winner: on accept.
        place: of the comparison among those on the held-out split.
        setting: of the campaign.
        accept: the winner against the baseline on accept.
        confirmed: what the plan's rule for opening held-out data found, if it has one.
        equal_budget: the second reading, if the plan asks for one.
    """
    decision, reason = reading.decision, reading.reason
    if setting.exploratory is not None and decision == "emit":
        decision = "refuse"
        reason = f"this is an exploratory campaign ({setting.exploratory}), which confirms nothing; otherwise {reason}"
    heldout, noise = reading.omissions, setting.noise
    row = _with_accept(setting.row(winner, place), accept, confirmed)
    row["accept"]["optimism"] = number(accept.gain - heldout.difference.value)
    said = heldout_words(
        reading, accept=accept, noise=noise, comparisons=setting.lock.comparisons, equal_budget=equal_budget
    )
    second = None if equal_budget is None else equal_budget.comparison
    return {
        **row,
        "decision": decision,
        "reason": reason,
        "words": said,
        "rule": _finding(reading.rule),
        "guardrails": [_finding(finding) for finding in reading.guardrails],
        "coverage": reading.coverage,
        "heldout": {
            "omissions": comparison_row(heldout, noise_sd=_sd(noise, "omissions")),
            "omissions_worst_case": _worst(reading),
            "commissions": comparison_row(reading.commissions, noise_sd=_sd(noise, "commissions")),
            "false_alarms": comparison_row(reading.false_alarms, noise_sd=_sd(noise, "false_alarms")),
            "equal_budget": None if second is None else comparison_row(second, noise_sd=_sd(noise, "omissions")),
        },
        "flags": dict(zip(("candidate", "baseline"), (count.row() for count in reading.flags), strict=True)),
        "cost": reading.cost.row(),
        "equal_budget": None if equal_budget is None else equal_budget.row(),
        "subgroups": _subgroups(reading.subgroups),
    }


def nothing_found_row(setting: Setting) -> dict[str, Any]:
    """The verdict of a campaign whose winner is its baseline: the held-out split stays shut for it."""
    reason = f"of {setting.proposed} proposals {setting.accepted} were accepted, and none beat the baseline on accept"
    return {
        **setting.row(setting.baseline, None),
        "decision": "nothing-found",
        "reason": reason,
        "words": [f"Nothing better was found: {reason}.", "The held-out split was not opened to confirm anything."],
    }


def not_confirmed_row(
    setting: Setting, *, winner: Standing, accept: AcceptReading, confirmed: Finding
) -> dict[str, Any]:
    """The verdict of a campaign whose winner gained too little on accept for the held-out split to be opened."""
    reason = f"the rule {confirmed.name} is not met: {confirmed.words}"
    return {
        **_with_accept(setting.row(winner, None), accept, confirmed),
        "decision": "not-confirmed",
        "reason": reason,
        "words": [
            f"Nothing was confirmed: among {accept.candidates} candidates the winner gained "
            f"{in_points(accept.gain)} points on accept, short of what the plan asks for.",
            accept_words(accept),
            "The held-out split was not opened to confirm anything, and no comparison was spent: whether the winner "
            "is better is not known.",
        ],
    }


def _with_accept(row: dict[str, Any], accept: AcceptReading, confirmed: Finding | None) -> dict[str, Any]:
    found = accept.comparison
    row["accept"] |= {
        "comparison": comparison_row(found),
        "sign_test": {"wins": found.wins, "losses": found.losses, "p": number(accept.sign_p)},
        "told_from_noise": accept.told_from_noise,
        "rule": None if confirmed is None else _finding(confirmed),
    }
    return row


def _worst(reading: GateReading) -> dict[str, Any] | None:
    if reading.worst is None:
        return None
    return {**comparison_row(reading.worst.against), "lowest_end": number(reading.worst.low)}


def _subgroups(found: Subgroups | None) -> dict[str, Any]:
    if found is None:
        return {"tested": False, "words": NOT_TESTED}
    rows = [
        {
            "field": row.field,
            "value": row.value,
            **comparison_row(row.comparison),
            "p": number(row.p),
            "adjusted_p": number(row.adjusted),
        }
        for row in found.rows
    ]
    return {"tested": True, "alpha": found.alpha, "level": found.level, "rows": rows}


def _finding(finding: Finding) -> dict[str, Any]:
    return {"name": finding.name, "holds": finding.holds, "words": finding.words}


def _sd(noise: NoiseFloor, measure: str) -> float:
    """SD of a measure's difference between two replicates; NaN where it was not measured."""
    return noise.measures[measure].difference_sd if measure in noise.measures else math.nan
