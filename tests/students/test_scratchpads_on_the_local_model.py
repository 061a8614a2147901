"""Scratchpads on the embedded model: an interrupted chain goes on bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import CallError
from lineage.records import Candidate, Judgement, stable
from splits import Corpus
from splits.corpus import Example, Fact
from students import Bench, KeyedFactChecker, PerFactChecker, ReasoningBudget, WholeNoteScorer, known_capabilities
from students.local import DEFAULT_MODEL, LocalServer, find_model
from students.transport import CallCache, CallRequest, CallResult, Calls, EndpointTransport, Limits, Spend

pytestmark = [pytest.mark.model, pytest.mark.integration]

IDENTITY = {"local": DEFAULT_MODEL.name}
COMMON: dict[str, Any] = {
    "model": IDENTITY,
    "budget": ReasoningBudget(thinking_tokens=8, answer_tokens=16),
    "prompt_cache": "exact",
    "capabilities": known_capabilities(DEFAULT_MODEL.name, place="local"),
}
STUDENTS = (PerFactChecker(**COMMON), KeyedFactChecker(**COMMON), WholeNoteScorer(**COMMON))


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    found = find_model(DEFAULT_MODEL)
    if found is None:
        pytest.skip("the small model is not on this machine; get it with: holdgate model fetch")
    with LocalServer(found) as running:
        yield running


SOURCE = "D: What brings you in? P: A cough for two weeks, and I am allergic to penicillin. D: Any fever? P: No."
CLEAN = "Cough for two weeks, no fever.\nALLERGIES\nPenicillin."
FACTS = ("The patient is allergic to penicillin.", "The cough has lasted two weeks.")


@pytest.fixture(scope="module")
def notes() -> Corpus:
    """A clean note and one flawed one of the same group."""
    shared = ("g", "s", SOURCE)
    both = (
        Example("g-a", *shared, CLEAN, "clean", "clean"),
        Example("g-b", *shared, "Cough for two weeks, no fever.", "omission", "omit", twin="g-a"),
    )
    return Corpus(both, {"g": tuple(Fact(f"g-{text[:9]}", "g", text, (), "critical", True) for text in FACTS)})


class Cut(EndpointTransport):
    """The endpoint, lost after so many answers."""

    left: int | None = None

    async def complete(self, request: CallRequest) -> CallResult:
        if self.left == 0:
            raise CallError("cut", reason="refused", transient=False)
        self.left = None if self.left is None else self.left - 1
        return await super().complete(request)


@pytest.fixture
def judge(server: LocalServer, notes: Corpus, tmp_path: Path) -> Callable[..., tuple[Judgement, ...]]:
    def judged(student: Any, cache: str, *, answers: int | None = None) -> tuple[Judgement, ...]:
        transport = Cut(server.base_url, model=server.model, identity=IDENTITY, serial=True)
        transport.left = answers
        with CallCache(tmp_path / f"{cache}.sqlite") as kept:
            bench = Bench(Calls(transport, cache=kept, spend=Spend(Limits())), run_seed=1, campaign="c")
            try:
                instruction = Candidate({"instruction": "Decide whether the note is complete."}, "seed")
                return bench.judge(student, notes, [instruction], phase="test")
            finally:
                bench.close()

    return judged


@pytest.mark.parametrize("student", STUDENTS, ids=lambda student: student.name)
def test_a_cut_chain_with_scratchpads_ends_bit_for_bit_as_an_uninterrupted_one(student: Any, judge: Any) -> None:
    whole = judge(student, "whole")
    calls = sum(judgement.paid for judgement in whole)
    assert all(judgement.usage.reasoning_tokens > 0 for judgement in whole)
    for after in (1, calls // 2 + 1):  # between a scratchpad and its answer, and within the second note
        with pytest.raises(CallError, match="cut"):
            judge(student, f"cut{after}", answers=after)
        resumed = judge(student, f"cut{after}")
        assert [stable(judgement.row()) for judgement in resumed] == [stable(judgement.row()) for judgement in whole]


def test_log_probabilities_are_read_after_a_scratchpad(judge: Any) -> None:
    for judgement in judge(STUDENTS[0], "calls"):
        assert judgement.status == "scored"
        assert len(judgement.facts) == 2
        assert all(0 <= verdict.p_yes <= 1 for verdict in judgement.facts)
        assert judgement.usage.reasoning_tokens <= 2 * 8
