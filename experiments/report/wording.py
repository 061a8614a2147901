"""Numbers and findings of a report in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any, Final

from experiments.report.arms import Arm
from experiments.report.blocks import Operation
from experiments.report.data import ReportData
from optimize.gate import SMALL
from optimize.verdict_words import count_of, in_points

NONE: Final = "not defined"
TRACES: Final = ("complete", "partial-weak", "partial-strong", "unknown")


def share(value: float | None) -> str:
    """A share in [0, 1] with three digits."""
    return NONE if value is None else f"{value:.3f}"


def split_words(split: str) -> str:
    """A split as prose spells it."""
    return "held-out" if split == "heldout" else split


def points(value: float | None) -> str:
    """A difference of shares in points, signed."""
    return NONE if value is None else in_points(value)


def measure(row: Mapping[str, Any] | None) -> str:
    """A measure with its interval and its pairs."""
    if row is None or row["value"] is None:
        return "no pairs"
    interval = "no interval" if row["low"] is None else f"[{row['low']:.3f}, {row['high']:.3f}]"
    failed = f", {row['failed']} failed" if row["failed"] else ""
    return f"{row['value']:.3f} {interval}, n = {row['pairs']}{failed}"


def change(row: Mapping[str, Any], *, level: float | None = None) -> str:
    """A paired difference in points with its interval; its level too, where it is not the ``level`` stated nearby."""
    if row["difference"] is None:
        return NONE
    interval = "no interval" if row["low"] is None else f"[{points(row['low'])}, {points(row['high'])}]"
    other = f" ({100 * row['level']:g}%)" if level not in (None, row["level"]) and row["low"] is not None else ""
    return f"{points(row['difference'])} points {interval}{other}"


def multiple(row: Mapping[str, Any], noise: Mapping[str, Any]) -> str:
    """A difference as a multiple of the noise floor of its measure, or why it is none."""
    if row["noise_multiple"] is not None:
        return f"{abs(row['noise_multiple']):.1f} times the noise floor"
    if noise.get("deterministic"):
        return "deterministic"
    return "no noise was seen" if "measures" in noise else "noise not measured"


def flags_label(data: ReportData) -> str:
    """What a flag on a clean document is called: a false alarm only where all are verified to be clean."""
    held = data.verdict["clean_documents"]["heldout"]
    if not held["candidates"]:
        return "False alarms on clean documents"
    if not held["verified"]:
        return "Flags on clean candidates (not verified clean)"
    of = held["verified"] + held["candidates"]
    return f"Flags on clean documents ({held['candidates']} of {of} not verified clean)"


def decision(data: ReportData) -> str:
    """The decision as a title."""
    winner = data.proposal(data.verdict["winner"]).name
    kind = data.verdict["decision"]
    if kind == "refuse" and not data.verdict["confirmatory"]:
        return f"No prompt is emitted: an exploratory campaign confirms nothing (its winner is {winner})"
    return {
        "emit": f"A prompt is emitted: {winner} passed the gate",
        "refuse": f"No prompt is emitted: {winner} did not pass the gate",
        "undecided": f"Undecided: too little was scored to judge {winner}",
        "nothing-found": "Nothing better was found: the baseline stays",
        "not-confirmed": f"Nothing was confirmed: {winner} gained too little on accept to open held-out data",
    }[kind]


def notices(data: ReportData) -> list[str]:
    """What a reader must know before any number."""
    said = []
    if data.verdict["simulated"]:
        said.append("SIMULATED: the judge is a formula, not a model. No number here says anything of a real judge.")
    if not data.verdict["confirmatory"]:
        said.append(f"EXPLORATORY, confirms nothing. The reason given: {data.verdict['exploratory']}")
    return said


def winner_words(data: ReportData) -> str:
    """The winner with its name."""
    return f"winner {data.proposal(data.verdict['winner']).name}" if data.found else "winner (the baseline)"


def sides(data: ReportData) -> list[tuple[str, list[tuple[str, Arm]]]]:
    """The splits, accept before held-out, with the baseline and, where it was judged there, another winner."""
    winner = f"winner {data.proposal(data.verdict['winner']).name}"
    accept, heldout = [("baseline", data.on_accept[data.verdict["baseline"]])], [("baseline", data.baseline)]
    if data.found:
        accept.append((winner, data.on_accept[data.verdict["winner"]]))
    if data.confirmed:
        heldout.append((winner, data.winner))
    return [("accept", accept), ("held-out", heldout)]


def findings(data: ReportData) -> list[str]:
    """What was decided on, at which place and level, and how far it may be believed."""
    verdict, groups = data.verdict, data.splits["groups"]["heldout"]
    said = [_place(data), *verdict["words"]]
    if groups < SMALL and not any("cannot confirm a moderate gain" in sentence for sentence in said):
        said.append(f"{count_of(groups, 'held-out group')} could not have confirmed a moderate gain.")
    if (optimism := verdict["accept"].get("optimism")) is not None and optimism < 0:
        said.append(
            f"Negative optimism means that accept showed {-100 * optimism:.1f} points less than held-out data did."
        )
    return said


def _place(data: ReportData) -> str:
    comparison, alpha = data.verdict["comparison"], data.verdict["alpha"]
    if comparison is not None:
        return (
            f"This is confirmatory comparison {comparison['k']} of {comparison['of']} on this held-out split, "
            f"at two-sided alpha {comparison['alpha']:g}."
        )
    if not data.verdict["confirmatory"]:
        return f"It took no place among the confirmatory comparisons of its held-out split; alpha would be {alpha:g}."
    return (
        f"No confirmatory comparison was made or spent. It would have been at two-sided alpha {alpha:g}: the held-out "
        "split was opened once, for the baseline alone."
    )


def overlap_finding(data: ReportData) -> str:
    """Whether plain word overlap beats the student on complete omissions, either way, from the numbers."""
    question = "On complete omissions with a supplied fact list, does plain word overlap beat the student?"
    assert data.overlap is not None
    plain = data.overlap["by_trace"].get("complete")
    judged = data.winner.measures["by_trace"].get("complete")
    if plain is None or judged is None or plain["value"] is None or judged["value"] is None:
        return f"{question} Not measured: no complete omission is scored by both."
    who = "the winner" if data.confirmed else "the baseline (no other candidate was judged on held-out data)"
    numbers = (
        f"{share(plain['value'])} on {plain['pairs']} pairs against {share(judged['value'])} on {judged['pairs']} "
        f"for {who}"
    )
    if plain["value"] > judged["value"]:
        found = "Yes: plain word overlap, which needs no model, orders more pairs rightly"
    elif plain["value"] == judged["value"]:
        found = "It is level with the student, and needs no model"
    else:
        found = "No: the student orders more pairs rightly"
    low, high = judged["low"], judged["high"]
    spread = ""
    if low is not None:
        where = "inside" if low <= plain["value"] <= high else "outside"
        spread = f" The value of word overlap lies {where} the student's 95% interval."
    return f"{question} {found}, {numbers}.{spread} Paired discrimination on held-out data; 0.5 is a coin flip."


def price(row: Mapping[str, Any], model: Mapping[str, Any] | None) -> str:
    """US dollars, or why there are none."""
    if row["cost_usd"] is not None:
        return f"{row['cost_usd']:.4f}"
    if model is None or model["hosted"] is not None or model["endpoint"] is not None:
        return "price unknown"
    return "no price (local)" if model["local"] is not None else "no price (simulated)"


def model_words(model: Mapping[str, Any]) -> str:
    """Which model, in words."""
    if model["simulated"] is not None:
        planted = model["simulated"].get("planted")
        known = "" if planted is None else f", planted improvement of {planted['effect']:g} nats"
        return f"simulated judge, noise {model['simulated']['noise']:g} nats{known}"
    if model["local"] is not None:
        return f"{model['local']} (embedded)"
    return str(model["hosted"] or f"{model['name']} at {model['endpoint']}")


def word_difference(before: str, after: str) -> tuple[tuple[Operation, str], ...]:
    """Runs of words that are the same, removed or added; line ends count as words."""
    ours, theirs = (re.findall(r"\n|\S+", text) for text in (before, after))
    parts: list[tuple[Operation, str]] = []
    for tag, i, j, k, m in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            parts.append(("same", " ".join(ours[i:j])))
            continue
        if i < j:
            parts.append(("removed", " ".join(ours[i:j])))
        if k < m:
            parts.append(("added", " ".join(theirs[k:m])))
    return tuple(parts)
