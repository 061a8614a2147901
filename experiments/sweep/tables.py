"""A study in rows of words: the same for the terminal and for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lineage.records import Usage
from optimize.sweep import StudyResult, TrialResult, point_words
from optimize.sweep.objectives import COST_WORDS, WORDS
from optimize.sweep.plan import Measure


def column(result: StudyResult, measure: Measure) -> str:
    """Head of the column of an objective."""
    return COST_WORDS[result.unit] if measure == "cost" else WORDS[measure]


def value(result: StudyResult, measure: Measure, number: float | None) -> str:
    """An objective's value in words."""
    if number is None:
        return "none"
    if measure == "words":
        return f"{number:.0f}"
    if measure in ("cost", "tokens"):
        return f"{number:.6f}" if measure == "cost" and result.unit == "usd" else f"{number:.1f}"
    return f"{number:.3f}"


def best_head(result: StudyResult) -> tuple[str, ...]:
    """Heads of :func:`best_rows`."""
    others = [column(result, measure) for measure in result.objectives if measure != "paired"]
    return ("Trial", "Point", "Paired discrimination [95%]", "of its baseline", *others, "Candidates")


def best_rows(result: StudyResult, *, most: int | None = None) -> list[tuple[str, ...]]:
    """Complete trials by rank; a star marks those that no other is better than in every objective."""
    front = {trial.number for trial in result.front}
    rows: list[tuple[str, ...]] = []
    for trial in result.ranked[:most]:
        outcome: Mapping[str, Any] = trial.outcome or {}
        baseline = outcome.get("baseline")
        rows.append(
            (
                f"{trial.number}{'*' if trial.number in front else ''}",
                point_words(trial.parameters or {}),
                interval(outcome["reading"]["paired"]),
                "none" if baseline is None else _number(baseline["paired"]["value"]),
                *(
                    value(result, measure, trial.values.get(measure))
                    for measure in result.objectives
                    if measure != "paired"
                ),
                f"{trial.candidates}",
            )
        )
    return rows


PRUNED_HEAD = ("Trial", "Point", "Accept groups judged", "Baseline there [95%]", "Why it was pruned")


def pruned_rows(result: StudyResult) -> list[tuple[str, ...]]:
    """Trials that were pruned: their baseline's paired discrimination on the last set of groups."""
    rows: list[tuple[str, ...]] = []
    for trial in result.of("pruned"):
        outcome: Mapping[str, Any] = trial.outcome or {}
        rows.append(
            (
                f"{trial.number}",
                point_words(trial.parameters or {}),
                f"{outcome['halvings'][-1]['groups']}",
                interval(outcome["reading"]["paired"]),
                trial.reason,
            )
        )
    return rows


FAILED_HEAD = ("Trial", "Point", "Why it failed")


def failed_rows(result: StudyResult) -> list[tuple[str, ...]]:
    """Trials that failed, with the reason."""
    return [(f"{trial.number}", point_words(trial.parameters or {}), trial.reason) for trial in result.of("failed")]


def counts(result: StudyResult) -> str:
    """How the trials stand, in words."""
    states = ("complete", "pruned", "failed", "running", "waiting")
    said = ", ".join(f"{len(result.of(state))} {state}" for state in states if result.of(state))
    return f"{len(result.trials)} of {result.planned} trials begun: {said or 'none'}"


def spend_words(result: StudyResult) -> str:
    """What all workers together paid for."""
    said = f"paid for: {usage_words(result.spend.paid)}"
    if result.spend.unanswered.calls:
        said += f"; perhaps paid for without an answer, at most: {usage_words(result.spend.unanswered)}"
    return said


def usage_words(usage: Usage) -> str:
    """Calls, tokens and money."""
    money = "" if usage.cost_usd is None else f", {usage.cost_usd:.4f} US dollars"
    return f"{usage.calls} calls ({usage.prompt_tokens + usage.completion_tokens} tokens{money})"


def interval(row: Mapping[str, Any]) -> str:
    """Paired discrimination with its interval by group."""
    if row["value"] is None:
        return "undefined"
    if row["low"] is None:
        return f"{row['value']:.3f} (no interval)"
    return f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


def ended_words(result: Mapping[str, Any], objectives: Sequence[Measure]) -> str:
    """What a progress line says of a trial that ended, from the body of its event."""
    outcome = result["outcome"]
    if outcome["state"] != "complete":
        return f"{outcome['state']}: {outcome['reason']}"
    values = outcome["reading"]["values"]
    others = "".join(f", {measure} {values[measure]:.4g}" for measure in objectives if measure != "paired")
    return f"paired {interval(outcome['reading']['paired'])}{others}, {outcome['candidates']} candidates"


def best_words(trial: TrialResult | None) -> str:
    """The leading trial in a few words."""
    if trial is None:
        return "no trial is complete"
    outcome: Mapping[str, Any] = trial.outcome or {}
    return f"trial {trial.number} leads with paired discrimination {interval(outcome['reading']['paired'])} on accept"


def _number(found: float | None) -> str:
    return "undefined" if found is None else f"{found:.3f}"
