"""A bench with a transport in memory, for students whose calls follow on answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from lineage.records import Candidate, Judgement
from splits.corpus import Corpus, Example, Fact
from students import Bench, Student
from students.testing import ScriptedTransport
from students.transport import CallCache, CallRequest, CallResult, Calls, Limits, Retry, Spend

SEED = Candidate({"instruction": "Judge."}, "seed")


@dataclass(frozen=True)
class Sitting:
    """Judgements, and the calls that were made for them."""

    judgements: tuple[Judgement, ...]
    asked: list[CallRequest]
    primed: list[CallRequest]


@pytest.fixture
def groups() -> Callable[[int], Corpus]:
    """Groups of a clean note and two flawed ones, with three facts each."""

    def make(count: int) -> Corpus:
        examples, facts = [], {}
        for group in (f"g{number}" for number in range(count)):
            facts[group] = tuple(Fact(f"{group}-{k}", group, f"{group} fact {k}", (), "critical", True) for k in "abc")
            shared = (group, "s", f"source {group}")
            examples.append(Example(f"{group}-a", *shared, f"clean {group}", "clean", "clean"))
            examples += [
                Example(f"{group}-{k}", *shared, f"flawed {group} {k}", "omission", "omit", twin=f"{group}-a")
                for k in "bc"
            ]
        return Corpus(tuple(examples), facts)

    return make


@pytest.fixture
def sit(tmp_path: Path) -> Callable[..., Sitting]:
    """Judge a corpus; sittings with the same ``cache`` share their answers."""

    def judge(
        student: Student,
        corpus: Corpus,
        answer: Callable[[CallRequest], CallResult],
        *,
        cache: str = "calls",
        serial: bool = False,
        candidates: Sequence[Candidate] = (SEED,),
    ) -> Sitting:
        transport = ScriptedTransport(answer, serial=serial)
        with CallCache(tmp_path / f"{cache}.sqlite") as kept:
            calls = Calls(transport, cache=kept, spend=Spend(Limits()), retry=Retry(tries=2, wait_s=0.001))
            bench = Bench(calls, run_seed=0, campaign="c")
            try:
                found = bench.judge(student, corpus, candidates, phase="test")
            finally:
                bench.close()
        return Sitting(found, transport.asked, transport.primed)

    return judge
