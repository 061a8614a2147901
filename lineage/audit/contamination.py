"""What the campaign itself found of accept and held-out text where it must not be, and of leaking splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from lineage.audit.record import Finding, RunRecord

_KINDS: Final[Mapping[str, str]] = {
    "ngram": "copies {count} run(s) of words",
    "passage": "nearly repeats a passage",
    "answer_key": "states {count} fact(s) or changed sentence(s)",
    "name": "names {count} example(s) or group(s)",
}


def check_contamination(run: RunRecord) -> Iterator[Finding]:
    """Every recorded finding is a warning: the ledger is in order, and its numbers may be too good."""
    for event in run.all("contamination"):
        body, place = event.body, f"seq {event.seq}"
        for row in body["findings"]:
            if body["of"] == "splits":
                a, b = (
                    f"{_spelt(split)} group {name}" for name, split in zip(row["groups"], row["splits"], strict=True)
                )
                words = f"{a} and {b} are near-duplicates (similarity {row['similarity']:g})"
                yield Finding("warning", place, words, "commit a split with --unite near-duplicates")
                continue
            yield Finding("warning", place, f"{_subject(body)} {overlap_words(row)}", _remedy(run, body))


def overlap_words(row: Mapping[str, Any]) -> str:
    """A finding about a text, in words."""
    said = _KINDS.get(row["kind"], row["kind"]).format(count=row["count"])
    share = "" if row["share"] is None else f", {100 * row['share']:.0f}% of it"
    groups = ", ".join(row["groups"][:5]) + (f" and {len(row['groups']) - 5} more" if len(row["groups"]) > 5 else "")
    return f"{said} of {_spelt(row['split'])} text (groups {groups}; longest {row['words']} words{share})"


def _spelt(split: str) -> str:
    return "held-out" if split == "heldout" else split


def _subject(body: Mapping[str, Any]) -> str:
    if body["of"] == "candidate":
        return f"candidate {body['candidate'][:12]}"
    return f"the request to the reflector in iteration {body['iteration']}"


def _remedy(run: RunRecord, body: Mapping[str, Any]) -> str:
    outcomes = [event.body for event in run.all("outcome") if event.body["candidate"] == body.get("candidate")]
    if any(outcome["outcome"] == "invalid" for outcome in outcomes):
        return "nothing to do: the candidate is invalid and was not judged"
    return "do not rely on the comparison; begin again with a baseline and a split that do not hold that text"
