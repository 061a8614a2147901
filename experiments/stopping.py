"""What a campaign that a limit stopped has paid for, and what it would take to go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from experiments.loading import LoadedPlan
from experiments.sizing import PlanSize, plan_size
from lineage.canonical import write_atomic
from lineage.ledger import Event, read_events
from lineage.records import VOLATILE, Usage
from lineage.segments import read_segment
from optimize.campaign import STOPPED
from optimize.search_plan import SearchPlan

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stopped:
    """A stopped campaign.

    Attributes:
        reason: why, as the ledger has it.
        limit: the limit that was reached, as the plan names it, or None where something else stopped it.
        paid: what was paid for, by role and phase.
        unanswered: the most that may have been paid for calls without an answer.
        needed: the most calls that are still needed, as if every further proposal were accepted.
        limits: the limits that were in force.
    """

    reason: str
    limit: str | None
    paid: Mapping[tuple[str, str], Usage]
    unanswered: Usage
    needed: PlanSize
    limits: Row

    def of_role(self, role: str | None) -> Usage:
        """What a role paid for, or all roles."""
        return sum((usage for (name, _), usage in self.paid.items() if role in (None, name)), Usage())

    def calls_needed(self, role: str | None) -> int:
        """The most calls that a role still needs, or all roles."""
        by_role = {"student": self.needed.student, "reflector": self.needed.reflector}
        return sum(by_role.values()) if role is None else by_role[role]


def read_stop(loaded: LoadedPlan, directory: Path) -> Stopped:
    """The last stop of a campaign, from its run directory."""
    events = read_events(directory / "ledger.jsonl")
    body = next(event.body[VOLATILE] for event in reversed(events) if event.type == "stopped")
    paid = {tuple(name.split(" ", 1)): Usage(**row) for name, row in body["paid"].items()}
    return Stopped(
        body["reason"],
        body["limit"],
        {(role, phase): usage for (role, phase), usage in paid.items()},
        Usage(**body["unanswered"]),
        still_needed(plan_size(loaded), loaded.plan.search, events, directory / "judgements", paid),
        body["limits"],
    )


def still_needed(
    size: PlanSize, search: SearchPlan, events: Sequence[Event], segments: Path, paid: Mapping[tuple[str, ...], Usage]
) -> PlanSize:
    """The most calls that a campaign still needs: those of the plan, less what is done and what was found so far.

    Args:
        size: most calls of the whole plan.
        search: the plan's search.
        events: the ledger so far.
        segments: directory of its judgements.
        paid: what was paid for, by role and phase.
    """
    bodies = [event.body for event in events if event.type == "evaluation"]
    choice = next((event.body for event in events if event.type == "choice"), None)
    decided = [event.body["iteration"] for event in events if event.type == "outcome"]
    done, proposals = sum(iteration > 0 for iteration in decided), search.iterations * search.parallel
    left = 0 if choice is not None else proposals - done
    seeds = 0 if choice is not None else len(search.seeds) - decided.count(0)
    a_batch = size.minibatches // max(proposals, 1)
    an_accept = size.accept // max(proposals + len(search.seeds), 1)
    present = done // search.parallel + 1
    judged = {body["purpose"] for body in bodies}
    nothing_found = choice is not None and choice["winner"] == next(
        event.body["candidate"] for event in events if event.type == "candidate"
    )

    def begun(*purposes: str) -> int:
        """Calls that were paid for evaluations which are not complete."""
        answered = sum(
            judgement.usage.calls
            for body in bodies
            if body["purpose"] in purposes
            for judgement in read_segment(segments, body["segment"])
        )
        return max(sum(paid.get(("student", purpose), Usage()).calls for purpose in purposes) - answered, 0)

    seeded = bool(judged & {"calibrate", "accept"})
    # What of the present iteration belongs to proposals that are not decided yet: each takes two halves of a minibatch.
    halves = sum(body["purpose"] == "minibatch" and body["iteration"] == present for body in bodies)
    halves = min(max(halves - 2 * decided.count(present), 0), 2 * left)
    reflected = sum(event.type == "reflection" and event.body["iteration"] == present for event in events)
    reflected = max(reflected - decided.count(present), 0)
    needed = PlanSize(
        calibrate=0 if seeded else size.calibrate - begun("calibrate", "accept"),
        baseline=0 if "baseline" in judged else size.baseline - begun("baseline"),
        minibatches=left * a_batch - halves * a_batch // 2 - begun("minibatch"),
        accept=(left + seeds) * an_accept - (begun("accept") if seeded else 0),
        confirm=0 if "confirm" in judged or nothing_found else size.confirm - begun("confirm"),
        reflector=min(left, size.reflector) - min(reflected, size.reflector),
        equal_budget=0 if "equal-budget" in judged or nothing_found else size.equal_budget - begun("equal-budget"),
    )
    return replace(needed, **{name: max(getattr(needed, name), 0) for name in PlanSize.__dataclass_fields__})


def enough(stop: Stopped) -> tuple[tuple[str, str, str], ...]:
    """Each limit in force, with what it is and what would be enough to finish; tokens and money at the mean so far."""
    rows = []
    for role in (None, "student", "reflector"):
        limits = stop.limits if role is None else stop.limits[role]
        for name in ("calls", "tokens", "usd"):
            limit = limits[name]
            if limit is not None:
                shown = f"{limit:.10g}"
                rows.append((".".join(("limits", *([role] if role else []), name)), shown, _enough(stop, role, name)))
    return tuple(rows)


def _enough(stop: Stopped, role: str | None, name: str) -> str:
    usage = stop.of_role(role) + (stop.unanswered if role is None else Usage())
    if name == "calls":
        return f"{usage.calls + stop.calls_needed(role)}"
    total = 0.0
    for one in ("student", "reflector") if role is None else (role,):
        of_role, needed = stop.of_role(one), stop.calls_needed(one)
        spent = of_role.prompt_tokens + of_role.completion_tokens if name == "tokens" else of_role.cost_usd
        if needed and (not of_role.calls or spent is None):
            return f"not known: no call of the {one} is paid yet"
        total += (spent or 0.0) / max(of_role.calls, 1) * (needed + of_role.calls)
    if role is None:
        lost = stop.unanswered
        total += lost.prompt_tokens + lost.completion_tokens if name == "tokens" else lost.cost_usd or 0.0
    return f"about {total:.0f}" if name == "tokens" else f"about {total:.4f}"


def stop_words(stop: Stopped, directory: Path) -> str:
    """What a terminal says of a stop."""
    paid = ", ".join(f"{role} {phase} {_words(usage)}" for (role, phase), usage in stop.paid.items()) or "nothing"
    lines = [stop.reason, f"paid so far: {paid}"]
    if stop.unanswered.calls:
        lines.append(f"perhaps paid without an answer, at most: {_words(stop.unanswered)}")
    lines.append(
        f"to go on: at most {stop.calls_needed(None)} calls more, if every proposal is accepted"
        + "".join(f"; {name} {value} is enough" for name, _, value in enough(stop) if not value.startswith("not"))
    )
    return "\n".join([*lines, f"all of it: {directory / STOPPED}"])


def write_stop(stop: Stopped, loaded: LoadedPlan, directory: Path) -> Path:
    """Write ``stopped.md``, which a resumed campaign removes."""
    needed = [*stop.needed.rows(), *([("reflector", stop.needed.reflector)] if stop.needed.reflector else [])]
    lines = [
        f"# Stopped: {stop.limit or loaded.plan.name}",
        "",
        f"{stop.reason}.",
        "",
        "## Paid so far",
        "",
        *_table(
            ("role", "phase", "calls", "prompt tokens", "completion tokens", "US dollars"),
            [(role, phase, *_cells(usage)) for (role, phase), usage in stop.paid.items()],
        ),
    ]
    if stop.unanswered.calls:
        lines += [f"Perhaps paid without an answer, at most: {_words(stop.unanswered)}.", ""]
    lines += [
        "## What it would take to go on",
        "",
        "At most, as if every further proposal were accepted and nothing more were found in the cache:",
        "",
        *_table(("phase", "calls"), [(name, f"{calls}") for name, calls in needed]),
    ]
    if rows := enough(stop):
        lines += _table(("limit", "now", "enough to finish"), list(rows))
    lines += [
        f"Raise the limit that was reached in {loaded.path}, and give the same command to go on: limits are no part of",
        "what was registered. Nothing that was paid for is paid for again. Wall time begins anew with each process.",
        "",
    ]
    path = directory / STOPPED
    write_atomic(path, "\n".join(lines))
    return path


def _cells(usage: Usage) -> tuple[str, str, str, str]:
    money = "no price" if usage.cost_usd is None else f"{usage.cost_usd:.4f}"
    return f"{usage.calls}", f"{usage.prompt_tokens}", f"{usage.completion_tokens}", money


def _words(usage: Usage) -> str:
    money = "" if usage.cost_usd is None else f", {usage.cost_usd:.4f} USD"
    return f"{usage.calls} calls ({usage.prompt_tokens + usage.completion_tokens} tokens{money})"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows)] + [""]
