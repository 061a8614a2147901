"""Where a search differs from GEPA as published, from its plan alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from experiments.report.blocks import Bullets, Section
from experiments.report.data import ReportData
from optimize.engines import ENGINES, departures_of
from optimize.reflector_plan import OFFLINE
from optimize.search_plan import MergePlan

Row = Mapping[str, Any]

_FIXED: Final = (
    "Acceptance: a child enters the pool if its summed reward on the minibatch exceeds its parent's over the examples "
    "scored for both. An example that failed for either is left out of both sums.",
    "Choice of winner: our own, on accept: paired discrimination on omissions, then detection at a false-alarm rate of "
    "at most 10%, then the shorter prompt, then the earlier. The engine's own best candidate is ignored.",
    "Sampling: parents and minibatches derive from (seed, iteration, number of the proposal) alone, so that a resumed "
    "search takes the same course. Minibatches are whole groups, so that every flawed document has its twin.",
    "Validity: a proposal that is empty, cut off or a duplicate, restates the fixed prompt, loses a placeholder or "
    "repeats accept or held-out text is recorded as invalid and never judged.",
    "Confirmation: the winner is compared with the baseline on held-out data that no part of the search has read.",
)
"""What no plan can change."""


def departures(data: ReportData) -> Section:
    """Where the search differs from GEPA as published."""
    plan = data.plan["plan"]
    engine = plan["search"]["engine"]
    if engine != "gepa":
        return Section("departures", f"How {ENGINES.get(engine, engine)} was run", (Bullets(departures_of(engine)),))
    items = (*planned_departures(plan), *_FIXED)
    return Section("departures", "Departures from published GEPA", (Bullets(items),))


def planned_departures(plan: Row) -> tuple[str, ...]:
    """Each option of a plan's search and reflector that is not as published, in words.

    Published: mutations and, from six candidates on and at most four times, merges by the reflector; parents in
    proportion to the accept examples that they lead; acceptance on the minibatch alone; one proposal an iteration.

    Args:
        plan: the JSON form of a plan; options that an older version did not have are taken as published.
    """
    search = plan["search"]
    return (
        *_merges(search.get("merge")),
        *_acceptance(search),
        *_frontier(search),
        *_draws(search),
        *_reflection(plan["reflector"]),
    )


def _merges(merge: Row | None) -> Iterator[str]:
    if merge is None:
        yield "Merge: none; every proposal has one parent."
        return
    usual = MergePlan()
    yield (
        f"Merge: where it may be made, a proposal is a merge with a chance of {merge['chance']:g}, drawn; when the "
        "published search merges is not stated. The second parent is drawn in proportion to the examples that it leads "
        "and the first does not, and no pair is merged twice."
    )
    if merge["from_candidates"] != usual.from_candidates or merge["at_most"] != usual.at_most:
        yield (
            f"Merge: from {merge['from_candidates']} candidates on, at most {merge['at_most']} times; published are "
            f"{usual.from_candidates} and {usual.at_most}."
        )


def _acceptance(search: Row) -> Iterator[str]:
    if search.get("acceptance", "promiscuous") == "full":
        yield (
            "Acceptance in full: what beats its parent on the minibatch must also beat every parent in summed reward "
            "on the whole of accept. Published is acceptance on the minibatch alone."
        )


def _frontier(search: Row) -> Iterator[str]:
    frontier = search.get("frontier", "examples")
    whole = (
        "omissions, commissions, false alarms, cost and prompt length as a whole, where a candidate that another "
        "dominates in all of them has no place"
    )
    if frontier == "objectives":
        yield f"Frontier: of {whole}; published is a frontier of accept examples."
    elif frontier == "both":
        yield f"Frontier: of accept examples, as published, and beside them of {whole}."


def _draws(search: Row) -> Iterator[str]:
    if (parallel := search.get("parallel", 1)) > 1:
        yield (
            f"Parallel proposals: {parallel} an iteration, each of its own parent and minibatch, all drawn from the "
            "pool as it was before them. Published is one."
        )
    if search.get("rare_traces", False):
        yield "Minibatches: each holds a group with one of the rarer traces of omissions, where there are enough."
    if any(amount is not None for amount in search.get("budget", {}).values()):
        yield "End: at the plan's search budget, where that is reached before its last iteration."


def _reflection(reflector: Row) -> Iterator[str]:
    if (words := OFFLINE.get(reflector["kind"])) is not None:
        yield f"Reflection: {words}. No language model reflects."
    if left_out := [name.replace("_", " ") for name, told in reflector.get("feedback", {}).items() if told is False]:
        yield f"Feedback: the reflector is not told of {', '.join(left_out)}."
    if memory := reflector.get("memory", 0):
        yield f"Memory: the reflector is told of the latest {memory} proposals that failed."
