from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.loading import load_plan
from lineage import read_events
from lineage.audit import audit_ledger
from lineage.errors import BudgetError, InputError, PlanError, SealError
from optimize import Campaign
from optimize.noise import noise_floor
from optimize.noise_run import NoiseRun
from optimize.power import read_pilot
from optimize.recompute import audit_numbers, load_run
from optimize.replicates import recorded_evaluation, seed_of

MakePlan = Callable[..., Path]


def noise_run(plan: Path, directory: Path, **more: Any) -> NoiseRun:
    loaded = load_plan(str(plan))
    return NoiseRun(loaded.plan, loaded.corpus, loaded.lock, directory, baseline=loaded.baseline, **more)


def test_the_baseline_is_judged_in_every_replicate_on_accept_and_never_on_held_out(
    make_plan: MakePlan, tmp_path: Path
) -> None:
    plan, out = make_plan(), tmp_path / "runs" / "noise"
    measured = noise_run(plan, out).run()
    loaded = load_plan(str(plan))
    assert measured.floor.replicates == 3
    assert measured.spared == 0
    assert measured.floor.flipped > 0, "the simulated judge is noisy"
    groups = {example.group for example in measured.evaluation.examples}
    assert groups == set(loaded.lock.splits["accept"])
    assert not list(plan.parent.glob("*register*")), "nothing is opened, so nothing is registered"
    assert json.loads((out / "noise.json").read_text())["floor"]["flipped"] == measured.floor.flipped
    texts = [ex.document for ex in loaded.corpus.examples if ex.group in loaded.lock.splits["heldout"]]
    written = "".join(path.read_text() for path in out.rglob("*.jsonl"))
    assert not any(text[:80] in written for text in texts)


def test_a_measurement_is_audited_read_back_and_planned_with(make_plan: MakePlan, tmp_path: Path) -> None:
    out = tmp_path / "runs" / "noise"
    measured = noise_run(make_plan(), out).run()
    assert not [found for found in (*audit_ledger(out), *audit_numbers(out)) if found.severity == "error"]
    run = load_run(out)
    assert noise_floor(recorded_evaluation(run, split="accept", candidate=seed_of(run))) == measured.floor
    pilot = read_pilot(run)
    assert (pilot.candidates, pilot.replicates, pilot.discordance.noise) == (0, 3, 1.0)
    assert any("effects are a floor" in words for words in pilot.warnings)


def test_measuring_again_pays_nothing_and_more_replicates_add_to_what_is_there(
    make_plan: MakePlan, tmp_path: Path
) -> None:
    plan, out = make_plan(), tmp_path / "runs" / "noise"
    first = noise_run(plan, out).run()
    again = noise_run(plan, out).run()
    assert (again.paid, again.floor) == (0, first.floor)
    more = noise_run(plan, out, replicates=5).run()
    assert more.floor.replicates == 5
    assert more.floor.measures["omissions"].values[:3] == first.floor.measures["omissions"].values
    assert more.paid * 3 == first.paid * 2, "two replicates more, beside three"
    assert noise_run(plan, out).run().floor == first.floor


def test_what_a_campaign_has_paid_for_is_found_in_its_cache(make_plan: MakePlan, tmp_path: Path) -> None:
    plan = make_plan(search={"iterations": 0, "minibatch_groups": 1, "seed": 1})
    loaded = load_plan(str(plan))
    runs = tmp_path / "runs"
    Campaign(
        loaded.plan, loaded.corpus, loaded.lock, runs / "small", baseline=loaded.baseline, exploratory="a test"
    ).run()
    measured = noise_run(plan, runs / "noise").run()
    alone = noise_run(plan, tmp_path / "elsewhere" / "noise").run()
    assert measured.paid == alone.paid * 2 // 3, "the first replicate is the campaign's own"
    assert measured.floor == alone.floor


def test_the_limits_of_the_plan_hold_and_a_stopped_measurement_goes_on(make_plan: MakePlan, tmp_path: Path) -> None:
    plan, out = make_plan(), tmp_path / "runs" / "noise"
    text = plan.read_text()
    plan.write_text(text + "limits: {calls: 40}\n")
    with pytest.raises(BudgetError, match=r"limits\.calls"):
        noise_run(plan, out).run()
    assert any(event.type == "stopped" for event in read_events(out / "ledger.jsonl"))
    plan.write_text(text)
    rest = noise_run(plan, out).run()
    whole = noise_run(plan, tmp_path / "elsewhere" / "noise").run()
    assert rest.paid == whole.paid - 40
    assert rest.floor == whole.floor


def test_reflect_groups_can_be_judged_instead(make_plan: MakePlan, tmp_path: Path) -> None:
    plan, out = make_plan(), tmp_path / "runs" / "noise"
    measured = noise_run(plan, out, split="reflect").run()
    groups = {example.group for example in measured.evaluation.examples}
    assert groups == set(load_plan(str(plan)).lock.splits["reflect"])
    assert not [found for found in audit_ledger(out) if found.severity == "error"]


@pytest.mark.integration
def test_identical_replicates_are_not_bought_again(make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any) -> None:
    endpoint = {"endpoint": judge_endpoint.url, "name": "judge"}
    plan = make_plan(student={"shape": "per-fact", "model": endpoint, "max_facts": 2})
    measured = noise_run(plan, tmp_path / "runs" / "noise", replicates=5).run()
    assert measured.floor.deterministic
    assert (measured.floor.replicates, measured.spared) == (2, 3)
    assert set(judge_endpoint.answered.values()) == {2}, "each prompt was answered once in each of two replicates"
    again = noise_run(plan, tmp_path / "runs" / "noise", replicates=5).run()
    assert (again.paid, again.spared) == (0, 3)


def test_held_out_groups_cannot_be_asked_for(make_plan: MakePlan, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="held-out groups stay behind the seal"):
        noise_run(make_plan(), tmp_path / "noise", split="heldout")


def test_two_replicates_are_too_few(make_plan: MakePlan, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="replicates must be at least 3, got 2"):
        noise_run(make_plan(), tmp_path / "noise", replicates=2)


def test_a_campaign_is_never_resumed_in_the_directory_of_a_measurement(make_plan: MakePlan, tmp_path: Path) -> None:
    plan, out = make_plan(), tmp_path / "runs" / "noise"
    noise_run(plan, out).run()
    loaded = load_plan(str(plan))
    with pytest.raises(PlanError, match="give another --out"):
        Campaign(loaded.plan, loaded.corpus, loaded.lock, out, baseline=loaded.baseline).run()


def test_nor_a_measurement_in_that_of_another_plan(make_plan: MakePlan, tmp_path: Path) -> None:
    out = tmp_path / "runs" / "noise"
    noise_run(make_plan(), out).run()
    other = make_plan("other", search={"iterations": 1, "minibatch_groups": 1, "seed": 2})
    with pytest.raises(PlanError, match="give another --out"):
        noise_run(other, out).run()


def test_a_measurement_cannot_be_pickled_or_copied_since_it_holds_the_corpus(
    make_plan: MakePlan, tmp_path: Path
) -> None:
    measurement = noise_run(make_plan(), tmp_path / "noise")
    for made in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(SealError, match="a measurement cannot be pickled or copied"):
            made(measurement)
