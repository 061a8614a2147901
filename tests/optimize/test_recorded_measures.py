"""Measures of a recorded run: by which rule, on which replicates, and what stays shut."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lineage.errors import CampaignError, LedgerError
from optimize.choice import standing
from optimize.recompute import RecordedRun, load_run, recorded_pool
from optimize.recorded_measures import recorded_measures
from optimize.replicates import last_measurement, recorded_evaluation, seed_of


@pytest.fixture(scope="module")
def run(finished_run: Path) -> RecordedRun:
    return load_run(finished_run)


def test_the_rule_on_held_out_data_is_the_candidates_own_from_accept(run: RecordedRun) -> None:
    winner = str(run.all("choice")[0].body["winner"])
    chosen = next(standing(entry) for entry in recorded_pool(run).pool if entry.candidate.id == winner)
    on_accept = recorded_measures(run, split="accept", candidate=winner).table
    assert on_accept.swept is not None
    assert on_accept.swept.threshold == chosen.detection.threshold
    assert on_accept.of("detection").value == chosen.detection.detection
    held = recorded_measures(run, split="heldout", candidate=winner).table
    assert held.swept is None
    assert str(held.threshold) == f"score < {chosen.detection.threshold:g}, fixed beforehand"


def test_measures_of_omissions_are_those_of_the_verdict(run: RecordedRun) -> None:
    verdict = run.all("verdict")[0].body["verdict"]
    for arm, key in (("winner", "candidate"), ("baseline", "baseline")):
        found = recorded_measures(run, split="heldout", candidate=verdict[arm])
        omissions = found.table.of("paired discrimination", by="label", part="omission")
        assert omissions.value == pytest.approx(verdict["heldout"]["omissions"][key])
        assert found.table.of("false alarms").counted == (("flagged", verdict["flags"][key]["flagged"]),)
        assert found.clean.candidates == 0


def test_a_baseline_that_was_measured_again_is_read_as_the_gate_reads_it(run: RecordedRun) -> None:
    once = recorded_evaluation(run, split="heldout", candidate=seed_of(run))
    again = tuple(replace(judgement, replicate=1, score=1.0) for judgement in once.judgements)
    twice = replace(once, judgements=(*once.judgements, *again))
    assert last_measurement(run, twice).judgements == again
    assert last_measurement(run, once) is once
    more = replace(twice, judgements=(*twice.judgements, *(replace(one, replicate=2) for one in again)))
    assert last_measurement(run, more) is more, "replicates of a noise measurement all count"


def test_what_a_run_has_not_judged_or_not_finished_is_refused(run: RecordedRun) -> None:
    with pytest.raises(LedgerError, match="was not judged on reflect"):
        recorded_measures(run, split="reflect", candidate=seed_of(run))
    events = tuple(event for event in run.events if event.type != "finished")
    unfinished = RecordedRun(run.directory, events, run.examples, run.lock)
    with pytest.raises(CampaignError, match="is not finished"):
        recorded_measures(unfinished, split="heldout", candidate=seed_of(run))


def test_the_replicates_of_a_measured_noise_all_count(measured_noise: Path) -> None:
    measured = load_run(measured_noise)
    found = recorded_measures(measured, split="accept", candidate=seed_of(measured))
    assert found.scored.replicates == (0, 1, 2)
    assert found.table.of("detection").n > 0
