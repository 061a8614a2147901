from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from experiments import find_plan, load_plan, plan_size, read_plan
from experiments.loading import PLANS
from lineage.errors import CorpusError, PlanError, SplitError

MakePlan = Callable[..., Path]


@pytest.mark.parametrize("name", sorted(path.stem for path in PLANS.glob("*.yaml")))
def test_every_bundled_plan_loads_with_its_corpus_and_committed_lock(name: str) -> None:
    loaded = load_plan(name)
    assert loaded.plan.name == name
    assert loaded.lock.corpus_hash == loaded.corpus.hash


def test_the_quickstart_is_as_small_as_it_says() -> None:
    loaded = load_plan("quickstart")
    assert {split: len(groups) for split, groups in loaded.lock.splits.items()} == {
        "reflect": 8,
        "accept": 6,
        "heldout": 10,
    }
    flawed = sum(
        count for kinds in loaded.lock.counts.values() for kind, count in kinds["kind"].items() if kind != "clean"
    )
    assert flawed == 2 * 24
    assert loaded.plan.student.max_facts is not None
    assert loaded.plan.student.max_facts <= 6
    assert loaded.plan.search.iterations <= 3
    assert loaded.plan.replicates == 1
    assert plan_size(loaded).student <= 900


def test_standard_uses_every_group() -> None:
    loaded = load_plan("standard")
    assert sum(len(groups) for groups in loaded.lock.splits.values()) == len(loaded.corpus.groups) == 60


def test_a_plan_that_is_not_there_is_refused_with_the_near_name() -> None:
    with pytest.raises(PlanError, match="did you mean 'quickstart'"):
        find_plan("quikstart")


def test_values_come_from_the_environment_or_their_default(
    make_plan: MakePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = {"endpoint": "${JUDGE_URL:-http://127.0.0.1:8080/v1}", "name": "${JUDGE_MODEL}"}
    path = make_plan(student={"shape": "per-fact", "model": model})
    monkeypatch.setenv("JUDGE_MODEL", "some-model")
    read = read_plan(path).student.model
    assert (read.endpoint, read.name) == ("http://127.0.0.1:8080/v1", "some-model")
    monkeypatch.delenv("JUDGE_MODEL")
    with pytest.raises(PlanError, match="environment variable JUDGE_MODEL is not set"):
        read_plan(path)


def test_a_plan_that_is_not_yaml_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("name: [\n")
    with pytest.raises(PlanError, match=r"plan\.yaml: is not a readable YAML file"):
        read_plan(path)


def test_a_corpus_defect_is_named_by_file_line_and_field(make_plan: MakePlan) -> None:
    path = make_plan(corpus={"path": "corpus.jsonl"})
    (path.parent / "corpus.jsonl").write_text('{"id": "a", "group": "g"}\n')
    with pytest.raises(CorpusError, match=r"corpus\.jsonl:1, field 'stratum'"):
        load_plan(str(path))


def test_a_missing_lock_is_refused_with_the_command_that_writes_one(make_plan: MakePlan) -> None:
    path = make_plan(splits={"lock": "nowhere.lock.json"})
    with pytest.raises(SplitError, match="holdgate split commit"):
        load_plan(str(path))


def test_a_baseline_may_be_a_file_beside_the_plan(make_plan: MakePlan) -> None:
    path = make_plan(baseline="mine.md")
    (path.parent / "mine.md").write_text("Say whether the fact is there.\n")
    assert load_plan(str(path)).baseline == "Say whether the fact is there."


def test_the_size_of_a_plan_bounds_what_a_campaign_pays(make_plan: MakePlan, tmp_path: Path) -> None:
    from optimize import Campaign

    path = make_plan()
    loaded = load_plan(str(path))
    size = plan_size(loaded)
    campaign = Campaign(loaded.plan, loaded.corpus, loaded.lock, tmp_path / "runs" / "one", baseline=loaded.baseline)
    assert 0 < campaign.run().paid <= size.student
    assert sum(calls for _, calls in size.rows()) == size.student


def test_a_whole_note_plan_needs_one_call_a_note_and_sample(make_plan: MakePlan) -> None:
    student = {"shape": "whole-note", "model": {"simulated": {}}, "samples": 3}
    path = make_plan(student=student, baseline="complete-and-faithful")
    loaded = load_plan(str(path))
    notes = sum(loaded.lock.counts["heldout"]["kind"].values())
    assert plan_size(loaded).baseline == 3 * notes
    assert yaml.safe_load(path.read_text())["student"]["samples"] == 3
