"""The simulated transport: a formula, and marked as one."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from typing import Any

import pytest

from lineage.errors import CallError
from splits.corpus import Example, Fact
from students import PerFactChecker, ReasoningBudget, WholeNoteScorer
from students.designs import DESIGNS
from students.student import Draw
from students.transport import CallRequest, CallResult, EndpointTransport, HostedTransport, SimulatedTransport

NOTE = "Chest pain since Monday. Allergic to penicillin."
CLEAN = Example("a", "g", "s", NOTE, NOTE, "clean", "clean")
EMPTY = replace(CLEAN, id="b", document="Nothing of note.")
FACT = Fact("f", "g", "Allergic to penicillin", (), "critical", True)
TEXTS = {"instruction": "Judge."}


def ask(transport: SimulatedTransport, request: CallRequest) -> CallResult:
    return asyncio.run(transport.complete(request))


def p_yes(transport: SimulatedTransport, example: Example, instruction: str = "Judge.", seed: int = 0) -> float:
    student: Any = PerFactChecker(model={})
    (request,) = student.chain(example, (FACT,), {"instruction": instruction}, Draw(seed))
    return float(student.read(example, (FACT,), [ask(transport, request)]).facts[0].p_yes)


def test_it_is_marked_as_simulated_and_the_others_are_not() -> None:
    assert SimulatedTransport.simulated is True
    assert EndpointTransport.simulated is False
    assert HostedTransport.simulated is False
    assert SimulatedTransport(noise=3.0).identity == {"simulated": "word overlap with noise", "noise": 3.0}
    (request,) = WholeNoteScorer(model={}).chain(CLEAN, (), TEXTS, Draw(0))
    assert ask(SimulatedTransport(), request).usage.cost_usd is None


def test_the_same_call_always_has_the_same_answer() -> None:
    (request,) = PerFactChecker(model={}).chain(CLEAN, (FACT,), TEXTS, Draw(3))
    assert ask(SimulatedTransport(), request) == ask(SimulatedTransport(), request)


def test_another_seed_or_replicate_draws_other_noise() -> None:
    (request,) = PerFactChecker(model={}).chain(CLEAN, (FACT,), TEXTS, Draw(3))
    others = [replace(request, seed=4), replace(request, replicate=1)]
    assert len({ask(SimulatedTransport(), each).top for each in (request, *others)}) == 3


def test_without_noise_words_that_are_there_mean_yes() -> None:
    exact = SimulatedTransport(noise=0.0)
    assert p_yes(exact, CLEAN) > 0.9
    assert p_yes(exact, EMPTY) < 0.1


def test_helpful_instructions_lessen_the_noise() -> None:
    transport = SimulatedTransport(noise=4.0)

    def spread(instruction: str) -> float:
        values = [p_yes(transport, CLEAN, instruction, seed) for seed in range(40)]
        return max(values) - min(values)

    assert spread("The whole fact, every detail; other words count, a fragment does not count.") < spread("Judge.")


def test_any_noise_gives_finite_log_probabilities() -> None:
    (request,) = PerFactChecker(model={}).chain(CLEAN, (FACT,), TEXTS, Draw(0))
    for seed in range(50):
        answer = ask(SimulatedTransport(noise=1e4), replace(request, seed=seed))
        assert all(math.isfinite(value) and value <= 0 for _, value in answer.top)


def test_a_whole_note_is_scored_by_what_is_kept_of_the_transcript() -> None:
    scores = []
    for example in (CLEAN, EMPTY):
        student: Any = WholeNoteScorer(model={})
        (request,) = student.chain(example, (), TEXTS, Draw(0))
        scores.append(student.read(example, (), [ask(SimulatedTransport(noise=0.0), request)]).score)
    assert scores[0] == 10
    assert scores[1] < 7


@pytest.mark.parametrize("name", [name for name, design in DESIGNS.items() if design.simulated])
def test_a_design_that_it_answers_scores_a_note_above_an_empty_one(name: str) -> None:
    design = DESIGNS[name]
    options = {"temperature": design.temperature, "samples": design.samples}
    student = design.build(options, model={}, budget=ReasoningBudget())
    scores = []
    for example in (CLEAN, replace(EMPTY, document="Nothing of note here.")):
        readings = []
        for sample in range(student.samples):
            answers: list[CallResult] = []
            stage = student.chain(example, (FACT,), TEXTS, Draw(0, sample))
            while stage:
                answers += [ask(SimulatedTransport(noise=0.0), request) for request in stage]
                stage = student.follow(example, (FACT,), TEXTS, Draw(0, sample), answers)
            readings.append(student.read(example, (FACT,), answers))
        scores.append(student.combined(readings).score)
    assert None not in scores
    assert scores[0] > scores[1]


def test_a_prompt_without_a_formula_is_refused_by_name() -> None:
    request = CallRequest(({"role": "user", "content": "x"},), {}, inputs={"instruction": "x"}, prompt="engineered")
    with pytest.raises(CallError, match="the simulated judge has no formula for prompt engineered"):
        ask(SimulatedTransport(), request)


def test_it_does_not_pretend_to_reflect() -> None:
    request = CallRequest(({"role": "user", "content": "improve"},), {})
    with pytest.raises(CallError, match="answers judges only, not reflectors"):
        ask(SimulatedTransport(), request)
