from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lineage.errors import CampaignError
from optimize.noise import noise_floor
from optimize.power import read_pilot
from optimize.recompute import RecordedRun, load_run
from optimize.replicates import judged, recorded_evaluation, seed_of


def without(run: RecordedRun, *kinds: str) -> RecordedRun:
    """The run as it would be read before these events."""
    events = tuple(event for event in run.events if event.type not in kinds)
    return RecordedRun(run.directory, events, run.examples, run.lock)


def test_a_search_shows_how_its_candidates_differ_from_the_baseline_on_accept(finished_run: Path) -> None:
    run = load_run(finished_run)
    pilot = read_pilot(run)
    assert pilot.candidates == len(judged(run, "accept")) - 1 >= 1
    assert pilot.replicates == 1
    assert pilot.discordance.noise == 0.0
    assert "candidates against the baseline on accept" in pilot.discordance.source
    baseline = recorded_evaluation(run, split="accept", candidate=seed_of(run))
    assert pilot.pairs == pilot.candidates * len(baseline.pairs("omission"))


def test_a_run_without_a_second_candidate_or_a_replicate_is_no_pilot(finished_run: Path) -> None:
    run = load_run(finished_run)
    first = next(event for event in run.all("evaluation") if event.body["purpose"] == "accept")
    events = tuple(event for event in run.events if event.type != "evaluation" or event is first)
    with pytest.raises(CampaignError, match="is no pilot: it has neither"):
        read_pilot(RecordedRun(run.directory, events, run.examples, run.lock))


def test_held_out_judgements_of_an_unfinished_run_are_not_read(finished_run: Path, tmp_path: Path) -> None:
    run = without(load_run(Path(shutil.copytree(finished_run, tmp_path / "run"))), "finished")
    with pytest.raises(CampaignError, match="is not finished: its held-out judgements are read when"):
        recorded_evaluation(run, split="heldout", candidate=seed_of(run))
    for file in (run.directory / "judgements").glob("*-baseline.jsonl"):
        file.unlink()
    assert read_pilot(run).candidates >= 1, "the pilot of an unfinished run looks at accept alone"


def test_the_baseline_of_a_finished_run_is_read_back_as_it_was_judged(finished_run: Path) -> None:
    run = load_run(finished_run)
    found = recorded_evaluation(run, split="heldout", candidate=seed_of(run))
    groups = set(run.lock.splits["heldout"])
    assert {example.group for example in found.examples} == groups
    assert noise_floor(found).reason
