"""The audit of a bundle without texts: what can be checked of it, and in so many words what cannot."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lineage.audit import Finding
from lineage.audit.chain import CAMPAIGN_CHECKS, JUDGING_CHECKS
from lineage.audit.judging import is_judging
from lineage.audit.record import RunRecord
from lineage.bundle import Extracted
from lineage.canonical import canonical_json, digest, json_lines
from lineage.errors import BundleError, HoldgateError
from lineage.ledger import GENESIS, OPERATIONAL, Event
from lineage.records import VOLATILE
from optimize.bundling.withholding import MARK, WITHHELD_LEDGER, segment_hashes
from optimize.recompute.judgements import check_calibration, check_scores
from optimize.recompute.numbers import check_chosen, check_decided, check_measured
from optimize.recompute.outcomes import check_outcomes
from optimize.recompute.recorded import RecordedRun
from splits.corpus import Example
from splits.lock_file import parse_lock

AGAIN: Final = "get the bundle again, or audit the run directory itself"
NUMBERS: Final[tuple[Callable[[RecordedRun], Iterator[Finding]], ...]] = (
    check_calibration,
    check_measured,
    check_outcomes,
    check_chosen,
    check_decided,
)
FROM_VERDICTS: Final = ("per-fact", "per-fact-keyed")
"""Designs whose document scores are made of verdicts that stay in a bundle without texts."""


@dataclass(frozen=True, slots=True)
class _Withheld:
    """A ledger without texts: its events, of which ``hidden`` (by seq, with their places) are not whole."""

    events: tuple[Event, ...]
    hidden: Mapping[int, tuple[str, ...]]


def audit_withheld(found: Extracted, *, head: str | None) -> list[Finding]:
    """Every check that needs no withheld text.

    Args:
        found: the extracted bundle.
        head: a ledger head kept elsewhere, which must be in the chain.
    """
    try:
        ledger = _read(found)
    except BundleError as error:
        return [Finding("error", WITHHELD_LEDGER, str(error), AGAIN)]
    findings = list(_head(found, ledger))
    try:
        events = _with_segments(found, ledger.events)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [*findings, Finding("error", "run/judgements", f"cannot be read ({error!r})", AGAIN)]
    checks = (_structure(found, ledger, events), _numbers(found, events))
    for check in checks:
        try:
            findings += check
        except (HoldgateError, KeyError, TypeError, ValueError, AttributeError, IndexError, StopIteration) as error:
            findings.append(Finding("error", WITHHELD_LEDGER, f"could not be checked: {error!r}", AGAIN))
    if head is not None:
        findings.append(_kept(ledger.events, head))
    return findings + list(_said(found, ledger))


def _read(found: Extracted) -> _Withheld:
    """The events, whose links are checked, and of the whole ones the hashes too.

    Raises:
        BundleError: naming the ``seq`` of the first event that is damaged.
    """
    path = found.directory / WITHHELD_LEDGER
    if not path.is_file():
        raise BundleError("the ledger is missing from the bundle")
    events: list[Event] = []
    hidden: dict[int, tuple[str, ...]] = {}
    prev = GENESIS
    for seq, line in enumerate(path.read_bytes().removesuffix(b"\n").split(b"\n")):
        try:
            row = json.loads(line.decode("utf-8"))
            places = row.pop("withheld", None)
            event = Event(row["seq"], row["at"], row["type"], row["body"], row["prev"], row["hash"])
            whole = {key: value for key, value in event.row().items() if key != "hash"}
            canonical = canonical_json(event.row() if places is None else {**event.row(), "withheld": places})
        except (ValueError, KeyError, TypeError) as error:
            raise BundleError(f"event seq {seq} is not readable ({error!r})") from error
        if event.seq != seq or event.prev != prev or line != canonical.encode("utf-8"):
            raise BundleError(f"event seq {seq} does not follow the one before it (dropped, swapped or edited)")
        if places is None and event.hash != digest(whole):
            raise BundleError(f"event seq {seq} was edited: its hash does not match its content")
        if places is not None and (sorted(set(places)) != places or MARK not in canonical):
            raise BundleError(f"event seq {seq} says that text of it is withheld, and it is not so")
        events.append(event)
        if places is not None:
            hidden[seq] = tuple(places)
        prev = event.hash
    return _Withheld(tuple(events), hidden)


def _head(found: Extracted, ledger: _Withheld) -> Iterator[Finding]:
    stated = found.manifest["head"]
    if (len(ledger.events), ledger.events[-1].hash) != (stated["count"], stated["hash"]):
        yield Finding("error", "bundle.json", "its head is not that of the ledger in the bundle", AGAIN)
    beside = found.run / "ledger.head.json"
    if beside.is_file() and json.loads(beside.read_text(encoding="utf-8")) != stated:
        yield Finding("error", "run/ledger.head.json", "is not the head that the manifest states", AGAIN)
    said = {seq: list(places) for seq, places in ledger.hidden.items()}
    if {str(seq): places for seq, places in said.items()} != found.manifest["withheld"]["events"]:
        yield Finding("error", "bundle.json", "lists other withheld events than the ledger in the bundle has", AGAIN)


def _with_segments(found: Extracted, events: Sequence[Event]) -> tuple[Event, ...]:
    """The events with the hashes of the segments as they are in the bundle, whose checksums the manifest has."""
    patched = []
    for event in events:
        if event.type == "evaluation":
            body = copy.deepcopy(dict(event.body))
            path = found.run / "judgements" / f"{body['segment']['name']}.jsonl"
            hashes = segment_hashes(path.read_bytes())
            body["segment"]["content"] = hashes["content"]
            body["segment"][VOLATILE] = {**body["segment"].get(VOLATILE, {}), "sha256": hashes["sha256"]}
            event = Event(event.seq, event.at, event.type, body, event.prev, event.hash)
        patched.append(event)
    return tuple(patched)


def _structure(found: Extracted, ledger: _Withheld, events: tuple[Event, ...]) -> Iterator[Finding]:
    """The checks of a run directory, but for what is about a text that is not here."""
    run = RunRecord(found.run, events)
    left_out = set(found.manifest["withheld"]["left_out"])
    unknown = {
        f"seq {seq}"
        for seq, places in ledger.hidden.items()
        if any(place.partition(".")[0] in ("texts", "plan", "baseline", "seeds", "verdict") for place in places)
    }
    for check in JUDGING_CHECKS if is_judging(run) else CAMPAIGN_CHECKS:
        for finding in check(run):
            if finding.severity == "error" and (finding.place in left_out or finding.place in unknown):
                continue
            yield finding


def _numbers(found: Extracted, events: tuple[Event, ...]) -> Iterator[Finding]:
    steps = tuple(event for event in events if event.type not in OPERATIONAL)
    if not steps or steps[0].type != "plan" or steps[0].body.get("kind") is not None:
        words = "the numbers of a run that is no campaign are not computed again from a bundle without texts"
        yield Finding("warning", WITHHELD_LEDGER, words, "audit the run directory itself")
        return
    rows = json_lines((found.run / "examples.jsonl").read_text(encoding="utf-8"))
    examples = {
        row["id"]: Example(source="", document="", **{key: value for key, value in row.items() if key != "split"})
        for row in rows
    }
    lock = parse_lock(json.loads((found.run / "split.lock.json").read_text(encoding="utf-8")))
    run = RecordedRun(found.run, steps, examples, lock)
    checks = (check_scores, *NUMBERS) if run.plan["student"]["shape"] in FROM_VERDICTS else NUMBERS
    for check in checks:
        yield from check(run)
    again = "document scores, " if check_scores in checks else ""
    words = f"computed again from the scores: {again}measures, outcomes of proposals, the choice and the verdict"
    yield Finding("info", WITHHELD_LEDGER, words, "nothing to do")
    if check_scores not in checks:
        words = "document scores cannot be computed again from answers, which are withheld"
        yield Finding("warning", "run/judgements", words, "audit the run directory itself")


def _kept(events: Sequence[Event], head: str) -> Finding:
    for event in events:
        if event.hash == head.strip().lower():
            words = f"the kept head is event seq {event.seq}; that earlier texts are as they were cannot be seen here"
            return Finding("info", f"seq {event.seq}", words, "nothing to do")
    words = f"the kept head {head} is the hash of no event: the ledger was rewritten, or the head is another campaign's"
    return Finding("error", WITHHELD_LEDGER, words, AGAIN)


def _said(found: Extracted, ledger: _Withheld) -> Iterator[Finding]:
    """What a reader may and may not conclude."""
    withheld, whole = found.manifest["withheld"], len(ledger.events) - len(ledger.hidden)
    words = (
        f"verified: the checksums of {len(found.members)} files, that all {len(ledger.events)} events follow one "
        f"another up to the head, and the content of the {whole} events that are whole"
    )
    yield Finding("info", WITHHELD_LEDGER, words, "nothing to do")
    segments = sum(1 for count in withheld["segments"].values() if count)
    words = (
        f"cannot be verified: the content of {len(ledger.hidden)} events and {segments} segments of judgements in "
        f"which text is withheld ({withheld['texts']} texts of the corpus): that their numbers are those that were "
        "hashed, what judge and reflector were asked and answered, and that the corpus is the one of its hash"
    )
    yield Finding("warning", WITHHELD_LEDGER, words, "audit the run directory itself, or a bundle with the texts")
    for name, why in withheld["left_out"].items():
        yield Finding("info", f"run/{name}", f"was left out: it {why}", "nothing to do")
