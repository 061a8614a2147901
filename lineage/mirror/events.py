"""What each type of event becomes in MLflow: metrics, parameters, tags and whole texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lineage.canonical import pretty_json
from lineage.ledger import Event
from lineage.mirror.store import RunStore
from lineage.openings import is_look
from lineage.records import minibatch_gain
from lineage.segments import read_segment
from lineage.tree import TreeRow, tree_rows


class EventWriter:
    """Writes events of one campaign into its runs.

    Args:
        store: the runs.
        directory: the run directory, for its judgements.
    """

    def __init__(self, store: RunStore, directory: Path) -> None:
        self._store, self._directory = store, directory
        self._rows: list[TreeRow] = []
        self._reflection: Mapping[str, Any] | None = None
        self._decided = False

    def mirror(self, event: Event, past: Sequence[Event]) -> None:
        """Mirror an event; ``past`` are the campaign's events up to it, itself included.

        Raises:
            LedgerError: a judgement segment that belongs to the event is damaged.
        """
        body = event.body
        self._reflection = next((seen.body for seen in reversed(past) if seen.type == "reflection"), None)
        step: Callable[[Event, Mapping[str, Any]], None] | None = {
            "plan": self._plan,
            "candidate": self._candidate,
            "evaluation": self._evaluation,
            "outcome": self._outcome,
            "measured": self._measured,
            "seal_opened": self._opened,
            "choice": self._choice,
            "verdict": self._verdict,
        }.get(event.type)
        self._decided = any(seen.type == "verdict" for seen in past)
        if step is not None:
            self._rows = tree_rows(past)
            step(event, body)
        self._store.log("campaign", event, tags={"ledger.count": event.seq + 1, "ledger.hash": event.hash})
        if event.type == "finished":
            self._store.log("campaign", event, tags={"decision": body["decision"]})
            self._store.end("campaign", event)

    def _plan(self, event: Event, body: Mapping[str, Any]) -> None:
        tags = {name: body[name] for name in ("plan_hash", "lock_hash", "corpus_hash", "simulated", "exploratory")}
        self._store.open("campaign", f"{body['plan']['name']} {event.hash[:8]}", event, {"kind": "campaign", **tags})
        self._store.log("campaign", event, params=dict(_flat(body["plan"])))
        self._store.text("campaign", "plan.json", pretty_json(body["plan"]))

    def _candidate(self, event: Event, body: Mapping[str, Any]) -> None:
        row, key = self._rows[-1], str(event.seq)
        parents = [str(self._store.state["runs"][str(seq)]) for seq in row.parent_seqs]
        tags = {name: body[name] for name in ("candidate", "kind", "operator", "iteration")}
        tags |= {"name": row.name, "parents": ",".join(body["parents"]), "parent_runs": ",".join(parents)}
        self._store.open(key, row.name, event, {**tags, "outcome": row.outcome})
        self._store.log(key, event, metrics={"words": row.words})
        for name, text in body["texts"].items():
            self._store.text(key, f"{name}.md", text)
        if body["kind"] == "seed" or self._reflection is None:
            return
        self._store.text(key, "reflection/reflection.json", pretty_json(dict(self._reflection)))
        for part in ("prompt", "answer"):
            if (text := self._reflection["reflection"][part]) is not None:
                self._store.text(key, f"reflection/{part}.md", text)

    def _evaluation(self, event: Event, body: Mapping[str, Any]) -> None:
        """Per-example scores on accept; held-out scores stay in their segments."""
        if body["purpose"] != "accept":
            return
        judged = read_segment(self._directory / "judgements", body["segment"])
        for candidate in body["candidates"]:
            row = self._row(candidate)
            scores = {judgement.example: judgement.score for judgement in judged if judgement.candidate == candidate}
            self._store.text(str(row.seq), "scores/accept.json", pretty_json(scores))
            failed = sum(score is None for score in scores.values())
            self._store.log(str(row.seq), event, metrics={"accept.failed": failed})
            if row.outcome == "seed":
                self._store.end(str(row.seq), event)

    def _outcome(self, event: Event, body: Mapping[str, Any]) -> None:
        came = body["candidate"], body["outcome"], body["reason"]
        key = str(next(row.seq for row in self._rows[::-1] if (row.candidate, row.outcome, row.reason) == came))
        rewards = {name: body[name] for name in ("parent_rewards", "child_rewards")}
        self._store.text(key, "scores/minibatch.json", pretty_json(rewards))
        gain = minibatch_gain(*rewards.values()) if body["child_rewards"] else None
        tags = {"outcome": body["outcome"], "reason": body["reason"]}
        self._store.log(key, event, metrics={"minibatch.gain": gain}, tags=tags)
        self._store.end(key, event)

    def _measured(self, event: Event, body: Mapping[str, Any]) -> None:
        row = self._row(body["candidate"])
        measures = {"omissions": body["measures"]["omissions"], "commissions": body["measures"]["commissions"]}
        measures |= {f"omissions.{trace}": found for trace, found in body["measures"]["by_trace"].items()}
        flat = {
            f"{name}{suffix}": found[number]
            for name, found in measures.items()
            for suffix, number in (("", "value"), (".low", "low"), (".high", "high"), (".failed", "failed"))
        }
        on_accept = body["purpose"] == "accept"
        first = "accept" if on_accept else f"heldout.{body['purpose']}"
        self._store.log(str(row.seq), event, metrics={f"{first}.{name}": value for name, value in flat.items()})
        if not on_accept:
            arm = "baseline" if row.outcome == "seed" else "winner"
            self._store.log("campaign", event, metrics={f"{first}.{arm}.{name}": value for name, value in flat.items()})

    def _opened(self, event: Event, body: Mapping[str, Any]) -> None:
        """An exploratory opening marks the campaign at once; one after the verdict is only noted."""
        if not is_look(event):
            return
        looked = f"{body['purpose']}: {body['exploratory']}"
        marks = {"opened_after_verdict": looked} if self._decided else {"exploratory": looked, "confirmatory": False}
        self._store.log("campaign", event, tags=marks)

    def _choice(self, event: Event, body: Mapping[str, Any]) -> None:
        self._store.text("campaign", "choice.json", pretty_json(dict(body)))
        self._store.log("campaign", event, metrics={name: body[name] for name in ("accepted", "rejected", "invalid")})
        self._store.log("campaign", event, tags={"winner": body["winner"]})
        for place, standing in enumerate(body["ranking"], start=1):
            key = str(self._row(standing["candidate"]).seq)
            numbers = ("paired", "detection", "false_alarm", "threshold")
            metrics = {f"accept.{name}": standing[name] for name in numbers}
            metrics |= {"accept.rank": place, "accept.leads": body["leads"][standing["candidate"]]}
            self._store.log(key, event, metrics=metrics, tags={"winner": standing["candidate"] == body["winner"]})

    def _verdict(self, event: Event, body: Mapping[str, Any]) -> None:
        verdict = body["verdict"]
        self._store.text("campaign", "verdict.json", pretty_json(verdict))
        numbers = {"accept.gain": verdict["accept"]["gain"], "accept.optimism": verdict["accept"].get("optimism")}
        for name, found in verdict.get("heldout", {}).items():
            for number in ("difference", "low", "high", "sign_flip_p") if found is not None else ():
                numbers[f"heldout.{name}.{number}"] = found[number]
        marks = ("decision", "reason", "confirmatory", "exploratory")
        self._store.log("campaign", event, metrics=numbers, tags={name: verdict[name] for name in marks})

    def _row(self, candidate: str) -> TreeRow:
        """The proposal that a candidate id means; an invalid repetition never does."""
        found = [row for row in self._rows if row.candidate == candidate]
        return next((row for row in found if row.outcome != "invalid"), found[0])


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _flat(item, f"{path}.{name}" if path else str(name))
    else:
        yield path, value
