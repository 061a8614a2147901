"""Contamination of every kind is an event of the ledger without held-out text, and a clean campaign has none."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from experiments import load_plan, write_report
from lineage import canonical_state, read_events
from lineage.audit import audit_ledger
from lineage.errors import BudgetError
from optimize import Campaign
from optimize.contamination import CHECKS, EVENT
from reflectors import OperatorReflector
from reflectors.reflector import Reflection, ReflectionRequest
from reflectors.traces import Trace, build_traces
from splits import Corpus, SplitLock, commit_lock, load_lock, plan_lock
from splits.answer_keys import KEY_WORDS
from splits.lock import _examples
from splits.shingles import words_of

MakePlan = Callable[..., Path]
Row = dict[str, Any]
SEARCH = {"iterations": 3, "minibatch_groups": 1, "seed": 1}


def run(plan: Path, out: Path, *, baseline: str = "") -> Path:
    loaded = load_plan(str(plan))
    text = f"{loaded.baseline} {baseline}".strip()
    Campaign(loaded.plan, loaded.corpus, loaded.lock, out, baseline=text).run()
    return out


def bodies(out: Path, kind: str) -> list[Any]:
    return [event.body for event in read_events(out / "ledger.jsonl") if event.type == kind]


def findings(out: Path, of: str) -> list[Row]:
    return [row for body in bodies(out, EVENT) if body["of"] == of for row in body["findings"]]


def part(plan: Path, corpus: Corpus, split: str) -> Corpus:
    lock = load_lock(plan.parent / "split.lock.json", corpus)
    return corpus.part(_examples(lock, corpus, split))


def writing(monkeypatch: pytest.MonkeyPatch, *texts: str) -> None:
    """Make the reflector write these texts after the parent's, one a call, and then nothing new."""
    left = list(texts)

    def reflect(self: OperatorReflector, request: ReflectionRequest) -> Reflection:
        if not left:
            return Reflection("", "none", "", problem="nothing left to write")
        return Reflection(f"{request.parent} {left.pop(0)}", "planted", "to be found")

    monkeypatch.setattr(OperatorReflector, "reflect", reflect)


@pytest.mark.parametrize(("shape", "iterations"), [("per-fact", 3), ("whole-note", 2)])
def test_a_clean_campaign_records_that_nothing_was_found_and_nothing_else(
    make_plan: MakePlan, tmp_path: Path, shape: str, iterations: int
) -> None:
    student = {"shape": shape, "model": {"simulated": {"noise": 2.0}}}
    baseline = "stated-in-note" if shape == "per-fact" else "complete-and-faithful"
    search = {"iterations": iterations, "minibatch_groups": 1, "seed": 8}
    out = run(make_plan(student=student, baseline=baseline, search=search), tmp_path / "runs" / "one")
    (body,) = bodies(out, EVENT)
    assert body == {"of": "splits", "lock_hash": body["lock_hash"], "checks": CHECKS, "findings": []}
    if shape == "per-fact":
        assert any(body["operator"] == "example" for body in bodies(out, "candidate")), "one quotes a reflect example"
    assert not [finding for finding in audit_ledger(out) if "near" in finding.words or "held-out text" in finding.words]


def planted_kinds(part: Corpus) -> dict[str, str]:
    """A text of each kind of contamination, out of a part of a corpus."""
    example = next(ex for ex in part.examples if ex.label == "omission")
    words = words_of(example.source)
    facts = (fact.fact for fact in part.facts[example.group] if len(words_of(fact.fact)) >= KEY_WORDS)
    shortest = min(facts, key=lambda fact: len(words_of(fact)))
    return {
        "ngram": " ".join(words[20:40]),
        "passage": " ".join("indeed" if n % 7 == 6 else word for n, word in enumerate(words[:60])),
        "answer_key": shortest,
        "name": f"Beware of {example.id}.",
    }


REASONS = {
    "ngram": "repeats 13 run(s) of 8 words of accept or held-out text",
    "passage": "nearly repeats a passage of accept or held-out examples",
    "answer_key": "states a fact or a changed sentence of accept or held-out examples",
    "name": "gives names of accept or held-out examples",
}


@pytest.mark.parametrize("split", ["accept", "heldout"])
def test_contaminated_proposals_of_each_kind_are_found_and_invalid(
    make_plan: MakePlan, tmp_path: Path, consults: Corpus, monkeypatch: pytest.MonkeyPatch, split: str
) -> None:
    plan = make_plan(search={"iterations": 4, "minibatch_groups": 1, "seed": 1})
    closed = part(plan, consults, split)
    planted = planted_kinds(closed)
    writing(monkeypatch, *planted.values())
    out = run(plan, tmp_path / "runs" / "one")
    candidates = bodies(out, "candidate")[1:]
    events = [body for body in bodies(out, EVENT) if body["of"] == "candidate"]
    assert [body["candidate"] for body in events] == [body["candidate"] for body in candidates]
    for kind, body, outcome in zip(planted, events, bodies(out, "outcome"), strict=True):
        assert (kind, split) in {(row["kind"], row["split"]) for row in body["findings"]}
        assert outcome["outcome"] == "invalid"
        assert REASONS[kind] in outcome["reason"]
        for row in body["findings"]:  # numbers and names of groups, nothing else
            assert set(row) == {"kind", "split", "groups", "count", "words", "share"}
            assert type(row["count"]) is type(row["words"]) is int
            assert row["share"] is None or 0 < row["share"] <= 1
            assert set(row["groups"]) <= set(closed.groups)
    warned = [finding for finding in audit_ledger(out) if finding.severity != "info"]
    assert [finding.severity for finding in warned] == ["warning"] * len(findings(out, "candidate"))
    assert {finding.remedy for finding in warned} == {"nothing to do: the candidate is invalid and was not judged"}


def test_a_contaminated_baseline_is_found_and_does_not_bar_the_search(
    make_plan: MakePlan, tmp_path: Path, consults: Corpus
) -> None:
    plan = make_plan(search=SEARCH)
    stated = planted_kinds(part(plan, consults, "heldout"))["answer_key"]
    out = run(plan, tmp_path / "runs" / "one", baseline=stated)
    events = [body for body in bodies(out, EVENT) if body["of"] == "candidate"]
    assert events[0]["candidate"] == bodies(out, "candidate")[0]["candidate"]
    assert events[0]["findings"][0]["kind"] == "answer_key"
    inherited = {body["candidate"] for body in bodies(out, "candidate")[1:] if stated in body["texts"]["instruction"]}
    judged = {body["candidate"] for body in bodies(out, "outcome") if body["outcome"] != "invalid"}
    assert inherited & judged, "what a child has from its parent alone does not make it invalid"
    assert inherited <= {event["candidate"] for event in events}


def test_foreign_text_in_a_request_to_the_reflector_is_found_before_it_is_asked(
    make_plan: MakePlan, tmp_path: Path, consults: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(search=SEARCH)
    accept = part(plan, consults, "accept")
    leak = Trace(
        "leak", None, f"A note says: {planted_kinds(accept)['ngram']}", fact=planted_kinds(accept)["answer_key"]
    )

    def leaking(*arguments: Any, **options: Any) -> tuple[Trace, ...]:
        return (*build_traces(*arguments, **options), leak)

    monkeypatch.setattr("optimize.engine.rounds.build_traces", leaking)
    out = run(plan, tmp_path / "runs" / "one")
    events = [event for event in read_events(out / "ledger.jsonl") if event.type in (EVENT, "reflection")]
    told = [(event.type, event.body.get("of")) for event in events][1:3]
    assert told == [(EVENT, "reflection"), ("reflection", None)]
    assert {(row["kind"], row["split"]) for row in findings(out, "reflection")} == {
        ("ngram", "accept"),
        ("answer_key", "accept"),
    }
    assert [body["iteration"] for body in bodies(out, EVENT) if body["of"] == "reflection"] == [1, 2, 3]


def planted_corpus(make_plan: MakePlan, tmp_path: Path, corpus: Corpus) -> tuple[Path, Corpus, SplitLock, list[str]]:
    """A corpus in which a held-out source is a near-duplicate of a reflect one, and its lock."""
    plan = make_plan(search=SEARCH)
    splits = load_lock(plan.parent / "split.lock.json", corpus).splits
    names = sorted((splits["reflect"][0], splits["heldout"][0]))
    words = corpus.groups[names[0]][0].source.split()
    source = " ".join("indeed" if number % 15 == 3 else word for number, word in enumerate(words))
    examples = tuple(replace(ex, source=source) if ex.group == names[1] else ex for ex in corpus.examples)
    planted = Corpus(examples, corpus.facts)
    selection = load_lock(plan.parent / "split.lock.json", corpus).selection
    sizes = {name: len(groups) for name, groups in splits.items()}
    commit_lock(plan_lock(planted, sizes=sizes, seed=3, selection=selection), tmp_path / "planted.lock.json")
    lock = load_lock(tmp_path / "planted.lock.json", planted)
    assert lock.splits == splits
    return plan, planted, lock, names


def test_near_duplicate_groups_in_different_splits_are_recorded_and_reported(
    make_plan: MakePlan, tmp_path: Path, consults: Corpus
) -> None:
    path, planted, lock, names = planted_corpus(make_plan, tmp_path, consults)
    loaded = load_plan(str(path))
    out = tmp_path / "runs" / "one"
    Campaign(loaded.plan, planted, lock, out, baseline=loaded.baseline).run()
    (row,) = findings(out, "splits")
    assert row["groups"] == names
    assert set(row["splits"]) == {"reflect", "heldout"}
    said = [finding for finding in audit_ledger(out) if finding.severity != "info"]
    assert [(finding.severity, "near-duplicates" in finding.words) for finding in said] == [("warning", True)]
    report = write_report(out).markdown.read_text(encoding="utf-8")
    assert "CONTAMINATION: the split separates 1 pair" in report
    assert f"{names[0]} and {names[1]}" in report


def test_a_contaminated_campaign_that_was_interrupted_ends_with_the_same_findings(
    make_plan: MakePlan, tmp_path: Path, consults: Corpus
) -> None:
    plan = make_plan(search=SEARCH)
    stated = planted_kinds(part(plan, consults, "heldout"))["answer_key"]
    whole = run(plan, tmp_path / "elsewhere" / "run", baseline=stated)
    content = plan.read_text(encoding="utf-8")
    out = tmp_path / "runs" / "one"
    plan.write_text(yaml.safe_dump(yaml.safe_load(content) | {"limits": {"calls": 200}}), encoding="utf-8")
    with pytest.raises(BudgetError, match=r"limits\.calls"):
        run(plan, out, baseline=stated)
    plan.write_text(content, encoding="utf-8")
    run(plan, out, baseline=stated)
    assert findings(out, "candidate") == findings(whole, "candidate") != []
    assert canonical_state(read_events(out / "ledger.jsonl")) == canonical_state(read_events(whole / "ledger.jsonl"))


def test_no_heldout_word_is_in_the_events_of_a_campaign_with_findings(
    make_plan: MakePlan, tmp_path: Path, consults: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, planted, lock, names = planted_corpus(make_plan, tmp_path, consults)
    marked = tuple(
        replace(ex, document=f"{ex.document} zq{ex.group.replace('-', '')}marker", source=f"{ex.source} zqsource")
        for ex in planted.examples
    )
    corpus = Corpus(marked, planted.facts)
    sizes = {name: len(groups) for name, groups in lock.splits.items()}
    commit_lock(plan_lock(corpus, sizes=sizes, seed=3, selection=lock.selection), tmp_path / "marked.lock.json")
    loaded = load_plan(str(path))
    out = tmp_path / "runs" / "one"
    heldout = corpus.part(ex for ex in _examples(lock, planted, "heldout") if ex.group not in names)
    writing(monkeypatch, planted_kinds(heldout)["passage"])
    Campaign(loaded.plan, corpus, load_lock(tmp_path / "marked.lock.json", corpus), out, baseline=loaded.baseline).run()
    events = json.dumps(bodies(out, EVENT))
    assert len(bodies(out, EVENT)) > 1
    assert "marker" not in events
    assert "zqsource" not in events
