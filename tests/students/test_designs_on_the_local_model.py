"""Each design on the embedded model: a judgement of two notes, or a failure with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage.records import REASONS, Candidate
from splits import Corpus
from students import Bench, ReasoningBudget, known_capabilities
from students.designs import DESIGNS
from students.local import DEFAULT_MODEL, LocalServer, find_model
from students.transport import CallCache, Calls, EndpointTransport, Limits, Spend

pytestmark = [pytest.mark.model, pytest.mark.integration]

IDENTITY = {"local": DEFAULT_MODEL.name}


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    found = find_model(DEFAULT_MODEL)
    if found is None:
        pytest.skip("the small model is not on this machine; get it with: holdgate model fetch")
    with LocalServer(found) as running:
        yield running


@pytest.mark.parametrize("name", [name for name in DESIGNS if name != "program"])
def test_a_design_judges_two_notes_or_says_why_not(
    name: str, server: LocalServer, consults: Corpus, tmp_path: Path
) -> None:
    design = DESIGNS[name]
    shortest = min(consults.examples, key=lambda example: (len(example.source), example.group)).group
    notes = consults.part([example for example in consults.examples if example.group == shortest][:2])
    student = design.build(
        {
            "temperature": design.temperature,
            "samples": design.samples,
            "max_facts": 2,
            "list_tokens": 160,
            "granularity": "note",
        },
        model=IDENTITY,
        budget=ReasoningBudget(answer_tokens=min(design.answer_tokens, 96)),
        prompt_cache="exact",
        capabilities=known_capabilities(DEFAULT_MODEL.name, place="local"),
    )
    transport = EndpointTransport(server.base_url, model=server.model, identity=IDENTITY, serial=True)
    with CallCache(tmp_path / "calls.sqlite") as kept:
        calls = Calls(transport, cache=kept, spend=Spend(Limits()))
        bench = Bench(calls, run_seed=1, campaign="c")
        try:
            found = bench.judge(student, notes, [Candidate(dict(student.seed_texts), "seed")], phase="test")
        finally:
            bench.close()
    assert len(found) == 2
    for judgement in found:
        if judgement.status == "scored":
            assert judgement.score is not None
            assert 0 <= judgement.score <= student.scale
        else:
            assert (judgement.reason or "").partition(":")[0] in (*REASONS, "abstained")
            assert judgement.flags == ()
    most = student.calls_at_most(len(consults.facts[notes.examples[0].group]))
    assert calls.paid <= 2 * most.document + most.group
