"""The coverage recipe: two shares and their harmonic mean, or nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lineage.records import Usage
from students.coverage import CoverageJudge
from students.student import CallsAtMost
from students.transport import CallRequest, CallResult

STUDENT = CoverageJudge(model={"name": "m"})
TOLD = "1. Cough for two weeks.\n2. No fever.\n3. Allergic to penicillin.\n4. Cough for two weeks"
SAID = "1. Cough for two weeks.\n2. No fever."


@pytest.fixture
def one(groups: Any) -> Any:
    """One document."""
    group = groups(1)
    return group.part(group.examples[:1])


def answering(told: str, said: str, covered: str, supported: str, *, finish: str = "stop", retried: str = "") -> Any:
    """The statements of source and document, and the verdicts on each other's text."""
    retries = iter([covered, retried])

    def answer(request: CallRequest) -> CallResult:
        of_source = request.inputs["text"].startswith("source")
        if "statements" in request.inputs:
            return CallResult(supported if of_source else covered_once(), "stop", Usage(1, 20, 9))
        return CallResult(told if of_source else said, finish, Usage(1, 50, 30))

    def covered_once() -> str:
        return next(retries) if retried else covered

    return answer


@pytest.mark.parametrize(
    ("covered", "supported", "parts", "score"),
    [
        ("s1: yes\ns2: yes\ns3: no", "s1: yes\ns2: yes", (2 / 3, 1.0), 0.8),
        ("s1: yes\ns2: no\ns3: no", "s1: yes\ns2: no", (1 / 3, 0.5), 0.4),
        ("s1: no\ns2: no\ns3: no", "s1: yes\ns2: yes", (0.0, 1.0), 0.0),
        ("s1: no\ns2: no\ns3: no", "s1: no\ns2: no", (0.0, 0.0), 0.0),
        ('{"s1": true, "s2": "yes", "s3": "present"}', "s1: yes\ns2: yes", (1.0, 1.0), 1.0),
    ],
)
def test_the_score_is_the_harmonic_mean_of_coverage_and_faithfulness(
    covered: str, supported: str, parts: tuple[float, float], score: float, sit: Any, one: Any
) -> None:
    (judgement,) = sit(STUDENT, one, answering(TOLD, SAID, covered, supported)).judgements
    assert (judgement.status, judgement.score) == ("scored", score)
    assert judgement.parts == dict(zip(("coverage", "faithfulness"), parts, strict=True))
    assert judgement.usage.calls == 4


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"told": "NONE"}, "empty: statements of the source: none, so that their share is undefined"),
        ({"said": "NONE"}, "empty: statements of the document: none, so that their share is undefined"),
        ({"finish": "length"}, "truncated: statements of the source: after 0 reasoning tokens"),
        ({"told": "so much"}, "unparseable: statements of the source: no item in 'so much'"),
        ({"covered": ""}, "empty: verdicts on the source's statements: no text"),
        ({"covered": "s1: no\ns1: yes"}, "unparseable: verdicts on the source's statements: two verdicts for s1"),
        (
            {"covered": "s1: yes", "retried": "s2: no"},
            "unparseable: verdicts on the source's statements: no verdict for s3, asked twice",
        ),
        (
            {"covered": "s1: yes", "retried": "s1: yes"},
            "unparseable: retry of verdicts on the source's statements: unknown key 's1'",
        ),
    ],
)
def test_a_component_without_statements_or_verdicts_is_undefined_and_no_number(
    change: dict[str, str], reason: str, sit: Any, one: Any
) -> None:
    given = {"told": TOLD, "said": SAID, "covered": "s1: yes\ns2: yes\ns3: no", "supported": "s1: yes\ns2: yes"}
    (judgement,) = sit(STUDENT, one, answering(**(given | change))).judgements
    assert (judgement.status, judgement.score) == ("failed", None)
    assert judgement.reason.startswith(reason)


def test_statements_that_an_answer_left_out_are_asked_for_once_more(sit: Any, one: Any) -> None:
    found = sit(STUDENT, one, answering(TOLD, SAID, "s3: no", "s1: yes\ns2: yes", retried="s2: yes\ns1: yes"))
    assert found.judgements[0].parts == {"coverage": 2 / 3, "faithfulness": 1.0}
    assert found.asked[3].inputs["statements"] == "s1: Cough for two weeks.\ns2: No fever."


def test_the_statements_of_the_source_are_taken_once_for_a_group_and_see_no_document(sit: Any, groups: Any) -> None:
    verdicts = "s1: yes\ns2: yes\ns3: yes"
    found = sit(STUDENT, groups(2), answering(TOLD, TOLD, verdicts, verdicts))
    shared = [request for request in found.asked if request.shared]
    assert sorted(request.inputs["text"] for request in shared) == ["source g0", "source g1"]
    assert len(found.asked) == 2 + 6 * 3
    assert {judgement.score for judgement in found.judgements} == {1.0}


def test_either_prompt_may_evolve_and_the_other_keeps_its_bundled_text(sit: Any, one: Any) -> None:
    verdicts = "s1: yes\ns2: yes\ns3: yes"
    for block, changed in (("stated", "coverage-stated"), ("statements", "coverage-statements")):
        student = replace(STUDENT, block=block)
        found = sit(student, one, answering(TOLD, TOLD, verdicts, verdicts), cache=block)
        judged = {request.prompt for request in found.asked if request.inputs["instruction"] == "Judge."}
        assert judged == {changed}


def test_calls_at_most_count_three_answers_two_retries_and_the_source() -> None:
    assert STUDENT.calls_at_most(9) == CallsAtMost(5, 1)
