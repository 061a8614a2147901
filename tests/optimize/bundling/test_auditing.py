"""The audit of a bundle needs nothing but the bundle, and names what was changed in it."""

from __future__ import annotations

import json
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage import read_events
from lineage.audit import Finding
from lineage.bundle import MANIFEST, extract_bundle, write_bundle
from lineage.canonical import canonical_json, digest
from optimize.bundling import Packed, audit_bundle

Change = Callable[[dict[str, bytes]], None]


def errors(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity == "error"]


def resealed(packed: Packed, to: Path, change: Change) -> Path:
    """A bundle whose files were changed and whose manifest was written anew, so that every checksum fits."""
    found = extract_bundle(packed.path, to.with_suffix(".files"))
    files = {name: (found.directory / name).read_bytes() for name in found.members}
    change(files)
    content = {key: value for key, value in found.manifest.items() if key not in ("files", "format")}
    write_bundle(to, content, files)
    shutil.rmtree(to.with_suffix(".files"))
    return to


def test_a_bundle_is_audited_where_nothing_else_is(packed: Packed, tmp_path: Path) -> None:
    shutil.copyfile(packed.path, tmp_path / "a.zip")
    findings = audit_bundle(tmp_path / "a.zip")
    assert errors(findings) == []
    said = " | ".join(finding.words for finding in findings)
    assert "computed again" in said
    assert "drawn again from it, is the one that was committed" in said
    assert f"replayed from {packed.calls} recorded calls" in said


def test_a_head_kept_elsewhere_is_looked_for(packed: Packed, withheld: Packed, finished_run: Path) -> None:
    head = read_events(finished_run / "ledger.jsonl")[-1].hash
    for bundle in (packed, withheld):
        assert errors(audit_bundle(bundle.path, head=head)) == []
        assert any("rewritten" in finding.words for finding in errors(audit_bundle(bundle.path, head="0" * 64)))


@pytest.mark.parametrize("kind", ["packed", "withheld"])
def test_every_file_whose_bytes_changed_is_named(request: pytest.FixtureRequest, kind: str, tmp_path: Path) -> None:
    bundle: Packed = request.getfixturevalue(kind)
    draw = random.Random(1)
    names = [member.name for member in bundle.members if member.bytes]
    for name in draw.sample(names, 5):
        changed = tmp_path / "changed.zip"
        with zipfile.ZipFile(bundle.path) as before, zipfile.ZipFile(changed, "w") as after:
            for info in before.infolist():
                data = bytearray(before.read(info))
                if info.filename == name:
                    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
                after.writestr(info, bytes(data))
        assert name in {finding.place for finding in errors(audit_bundle(changed))}


def drop_the_last_event(files: dict[str, bytes]) -> None:
    name = next(name for name in files if name.startswith("run/ledger.") and name.endswith("jsonl"))
    files[name] = b"".join(files[name].splitlines(keepends=True)[:-1])


def change_a_score(files: dict[str, bytes]) -> None:
    name = max(name for name in files if name.startswith("run/judgements/"))
    rows = [json.loads(line) for line in files[name].splitlines()]
    row = next(row for row in rows if row["score"] is not None and row["facts"])
    row["score"] = 1.0 - row["score"]
    files[name] = b"".join(canonical_json(row).encode() + b"\n" for row in rows)


def swap_two_events(files: dict[str, bytes]) -> None:
    name = next(name for name in files if name.startswith("run/ledger.") and name.endswith("jsonl"))
    lines = files[name].splitlines(keepends=True)
    lines[5], lines[6] = lines[6], lines[5]
    files[name] = b"".join(lines)


def edit_the_lock(files: dict[str, bytes]) -> None:
    files["run/split.lock.json"] = files["run/split.lock.json"].replace(b'"seed": 1', b'"seed": 2', 1)


def edit_the_prompt(files: dict[str, bytes]) -> None:
    files["run/prompt.md"] += b"more\n"


@pytest.mark.parametrize("kind", ["packed", "withheld"])
@pytest.mark.parametrize(
    "change", [drop_the_last_event, change_a_score, swap_two_events, edit_the_lock, edit_the_prompt]
)
def test_a_change_with_a_new_manifest_is_found_all_the_same(
    request: pytest.FixtureRequest, kind: str, change: Change, tmp_path: Path
) -> None:
    assert errors(audit_bundle(resealed(request.getfixturevalue(kind), tmp_path / "a.zip", change)))


def test_another_corpus_or_another_call_in_it_is_found(packed: Packed, tmp_path: Path) -> None:
    def corpus(files: dict[str, bytes]) -> None:
        rows = files["corpus/corpus.jsonl"].splitlines(keepends=True)
        row = json.loads(rows[0])
        rows[0] = json.dumps({**row, "document": row["document"] + " More."}).encode() + b"\n"
        files["corpus/corpus.jsonl"] = b"".join(rows)

    def call(files: dict[str, bytes]) -> None:
        rows = files["calls.jsonl"].splitlines(keepends=True)
        row = json.loads(rows[3])
        row["request"]["sample"] += 1
        rows[3] = json.dumps(row).encode() + b"\n"
        files["calls.jsonl"] = b"".join(rows)

    found = errors(audit_bundle(resealed(packed, tmp_path / "a.zip", corpus)))
    assert [finding.place for finding in found] == ["corpus/corpus.jsonl"]
    found = errors(audit_bundle(resealed(packed, tmp_path / "b.zip", call)))
    assert [(finding.place, finding.words[:6]) for finding in found] == [("calls.jsonl", "line 4")]


def test_what_is_no_bundle_is_a_finding_and_not_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"no archive")
    (finding,) = audit_bundle(tmp_path / "a.zip")
    assert (finding.severity, finding.place) == ("error", "a.zip")


def test_the_audit_of_a_bundle_without_texts_says_what_it_can_and_cannot_verify(withheld: Packed) -> None:
    findings = audit_bundle(withheld.path)
    assert errors(findings) == []
    said = {finding.words.partition(":")[0]: finding for finding in findings}
    assert "verified" in said
    assert said["cannot be verified"].severity == "warning"
    assert "what judge and reflector were asked and answered" in said["cannot be verified"].words
    assert "document scores, measures, outcomes of proposals, the choice and the verdict" in " ".join(
        finding.words for finding in findings
    )


def test_an_event_that_is_whole_is_verified_in_a_bundle_without_texts(withheld: Packed, tmp_path: Path) -> None:
    def edited(files: dict[str, bytes]) -> None:
        lines = files["run/ledger.withheld.jsonl"].splitlines()
        rows = [json.loads(line) for line in lines]
        place = next(place for place, row in enumerate(rows) if row["type"] == "outcome" and "withheld" not in row)
        rows[place]["body"]["reason"] = "another"
        lines[place] = canonical_json(rows[place]).encode()
        files["run/ledger.withheld.jsonl"] = b"\n".join(lines) + b"\n"

    (finding,) = errors(audit_bundle(resealed(withheld, tmp_path / "a.zip", edited)))
    assert "was edited: its hash does not match its content" in finding.words


def test_an_event_cannot_be_passed_off_as_withheld(withheld: Packed, tmp_path: Path) -> None:
    def hidden(files: dict[str, bytes]) -> None:
        lines = files["run/ledger.withheld.jsonl"].splitlines()
        rows = [json.loads(line) for line in lines]
        place = next(place for place, row in enumerate(rows) if row["type"] == "outcome" and "withheld" not in row)
        rows[place]["body"]["outcome"] = "accepted"
        rows[place]["withheld"] = ["reason"]
        lines[place] = canonical_json(rows[place]).encode()
        files["run/ledger.withheld.jsonl"] = b"\n".join(lines) + b"\n"

    found = errors(audit_bundle(resealed(withheld, tmp_path / "a.zip", hidden)))
    assert any("says that text of it is withheld, and it is not so" in finding.words for finding in found)


@pytest.mark.parametrize("field", ["head", "campaign", "corpus", "replay", "software"])
def test_a_manifest_that_lacks_something_is_a_finding_and_not_a_traceback(
    packed: Packed, tmp_path: Path, field: str
) -> None:
    with zipfile.ZipFile(packed.path) as archive:
        manifest = json.loads(archive.read(MANIFEST))
    content = {key: value for key, value in manifest.items() if key not in (field, "files", "format", "hash")}
    write_bundle(tmp_path / "a.zip", content, {})
    (finding,) = audit_bundle(tmp_path / "a.zip")
    assert f"bundle.json: {field} is missing" in finding.words


def test_the_manifest_is_about_the_ledger_that_is_with_it(packed: Packed, tmp_path: Path) -> None:
    with zipfile.ZipFile(packed.path) as archive:
        manifest = json.loads(archive.read(MANIFEST))
    content = {key: value for key, value in manifest.items() if key not in ("files", "format", "hash")}
    found = extract_bundle(packed.path, tmp_path / "files")
    files: dict[str, Path | bytes] = {name: found.directory / name for name in found.members}
    write_bundle(tmp_path / "a.zip", {**content, "campaign": digest("another")}, files)
    assert [finding.place for finding in errors(audit_bundle(tmp_path / "a.zip"))] == ["bundle.json"]
