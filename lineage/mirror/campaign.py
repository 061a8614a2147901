"""A campaign's candidates and its decision in MLflow; :mod:`lineage.mirror.layout` says where everything lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from lineage.canonical import pretty_json
from lineage.imported import PUBLISHED
from lineage.ledger import Event
from lineage.mirror.differences import differences
from lineage.mirror.directory import DirectoryWriter
from lineage.mirror.family import Family, Member
from lineage.mirror.layout import JUDGEMENT, TOP, measure_metrics, usage_metrics
from lineage.mirror.registry import LINKED, LONGEST, emitted, prompt_tags, register_prompt
from lineage.mirror.store import RunStore
from lineage.records import VOLATILE, minibatch_gain

HELDOUT: Final = "heldout"


class CampaignWriter(DirectoryWriter):
    """Writes events of a campaign, a trial or a crossed experiment into its runs."""

    def __init__(self, store: RunStore, directory: Path) -> None:
        super().__init__(store, directory)
        self._family = Family()
        self._proposed: Member | None = None
        self._settled: Member | None = None
        self._reflection: Mapping[str, Any] | None = None
        self._told: dict[tuple[int, int], Mapping[str, Any]] = {}
        self._sealed: list[Event] = []
        self._unsaid: list[Event] = []
        self._said: list[Mapping[str, Any]] = []
        self._deciding = ("verdict", "crossed", "finished")
        self._steps |= {
            "candidate": self._candidate,
            "contamination": self._contamination,
            "evaluation": self._evaluation,
            "outcome": self._outcome,
            "measured": self._measured,
            "choice": self._choice,
            "verdict": self._verdict,
            "crossed": self.kept("crossed.json"),
            "examples": self.kept("examples.json"),
            PUBLISHED: self._published,
        }

    def observe(self, event: Event) -> None:
        """Take note of an event, mirrored or not."""
        super().observe(event)
        body = event.body
        if event.type == "reflection":
            self._reflection = body
        elif event.type == "candidate":
            self._proposed = self._family.propose(event)
        elif event.type == "outcome":
            self._settled = self._family.decide(event)
        elif event.type == "contamination" and body["of"] == "reflection":
            self._told[body["iteration"], body["call"]] = body
        elif event.type == "evaluation" and body["split"] == HELDOUT and not self.decided:
            self._sealed.append(event)
        elif event.type == "measured" and body["purpose"] != "accept" and not self.decided:
            self._unsaid.append(event)
        elif event.type == PUBLISHED and body["of"] not in ("accept", "scores"):
            self._said.append(body)

    def mirror(self, event: Event) -> None:
        """Mirror an event that was just observed; once it has decided, what held-out examples came to."""
        if event.type in self._deciding:
            self._judgements(self._sealed)
            for measured in self._unsaid:
                self._measures(measured, measured.body)
        super().mirror(event)

    def after(self, event: Event) -> None:
        """What follows an event, mirrored or not."""
        super().after(event)
        if event.type == "candidate":
            self._reflection = None
        if self.decided:
            self._sealed, self._unsaid = [], []

    # -- the decision --------------------------------------------------------------------------------------------------

    def _choice(self, event: Event, body: Mapping[str, Any]) -> None:
        self.store.text(TOP, "choice.json", pretty_json(dict(body)))
        counts = {name: body[name] for name in ("accepted", "rejected", "invalid")}
        self.store.log(TOP, event, metrics=counts, tags={"winner": body["winner"]})
        for place, standing in enumerate(body["ranking"], start=1):
            member = self._family.meant(standing["candidate"], event)
            numbers = ("paired", "detection", "false_alarm", "threshold")
            metrics = {f"accept.{name}": standing[name] for name in numbers}
            metrics |= {"accept.rank": place, "accept.leads": body["leads"][standing["candidate"]]}
            wins = standing["candidate"] == body["winner"]
            self.store.log(member.key, event, metrics=metrics, tags={"winner": wins})

    def _verdict(self, event: Event, body: Mapping[str, Any]) -> None:
        verdict = body["verdict"]
        self.store.text(TOP, "verdict.json", pretty_json(verdict))
        numbers = {"accept.gain": verdict["accept"]["gain"], "accept.optimism": verdict["accept"].get("optimism")}
        for name, found in verdict.get("heldout", {}).items():
            for number in ("difference", "low", "high", "sign_flip_p") if found is not None else ():
                numbers[f"heldout.{name}.{number}"] = found.get(number)
        tags = {name: verdict[name] for name in ("decision", "reason", "confirmatory", "exploratory")}
        self.store.log(TOP, event, metrics=numbers, tags={**tags, "verdict_hash": body["verdict_hash"]})
        winner = self._family.meant(verdict["winner"], event)
        words = [f"**{verdict['decision']}**: {verdict['reason']}", *verdict["words"], f"Winner: {self._link(winner)}"]
        if emitted(body):
            words.append(self._registered(event, body, winner))
        self.store.note(TOP, "\n\n".join(words))

    def _registered(self, event: Event, body: Mapping[str, Any], winner: Member) -> str:
        text = _written(winner.texts)
        if len(text) > LONGEST:
            said = f"not registered: {len(text)} characters are more than the registry takes"
            self.store.log(TOP, event, tags={"prompt": said})
            return said
        tags = {**prompt_tags(body), "campaign": self.campaign, "run_id": self.store.runs[TOP]}
        found = register_prompt(
            self.store.client,
            name=str(self.plan["name"]),
            text=text,
            tags=tags,
            experiment=self.store.experiment_id,
        )
        for key in (TOP, winner.key):
            self.store.log(key, event, tags={"prompt": found})
            self.store.mark(key, LINKED, found.link)
        return f"Prompt: [{found}](#/prompts/{found.name})"

    def _spend(self, event: Event, body: Mapping[str, Any]) -> None:
        """Of the campaign, and of each of its candidates."""
        super()._spend(event, body)
        paid: dict[str, list[Mapping[str, Any]]] = {}
        for row in body[VOLATILE].get("candidates", ()):
            paid.setdefault(row["candidate"], []).append(row["usage"])
        known = {member.candidate for member in self._family}
        for candidate, usages in paid.items():
            if candidate in known:  # a call that judged nobody is charged to none
                key = self._family.meant(candidate, event).key
                self.store.log(key, event, metrics=usage_metrics("spend", usages))

    def _published(self, event: Event, body: Mapping[str, Any]) -> None:
        """What the source of an imported lineage says of it; nothing of that was measured here."""
        if body["of"] not in ("accept", "scores"):
            self.store.text(TOP, "published.json", pretty_json([dict(said) for said in self._said]))
            return
        key = self._family.meant(body["candidate"], event).key
        if body["of"] == "accept":
            metrics = {f"accept.{name}": value for name, value in body["measures"].items()}
            self.store.log(key, event, metrics=metrics)
        else:
            rows = sorted(body["scores"].items())
            self.store.table(key, f"scores/{body['split']}.json", ("example", "score"), rows)

    # -- candidates ----------------------------------------------------------------------------------------------------

    def _candidate(self, event: Event, body: Mapping[str, Any]) -> None:
        member = self._proposed
        assert member is not None, "it was observed"
        tags = {name: body[name] for name in ("candidate", "operator", "iteration")}
        tags |= {"candidate_kind": body["kind"], "name": member.name, "parents": ",".join(body["parents"])}
        tags |= {"parent_runs": ",".join(self.store.runs[parent.key] for parent in member.parents)}
        note = self._described(member, body["operator"])
        tags |= {"kind": "candidate", "outcome": member.outcome, **self.marks}
        self.store.open(member.key, member.name, event, tags, note=note)
        words = sum(len(text.split()) for text in body["texts"].values()) if body["texts"] else None
        self.store.log(member.key, event, metrics={"words": words})
        if "hashes" in body:  # an imported candidate: a text that its source lacks is known by its hash alone
            self.store.text(member.key, "hashes.json", pretty_json(dict(body["hashes"])))
            self.store.log(member.key, event, tags={"target": body["target"]})
        for name, text in body["texts"].items():
            self.store.text(member.key, f"{name}.md", text)
        for parent in member.parents:
            if parent.texts and body["texts"]:
                self.store.text(member.key, f"diff/{parent.name}.txt", differences(parent.texts, body["texts"]))
        if self._reflection is not None:
            self._reflected(member, self._reflection)

    def _reflected(self, member: Member, body: Mapping[str, Any]) -> None:
        self.store.text(member.key, "reflection/reflection.json", pretty_json(dict(body)))
        for part in ("prompt", "answer"):
            if (text := body["reflection"].get(part)) is not None:
                self.store.text(member.key, f"reflection/{part}.md", text)
        if (found := self._told.get((body["iteration"], body.get("call", 1)))) is not None:
            self.store.text(member.key, "reflection/contamination.json", pretty_json(dict(found)))

    def _contamination(self, event: Event, body: Mapping[str, Any]) -> None:
        if body["of"] == "splits":
            self.store.text(TOP, "contamination.json", pretty_json(dict(body)))
        elif body["of"] == "candidate":
            member = self._proposed or self._family.meant(body["candidate"], event)
            self.store.text(member.key, "contamination.json", pretty_json(dict(body)))
            self.store.log(member.key, event, tags={"contamination": len(body["findings"])})

    def _evaluation(self, event: Event, body: Mapping[str, Any]) -> None:
        """Judgements, where they may be seen yet; the seed's run ends with its first evaluation on accept."""
        if body["split"] == HELDOUT and not self.decided:
            return
        found = self._judgements([event])
        if body["purpose"] != "accept":
            return
        for candidate, rows in found.items():
            member = self._family.meant(candidate, event)
            scores = [[row[0], row[JUDGEMENT.index("score")]] for row in rows]
            self.store.table(member.key, "scores/accept.json", ("example", "score"), scores)
            failed = sum(score is None for _, score in scores)
            self.store.log(member.key, event, metrics={"accept.failed": failed})
            if member.outcome == "seed":
                self.store.end(member.key, event)

    def _judgements(self, evaluations: Sequence[Event]) -> dict[str, list[list[Any]]]:
        """Write tables of judgements; the rows of the last evaluation, by candidate."""
        found: dict[str, list[list[Any]]] = {}
        for event in evaluations:
            found = self.rows.by_candidate(event)
            for candidate, rows in found.items():
                key = self._family.meant(candidate, event).key
                file = f"judgements/{event.body['segment']['name']}.json"
                self.store.table(key, file, JUDGEMENT, rows, listed=event.body["split"] != "reflect")
        return found

    def _outcome(self, event: Event, body: Mapping[str, Any]) -> None:
        member = self._settled
        assert member is not None, "it was observed"
        before, after = body.get("parent_rewards", {}), body.get("child_rewards", {})
        rows = [[example, before.get(example), after[example]] for example in sorted(after)]
        self.store.text(member.key, "outcome.json", pretty_json(dict(body)))
        if rows:
            self.store.table(member.key, "scores/minibatch.json", ("example", "parent", "child"), rows)
        gain = minibatch_gain(before, after) if rows else None
        metrics = {"minibatch.gain": gain, "minibatch.examples": len(rows) or None}
        tags = {"outcome": body["outcome"], "reason": body["reason"]}
        self.store.log(member.key, event, metrics=metrics, tags=tags)
        self.store.note(member.key, self._described(member, None, body["reason"]))
        self.store.end(member.key, event)

    def _measured(self, event: Event, body: Mapping[str, Any]) -> None:
        """Measures, where they may be seen yet."""
        if body["purpose"] == "accept" or self.decided:
            self._measures(event, body)

    def _measures(self, event: Event, body: Mapping[str, Any]) -> None:
        if self.kind == "experiment":  # its measures are of a setting each, which the event does not name
            return
        member, purpose = self._family.meant(body["candidate"], event), body["purpose"]
        split = "accept" if purpose == "accept" else f"{HELDOUT}.{purpose}"
        self.store.log(member.key, event, metrics=measure_metrics(split, body["measures"]))
        self.store.text(member.key, f"measures/{purpose}.json", pretty_json(dict(body["measures"])))
        if purpose != "accept":
            self.store.log(TOP, event, metrics=measure_metrics(f"{split}.{member.arm}", body["measures"]))

    def _described(self, member: Member, operator: str | None, reason: str | None = None) -> str:
        """A run's description, with links to the runs of the parents."""
        words = [f"**{member.outcome}**" + (f": {reason}" if reason else "")]
        if member.parents:
            words.append("from " + " and ".join(self._link(parent) for parent in member.parents))
        if operator is not None:
            words.append(f"by {operator}")
        return "  \n".join(words)

    def _link(self, member: Member) -> str:
        run = self.store.runs[member.key]
        return f"[{member.name}](#/experiments/{self.store.experiment_id}/runs/{run})"


def _written(texts: Mapping[str, str]) -> str:
    """One text: the instruction itself, or a headed section for each of several blocks, as in ``prompt.md``."""
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "\n\n".join(f"## {name}\n{text}" for name, text in texts.items())
