from __future__ import annotations

import pytest

from lineage import canonical_state, read_events
from lineage.audit import audit_ledger
from optimize.engines.mipro import NOT_TRIED, UNREAD, n_trials
from optimize.recompute import audit_numbers
from tests.conftest import JudgeEndpoint
from tests.optimize.engines.conftest import PLAIN, SHORT, STRICT, Searched, bodies, for_mipro

pytestmark = pytest.mark.integration

TEXTS = [SHORT, STRICT, PLAIN, "Decide."]


def answers(count: int = 60) -> list[str]:
    """Answers in turn; every one can stand for a summary or for a proposal."""
    return [for_mipro(TEXTS[number % len(TEXTS)]) for number in range(count)]


def test_the_instructions_that_it_draws_are_judged_on_accept_and_recorded(
    searched: Searched, judge_endpoint: JudgeEndpoint
) -> None:
    judge_endpoint.written = answers()
    result = searched("mipro", iterations=3)
    texts = {body["texts"]["instruction"] for body in bodies(result.directory, "candidate")[1:]}
    assert texts <= set(TEXTS)
    assert len(texts) == 3
    outcomes = bodies(result.directory, "outcome")
    assert {body["outcome"] for body in outcomes} <= {"accepted", "rejected"}
    judged = [b["candidates"][0] for b in bodies(result.directory, "evaluation") if b["purpose"] == "accept"]
    assert len(judged) == len(set(judged)) == 1 + sum(body["outcome"] == "accepted" for body in outcomes)
    assert not [f for f in [*audit_ledger(result.directory), *audit_numbers(result.directory)] if f.severity != "info"]


def test_no_demonstration_is_in_a_prompt_of_the_judge(searched: Searched, judge_endpoint: JudgeEndpoint) -> None:
    judge_endpoint.written = answers()
    searched("mipro", iterations=2)
    judged = [prompt for prompt in judge_endpoint.prompts if "[[ ##" not in prompt]
    assert judged
    assert all(prompt.count('"role"') == 2 for prompt in judged)


def test_a_budget_that_is_used_up_leaves_the_rest_untried_and_says_so(
    searched: Searched, judge_endpoint: JudgeEndpoint
) -> None:
    judge_endpoint.written = answers()
    out = searched("mipro", iterations=3, budget={"calls": 1}).directory
    outcomes = bodies(out, "outcome")
    assert {(body["outcome"], body["reason"]) for body in outcomes} == {("rejected", NOT_TRIED)}
    assert len(outcomes) == 3
    assert bodies(out, "finished")


def test_a_second_run_is_the_same_and_asks_nothing(searched: Searched, judge_endpoint: JudgeEndpoint) -> None:
    judge_endpoint.written = answers()
    first = searched("mipro", "one", iterations=2)
    asked = len(judge_endpoint.prompts)
    second = searched("mipro", "two", iterations=2)
    assert len(judge_endpoint.prompts) == asked
    states = [canonical_state(read_events(run.directory / "ledger.jsonl")) for run in (first, second)]
    assert states[0] == states[1]


def test_answers_that_dspy_cannot_read_end_no_search(searched: Searched, judge_endpoint: JudgeEndpoint) -> None:
    judge_endpoint.written = ["no format at all"] * 80
    out = searched("mipro", iterations=2).directory
    assert {(body["outcome"], body["reason"]) for body in bodies(out, "outcome")} == {("invalid", UNREAD)}
    assert {body["texts"]["instruction"] for body in bodies(out, "candidate")[1:]} == {""}
    assert bodies(out, "verdict")[0]["verdict"]["decision"] == "nothing-found"


@pytest.mark.parametrize(("candidates", "trials"), [(2, 3), (4, 6), (7, 10), (13, 19)])
def test_trials_are_those_that_mipro_would_set_itself(candidates: int, trials: int) -> None:
    assert n_trials(candidates, 1) == trials
