"""The audit of a bundle, made elsewhere: of its files, of the run in it, and of what its calls and corpus should be."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lineage.audit import Finding, audit_ledger, check_kept_head
from lineage.bundle import Extracted, extract_bundle
from lineage.errors import HoldgateError
from lineage.imported import is_imported_run
from lineage.ledger import Head, canonical_state, read_events
from lineage.mirror.store import STATE
from optimize.bundling.replaying import CALLS, LOCK
from optimize.bundling.stated import check_stated
from optimize.bundling.withheld_audit import audit_withheld
from optimize.recompute import audit_numbers
from splits import load_corpus
from splits.lock_file import load_lock
from students.transport.base import request_key

AGAIN = "get the bundle again, or the run directory itself"


def audit_bundle(path: Path, *, head: str | None = None) -> list[Finding]:
    """Check a bundle without the place that it comes from, and without keys or network.

    Args:
        path: the archive.
        head: a ledger head kept elsewhere, which must be in the chain.

    Returns:
        Findings, the files' first; an archive that cannot be opened safely is an error, too.
    """
    with tempfile.TemporaryDirectory(prefix="holdgate-bundle-") as place:
        try:
            found = extract_bundle(path, Path(place))
            check_stated(found)
            (found.run / STATE).unlink(missing_ok=True)  # it names a file of this machine to look into
        except HoldgateError as error:
            return [Finding("error", path.name, str(error), AGAIN)]
        damaged = [Finding("error", damage.name, damage.words, AGAIN) for damage in found.damage]
        withheld = found.manifest.get("withheld") is not None
        findings = audit_withheld(found, head=head) if withheld else _whole(found, damaged, head)
        # A finding names files of the bundle, and not the folder where they happened to be looked at.
        return [
            *damaged,
            *(replace(finding, words=finding.words.replace(f"{found.directory}/", "")) for finding in findings),
        ]


def _whole(found: Extracted, damaged: Sequence[Finding], head: str | None) -> list[Finding]:
    """The findings of a run that has its texts."""
    findings = audit_ledger(found.run)
    if not any(finding.severity == "error" for finding in (*damaged, *findings)):
        findings += audit_numbers(found.run)
        findings += _stated(found)
        findings += _corpus(found)
        findings += _calls(found)
    if head is not None:
        findings += check_kept_head(found.run, head)
    return findings


def _stated(found: Extracted) -> Iterator[Finding]:
    """What the manifest says of the ledger is so."""
    events = read_events(found.run / "ledger.jsonl")
    head = Head(len(events), events[-1].hash)
    stated = found.manifest["head"]
    if (stated["count"], stated["hash"]) != (head.count, head.hash):
        yield Finding("error", "bundle.json", "its head is not that of the ledger in the bundle", AGAIN)
    if found.manifest["campaign"] != events[0].hash or found.manifest["state"] != canonical_state(events):
        yield Finding("error", "bundle.json", "it is about another campaign than the ledger in the bundle", AGAIN)
    software = found.manifest["software"]
    words = f"written by holdgate {software.get('holdgate', 'unknown')}, packed by {found.manifest['packed_by']}"
    yield Finding("info", "bundle.json", f"{len(found.members)} files have their checksums; {words}", "nothing to do")


def _corpus(found: Extracted) -> Iterator[Finding]:
    """The corpus is the campaign's, and the split lock holds on it."""
    stated = found.manifest["corpus"]
    path = found.directory / "corpus" / "corpus.jsonl"
    if not stated["packed"]:
        if not is_imported_run(found.run):
            words = "the corpus is not packed: its texts and the draw of the splits were not checked"
            yield Finding("warning", "corpus", words, "pack it with its corpus, or check the run where that is")
        return
    facts = path.with_name("facts.jsonl")
    try:
        corpus = load_corpus(path, facts=facts if facts.is_file() else None)
        if corpus.hash != stated["hash"]:
            words = f"has the hash {corpus.hash[:12]}, and the campaign was judged on {stated['hash'][:12]}"
            yield Finding("error", "corpus/corpus.jsonl", words, AGAIN)
            return
        if (found.run / LOCK).is_file():
            load_lock(found.run / LOCK, corpus)
    except HoldgateError as error:
        yield Finding("error", "corpus/corpus.jsonl", str(error), AGAIN)
        return
    words = "the corpus is the campaign's, and the split lock, drawn again from it, is the one that was committed"
    yield Finding("info", "corpus/corpus.jsonl", words, "nothing to do")


def _calls(found: Extracted) -> Iterator[Finding]:
    """Every recorded call is the one that its key stands for."""
    path, replay = found.directory / CALLS, found.manifest["replay"]
    count = 0
    if path.is_file():
        with path.open("rb") as file:
            for count, line in enumerate(file, start=1):
                try:
                    row = json.loads(line)
                    intact = request_key(row["identity"], row["request"]) == row["key"]
                except (ValueError, KeyError, TypeError):
                    intact = False
                if not intact:
                    yield Finding("error", CALLS, f"line {count}: the request is not the one of its key", AGAIN)
    if count != replay["calls"]:
        yield Finding("error", CALLS, f"holds {count} calls, and the manifest says {replay['calls']}", AGAIN)
    if replay["possible"]:
        words = f"can be replayed from {count} recorded calls: holdgate replay"
        yield Finding("info", CALLS, words, "nothing to do")
    else:
        yield Finding("info", CALLS, f"cannot be replayed: {replay['reason']}", "nothing to do")
