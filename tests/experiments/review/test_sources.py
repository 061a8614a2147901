"""Held-out examples are for people only after the decision."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.review import read_reviewed
from lineage.canonical import pretty_json
from lineage.errors import InputError, SealError
from lineage.ledger import read_events
from optimize.judging import JudgingPlan, JudgingRun
from splits import Corpus, load_lock


@pytest.fixture
def cut(finished_run: Path, tmp_path: Path) -> Callable[[str], Path]:
    """A copy of the campaign as it was before its first event of a type."""

    def make(before: str) -> Path:
        copy = Path(shutil.copytree(finished_run, tmp_path / before))
        events = read_events(copy / "ledger.jsonl")
        end = next(event.seq for event in events if event.type == before)
        lines = (copy / "ledger.jsonl").read_bytes().splitlines(keepends=True)
        (copy / "ledger.jsonl").write_bytes(b"".join(lines[:end]))
        head = {"count": end, "hash": events[end - 1].hash}
        (copy / "ledger.head.json").write_text(pretty_json(head), encoding="utf-8")
        return copy

    return make


def test_a_decided_campaign_shows_baseline_and_winner_on_heldout_examples(finished_run: Path, consults: Corpus) -> None:
    found = read_reviewed(finished_run, consults, split="heldout")
    first, second = found.judges
    assert first.name == "seed" != second.name
    assert all(judge.rule.startswith("score < ") for judge in found.judges)
    for judge in found.judges:
        limit = float(judge.rule.removeprefix("score < "))
        assert judge.flags == {
            j.example: j.score < limit
            for j in judge.evaluation.judgements
            if j.score is not None and j.replicate == judge.evaluation.replicates[0]
        }


def test_an_undecided_campaign_shows_accept_and_keeps_its_seal(cut: Callable[[str], Path], consults: Corpus) -> None:
    run = cut("verdict")
    assert read_reviewed(run, consults).split == "accept"
    with pytest.raises(SealError, match="is not decided yet: its held-out examples stay sealed until it has a verdict"):
        read_reviewed(run, consults, split="heldout")


def test_a_campaign_without_a_winner_has_nothing_to_compare(cut: Callable[[str], Path], consults: Corpus) -> None:
    with pytest.raises(InputError, match="no winner is chosen yet"):
        read_reviewed(cut("choice"), consults)


def test_no_heldout_text_is_with_a_pack_from_accept(finished_run: Path, consults: Corpus) -> None:
    found = read_reviewed(finished_run, consults)
    lock = load_lock(finished_run.parent / "lock.json", consults)
    assert {example.group for example in found.corpus.examples} <= set(lock.splits["accept"])
    assert set(found.corpus.facts) <= set(lock.splits["accept"])


def test_another_corpus_is_refused(finished_run: Path, consults: Corpus) -> None:
    other = consults.part(consults.examples[:20])
    with pytest.raises(InputError, match="name the corpus that it judged: --corpus"):
        read_reviewed(finished_run, other)


@pytest.fixture
def heldout_judging(judging: Callable[..., JudgingPlan], consults: Corpus, finished_run: Path, tmp_path: Path) -> Path:
    """Judges of the campaign's held-out examples, in an exploratory opening."""
    lock = Path(shutil.copyfile(finished_run.parent / "lock.json", tmp_path / "lock.json"))
    changes: dict[str, Any] = {"selection": None, "splits": {"lock": "lock.json"}, "split": "heldout"}
    plan = judging(**changes)
    directory = tmp_path / "judged"
    JudgingRun(plan, consults, directory, texts={}, lock=load_lock(lock, consults), exploratory="compare designs").run()
    return directory


def test_judges_of_heldout_examples_are_shown_after_their_campaign_is_decided(
    heldout_judging: Path, finished_run: Path, finished_judging: Path, cut: Callable[[str], Path], consults: Corpus
) -> None:
    with pytest.raises(SealError, match="only after the campaign that is judged by them is decided"):
        read_reviewed(heldout_judging, consults)
    with pytest.raises(SealError, match="is not decided yet"):
        read_reviewed(heldout_judging, consults, decided=cut("verdict"))
    with pytest.raises(SealError, match="is no campaign on the split lock of"):
        read_reviewed(heldout_judging, consults, decided=finished_judging)
    found = read_reviewed(heldout_judging, consults, decided=finished_run)
    assert (found.split, found.exploratory) == ("heldout", "compare designs")


def test_options_without_effect_are_refused(reviewed_directory: Path, finished_run: Path, consults: Corpus) -> None:
    with pytest.raises(InputError, match="judged all and nothing else"):
        read_reviewed(reviewed_directory, consults, split="accept")
    with pytest.raises(InputError, match="--decided has no effect on split all"):
        read_reviewed(reviewed_directory, consults, decided=finished_run)
    with pytest.raises(InputError, match="--decided is for a judging run"):
        read_reviewed(finished_run, consults, decided=finished_run)


def test_baselines_without_a_model_are_no_judges_to_disagree_with(reviewed_directory: Path, consults: Corpus) -> None:
    assert [judge.name for judge in read_reviewed(reviewed_directory, consults).judges] == [
        "whole",
        "facts",
        "pipeline",
    ]
