"""``holdgate sweep``: what it says, what it writes, and the campaign that confirms its best point."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from experiments import load_plan
from experiments.sweep.loading import load_study
from lineage.canonical import digest
from lineage.errors import PlanError

MakePlan = Callable[..., Path]
Holdgate = Callable[..., tuple[int, str, str]]

STUDY = {
    "name": "tiny",
    "space": {"student.aggregator": ["soft", "share", "minimum"], "search.minibatch_groups": {"low": 1, "high": 2}},
    "objectives": ["paired", "tokens"],
    "sampler": {"kind": "grid", "seed": 2},
    "trials": 4,
    "pruning": {"groups": [2], "reduction": 2},
}


@pytest.fixture
def study(make_plan: MakePlan, tmp_path: Path) -> Callable[..., Path]:
    """Writes a study file beside its campaign plan."""

    def make(**changes: Any) -> Path:
        base = make_plan("base", search={"iterations": 2, "minibatch_groups": 1, "seed": 1})
        path = tmp_path / "studies" / "tiny.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump({**STUDY, "base": "../base/plan.yaml", **changes}), encoding="utf-8")
        assert base.parent == path.parent.parent / "base"
        return path

    return make


def test_a_study_is_run_shown_reported_confirmed_and_audited(
    holdgate: Holdgate, study: Callable[..., Path], tmp_path: Path
) -> None:
    path, out = study(limits={"calls": 5000}), tmp_path / "runs" / "tiny"
    status, text, _ = holdgate("sweep", path, "--out", out)
    words = " ".join(text.split())
    assert status == 0
    assert "held-out groups stay sealed for the whole study" in words
    assert "trial 1 of 4: minibatch_groups" in words
    assert "accept groups:" in words
    assert "4 of 4 trials begun:" in words
    assert "Nothing is confirmed" in words
    assert "SIMULATED" in words

    result = json.loads((out / "result.json").read_text())
    status, text, _ = holdgate("sweep", path, "--out", out, "--json")
    assert status == 0
    again = json.loads(text)
    assert again == {name: value for name, value in result.items() if name != "ledgers"}
    assert again["finished"]
    assert [row["trial"] for row in again["trials"]] == [1, 2, 3, 4]
    assert result["ledgers"]["01"]["count"] > 8

    _page(out / "report.html", again)

    plan = tmp_path / "elsewhere" / "confirm.yaml"
    status, text, _ = holdgate("sweep", path, "--out", out, "--emit-plan", plan)
    assert status == 0
    assert f"confirms trial {again['ranking'][0]}" in text
    loaded = load_plan(str(plan))
    studied = loaded.plan.studied
    assert studied is not None
    assert (studied.study, studied.trials, studied.candidates) == ("tiny", 4, again["candidates"])
    assert studied.result == digest(again)
    best = next(row for row in again["trials"] if row["trial"] == again["ranking"][0])
    assert loaded.plan.student.aggregator == best["parameters"]["student.aggregator"]
    assert loaded.plan.search.minibatch_groups == best["parameters"]["search.minibatch_groups"]

    run = tmp_path / "runs" / "confirm"
    status, text, _ = holdgate("run", plan, "--out", run, "--no-mlflow")
    assert status == 0
    verdict = json.loads((run / "verdict.json").read_text())
    assert verdict["accept"]["studied"]["candidates"] == again["candidates"]
    assert verdict["accept"]["winner"]["candidate"] == best["outcome"]["winner"], (
        "the same search finds the same winner"
    )
    said = [words for words in verdict["words"] if "by the study tiny" in words]
    assert len(said) == 1
    assert f"{again['candidates']} candidates in 4 trials" in said[0]
    assert "the gate's correction counts held-out comparisons alone" in said[0]
    found = re.search(r"calls: (\d+) paid, (\d+) found in the cache", text)
    assert found is not None
    assert int(found[2]) > 0, "calls of the trial's search are not paid for again"
    status, text, _ = holdgate("audit", run)
    assert status == 0, text
    status, text, _ = holdgate("sweep", path, "--out", out, "--audit")
    assert status == 0
    assert "0 errors" in text


class _Read(HTMLParser):
    """What a page would fetch, and its tables."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "xlink:href")]


def _page(path: Path, result: dict[str, Any]) -> None:
    text = path.read_text(encoding="utf-8")
    page = _Read()
    page.feed(text)
    assert all(value.startswith(("#", "data:")) for value in page.fetched)
    assert "script" not in page.tags
    assert page.tags.count("figure") == page.tags.count("svg") == 1
    assert "The same in numbers" in text, "the drawing has a table twin"
    assert "Nothing here is confirmed" in text
    assert "SIMULATED" in text
    twin = text[text.index("The same in numbers") :]
    for number in result["ranking"]:
        assert f'<th scope="row">{number}</th>' in twin
    drawing = text[text.index("<svg") : text.index("</svg>")]
    marks = drawing.count("<rect") + drawing.count("<circle")
    assert marks == len(result["ranking"]) + 2, "a mark a complete trial, and the legend's"
    assert ("Pruned trials" in text) is bool(result["counts"]["pruned"])


@pytest.mark.integration
def test_another_trial_than_the_best_can_be_confirmed_if_it_is_complete(
    holdgate: Holdgate, study: Callable[..., Path], tmp_path: Path
) -> None:
    path, out = study(pruning=None, trials=2), tmp_path / "runs" / "tiny"
    status, _, error = holdgate("sweep", path, "--out", out, "--emit-plan", tmp_path / "x.yaml")
    assert status == 2
    assert "holds no study; run it first" in error
    holdgate("sweep", path, "--out", out)
    for number in (1, 2):
        status, text, _ = holdgate("sweep", path, "--out", out, "--emit-plan", tmp_path / "x.yaml", "--trial", number)
        assert f"confirms trial {number}" in text
    status, _, error = holdgate("sweep", path, "--out", out, "--emit-plan", tmp_path / "x.yaml", "--trial", "7")
    assert status == 2
    assert "--trial 7: is not complete; complete are" in error


def test_what_a_study_would_do_is_said_without_doing_it(
    holdgate: Holdgate, study: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, text, _ = holdgate("sweep", study(limits={"calls": 99}), "--check")
    words = " ".join(text.split())
    assert status == 0
    assert "tiny: 4 trials by grid, seed 2" in words
    assert "soft, share, minimum" in words
    assert "one of 2 judges goes on after 2 accept groups, by paired" in words
    assert "limits of the whole study: 99 calls" in words
    assert "6 points of the space were checked" in words
    assert "a trial takes at most 240 to 300 calls, all trials at most 1200" in words
    assert not (tmp_path / "runs").exists()
    schema = json.loads(holdgate("sweep", "--schema")[1])
    assert set(schema["properties"]) >= {"base", "space", "objectives", "pruning", "limits"}


def test_a_limit_ends_the_command_with_a_status_of_its_own(
    holdgate: Holdgate, study: Callable[..., Path], tmp_path: Path
) -> None:
    status, _, error = holdgate("sweep", study(limits={"calls": 20}), "--out", tmp_path / "runs" / "tiny")
    assert status == 3
    assert "stopped at a limit: limits.calls = 20 of the study would be passed" in error
    assert "raise limits.calls in the study plan and give the same command to go on" in error


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((), 2, "name a study, such as simulated"),
        (("nothing",), 2, "there is no study 'nothing'; bundled: local, simulated"),
        (("simulatd",), 2, "did you mean 'simulated'?"),
        (("simulated", "--trial", "1"), 2, "--trial has no effect without --emit-plan"),
        (("simulated", "--check", "--audit"), 2, "--check and --audit do not go together"),
        (("simulated", "--check", "--workers", "2"), 2, "--check and --workers do not go together"),
        (("simulated", "--storage", "mysql://x/y"), 2, "--storage must be sqlite or postgresql, got mysql"),
        (("simulated", "--storage", "not an address"), 2, "is no address of a database"),
        (("simulated", "--storage", "sqlite://"), 2, "a study outlives its process"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(
    arguments: tuple[str, ...],
    status: int,
    message: str,
    holdgate: Holdgate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    found, _, error = holdgate("sweep", *arguments)
    assert found == status
    assert message in error


def test_a_database_that_cannot_be_reached_is_named_without_its_password(
    holdgate: Holdgate, study: Callable[..., Path], tmp_path: Path
) -> None:
    pytest.importorskip("psycopg", reason="the driver of PostgreSQL is not installed")
    address = "postgresql://me:secret@127.0.0.1:1/nowhere"
    status, text, error = holdgate("sweep", study(), "--out", tmp_path / "runs" / "tiny", "--storage", address)
    assert status == 2
    assert "postgresql+psycopg://me:***@127.0.0.1:1/nowhere: the study's database cannot be used" in error
    assert "secret" not in text + error


@pytest.mark.parametrize("name", ["simulated", "local"])
def test_the_bundled_studies_can_be_searched_at_every_point(name: str) -> None:
    loaded = load_study(name)
    assert loaded.defects == ()
    assert loaded.points == 48 or loaded.points == 72
    assert loaded.simulated is (name == "simulated")


@pytest.mark.integration
def test_a_space_may_be_over_student_reflector_search_seeds_and_prompts_at_once(
    study: Callable[..., Path], make_plan: MakePlan
) -> None:
    def model(name: str) -> dict[str, Any]:
        return {
            "hosted": f"openai/{name}",
            "price": {"prompt_usd_per_million": 1.0, "completion_usd_per_million": 2.0},
        }

    make_plan(
        "judged",
        student={"shape": "whole-note", "model": model("gpt-5-mini"), "temperature": None},
        baseline="complete-and-faithful",
        reflector={"kind": "llm", "model": model("gpt-5-mini"), "temperature": None},
    )
    varied: dict[str, Any] = {
        "student.budget.effort": ["low", "high"],
        "student.budget.answer_tokens": [1000, 4000],
        "student.samples": {"low": 1, "high": 3},
        "baseline": ["complete-and-faithful", "g-eval-completeness"],
        "search.seeds": [[], ["engineered"], ["g-eval-faithfulness", "g-eval-precision"]],
        "search.seed": {"low": 1, "high": 5},
        "search.minibatch_groups": {"low": 1, "high": 3},
        "search.acceptance": ["promiscuous", "full"],
        "search.frontier": ["examples", "objectives", "both"],
        "search.merge": [None, {"from_candidates": 3}],
        "reflector.model": {"choices": {"small": model("gpt-5-mini"), "large": model("gpt-5")}},
        "reflector.budget.effort": ["low", "high"],
    }
    loaded = load_study(
        str(
            study(
                base="../judged/plan.yaml",
                space=varied,
                objectives=["paired", "cost"],
                sampler={"kind": "tpe"},
                pruning=None,
                limits={"usd": 1},
            )
        )
    )
    assert loaded.defects == ()
    assert loaded.inputs.unit == "usd"
    found = [resolved.plan for resolved in loaded.sound]
    assert {plan.student.budget.effort for plan in found} == {"low", "high"}
    assert {plan.student.samples for plan in found} == {1, 3}, "the ends of a range"
    assert {plan.search.seeds for plan in found} == {(), ("engineered",), ("g-eval-faithfulness", "g-eval-precision")}
    assert {plan.search.frontier for plan in found} == {"examples", "objectives", "both"}
    assert {plan.reflector.model.hosted for plan in found if plan.reflector.model} == {
        "openai/gpt-5-mini",
        "openai/gpt-5",
    }
    assert {plan.reflector.budget.effort for plan in found} == {"low", "high"}
    assert {plan.baseline for plan in found} == {"complete-and-faithful", "g-eval-completeness"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base": "simulatd"}, "there is no plan 'simulatd', and no bundled one; did you mean 'simulated'"),
        ({"limits": {"usd": 1}}, "limits.usd has no effect on models without a price"),
        (
            {"space": {"student.shape": ["per-fact", "whole-note"]}},
            r"there is no point with whole-note at which .*max_facts",
        ),
        ({"space": {"reflector": [{"kind": "operators"}, {"kind": "human"}]}}, "nobody can be asked in every search"),
        ({"space": {"baseline": ["stated-in-note", "nowhere.md"]}}, "there is no instruction 'nowhere.md'"),
        ({"trials": 9}, "trials: the grid has 6 points, and 9 trials would repeat some"),
        ({"pruning": {"groups": [4]}, "trials": 1}, None),
    ],
)
def test_a_study_that_could_not_run_is_refused_before_anything_is_called(
    changes: dict[str, Any], message: str | None, study: Callable[..., Path], holdgate: Holdgate, tmp_path: Path
) -> None:
    path = study(**changes)
    if message is None:  # found as soon as accept is read
        status, _, error = holdgate("sweep", path, "--out", tmp_path / "runs" / "tiny")
        assert status == 2
        assert "pruning.groups: 4 of 4 accept groups with pairs is no part of them" in error
        return
    with pytest.raises(PlanError, match=message):
        load_study(str(path))


@pytest.mark.integration
def test_values_from_the_environment_are_taken_at_each_point_and_stay_names_in_the_emitted_plan(
    holdgate: Holdgate, study: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = study(trials=1, pruning=None), tmp_path / "runs" / "tiny"
    base = tmp_path / "base" / "plan.yaml"
    base.write_text(base.read_text().replace("noise: 2.0", "noise: ${NOISE}"))
    monkeypatch.setenv("NOISE", "1.5")
    assert holdgate("sweep", path, "--out", out)[0] == 0
    assert holdgate("sweep", path, "--out", out, "--emit-plan", tmp_path / "x.yaml")[0] == 0
    assert "${NOISE}" in (tmp_path / "x.yaml").read_text()
    monkeypatch.delenv("NOISE")
    with pytest.raises(PlanError, match="NOISE is not set"):
        load_study(str(path))


@pytest.mark.integration
def test_two_workers_on_one_machine_share_a_study(
    holdgate: Holdgate, study: Callable[..., Path], tmp_path: Path
) -> None:
    path, out = study(), tmp_path / "runs" / "tiny"
    status, _, error = holdgate("sweep", path, "--out", out, "--workers", "2")
    assert status == 0, error
    result = json.loads((out / "result.json").read_text())
    assert result["finished"]
    assert len(result["trials"]) == 4
    assert sorted(path.name for path in (out / "workers").iterdir()) == ["01", "02"]
    shutil.rmtree(out / "workers" / "02")
    assert holdgate("sweep", path, "--out", out, "--audit")[0] == 0, "what is on another machine is checked there"
