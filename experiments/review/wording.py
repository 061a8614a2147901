"""What a review says of itself: what was blinded, and what its numbers cannot mean."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.review.key import Key
from experiments.review.questions import QUESTIONS


def run_words(key: Key) -> Iterator[str]:
    """What was reviewed."""
    run = key.body["run"]
    judges = ", ".join(f"{name} ({rule or 'flags nothing'})" for name, rule in run["judges"].items())
    yield f"{len(key.items)} items of the {run['kind']} {run['name']}, examples of {run['split']}; judges: {judges}."
    yield (
        "Rates are of the pack: strata were drawn from evenly, so the same rates over the whole run are others. "
        "Intervals are by group of the source; Wilson's, beside those of rates, take items as independent."
    )
    if run["simulated"]:
        yield "SIMULATED: a judge answered from a formula; that says nothing about any model."
    if run["exploratory"]:
        yield f"EXPLORATORY ({run['exploratory']}): nothing here confirms anything."
    if run["split"] == "heldout":
        yield (
            "People have now read held-out documents: none of them should write prompts, plans or corpora for a "
            "further comparison on this split."
        )


def blinding_words(key: Key) -> Iterator[str]:
    """Which sections were blinded, to what, and where that does not hold."""
    for section, row in key.sections.items():
        items = [item for item in key.items.values() if item["section"] == section]
        drawn = "; ".join(f"{name}: {counts['drawn']} of {counts['of']}" for name, counts in row["strata"].items())
        hidden = "; ".join(row["hidden"])
        yield f"{section}: {len(items)} items, drawn as {drawn}."
        if row["one_sided"]:
            yield (
                f"{section} was NOT blinded: all of its items are of one kind, which a reader soon sees. Hidden were "
                f"nevertheless: {hidden}."
            )
        else:
            yield f"{section} was blinded; hidden were: {hidden}."
        if row["shared_sources"]:
            yield (
                f"{section}: {row['shared_sources']} of {len(items)} items have a source that stands in another item "
                "too, which may tell on them."
            )
    if left_out := [name for name in QUESTIONS if name not in key.sections]:
        yield f"Not asked: {', '.join(left_out)}."
