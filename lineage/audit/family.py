"""Where candidates come from: what they are made of, who their parents are, and what each comes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage.audit.judging import is_judging
from lineage.audit.record import Finding, RunRecord
from lineage.ledger import Event
from lineage.records import candidate_id

Body = Mapping[str, Any]


@dataclass(slots=True)
class _Family:
    """What is known of a campaign's candidates so far.

    Proposals of one iteration may be made one after the other before any is decided, so several can be open; each is
    decided before the next iteration proposes.
    """

    reflection: Event | None = None
    open: list[Event] = field(default_factory=list)
    pool: set[str] = field(default_factory=set)
    asked: set[tuple[int, int]] = field(default_factory=set)
    on_accept: dict[str, int] = field(default_factory=dict)

    def decided(self, candidate: str) -> Event | None:
        """The open proposal that an outcome is about: the latest, as a repetition is decided at once."""
        found = next((event for event in reversed(self.open) if event.body["candidate"] == candidate), None)
        if found is not None:
            self.open.remove(found)
        return found


def check_lineage(run: RunRecord) -> Iterator[Finding]:
    """Every candidate is its texts' hash, has its parents before it, and comes to one outcome."""
    family = _Family()
    for event in run.steps:
        body, place = event.body, f"seq {event.seq}"
        if event.type == "reflection":
            family.reflection = event
            if (call := (body["iteration"], body["call"])) in family.asked:
                yield Finding("error", place, "a second reflection of this iteration and call")
            family.asked.add(call)
        elif event.type == "candidate":
            yield from _candidate(run, family, event)
        elif event.type == "outcome":
            yield from _outcome(family, event)
        elif event.type == "evaluation":
            if body["purpose"] == "accept" and len(body["candidates"]) == 1:
                family.on_accept[body["candidates"][0]] = event.seq
            for unknown in [known for known in body["candidates"] if known not in run.candidates]:
                yield Finding("error", place, f"judges {unknown[:12]}, which is no candidate")
        elif event.type == "choice" and {row["candidate"] for row in body["ranking"]} != family.pool:
            yield Finding("error", place, "does not rank the seed and every accepted candidate")
    if run.first("choice") is not None:
        yield from (_undecided(event) for event in family.open)


def check_search(run: RunRecord) -> Iterator[Finding]:
    """The search kept to what its plan says of merges, of proposals at once and of acceptance."""
    settings: Body = {} if run.plan is None else run.plan.body["plan"]["search"]
    if settings.get("engine") != "gepa":
        return
    merge, pool, merges = settings.get("merge"), 1, 0
    at_start: dict[int, int] = {}
    for event in run.steps:
        body, place = event.body, f"seq {event.seq}"
        if event.type == "reflection":
            size = at_start.setdefault(body["iteration"], pool)
            if body["iteration"] > settings["iterations"] or body["call"] > settings.get("parallel", 1):
                yield Finding("error", place, "more proposals than the plan's search makes")
            if not body.get("others"):
                continue
            merges += 1
            if merge is None or merges > merge["at_most"] or size < merge["from_candidates"]:
                yield Finding("error", place, "a merge that the plan's search does not make")
        elif event.type == "outcome" and body["outcome"] == "accepted":
            pool += 1
            gains: Body = body.get("accept_gains", {})
            full = settings.get("acceptance", "promiscuous") == "full"
            if full and (set(gains) != set(body["parents"]) or not all(gain > 0 for gain in gains.values())):
                yield Finding("error", place, "accepted without beating every parent on accept, as the plan asks")


def _undecided(event: Event) -> Finding:
    return Finding("error", f"seq {event.seq}", "a candidate without an outcome")


def _candidate(run: RunRecord, family: _Family, event: Event) -> Iterator[Finding]:
    body, place = event.body, f"seq {event.seq}"
    yield from (_undecided(earlier) for earlier in family.open if earlier.body["iteration"] != body["iteration"])
    family.open = [earlier for earlier in family.open if earlier.body["iteration"] == body["iteration"]]
    if candidate_id(body["texts"]) != body["candidate"]:
        yield Finding("error", place, "the candidate's id is not the hash of its texts")
    if {"seed": 0, "mutation": 1, "merge": 2}.get(body["kind"]) != len(body["parents"]):
        yield Finding("error", place, "a seed has no parents, a mutation has one and a merge two")
    for parent in body["parents"]:
        if parent not in run.candidates:
            yield Finding("error", place, f"its parent {parent[:12]} is no earlier candidate")
        elif parent not in family.pool:
            yield Finding("error", place, f"its parent {parent[:12]} was not accepted")
    if body["kind"] != "seed":
        yield from _reflected(family.reflection, event)
        family.open.append(event)
    elif not run.candidates or is_judging(run):
        family.pool.add(body["candidate"])
    else:
        yield from _further_seed(run, event)
        family.open.append(event)
    run.candidates.setdefault(body["candidate"], event)


def _reflected(reflection: Event | None, event: Event) -> Iterator[Finding]:
    body, place = event.body, f"seq {event.seq}"
    said: Body | None = None if reflection is None else reflection.body
    if said is None or said["reflection"]["text"] not in body["texts"].values():
        yield Finding("error", place, "the candidate's text is not what the reflection before it proposed")
    elif [said["parent"], *said.get("others", ())] != body["parents"] or (
        said["reflection"]["operator"] != body["operator"]
    ):
        yield Finding("error", place, "the candidate's parent or operator is not its reflection's")


def _further_seed(run: RunRecord, event: Event) -> Iterator[Finding]:
    """A seed beside the baseline is one of the plan's; a text in several blocks is put together as files have it."""
    texts = event.body["texts"].values()
    planned = {} if run.plan is None else run.plan.body.get("seeds", {})
    if not any(all(text in written for text in texts) for written in planned.values()):
        yield Finding("error", f"seq {event.seq}", "a seed that the plan does not name")


def _outcome(family: _Family, event: Event) -> Iterator[Finding]:
    body, place = event.body, f"seq {event.seq}"
    proposed = family.decided(body["candidate"])
    if proposed is None:
        yield Finding("error", place, "an outcome without its candidate, or a second one")
        return
    if body["parents"] != proposed.body["parents"] or body["iteration"] != proposed.body["iteration"]:
        yield Finding("error", place, "the outcome's parents or iteration are not its candidate's")
    if body["outcome"] not in ("accepted", "rejected", "invalid"):
        yield Finding("error", place, f"{body['outcome']!r} is not an outcome")
    if body["outcome"] == "accepted":
        family.pool.add(body["candidate"])
        if family.on_accept.get(body["candidate"], -1) < proposed.seq:
            yield Finding("error", place, "an accepted candidate without an evaluation on accept")
