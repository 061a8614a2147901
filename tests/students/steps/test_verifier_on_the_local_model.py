"""The embedded model as a step verifier of a short note."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.records import Candidate
from splits.corpus import Corpus, Example
from students import Bench, ReasoningBudget, known_capabilities
from students.local import DEFAULT_MODEL, LocalServer, find_model
from students.steps import StepVerifier
from students.transport import CallCache, Calls, EndpointTransport, Limits, Spend

pytestmark = [pytest.mark.model, pytest.mark.integration]

IDENTITY = {"local": DEFAULT_MODEL.name}
SOURCE = "Doctor: What brings you in?\nPatient: A cough, for a week. No fever.\nDoctor: Rest, and drink plenty."


def test_the_steps_of_a_short_note_are_scored(tmp_path: Path) -> None:
    found = find_model(DEFAULT_MODEL)
    if found is None:
        pytest.skip("the small model is not on this machine; get it with: holdgate model fetch")
    example = Example("e", "g", "", SOURCE, "Cough for a week. No fever.", "clean", "clean")
    student = StepVerifier(
        model=IDENTITY,
        granularity="sentence",
        budget=ReasoningBudget(answer_tokens=1),
        prompt_cache="exact",
        capabilities=known_capabilities(DEFAULT_MODEL.name, place="local"),
    )
    with LocalServer(found) as server, CallCache(tmp_path / "calls.sqlite") as kept:
        transport = EndpointTransport(server.base_url, model=server.model, identity=IDENTITY, serial=True)
        bench = Bench(Calls(transport, cache=kept, spend=Spend(Limits())), run_seed=1, campaign="c")
        try:
            candidate = Candidate(dict(student.seed_texts), "seed")
            (judgement,) = bench.judge(student, Corpus((example,), {}), [candidate], phase="test")
        finally:
            bench.close()
    assert judgement.status == "scored", judgement.reason
    assert [verdict.text for verdict in judgement.facts] == [
        *("sentence 1 of problem 1", "sentence 2 of problem 1", "completeness of the note", "end of the note")
    ]
    assert all(0 < verdict.p_yes < 1 and verdict.margin is not None for verdict in judgement.facts)
    assert judgement.score is not None
    assert 0 < judgement.score < 1
    assert judgement.usage.calls == 4
