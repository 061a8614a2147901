"""What a table says of itself in words: that all judges were compared on identical examples, and what limits it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from optimize.judging.judges import NO_MODEL, PER_FACT, PER_ITEM, WHOLE_NOTE

FEW_GROUPS: Final = 20
"""Groups below which intervals by group are too narrow or too wide to lean on."""

_SAID: Final = {
    WHOLE_NOTE: "whole-note designs",
    PER_FACT: "per-fact designs",
    PER_ITEM: "designs by items of their own",
    NO_MODEL: "baselines without a language model",
}


def table_words(row: Mapping[str, Any]) -> Iterator[str]:
    """Sentences about a table, from its other numbers."""
    examples, judges = row["examples"], row["judges"]
    families = [said for family, said in _SAID.items() if any(judge["family"] == family for judge in judges)]
    labels = ", ".join(f"{count} {label}" for label, count in examples["by_label"].items())
    count, groups = examples["count"], examples["groups"]
    yield (
        f"{_listed(families).capitalize()} were compared on identical examples: {count} documents ({labels}) of "
        f"{groups} groups, sha256 of their ids {examples['hash']}."
    )
    with_model = [judge for judge in judges if judge["family"] != NO_MODEL]
    silent = examples["silent"]
    if len(silent) == len(with_model):
        yield "No judge with a model scored any of them: every answer failed or abstained."
    else:
        but = f", but for {_listed(silent)}, which scored none" if silent else ""
        yield (
            f"{examples['scored_by_all']} of {examples['of']} judgements have a score from every judge with a model"
            f"{but}; each row is of what its own judge scored, and stands again on what all scored."
        )
    clean = examples["clean"]
    if clean["candidates"]:
        yield (
            f"{clean['candidates']} of the clean documents are candidates: written by people and not verified, so the "
            f"share flagged is a {clean['rate']}."
        )
    if any(judge["design"] == "per-fact" for judge in judges):
        yield "Verdicts of the design per-fact are at P(yes) >= 0.5: a judging run sets no threshold."
    if any(judge["swept"]["rule"] for judge in judges):
        yield (
            f"Swept thresholds were chosen on these documents, for at most {row['cap']:.0%} of the clean ones flagged: "
            "their detection is optimistic. Own rules were fixed in the designs."
        )
    if any(judge["samples"] > 1 for judge in judges):
        yield "Judges that combine several answers have fewer ties than those that give one."
    if any(judge["budget"] for judge in judges):
        yield "A student at several budgets has the same text at each."
    if without := row.get("no_baselines"):
        yield f"There is no baseline without a language model, as {without}."
    if groups < FEW_GROUPS:
        yield f"{groups} groups are few: intervals by group are rough."
    if row.get("simulated"):
        yield f"SIMULATED: {_listed(row['simulated'])} answered from a formula; that says nothing about any model."
    if row.get("replayed"):
        yield f"Recorded answers stand in for {_listed(row['replayed'])}."
    if row.get("exploratory"):
        yield f"EXPLORATORY ({row['exploratory']}): held-out documents were looked at; nothing here confirms anything."


def _listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
