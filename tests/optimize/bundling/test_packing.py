"""What goes into a bundle, the same every time, and where nothing is packed."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lineage import read_events
from lineage.bundle import extract_bundle, write_bundle
from lineage.errors import BundleError, LedgerError
from lineage.mirror.store import STATE
from optimize.bundling import Packed, audit_bundle, pack_run
from splits import Corpus, load_corpus


def test_the_same_run_gives_the_same_bytes_also_from_another_place(
    packed: Packed, run_copy: Path, consults: Corpus, tmp_path: Path
) -> None:
    again = pack_run(run_copy, tmp_path / "again.zip", corpus=consults)
    assert again.path.read_bytes() == packed.path.read_bytes()


def test_everything_that_a_run_rests_on_is_in_it(
    packed: Packed, finished_run: Path, consults: Corpus, tmp_path: Path
) -> None:
    found = extract_bundle(packed.path, tmp_path / "files")
    files = ("ledger.jsonl", "ledger.head.json", "plan.json", "split.lock.json", "examples.jsonl", "verdict.json")
    for name in (*files, "prompt.md", *(f"judgements/{path.name}" for path in (finished_run / "judgements").iterdir())):
        assert (found.run / name).read_bytes() == (finished_run / name).read_bytes()
    corpus = load_corpus(found.directory / "corpus/corpus.jsonl", facts=found.directory / "corpus/facts.jsonl")
    assert corpus.hash == consults.hash == found.manifest["corpus"]["hash"]
    events = read_events(finished_run / "ledger.jsonl")
    assert found.manifest["head"] == {"count": len(events), "hash": events[-1].hash}
    assert found.manifest["software"]["packages"].keys() >= {"numpy", "scipy", "gepa"}
    assert (found.manifest["kind"], found.manifest["decision"]) == ("campaign", "emit")
    assert found.manifest["replay"] == {"possible": True, "reason": None, "calls": packed.calls}
    assert not any(name.endswith((".lock", ".sqlite", ".db")) for name in found.members)


def test_only_the_calls_that_the_run_used_are_in_it(run_copy: Path, consults: Corpus, tmp_path: Path) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(run_copy.parent / "calls.sqlite")) as db, db:
        before = db.execute("SELECT count(*) FROM calls").fetchone()[0]
        db.execute("INSERT INTO calls SELECT 'f' || key, identity, request, result, at FROM calls")
    packed = pack_run(run_copy, tmp_path / "a.zip", corpus=consults)
    found = extract_bundle(packed.path, tmp_path / "files")
    lines = (found.directory / "calls.jsonl").read_text().splitlines()
    assert len(lines) == packed.calls == before
    assert all("paid" not in json.loads(line) for line in lines)


def test_the_hash_of_the_corpus_alone_can_be_packed_and_is_then_not_replayable(
    finished_run: Path, tmp_path: Path
) -> None:
    packed = pack_run(finished_run, tmp_path / "a.zip", corpus=None)
    assert packed.replay == "its corpus is not packed, only the hash of it"
    assert not any(member.name.startswith("corpus/") for member in packed.members)
    findings = audit_bundle(packed.path)
    assert not any(finding.severity == "error" for finding in findings)
    assert any(finding.severity == "warning" and "not packed" in finding.words for finding in findings)


def test_where_it_was_mirrored_is_no_part_of_it_and_nothing_is_looked_into_for_it(
    run_copy: Path, packed: Packed, consults: Corpus, tmp_path: Path
) -> None:
    (run_copy / STATE).write_text(json.dumps({"tracking_uri": "sqlite:////etc/passwd"}), encoding="utf-8")
    again = pack_run(run_copy, tmp_path / "again.zip", corpus=consults)
    assert again.path.read_bytes() == packed.path.read_bytes()
    found = extract_bundle(packed.path, tmp_path / "files")
    files: dict[str, Path | bytes] = {name: found.directory / name for name in found.members}
    files[f"run/{STATE}"] = run_copy / STATE
    content = {key: value for key, value in found.manifest.items() if key not in ("files", "format")}
    write_bundle(tmp_path / "hostile.zip", content, files)
    assert not any("passwd" in finding.words for finding in audit_bundle(tmp_path / "hostile.zip"))


def test_packs_for_review_and_their_keys_are_no_part_of_it(run_copy: Path, consults: Corpus, tmp_path: Path) -> None:
    (run_copy / "review-1").mkdir()
    (run_copy / "review-1" / "key.json").write_text("{}", encoding="utf-8")
    found = extract_bundle(pack_run(run_copy, tmp_path / "a.zip", corpus=consults).path, tmp_path / "files")
    assert not [name for name in found.members if "review-1" in name]


def test_another_corpus_is_refused(finished_run: Path, consults: Corpus, tmp_path: Path) -> None:
    first, *rest = consults.examples
    other = dataclasses.replace(consults, examples=(dataclasses.replace(first, document="another"), *rest))
    with pytest.raises(BundleError, match="was judged on the corpus"):
        pack_run(finished_run, tmp_path / "a.zip", corpus=other)
    assert not (tmp_path / "a.zip").exists()


def test_a_damaged_ledger_and_a_link_are_not_packed(run_copy: Path, consults: Corpus, tmp_path: Path) -> None:
    (run_copy / "more").symlink_to(run_copy / "plan.json")
    with pytest.raises(BundleError, match="is a link"):
        pack_run(run_copy, tmp_path / "a.zip", corpus=consults)
    (run_copy / "more").unlink()
    ledger = run_copy / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b'"accepted"', b'"rejected"', 1))
    with pytest.raises(LedgerError, match="was edited"):
        pack_run(run_copy, tmp_path / "a.zip", corpus=consults)


def test_an_imported_lineage_is_packed_and_audited_like_any_run(tmp_path: Path) -> None:
    from optimize.importing import ImportedCandidate, ImportedLineage, write_lineage

    seed: dict[str, Any] = {"place": "0", "name": "seed", "target": "t", "kind": "seed", "outcome": "seed"}
    lineage = ImportedLineage("theirs", "made up", (), (), ("everything else",), (ImportedCandidate(**seed),))
    write_lineage(lineage, tmp_path / "run")
    packed = pack_run(tmp_path / "run", tmp_path / "a.zip", corpus=None)
    assert packed.replay == "it is an imported lineage, which made no calls"
    shutil.rmtree(tmp_path / "run")
    findings = audit_bundle(packed.path)
    assert {finding.severity for finding in findings} == {"info"}
    assert any("the source lacks everything else" in finding.words for finding in findings)
