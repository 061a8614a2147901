"""The verdict: what the gate decided, with every number, in words and as JSON; and the prompt file of a pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from lineage.canonical import digest
from lineage.errors import HoldgateError
from lineage.ledger import Ledger
from lineage.records import Candidate
from optimize.choice import Standing, number
from optimize.evaluation import Evaluation
from optimize.gate import Arm, Finding, GateReading
from optimize.objectives import Comparison, by, paired_discrimination
from splits.lock import SplitLock
from splits.register import Comparison as Place
from students.shape import INSTRUCTION


def comparison_row(comparison: Comparison) -> dict[str, Any]:
    """Numbers of a paired comparison."""
    interval = comparison.difference.interval
    return {
        "candidate": number(comparison.candidate),
        "baseline": number(comparison.baseline),
        "difference": number(comparison.difference.value),
        "low": number(interval.low),
        "high": number(interval.high),
        "level": interval.level,
        "method": interval.method,
        "wins": comparison.wins,
        "ties": comparison.ties,
        "losses": comparison.losses,
        "pairs": comparison.n,
        "groups": comparison.n_groups,
        "failed": comparison.n_failed,
        "sign_flip_p": number(comparison.sign_flip.p),
        "t_p": number(comparison.t_test.p),
        "bootstrap": None
        if comparison.bootstrap is None
        else {"low": number(comparison.bootstrap.low), "high": number(comparison.bootstrap.high)},
    }


def measures_row(evaluation: Evaluation, *, level: float = 0.95) -> dict[str, Any]:
    """Paired discrimination of one candidate on some examples: omissions, commissions, and omissions by trace."""

    def one(pairs: Sequence[Any], planned: int) -> dict[str, Any]:
        scored = paired_discrimination(pairs, level=level, n_failed=max(planned - len(pairs), 0))
        return {
            "value": number(scored.value),
            "low": number(scored.interval.low),
            "high": number(scored.interval.high),
            "wins": scored.wins,
            "ties": scored.ties,
            "losses": scored.losses,
            "pairs": scored.n,
            "groups": scored.n_groups,
            "failed": scored.n_failed,
        }

    repeats = max(len(evaluation.replicates), 1)
    omissions, commissions = evaluation.pairs("omission"), evaluation.pairs("commission")
    return {
        "omissions": one(omissions, repeats * len(evaluation.planned_pairs("omission"))),
        "commissions": one(commissions, repeats * len(evaluation.planned_pairs("commission"))),
        "by_trace": {trace: one(pairs, len(pairs)) for trace, pairs in by(omissions, "trace").items()},
    }


def record_measures(ledger: Ledger, purpose: str, evaluation: Evaluation) -> None:
    """Put a candidate's measures on accept or held-out into the ledger, where people and the audit look for them."""
    row = measures_row(evaluation)
    ledger.perform("measured", {"purpose": purpose, "candidate": evaluation.candidate, "measures": row}, dict)


def noise_floor(evaluation: Evaluation) -> dict[str, Any]:
    """How far the baseline differs from itself between replicates: flips of a pair's credit, spread of the measure."""
    replicates = evaluation.replicates
    if len(replicates) < 2:
        return {"replicates": len(replicates), "words": "not measured: one replicate"}
    by_replicate = {
        replicate: {pair.example: pair.credit for pair in evaluation.pairs("omission") if pair.replicate == replicate}
        for replicate in replicates
    }
    common = set.intersection(*(set(found) for found in by_replicate.values()))
    flipped = sum(len({by_replicate[replicate][example] for replicate in replicates}) > 1 for example in common)
    values = (
        [sum(found[example] for example in common) / len(common) for found in by_replicate.values()] if common else []
    )
    spread = max(values) - min(values) if values else None
    words = "deterministic: replicates are identical" if not flipped else f"{flipped} of {len(common)} pairs flip"
    return {"replicates": len(replicates), "flipped": flipped, "pairs": len(common), "spread": spread, "words": words}


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
        noise: the noise floor, as JSON.
        hashes: of plan, lock, corpus and student.
    """

    baseline: Standing
    lock: SplitLock
    exploratory: str | None
    simulated: bool
    proposed: int
    accepted: int
    noise: Mapping[str, Any]
    hashes: Mapping[str, str]

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
            },
            "noise_floor": dict(self.noise),
            "winner": winner.entry.candidate.id,
            "baseline": self.baseline.entry.candidate.id,
            "hashes": dict(self.hashes),
        }


def verdict_row(reading: GateReading, *, winner: Standing, place: Place | None, setting: Setting) -> dict[str, Any]:
    """The verdict of a campaign whose winner differs from its baseline."""
    decision, reason = reading.decision, reading.reason
    if setting.exploratory is not None and decision == "emit":
        decision = "refuse"
        reason = f"this is an exploratory campaign ({setting.exploratory}), which confirms nothing; otherwise {reason}"
    gain = winner.paired.value - setting.baseline.paired.value
    heldout = reading.omissions
    row = setting.row(winner, place)
    row["accept"]["optimism"] = number(gain - heldout.difference.value)
    return {
        **row,
        "decision": decision,
        "reason": reason,
        "words": words(reading, accept_gain=gain, candidates=1 + setting.proposed),
        "rule": _finding(reading.rule),
        "guardrails": [_finding(finding) for finding in reading.guardrails],
        "coverage": reading.coverage,
        "heldout": {
            "omissions": comparison_row(heldout),
            "omissions_worst_case": None if reading.worst is None else comparison_row(reading.worst),
            "commissions": comparison_row(reading.commissions),
            "false_alarms": comparison_row(reading.false_alarms),
        },
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


def words(reading: GateReading, *, accept_gain: float, candidates: int) -> list[str]:
    """What was shown, what is excluded, and how optimistic accept was."""
    heldout = reading.omissions
    value, interval = heldout.difference.value, heldout.difference.interval
    said = []
    if interval.defined:
        said.append(
            f"On {heldout.n_groups} held-out groups ({heldout.n} omission pairs) the winner differs from the baseline "
            f"by {100 * value:+.1f} points, {100 * interval.level:g}% interval [{100 * interval.low:+.1f}, "
            f"{100 * interval.high:+.1f}]."
        )
        said.append(
            f"Gains above {100 * interval.high:.1f} points and losses above {-100 * interval.low:.1f} are excluded."
            if interval.low < 0 < interval.high
            else f"Gains above {100 * interval.high:.1f} points are excluded."
        )
    else:
        said.append(
            f"On {heldout.n_groups} held-out groups ({heldout.n} omission pairs) the difference is {100 * value:+.1f} "
            f"points; it has no interval: {interval.reason or heldout.difference.reason}."
        )
    off = accept_gain - value
    said.append(
        f"On accept, which chose the winner among {candidates} candidates, it gained {100 * accept_gain:+.1f} points: "
        f"accept was {'optimistic' if off >= 0 else 'pessimistic'} by {100 * abs(off):.1f}."
    )
    if heldout.n_groups < 20:
        said.append(f"{heldout.n_groups} held-out groups cannot confirm a moderate gain.")
    return said


def prompt_text(verdict: Mapping[str, Any], *, winner: Candidate, front: Mapping[str, Any], arm: Arm) -> str:
    """The prompt file of a passing verdict: front matter and the instruction.

    Raises:
        HoldgateError: the verdict did not pass, so there must be no prompt file.
    """
    if verdict["decision"] != "emit" or not verdict["confirmatory"]:
        raise HoldgateError(f"no prompt may be written on the decision {verdict['decision']!r}")
    omissions = verdict["heldout"]["omissions"]
    matter = {
        **front,
        "threshold": arm.threshold,
        "verdict": digest(dict(verdict)),
        "heldout_difference": omissions["difference"],
        "heldout_interval": [omissions["low"], omissions["high"]],
        "level": omissions["level"],
    }
    head = yaml.safe_dump(matter, sort_keys=True, allow_unicode=True, width=100)
    return f"---\n{head}---\n{winner.texts[INSTRUCTION]}\n"


def _finding(finding: Finding) -> dict[str, Any]:
    return {"name": finding.name, "holds": finding.holds, "words": finding.words}
