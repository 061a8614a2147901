"""The whole audit, which begins with the chain of events and its head."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lineage.audit.blindness import check_blindness
from lineage.audit.contamination import check_contamination
from lineage.audit.environment import check_environment
from lineage.audit.family import check_lineage, check_search
from lineage.audit.files import check_evaluations, check_examples, check_registered
from lineage.audit.judging import (
    check_judging_openings,
    check_judging_order,
    check_judging_registered,
    check_table,
    is_judging,
)
from lineage.audit.mirror import check_mirror
from lineage.audit.protocol import check_openings, check_order
from lineage.audit.record import Finding, RunRecord
from lineage.audit.register import check_register
from lineage.audit.result import check_choice, check_prompt, check_state, check_verdict
from lineage.audit.spend import check_spend
from lineage.canonical import pretty_json
from lineage.errors import HoldgateError, LedgerError
from lineage.imported import is_imported
from lineage.ledger import OPERATIONAL, Event, _read, check_head

Check = Callable[[RunRecord], Iterator[Finding]]

CAMPAIGN_CHECKS: Final[tuple[Check, ...]] = (
    check_registered,
    check_examples,
    check_order,
    check_openings,
    check_register,
    check_evaluations,
    check_lineage,
    check_search,
    check_choice,
    check_verdict,
    check_prompt,
    check_blindness,
    check_contamination,
    check_spend,
    check_mirror,
    check_environment,
    check_state,
)
JUDGING_CHECKS: Final[tuple[Check, ...]] = (
    check_judging_registered,
    check_judging_order,
    check_judging_openings,
    check_evaluations,
    check_lineage,
    check_table,
    check_spend,
    check_mirror,
    check_environment,
    check_state,
)


@dataclass(frozen=True, slots=True)
class AuditedLedger:
    """Findings about a run directory, and its verified events, for whoever checks more of it (none if it is broken)."""

    findings: list[Finding]
    events: tuple[Event, ...] = ()


def audit_ledger(directory: Path) -> list[Finding]:
    """Check everything in a run directory that needs no recomputation of numbers.

    Returns:
        Findings in the order of the checks; without an ``error`` among them the directory is what its ledger says.
    """
    return audited_ledger(directory).findings


def audited_ledger(directory: Path) -> AuditedLedger:
    """:func:`audit_ledger`, with the events that it read."""
    path = directory / "ledger.jsonl"
    if not path.is_file():
        words, remedy = "there is no ledger", "give the run directory of a campaign"
        return AuditedLedger([Finding("error", "ledger.jsonl", words, remedy)])
    try:
        events, torn = _read(path)
    except LedgerError as error:
        return AuditedLedger([Finding("error", "ledger.jsonl", str(error))])
    run = RunRecord(directory, events)
    found = list(_head(run, path, torn=torn))
    if is_imported(events):
        return AuditedLedger(found, events)  # what there is to check of it needs its measures: see the audit of numbers
    for check in JUDGING_CHECKS if is_judging(run) else CAMPAIGN_CHECKS:
        found += _guarded(check, run)
    return AuditedLedger(found, events)


def check_kept_head(directory: Path, head: str) -> list[Finding]:
    """Whether a head hash that was kept elsewhere is in the chain: what no rewrite of the whole directory can fake."""
    try:
        events, _ = _read(directory / "ledger.jsonl")
    except LedgerError as error:
        return [Finding("error", "ledger.jsonl", str(error))]
    for event in events:
        if event.hash == head.strip().lower():
            words = f"the kept head is event seq {event.seq}: it and everything before it is as it was"
            return [Finding("info", f"seq {event.seq}", words, "nothing to do")]
    words = f"the kept head {head} is the hash of no event: the ledger was rewritten, or the head is another campaign's"
    return [Finding("error", "ledger.jsonl", words)]


def _guarded(check: Check, run: RunRecord) -> list[Finding]:
    """The findings of one check; a body that lacks what its type must have is a finding too."""
    found: list[Finding] = []
    try:
        found.extend(check(run))
    except (HoldgateError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        checked = check.__name__.removeprefix("check_")
        words = f"a record does not have the form it must have ({checked}: {error!r})"
        found.append(Finding("error", "ledger.jsonl", words))
    return found


def _head(run: RunRecord, path: Path, *, torn: bool) -> Iterator[Finding]:
    if torn:
        words = f"the last line (seq {len(run.events)}) has no terminator: a process was killed while writing it"
        yield Finding("warning", "ledger.jsonl", words, "resume the campaign, which repairs it")
    text = run.text("ledger.head.json")
    try:
        check_head(path, run.events)
        if text is not None and text != pretty_json(json.loads(text)):
            yield Finding("error", "ledger.head.json", "is not in the form that it was written in (edited)")
    except LedgerError as error:
        try:
            check_head(path, run.events, repairing=True)
        except LedgerError:
            yield Finding("error", "ledger.head.json", str(error))
        else:
            killed = not run.finished or run.events[-1].type in OPERATIONAL
            yield Finding("warning" if killed else "error", "ledger.head.json", str(error), "resume the campaign")
