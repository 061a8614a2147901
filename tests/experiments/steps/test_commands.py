"""``holdgate steps``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from experiments.steps import find_steps_plan
from experiments.steps.loading import STEPS_PLANS, load_steps_plan
from lineage.errors import PlanError, SealError
from optimize.recompute import audit_numbers
from splits import Corpus, Selection, commit_lock, plan_lock
from splits.loaders import save_corpus

Run = Callable[..., tuple[int, str, str]]

NOTE = "HISTORY\nCough for a week. No fever.\nPLAN\nRest."
SIMULATED = {"simulated": {"noise": 1.0}}


@pytest.fixture
def small(consults: Corpus, tmp_path: Path) -> Path:
    """Eight groups of the bundled corpus, as files."""
    groups = list(consults.groups)[:8]
    corpus = consults.part([example for example in consults.examples if example.group in groups])
    save_corpus(corpus, tmp_path / "small")
    return tmp_path / "small"


@pytest.fixture
def built(small: Path, holdgate: Run, tmp_path: Path) -> Path:
    """A build of it, whose evaluation plan names a simulated verifier."""
    status, _, error = holdgate("steps", "build", small, "--out", tmp_path / "built", "--seed", "3", "--no-twins")
    assert status == 0, error
    path = tmp_path / "built" / "eval.yaml"
    plan = yaml.safe_load(path.read_text(encoding="utf-8"))
    path.write_text(yaml.safe_dump(plan | {"model": SIMULATED, "students": [student()]}), encoding="utf-8")
    return tmp_path / "built"


def student(**changes: Any) -> dict[str, Any]:
    return {"name": "verifier", "shape": "step-verifier", "granularity": "sentence", **changes}


def write_plan(path: Path, **changes: Any) -> Path:
    plan = {
        "name": path.stem,
        "corpus": {"bundled": "consults"},
        "selection": {"groups": 4, "flawed_per_group": 2, "seed": 1},
        "model": SIMULATED,
        "students": [student()],
    }
    path.write_text(yaml.safe_dump({**plan, **changes}), encoding="utf-8")
    return path


def test_a_build_says_what_it_made_and_what_it_is_not(small: Path, holdgate: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, said, _ = holdgate("steps", "build", small, "--out", out, "--granularity", "problem")
    assert status == 0
    assert "overstates" in said
    assert "Read the transfer" in said
    manifest = json.loads((out / "steps.json").read_text())
    assert manifest["granularity"] == "problem"
    line = json.loads((out / "train.chat.jsonl").read_text().splitlines()[0])
    assert [message["role"] for message in line["messages"]] == ["system", "user", "assistant"]
    assert line["messages"][-1]["content"] in ("+", "-")
    status, printed, _ = holdgate("steps", "build", small, "--out", out, "--granularity", "problem", "--json")
    assert (status, json.loads(printed)) == (0, manifest)
    status, _, error = holdgate("steps", "build", small, "--out", out)
    assert (status, "is of another build" in error) == (2, True)


def test_a_build_by_a_lock_leaves_held_out_groups_behind_the_seal(
    consults: Corpus, holdgate: Run, tmp_path: Path
) -> None:
    selection = Selection(groups=9, flawed_per_group=2, seed=3)
    lock = plan_lock(consults, sizes={"reflect": 3, "accept": 3, "heldout": 3}, seed=3, selection=selection)
    commit_lock(lock, tmp_path / "lock.json")
    out = tmp_path / "out"
    status, said, _ = holdgate("steps", "build", "consults", "--out", out, "--lock", tmp_path / "lock.json")
    assert status == 0
    assert "3 held-out groups of the lock stay behind the seal" in said
    written = "".join(path.read_text(encoding="utf-8") for path in out.iterdir() if path.name != "steps.json")
    for group in lock.splits["heldout"]:
        assert group not in written
        assert not any(example.source[:80] in written for example in consults.groups[group])
    refused = holdgate("steps", "build", "consults", "--out", out, "--lock", "x", "--fractions", "0.5,0.3,0.2")
    assert refused[0] == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--errors", "typo"), "there is no error 'typo'"),
        (("--fractions", "a,b,c"), "--fractions must be three numbers"),
        (("--fractions", "0.5,0.5"), "fractions must be three"),
        (("--granularity", "fien"), "did you mean 'fine'"),
    ],
)
def test_options_out_of_range_are_refused(
    options: tuple[str, str], said: str, small: Path, holdgate: Run, tmp_path: Path
) -> None:
    status, _, error = holdgate("steps", "build", small, "--out", tmp_path / "out", *options)
    assert status == 2
    assert said in error


def test_an_evaluation_measures_injected_and_other_errors_and_their_difference(
    built: Path, holdgate: Run, tmp_path: Path
) -> None:
    other = write_plan(tmp_path / "other.yaml")
    out = tmp_path / "runs"
    status, said, error = holdgate("steps", "eval", built / "eval.yaml", "--transfer", other, "--out", out)
    assert status == 0, error
    assert "transfer from injected to independently made errors" in said
    assert "verification accuracy, the clean note among its flawed twins" in said
    assert "SIMULATED" in said
    report = json.loads((out / "steps-report.json").read_text())
    (verifier,) = report["verifiers"]
    assert [source["name"] for source in verifier["sources"]] == ["built-test", "other"]
    assert {gap["to"] for gap in verifier["transfer"]} == {"other"}
    assert verifier["injected"] is True
    markdown = (out / "steps-report.md").read_text(encoding="utf-8")
    assert markdown.startswith("# Steps of built-test\n\n- Accuracy on errors that were injected by rules overstates")
    assert "reliability" in markdown
    for name in ("built-test", "other"):
        assert not [found.words for found in audit_numbers(out / name) if found.severity == "error"]
    status, printed, _ = holdgate("steps", "eval", built / "eval.yaml", "--transfer", other, "--out", out, "--json")
    assert status == 0
    assert json.loads(printed) == report, "resumed, with nothing called again"


def test_a_limit_stops_with_status_3_and_the_same_command_goes_on(holdgate: Run, tmp_path: Path) -> None:
    path = write_plan(tmp_path / "limited.yaml", limits={"calls": 20})
    status, _, error = holdgate("steps", "eval", path, "--out", tmp_path / "runs")
    assert status == 3
    assert "limits.calls" in error
    assert (tmp_path / "runs" / "limited" / "stopped.md").is_file()
    write_plan(path)
    assert holdgate("steps", "eval", path, "--out", tmp_path / "runs")[0] == 0


def test_one_note_is_scored_step_by_step(holdgate: Run, tmp_path: Path) -> None:
    note, source, plan = tmp_path / "note.txt", tmp_path / "source.txt", write_plan(tmp_path / "plan.yaml")
    note.write_text(NOTE, encoding="utf-8")
    source.write_text("Patient: A cough, for a week. No fever.\nDoctor: Rest.", encoding="utf-8")
    arguments = ("steps", "score", plan, "--note", note, "--source", source, "--cache", tmp_path / "calls.sqlite")
    status, said, _ = holdgate(*arguments)
    assert status == 0
    assert "sentence 2 of problem 1" in said
    assert "first bad step" in said
    status, printed, _ = holdgate(*arguments, "--json")
    row = json.loads(printed)
    assert [step["text"] for step in row["steps"][:2]] == ["HISTORY\nCough for a week.", "No fever."]
    assert row["score"] == row["parts"]["sum"]
    note.write_text("  \n", encoding="utf-8")
    assert holdgate(*arguments)[0] == 2


def test_held_out_notes_and_plans_without_a_verifier_are_refused(consults: Corpus, tmp_path: Path) -> None:
    lock = plan_lock(consults, sizes={"reflect": 20, "accept": 20, "heldout": 20}, seed=1)
    commit_lock(lock, tmp_path / "lock.json")
    sealed = write_plan(tmp_path / "sealed.yaml", selection=None, splits={"lock": "lock.json"}, split="heldout")
    with pytest.raises(SealError, match="stays behind the seal"):
        load_steps_plan(str(sealed))
    whole = write_plan(tmp_path / "whole.yaml", students=[{"name": "w", "shape": "whole-note"}])
    with pytest.raises(PlanError, match="no student is of shape step-verifier"):
        load_steps_plan(str(whole))


def test_only_named_verifiers_are_evaluated_and_other_students_are_left_out(tmp_path: Path) -> None:
    students = [student(name="a"), student(name="b"), {"name": "w", "shape": "whole-note"}]
    path = write_plan(tmp_path / "several.yaml", students=students)
    assert [judge.name for judge in load_steps_plan(str(path)).plan.students] == ["a", "b"]
    assert [judge.name for judge in load_steps_plan(str(path), only=("b",)).plan.students] == ["b"]
    with pytest.raises(PlanError, match="has no student 'c'"):
        load_steps_plan(str(path), only=("c",))


@pytest.mark.parametrize("name", sorted(path.stem for path in STEPS_PLANS.glob("*.yaml")))
def test_a_bundled_plan_is_found_by_its_name_and_is_checked(name: str) -> None:
    assert find_steps_plan(name) == STEPS_PLANS / f"{name}.yaml"
    assert load_steps_plan(name).plan.name == name


def test_an_unknown_plan_suggests_the_near_name() -> None:
    with pytest.raises(PlanError, match="did you mean 'simulated-steps'"):
        find_steps_plan("simulated-step")


def test_a_transfer_plan_without_a_verifier_of_that_name_is_refused(holdgate: Run, tmp_path: Path) -> None:
    path, other = write_plan(tmp_path / "a.yaml"), write_plan(tmp_path / "b.yaml", students=[student(name="x")])
    status, _, error = holdgate("steps", "eval", path, "--transfer", other, "--out", tmp_path / "runs")
    assert (status, "has no verifier 'verifier'" in error) == (2, True)


def test_two_plans_of_one_name_are_refused(holdgate: Run, tmp_path: Path) -> None:
    path = write_plan(tmp_path / "twice.yaml")
    status, _, error = holdgate("steps", "eval", path, "--transfer", path, "--out", tmp_path / "runs")
    assert (status, "every plan needs a name of its own" in error) == (2, True)
