"""The outcomes of a rival engine's candidates: their rewards are ours, what the engine made of them is its own."""

from __future__ import annotations

from collections.abc import Iterator

from lineage.audit import Finding
from lineage.ledger import Event
from optimize.objectives import coverage
from optimize.recompute.comparing import REMEDY, compared
from optimize.recompute.recorded import RecordedRun, rewards_of


def check_rival_outcomes(run: RecordedRun) -> Iterator[Finding]:
    """Rewards of parent and child on the minibatch, and whether an accepted candidate had enough of them on accept."""
    for event in run.all("outcome"):
        body = event.body
        for recorded, candidate in (("parent_rewards", body["parents"][0]), ("child_rewards", body["candidate"])):
            known = _judged(run, event, candidate, "minibatch")
            yield from compared(
                event, body[recorded], {name: known[name] for name in sorted(body[recorded]) if name in known}
            )
        if body["outcome"] == "accepted":
            rewarded = len(_judged(run, event, body["candidate"], "accept"))
            of = run.judged("accept")[0].body["examples"]["count"]
            if coverage(rewarded, of) < run.plan["gate"]["coverage"]:
                words = f"accepted with {rewarded} of {of} accept examples scored, below the plan's coverage"
                yield Finding("error", f"seq {event.seq} outcome", words, REMEDY)


def _judged(run: RecordedRun, before: Event, candidate: str, purpose: str) -> dict[str, float]:
    """Rewards of a candidate from every evaluation for a purpose before an event."""
    found: dict[str, float] = {}
    for event in run.judged(purpose, candidate=candidate):
        if event.seq < before.seq:
            for evaluation in run.evaluations(event):
                if evaluation.candidate == candidate:
                    found |= rewards_of(run, evaluation)
    return found
