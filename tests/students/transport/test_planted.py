"""The simulated student with a planted improvement: what was put in, and nothing else."""

from __future__ import annotations

import asyncio
import math
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import CallError, PlanError
from optimize.models import open_transport
from optimize.plan import parse_plan
from students.transport import CallRequest, CallResult, Planted, PlantedTransport
from students.transport.planted import FRAGMENT, HALF, RESTATED, STATED, SURE

ONE, TWO = "A fragment is not enough.", "Every detail must be found."
BOTH = f"Frame. {ONE} {TWO}"
PLANTED = Planted(ONE, TWO, effect=3.0, noise=1.0)
FACT, NOTE = "alpha bravo charlie delta echo", "alpha bravo"


def ask(
    instruction: str, *, effort: str | None = "low", document: str = NOTE, planted: Planted = PLANTED, seed: int = 0
) -> CallResult:
    inputs = {"instruction": instruction, "document": document, "fact": FACT}
    parameters = {} if effort is None else {"reasoning_effort": effort}
    request = CallRequest(({"role": "user", "content": "three words here"},), parameters, seed, inputs=inputs)
    return asyncio.run(PlantedTransport(planted).complete(request))


def margin(answer: CallResult) -> float:
    yes, no = (value for _, value in answer.top)
    return yes - no


def mean_margin(instruction: str, **more: object) -> float:
    return fmean(margin(ask(instruction, seed=seed, **more)) for seed in range(300))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("overlap", "seen", "found"),
    [
        (1.0, (3.0, 3.0), SURE),
        (STATED, (3.0, 3.0), SURE),
        (RESTATED, (3.0, 0.5), SURE - 0.5),
        (FRAGMENT, (3.0, 0.5), SURE - 3.0),
        (0.0, (0.0, 0.0), -SURE),
    ],
)
def test_a_fact_is_stated_restated_hinted_at_or_gone(overlap: float, seen: tuple[float, float], found: float) -> None:
    assert PLANTED.margin(overlap, seen) == found


@pytest.mark.parametrize(
    ("instruction", "reasons", "seen"),
    [
        (BOTH, True, (3.0, 3.0)),
        (BOTH, False, (0.0, 0.0)),
        (ONE, True, (3.0 * HALF, 0.0)),
        (TWO, True, (0.0, 3.0 * HALF)),
        ("Frame. Other rule.", True, (0.0, 0.0)),
    ],
)
def test_both_clauses_and_reasoning_are_needed(instruction: str, reasons: bool, seen: tuple[float, float]) -> None:
    assert PLANTED.seen(instruction, reasons=reasons) == pytest.approx(seen)


def test_answers_are_the_formula_with_its_noise() -> None:
    assert mean_margin(BOTH) == pytest.approx(SURE - 3.0, abs=0.2)
    assert mean_margin("Frame.") == pytest.approx(SURE, abs=0.2)
    assert mean_margin(BOTH, effort=None) == mean_margin(BOTH, effort="none") == pytest.approx(SURE, abs=0.2)
    noise = stdev(margin(ask("Frame.", seed=seed)) for seed in range(300))
    assert noise == pytest.approx(1.0, abs=0.12)


def test_on_a_null_student_no_clause_does_anything() -> None:
    null = Planted(ONE, TWO, effect=0.0)
    assert mean_margin(BOTH, planted=null) == pytest.approx(SURE, abs=0.2)


@given(st.text(max_size=20), st.integers(0, 10**9))
def test_the_same_call_has_the_same_answer_and_sound_log_probabilities(instruction: str, seed: int) -> None:
    answer = ask(instruction, seed=seed)
    assert answer == ask(instruction, seed=seed)
    assert math.fsum(math.exp(value) for _, value in answer.top) == pytest.approx(1.0)
    assert answer.text == ("Yes" if margin(answer) > 0 else "No")


def test_reasoning_is_counted_and_the_answer_marked() -> None:
    assert (ask(BOTH).usage.reasoning_tokens, ask(BOTH, effort=None).usage.reasoning_tokens) == (40, 0)
    assert (ask(BOTH).version, ask(BOTH).usage.prompt_tokens) == ("simulated", 3)
    assert PlantedTransport(PLANTED).identity == {"simulated": "planted improvement", **PLANTED.row()}


def test_it_answers_no_reflector_and_no_judge_of_whole_notes() -> None:
    request = CallRequest(({"role": "user", "content": "?"},), {}, 0, inputs={"source": "s", "document": "d"})
    with pytest.raises(CallError, match="answers checks of single facts only"):
        asyncio.run(PlantedTransport(PLANTED).complete(request))


def plan_of(shape: str, planted: dict[str, object], **budget: object) -> dict[str, object]:
    return {
        "name": "small",
        "corpus": {"bundled": "consults"},
        "splits": {"lock": "split.lock.json"},
        "student": {"shape": shape, "model": {"simulated": {"noise": 0.5, "planted": planted}}, "budget": budget},
        "baseline": "stated-in-note",
        "search": {"iterations": 3},
    }


def test_a_plan_names_it_and_what_it_cannot_be_is_refused() -> None:
    plan = parse_plan(plan_of("per-fact", {"effect": 2.0}, effort="low"), where="plan.yaml")
    transport = open_transport(plan.student.model)
    assert isinstance(transport, PlantedTransport)
    assert (transport.planted.effect, transport.planted.noise) == (2.0, 0.5)
    assert plan.simulated
    for shape, planted, message in (
        ("whole-note", {}, "with a planted improvement answers shape per-fact only"),
        ("per-fact", {"fragment": "All of it.", "restated": "All of it. Now."}, "neither of which holds the other"),
        ("per-fact", {"effect": -1}, r"effect: .*greater than or equal to 0"),
    ):
        with pytest.raises(PlanError, match=message):
            parse_plan(plan_of(shape, planted), where="plan.yaml")
