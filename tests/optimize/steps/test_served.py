"""A verifier behind a real endpoint: log-probabilities, votes, and faults that never become numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import BudgetError
from optimize.judging import JudgingRun, parse_judging_plan
from optimize.judging.recorded import load_judging
from optimize.recompute import audit_numbers
from optimize.steps import ScoredSteps, VerifierScores, scored_steps, steps_report
from splits.corpus import Corpus
from tests.conftest import JudgeEndpoint
from tests.optimize.steps.conftest import documents

pytestmark = pytest.mark.integration

Answer = tuple[int, str]
WRONG = ("a month", "Smokes a pipe.")


def completion(text: str, *, p: float | None = None, finish: str = "stop") -> Answer:
    """A chat completion with the signs' log-probabilities, or without."""
    choice: dict[str, Any] = {"finish_reason": finish, "message": {"role": "assistant", "content": text}}
    if p is not None:
        top = [{"token": "+", "logprob": math.log(p)}, {"token": "-", "logprob": math.log1p(-p)}]
        choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    usage = {"prompt_tokens": 100, "completion_tokens": 1}
    return 200, json.dumps({"model": "verifier-1", "choices": [choice], "usage": usage})


def asked(endpoint: JudgeEndpoint, number: int) -> str:
    """What the step of a request says; empty for claims of completeness and the end."""
    user = json.loads(endpoint.prompts[number - 1])[-1]["content"]
    found = re.search(r"NEXT STEP, [^\n]*:\n(.*)\n\nYour sign", user, re.DOTALL)
    return found[1] if found else ""


def judged(endpoint: JudgeEndpoint, place: Path, corpus: Corpus, **changes: Any) -> ScoredSteps:
    """The verifier at the endpoint, on some notes."""
    model = {"endpoint": endpoint.url, "name": "verifier", **changes.pop("model", {})}
    student = {
        "name": "verifier",
        "shape": "step-verifier",
        "budget": {"answer_tokens": 4},
        **changes.pop("student", {}),
    }
    plan = parse_judging_plan(
        {"name": "served", "corpus": {"path": "x"}, "model": model, "students": [student], **changes}, where="test"
    )
    JudgingRun(plan, corpus, place / "run", texts={}).run()
    run = load_judging(place / "run")
    assert [found.words for found in audit_numbers(place / "run") if found.severity == "error"] == []
    found = run.judged("verifier")
    return scored_steps("served", corpus, found.evaluation.judgements, found.judge["settings"])


def knowing(endpoint: JudgeEndpoint, faults: Mapping[int, Answer] | None = None) -> Callable[[int], Answer]:
    """Answers well, but for some requests."""

    def before(number: int) -> Answer:
        if faults and number in faults:
            return faults[number]
        return completion("+", p=0.1 if any(text in asked(endpoint, number) for text in WRONG) else 0.9)

    return before


def test_a_verifier_is_served_by_naming_its_endpoint(judge_endpoint: JudgeEndpoint, tmp_path: Path) -> None:
    judge_endpoint.before = knowing(judge_endpoint)
    found = judged(judge_endpoint, tmp_path, documents(2))
    assert (len(found.notes), found.read, found.unscored) == (8, "log-probabilities", {})
    for note in found.notes:
        flagged = [p < 0.5 for p in note.p]
        wrong = [
            label == "-" and bool(step.raw)
            for step, label in zip(note.labelled.note.steps, note.labelled.labels, strict=True)
        ]
        assert flagged == wrong
    clean = found.by_key["g00.clean", 0]
    assert clean.scores["sum"] == pytest.approx(1 / (1 - len(clean.p) * math.log(0.9)), abs=1e-5)


@pytest.mark.parametrize(("model", "how"), [({"name": "gpt-5-chat-x"}, {}), ({}, {"step_read": "votes"})])
def test_an_endpoint_without_log_probabilities_votes_and_the_report_says_so(
    model: dict[str, Any], how: dict[str, Any], judge_endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    judge_endpoint.before = lambda number: completion("-" if number % 3 == 0 else "+")
    student = {"samples": 3, "granularity": "problem", **how}
    found = judged(judge_endpoint, tmp_path, documents(1), model=model, student=student)
    assert found.read == "votes"
    assert {p for note in found.notes for p in note.p} <= {(k + 0.5) / 4 for k in range(4)}
    report = steps_report([VerifierScores("verifier", found)], title="t")
    assert any("gives no log-probabilities" in words for words in report["words"])
    assert report["verifiers"][0]["read"] == "votes"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (completion("The note", p=None), "empty"),
        (completion("", p=None, finish="content_filter"), "refused"),
        ((200, "not json at all"), "transport"),
    ],
)
def test_a_fault_at_one_step_leaves_its_note_without_a_score_and_no_other(
    fault: Answer, reason: str, judge_endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    def before(number: int) -> Answer:
        return fault if "Smokes a pipe." in asked(judge_endpoint, number) else knowing(judge_endpoint)(number)

    judge_endpoint.before = before
    found = judged(judge_endpoint, tmp_path, documents(1))
    assert found.unscored == {("g00.added", 0): ("g00", reason)}
    assert len(found.notes) == 3


def test_a_passing_failure_is_asked_again_and_changes_nothing(judge_endpoint: JudgeEndpoint, tmp_path: Path) -> None:
    judge_endpoint.before = knowing(judge_endpoint, {3: (503, "busy"), 7: (500, "oops")})
    found = judged(judge_endpoint, tmp_path, documents(1))
    assert (len(found.notes), found.unscored) == (4, {})
    assert len(judge_endpoint.prompts) > sum(judge_endpoint.answered.values())


def test_a_limit_stops_the_verifier_and_the_run_goes_on_without_paying_twice(
    judge_endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    judge_endpoint.before = knowing(judge_endpoint)
    with pytest.raises(BudgetError, match=r"limits\.calls = 10 would be passed"):
        judged(judge_endpoint, tmp_path, documents(1), limits={"calls": 10})
    found = judged(judge_endpoint, tmp_path, documents(1), limits={"calls": 200})
    assert len(found.notes) == 4
    assert len(judge_endpoint.prompts) == len(set(judge_endpoint.prompts)), "no call is made twice"
