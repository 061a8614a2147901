"""What search, reflector and record were not to see: examples outside their split, and held-out text anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from lineage.audit.record import Finding, RunRecord
from lineage.canonical import digest
from lineage.records import ABSTAINED, REASONS

SEARCHED_AGAIN: Final = "search again; nothing that it found is to be relied on"


def check_blindness(run: RunRecord) -> Iterator[Finding]:
    """The reflector read reflect examples alone, and the record of held-out judgements holds no text of theirs."""
    minibatches = {event.body["examples"]["hash"] for event in run.all("evaluation") if _is_minibatch(event.body)}
    for event in run.all("reflection"):
        listed = [run.examples.get(example) for example in event.body["minibatch"]]
        outside = sum(row is None or row["split"] != "reflect" for row in listed) if run.examples else 0
        if outside:
            words = f"the reflector was shown {outside} examples that are not in reflect"
            yield Finding("error", f"seq {event.seq}", words, SEARCHED_AGAIN)
        rival = "engine" in event.body["reflector"]  # one judges its minibatches in parts, or has none
        if not rival and digest(sorted(event.body["minibatch"])) not in minibatches:
            yield Finding("error", f"seq {event.seq}", "the reflector was shown examples that no minibatch is of")
    for event in run.all("evaluation"):
        if event.body["split"] == "heldout":
            for reason in event.body["failures"]:
                if reason not in (*REASONS, ABSTAINED):
                    words = "why a held-out judgement failed is stated beyond its kind, which may quote the example"
                    yield Finding("error", f"seq {event.seq}", words)
    for event in run.all("outcome"):
        body = event.body
        rewarded = {*body["parent_rewards"], *body["child_rewards"]}
        if run.examples and any(run.examples.get(name, {}).get("split") != "reflect" for name in rewarded):
            words = "an outcome by rewards of examples outside reflect"
            yield Finding("error", f"seq {event.seq}", words, SEARCHED_AGAIN)
    looked = [event for event in run.all("contamination") if event.body["of"] == "splits"]
    if run.all("candidate") and not looked:
        words = "nobody looked for near-duplicates between the splits, nor for copied text in candidates"
        yield Finding("warning", "ledger.jsonl", words, "audit with the version that it was made with; or run it again")
    for event in looked:
        if run.plan is not None and event.body.get("lock_hash") != run.plan.body["lock_hash"]:
            words = "near-duplicates were looked for in another split than the plan's"
            yield Finding("error", f"seq {event.seq}", words)


def _is_minibatch(body: Mapping[str, Any]) -> bool:
    return bool(body["purpose"] == "minibatch")
