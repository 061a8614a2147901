from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.sweep.loading import load_study
from lineage import read_events
from lineage.audit import Finding
from lineage.ledger import Event
from optimize.sweep import StudyResult
from optimize.sweep.recomputing import check_trial
from splits import SplitLock

Checked = Callable[[int, Callable[[Event], Any]], list[Finding]]


@pytest.fixture
def checked(
    make_study: Callable[..., Path], work: Callable[..., StudyResult], tmp_path: Path
) -> tuple[StudyResult, Checked]:
    """A study with a pruned trial, and what is found in a trial of it whose events were changed."""
    study = make_study(pruning={"groups": [2], "reduction": 2}, trials=4)
    out = tmp_path / "runs" / "study"
    result = work(study, out)
    lock: SplitLock = load_study(str(study)).lock

    def check(number: int, changed: Callable[[Event], Any]) -> list[Finding]:
        directory = out / "trials" / f"{number:04d}"
        events = [replace(event, body=copy.deepcopy(event.body)) for event in read_events(directory / "ledger.jsonl")]
        for event in events:
            changed(event)
        found = check_trial(directory, events, objectives=result.objectives, unit=result.unit, lock=lock)
        return [finding for finding in found if finding.severity == "error"]

    return result, check


def test_every_number_of_a_trial_is_computed_again(checked: tuple[StudyResult, Checked]) -> None:
    result, check = checked
    assert result.of("pruned")
    for trial in result.trials:
        assert check(trial.number, lambda event: None) == []

    def better(event: Event) -> None:
        if event.type == "finished":
            event.body["outcome"]["reading"]["values"]["paired"] = 1.0

    def dearer(event: Event) -> None:
        if event.type == "finished" and event.body["outcome"]["baseline"]:
            event.body["outcome"]["baseline"]["values"]["tokens"] += 1.0

    def kept(event: Event) -> None:
        if event.type == "halving":
            event.body["halving"]["value"] += 0.25

    def chosen(event: Event) -> None:
        if event.type == "choice":
            event.body["winner"] = "0" * 64

    complete, pruned = result.of("complete")[0].number, result.of("pruned")[0].number
    for number in (complete, pruned):
        assert [finding.words.split(":")[0] for finding in check(number, better)] == ["values.paired"]
        assert check(number, kept)[0].place.endswith("halving")
    assert [finding.words.split(":")[0] for finding in check(complete, dearer)] == ["values.tokens"]
    assert any(finding.place.endswith("choice") for finding in check(complete, chosen))


def test_a_trial_whose_files_are_gone_is_an_error_and_no_crash(checked: tuple[StudyResult, Checked]) -> None:
    result, check = checked

    def unlisted(event: Event) -> None:
        if event.type == "evaluation":
            event.body["segment"]["name"] = "0" * 64

    (finding, *_) = check(result.of("complete")[0].number, unlisted)
    assert "could not be computed again" in finding.words
