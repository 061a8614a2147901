"""A bundle without the corpus's texts holds no run of them, and where one would be left nothing is packed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments import load_plan
from lineage import Judgement, Ledger, read_events
from lineage.bundle import extract_bundle
from lineage.canonical import digest_bytes
from lineage.errors import BundleError
from lineage.segments import read_segment
from optimize import Campaign
from optimize.bundling import Packed, audit_bundle, pack_run
from optimize.bundling.withholding import MARK, check_nothing_left, withheld_mark
from splits import Corpus
from splits.withheld import WithheldTexts
from tests.conftest import JudgeEndpoint


def test_no_eight_words_of_any_document_source_or_fact_are_in_any_file(
    withheld: Packed, consults: Corpus, tmp_path: Path
) -> None:
    found = extract_bundle(withheld.path, tmp_path / "files")
    runs = set()
    for example in consults.examples:
        for text in (example.source, example.document):
            words = text.lower().split()
            runs |= {" ".join(words[place : place + 8]) for place in range(len(words) - 7)}
    for name in found.members:
        text = (found.directory / name).read_text(encoding="utf-8")
        words = text.replace("\\n", " ").lower().split()
        assert not any(" ".join(words[place : place + 8]) in runs for place in range(len(words) - 7)), name
    facts = [fact.fact for listed in consults.facts.values() for fact in listed if len(fact.fact.split()) > 4]
    everything = " ".join((found.directory / name).read_text(encoding="utf-8") for name in found.members)
    assert not [fact for fact in facts if fact in everything]


def test_what_is_left_is_the_structure_and_the_hashes_of_what_is_not(
    withheld: Packed, finished_run: Path, tmp_path: Path
) -> None:
    found = extract_bundle(withheld.path, tmp_path / "files")
    names = set(found.members)
    assert not names & {"calls.jsonl", "corpus/corpus.jsonl", "run/ledger.jsonl", "run/report.html"}
    assert {"run/plan.json", "run/split.lock.json", "run/examples.jsonl", "run/verdict.json"} <= names
    event = next(e for e in read_events(finished_run / "ledger.jsonl") if e.type == "evaluation")
    segment = event.body["segment"]
    whole = read_segment(finished_run / "judgements", segment)
    lines = (found.run / "judgements" / f"{segment['name']}.jsonl").read_text(encoding="utf-8").splitlines()
    for before, line in zip(whole, lines, strict=True):
        after = Judgement.from_row(json.loads(line))
        assert (after.key, after.score, after.status, after.usage) == (
            before.key,
            before.score,
            before.status,
            before.usage,
        )
        assert [verdict.p_yes for verdict in after.facts] == [verdict.p_yes for verdict in before.facts]
        assert after.raw == tuple(withheld_mark(text) for text in before.raw)
        assert all(digest_bytes(text.encode()) in mark for text, mark in zip(before.raw, after.raw, strict=True))


def test_without_the_corpus_nothing_is_withheld_since_nothing_is_known(finished_run: Path, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="only where it is known"):
        pack_run(finished_run, tmp_path / "a.zip", corpus=None, withhold=True)


def test_files_that_are_written_from_the_rest_are_left_out_and_said_to_be(
    run_copy: Path, consults: Corpus, tmp_path: Path
) -> None:
    (run_copy / "report.html").write_text("<p>a page</p>", encoding="utf-8")
    (run_copy / "notes.txt").write_text(f"I read: {consults.examples[0].document}", encoding="utf-8")
    packed = pack_run(run_copy, tmp_path / "a.zip", corpus=consults, withhold=True)
    assert packed.left_out == (
        "notes.txt quotes withheld text",
        "report.html is written from the rest and may quote",
    )
    assert any("report.html" in finding.place for finding in audit_bundle(packed.path))


@pytest.mark.parametrize(
    "content",
    [
        "{document}",
        '{{"a": "{document}"}}\n',
        '{{"a": {words}}}\n',
        '{{"{document}": 1}}\n',
        '{{"a": {nested}}}\n',
        "no JSON {{ {document}",
    ],
)
def test_the_check_finds_a_run_however_it_was_left_and_names_the_file(consults: Corpus, content: str) -> None:
    document = " ".join(consults.examples[3].document.replace('"', "").split()[10:20])
    text = content.format(
        document=document,
        words=json.dumps([[word] for word in document.split()]),
        nested=json.dumps(json.dumps({"said": document.replace(" ", "\n")})),
    )
    files: dict[str, Path | bytes] = {"run/good.json": b"{}\n", "run/bad.json": text.encode()}
    with pytest.raises(BundleError, match=r"left in run/bad\.json, .* runs of 8 words") as raised:
        check_nothing_left(files, WithheldTexts.of(consults))
    assert document not in str(raised.value)
    check_nothing_left({"run/good.json": b"{}\n"}, WithheldTexts.of(consults))


def test_a_name_that_quotes_keeps_the_bundle_from_being_written(
    run_copy: Path, consults: Corpus, tmp_path: Path
) -> None:
    """The id of an example is in the lock and in every segment, and no hash can stand in its place."""
    first = next(example for example in consults.examples if example.id in (run_copy / "examples.jsonl").read_text())
    parts = first.id.replace("-", " ").replace(".", " ").replace("_", " ")
    sentence = f"{parts} and what follows here makes it long enough"
    texts = WithheldTexts([sentence, f"{first.id} {first.group} {first.stratum}"])
    files: dict[str, Path | bytes] = {"run/examples.jsonl": run_copy / "examples.jsonl"}
    check_nothing_left(files, WithheldTexts.of(consults))
    row = {**json.loads((run_copy / "examples.jsonl").read_text().splitlines()[0]), "id": sentence}
    with pytest.raises(BundleError, match="give examples, groups and fields names that quote no text"):
        check_nothing_left({"run/examples.jsonl": json.dumps(row).encode()}, texts)


def test_a_packing_that_would_leave_text_in_a_key_writes_nothing(
    run_copy: Path, consults: Corpus, tmp_path: Path
) -> None:
    quoted = " ".join(consults.examples[0].source.split()[:12])
    ledger = run_copy / "ledger.jsonl"
    events = read_events(ledger)
    for name in ("ledger.jsonl", "ledger.head.json"):
        (run_copy / name).unlink()
    with Ledger(ledger) as again:
        for event in events:
            body = dict(event.body)
            if event.type == "outcome":
                body["accept_gains"] = {quoted: 1.0}
            again.perform(event.type, body, dict)
    with pytest.raises(BundleError, match=r"left in run/ledger\.withheld\.jsonl, line \d+"):
        pack_run(run_copy, tmp_path / "a.zip", corpus=consults, withhold=True)
    assert list(tmp_path.glob("*.zip")) == []


@pytest.mark.integration
def test_a_reflector_that_quotes_the_corpus_leaves_no_word_of_it_in_the_bundle(
    make_plan: Callable[..., Path], judge_endpoint: JudgeEndpoint, tmp_path: Path, consults: Corpus
) -> None:
    plan = make_plan(
        student={"shape": "per-fact", "model": {"endpoint": judge_endpoint.url, "name": "judge"}, "max_facts": 5},
        reflector={"kind": "llm", "model": {"endpoint": judge_endpoint.url, "name": "writer"}},
        search={"iterations": 2, "minibatch_groups": 2, "seed": 1},
    )
    loaded = load_plan(str(plan))
    group = loaded.lock.splits["reflect"][0]
    quoted = next(example.document for example in consults.examples if example.group == group)[:300]
    judge_endpoint.written = [
        f"I saw: {quoted} <instruction>Look for the fact. Check every line. Say No if none has it.</instruction>",
        f"<instruction>Look for the fact, as in: {quoted}</instruction>",
    ]
    run = tmp_path / "runs" / "one"
    Campaign(loaded.plan, loaded.corpus, loaded.lock, run, baseline=loaded.baseline).run()
    whole = "".join(path.read_text(encoding="utf-8") for path in run.rglob("*.jsonl"))
    assert json.dumps(quoted)[1:60] in whole
    packed = pack_run(run, tmp_path / "a.zip", corpus=consults, withhold=True)
    found = extract_bundle(packed.path, tmp_path / "files")
    everything = "".join((found.directory / name).read_text(encoding="utf-8") for name in found.members)
    assert json.dumps(quoted)[1:60] not in everything
    assert MARK in everything
    events: Any = found.manifest["withheld"]["events"]
    assert any("reflection.prompt" in places for places in events.values())
    assert any("texts.instruction" in places for places in events.values())
    assert not any(finding.severity == "error" for finding in audit_bundle(packed.path))


def test_dataclasses_of_judgements_have_no_text_that_is_not_known_here() -> None:
    """Whoever adds a field that may hold text sees that it must be withheld."""
    from lineage import FactVerdict

    assert {field.name for field in dataclasses.fields(FactVerdict)} == {
        *("fact", "p_yes", "margin", "present", "text", "severity", "grade", "mentions", "quote", "rescue"),
    }
