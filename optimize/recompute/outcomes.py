"""Outcomes of proposals: rewards on the minibatch and on accept, and what they decide under the plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lineage.audit import Finding
from lineage.canonical import digest
from lineage.errors import LedgerError
from lineage.ledger import Event
from lineage.records import minibatch_gain
from optimize.evaluation import Evaluation, n_rewarded
from optimize.objectives import coverage
from optimize.recompute.comparing import compared
from optimize.recompute.recorded import RecordedRun, rewards_of
from optimize.recompute.rivals import check_rival_outcomes

Rewards = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Decision:
    """An outcome with the events that it rests on."""

    outcome: Event
    candidate: Event
    reflection: Event | None

    @property
    def child(self) -> str:
        """Id of the candidate."""
        return str(self.candidate.body["candidate"])


def check_outcomes(run: RecordedRun) -> Iterator[Finding]:
    """Rewards of parent and child on the minibatch, and what they decide; that of gepa's engine alone is known here."""
    if run.plan["search"].get("engine", "gepa") != "gepa":
        yield from check_rival_outcomes(run)
        return
    for decision in _decisions(run):
        body = decision.outcome.body
        if decision.reflection is None:
            yield from compared(decision.outcome, [body["parent_rewards"], body["child_rewards"]], [{}, {}])
            yield from _on_accept_too(run, decision, "a seed of the plan")
            continue
        found = _on_minibatch(run, decision, decision.child, after=decision.candidate)
        if found is None:
            recorded = [body["parent_rewards"], body["child_rewards"], body["outcome"]]
            yield from compared(decision.outcome, recorded, [{}, {}, "invalid"])
            continue
        theirs = _on_minibatch(run, decision, decision.reflection.body["parent"], before=decision.reflection)
        if theirs is None:
            raise LedgerError(f"seq {decision.outcome.seq}: an outcome without its parent's minibatch before it")
        child, parent = rewards_of(run, found), rewards_of(run, theirs)
        common = sorted(child.keys() & parent.keys())
        child, parent = {name: child[name] for name in common}, {name: parent[name] for name in common}
        yield from compared(decision.outcome, body["child_rewards"], child)
        yield from compared(decision.outcome, body["parent_rewards"], parent)
        gain = minibatch_gain(parent, child)
        said = f"minibatch reward {gain:+.4f}"
        if coverage(len(common), n_rewarded(found.examples)) < run.plan["gate"]["coverage"]:
            yield from compared(decision.outcome, body["outcome"], "invalid")
        elif not gain > 0:
            yield from compared(decision.outcome, [body["outcome"], body["reason"]], ["rejected", said])
        else:
            yield from _on_accept_too(run, decision, said)


def _decisions(run: RecordedRun) -> Iterator[_Decision]:
    """Each outcome with its candidate, the latest of that text that is open, and the reflection that proposed it."""
    reflection: Event | None = None
    proposed: list[tuple[Event, Event | None]] = []
    for event in run.events:
        if event.type == "reflection":
            reflection = event
        elif event.type == "candidate":
            proposed.append((event, None if event.body["kind"] == "seed" else reflection))
        elif event.type == "outcome":
            place = max(at for at, (one, _) in enumerate(proposed) if one.body["candidate"] == event.body["candidate"])
            yield _Decision(event, *proposed.pop(place))


def _on_minibatch(
    run: RecordedRun, decision: _Decision, candidate: str, *, before: Event | None = None, after: Event | None = None
) -> Evaluation | None:
    """The nearest evaluation of a candidate on the reflection's minibatch, before one event or after another."""
    assert decision.reflection is not None
    wanted = digest(sorted(decision.reflection.body["minibatch"]))
    last = (before or decision.outcome).seq
    first = -1 if after is None else after.seq
    for event in reversed(run.judged("minibatch", candidate=candidate)):
        if event.seq <= first:
            return None
        if event.seq < last and event.body["candidates"] == [candidate] and event.body["examples"]["hash"] == wanted:
            return run.evaluations(event)[0]
    return None


def _on_accept_too(run: RecordedRun, decision: _Decision, said: str) -> Iterator[Finding]:
    """What accept decides of a candidate that passed on its minibatch, or that is a seed."""
    outcome, body = decision.outcome, decision.outcome.body
    evaluation = _on_accept(run, decision.child, before=outcome)
    if evaluation is None:
        if decision.reflection is not None or body["outcome"] != "invalid":
            yield from compared(outcome, body["outcome"], "judged on accept")
        return
    rewards = rewards_of(run, evaluation)
    share = coverage(len(rewards), n_rewarded(evaluation.examples))
    if share < run.plan["gate"]["coverage"]:
        expected: list[Any] = ["invalid", f"only {share:.0%} of accept examples scored"]
        yield from compared(outcome, [body["outcome"], body["reason"]], expected)
        return
    expected = ["accepted", said]
    if run.plan["search"].get("acceptance", "promiscuous") == "full":
        gains = {parent: _gain(run, parent, rewards, outcome) for parent in body["parents"]}
        yield from compared(outcome, body.get("accept_gains"), gains)
        if gains and not min(gains.values()) > 0:
            expected = ["rejected", f"accept reward {min(gains.values()):+.4f}"]
    yield from compared(outcome, [body["outcome"], body["reason"]], expected)


def _gain(run: RecordedRun, parent: str, rewards: Rewards, outcome: Event) -> float:
    theirs = _on_accept(run, parent, before=outcome)
    if theirs is None:
        raise LedgerError(f"seq {outcome.seq}: an outcome without its parent's evaluation on accept before it")
    known = rewards_of(run, theirs)
    both = [example for example in rewards if example in known]
    return minibatch_gain(*({example: side[example] for example in both} for side in (known, rewards)))


def _on_accept(run: RecordedRun, candidate: str, *, before: Event) -> Evaluation | None:
    for event in run.judged("accept", candidate=candidate):
        if event.seq < before.seq and event.body["candidates"] == [candidate]:
            return run.evaluations(event)[0]
    return None
