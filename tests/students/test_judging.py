"""The bench: judgements that do not depend on order, history or luck."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import CallError
from lineage.records import Candidate, Judgement, Usage, stable
from splits.corpus import Corpus, Example, Fact
from students import Bench, PerFactChecker, Progress, Student, WholeNoteScorer, student_hash
from students.student import draw_seed
from students.testing import ScriptedTransport
from students.transport import CallCache, CallRequest, CallResult, Calls, Limits, Retry, Spend

SCORER = WholeNoteScorer(model={"name": "m"})
CHECKER = PerFactChecker(model={"name": "m"})
SEED = Candidate({"instruction": "Judge."}, "seed")
OTHER = Candidate({"instruction": "Judge harder."}, "mutation", (SEED.id,))


def corpus(groups: int = 3) -> Corpus:
    """Groups of a clean note and two flawed ones, with three facts each."""
    examples, facts = [], {}
    for number in range(groups):
        group = f"g{number}"
        facts[group] = tuple(Fact(f"{group}-f{k}", group, f"{group} fact {k}", (), "critical", True) for k in range(3))
        examples.append(Example(f"{group}-a", group, "s", f"source {group}", f"clean {group}", "clean", "clean"))
        for name in "bc":
            note = f"flawed {group} {name}"
            examples.append(
                Example(f"{group}-{name}", group, "s", f"source {group}", note, "omission", "omit", twin=f"{group}-a")
            )
    return Corpus(tuple(examples), facts)


def scored(request: CallRequest) -> CallResult:
    """A score that depends on the seed, so that it differs by sample and example."""
    return CallResult(f"Score: {(request.seed or 0) % 11}", "stop", Usage(calls=1, prompt_tokens=5), latency_s=0.5)


def said_yes(request: CallRequest) -> CallResult:
    del request
    return CallResult("Yes", "length", Usage(calls=1), top=(("Yes", -0.1), ("No", -2.4)))


@contextmanager
def bench(
    transport: ScriptedTransport, path: Path, *, run_seed: int = 0, progress: Callable[[Progress], None] | None = None
) -> Iterator[Bench]:
    with CallCache(path / "calls.sqlite") as cache:
        retry = Retry(tries=2, wait_s=0.001)
        calls = Calls(transport, cache=cache, spend=Spend(Limits()), concurrency=4, retry=retry)
        made = Bench(calls, run_seed=run_seed, campaign="c", progress=progress)
        try:
            yield made
        finally:
            made.close()


def judged(
    transport: ScriptedTransport,
    path: Path,
    student: Student,
    of: Corpus,
    candidates: Sequence[Candidate] = (SEED,),
    **more: Any,
) -> tuple[Judgement, ...]:
    with bench(transport, path) as made:
        return made.judge(student, of, candidates, phase="test", **more)


def test_there_is_one_judgement_an_example_candidate_and_replicate_in_order_of_keys(tmp_path: Path) -> None:
    found = judged(ScriptedTransport(scored), tmp_path, SCORER, corpus(), (SEED, OTHER), replicates=(0, 1))
    expected = sorted(itertools.product(sorted(corpus().by_id), (SEED.id, OTHER.id), (0, 1), (0,)))
    assert [judgement.key for judgement in found] == expected
    assert {judgement.student for judgement in found} == {student_hash(SCORER)}


def test_row_order_never_changes_a_judgement(tmp_path: Path) -> None:
    whole = corpus()
    turned = Corpus(tuple(reversed(whole.examples)), whole.facts)
    one = judged(ScriptedTransport(scored), tmp_path / "1", SCORER, whole)
    two = judged(ScriptedTransport(scored), tmp_path / "2", SCORER, turned)
    assert [stable(judgement.row()) for judgement in one] == [stable(judgement.row()) for judgement in two]


def test_a_part_of_the_corpus_is_judged_as_in_the_whole_and_paid_once(tmp_path: Path) -> None:
    whole = corpus()
    transport = ScriptedTransport(scored)
    some = judged(transport, tmp_path, SCORER, whole.part(whole.examples[4:6]))
    paid = len(transport.asked)
    every = {judgement.key: judgement for judgement in judged(transport, tmp_path, SCORER, whole)}
    assert [stable(every[judgement.key].row()) for judgement in some] == [stable(row.row()) for row in some]
    assert len(transport.asked) == paid + len(whole.examples) - 2


def test_seeds_follow_the_arithmetic_and_the_first_is_recorded(tmp_path: Path) -> None:
    transport = ScriptedTransport(scored)
    with bench(transport, tmp_path, run_seed=4) as made:
        found = made.judge(replace(SCORER, samples=3), corpus(), (SEED,), phase="test")
    assert {request.seed for request in transport.asked} == {draw_seed(4, n, s) for n in range(9) for s in range(3)}
    assert [judgement.seed for judgement in found] == [draw_seed(4, n, 0) for n in range(9)]


def test_seed_zero_is_asked_for_and_recorded(tmp_path: Path) -> None:
    transport = ScriptedTransport(scored)
    found = judged(transport, tmp_path, SCORER, corpus(1))
    assert transport.asked[0].sent["seed"] == 0
    assert found[0].seed == 0


def test_samples_are_averaged_as_exact_fractions(tmp_path: Path) -> None:
    scores = iter([1, 1, 2])
    transport = ScriptedTransport(lambda request: CallResult(f"{next(scores) / 10 + 0.1:.1f}", "stop", Usage(calls=1)))
    one = corpus(1)
    (found,) = judged(transport, tmp_path, replace(SCORER, samples=3), one.part(one.examples[:1]))
    assert found.score == float(Fraction(7, 30)) != 0.7 / 3
    assert found.raw == ("0.2", "0.2", "0.3")


def test_equal_samples_average_to_themselves(tmp_path: Path) -> None:
    transport = ScriptedTransport(lambda request: CallResult("0.1", "stop", Usage(calls=1)))
    found = judged(transport, tmp_path, replace(SCORER, samples=7), corpus(1))
    assert {judgement.score for judgement in found} == {0.1}


def test_one_unread_sample_fails_the_judgement_and_keeps_what_was_said(tmp_path: Path) -> None:
    def answer(request: CallRequest) -> CallResult:
        return CallResult("Score: 4" if request.sample else "4 or 5", "stop", Usage(calls=1))

    found = judged(ScriptedTransport(answer), tmp_path, replace(SCORER, samples=2), corpus(1))
    assert {(judgement.status, judgement.score) for judgement in found} == {("failed", None)}
    assert found[0].reason == "unparseable: 4 or 5"
    assert found[0].raw == ("4 or 5", "Score: 4")


def test_a_judgement_records_what_was_sent_used_and_answered(tmp_path: Path) -> None:
    def answer(request: CallRequest) -> CallResult:
        return CallResult("Score: 0", "stop", Usage(1, 10, 2, 1, 4, 0.25), version="m-2026", latency_s=0.5)

    found = judged(ScriptedTransport(answer), tmp_path, replace(SCORER, samples=2), corpus(1))[0]
    assert found.score == 0.0
    assert found.usage == Usage(2, 20, 4, 2, 8, 0.5)
    assert found.finish == ("stop", "stop")
    assert (found.paid, found.latency_s) == (2, 1.0)
    assert found.sent["version"] == "m-2026"
    assert found.sent["samples"] == 2
    assert found.sent["answer"] == {"temperature": 0.0, "max_tokens": 16}
    assert found.sent["scratchpad"] is None
    assert found.sent["budget"] == {"effort": "none", "thinking_tokens": None, "answer_tokens": 16}


def test_a_replay_differs_in_nothing_but_what_is_volatile(tmp_path: Path) -> None:
    transport = ScriptedTransport(said_yes)
    first = judged(transport, tmp_path, CHECKER, corpus())
    asked = len(transport.asked)
    second = judged(transport, tmp_path, CHECKER, corpus())
    assert len(transport.asked) == asked == 27
    assert [stable(judgement.row()) for judgement in first] == [stable(judgement.row()) for judgement in second]
    assert sum(judgement.paid for judgement in first) == 27
    assert sum(judgement.paid + judgement.latency_s for judgement in second) == 0


def test_replicates_are_paid_separately_though_seeds_are_equal(tmp_path: Path) -> None:
    transport = ScriptedTransport(scored)
    judged(transport, tmp_path, SCORER, corpus(1), replicates=(0, 1))
    assert sorted(request.replicate for request in transport.asked) == [0, 0, 0, 1, 1, 1]
    assert len({request.seed for request in transport.asked}) == 3


def test_progress_counts_judgements_and_calls(tmp_path: Path) -> None:
    seen: list[Progress] = []
    transport = ScriptedTransport(scored)
    for _ in range(2):
        with bench(transport, tmp_path, progress=seen.append) as made:
            made.judge(SCORER, corpus(1), (SEED,), phase="test")
    assert [progress.done for progress in seen] == [1, 2, 3, 1, 2, 3]
    assert seen[2] == Progress(3, 3, 3, 0)
    assert seen[5] == Progress(3, 3, 0, 3)


def test_an_error_reaches_the_caller_as_itself(tmp_path: Path) -> None:
    def answer(request: CallRequest) -> CallResult:
        raise CallError("no such parameter", reason="refused", transient=False)

    for serial in (False, True):
        with pytest.raises(CallError, match="no such parameter"):
            judged(ScriptedTransport(answer, serial=serial), tmp_path, SCORER, corpus())


def test_failed_calls_are_failed_judgements_and_the_rest_is_scored(tmp_path: Path) -> None:
    def answer(request: CallRequest) -> CallResult:
        if "g1" in request.messages[1]["content"] and "clean" in request.messages[1]["content"]:
            raise CallError("overloaded", reason="transport", transient=True)
        return scored(request)

    found = judged(ScriptedTransport(answer), tmp_path, SCORER, corpus())
    assert [judgement.example for judgement in found if judgement.status == "failed"] == ["g1-a"]
    assert next(judgement for judgement in found if judgement.example == "g1-a").reason == "transport: overloaded"


EXACT = replace(CHECKER, prompt_cache="exact")


def cut(transport: ScriptedTransport, path: Path, after: int) -> None:
    """Judge until so many calls are answered, then lose the endpoint."""
    answer, answered = transport._answer, itertools.count()

    def until(request: CallRequest) -> CallResult:
        if next(answered) >= after:
            raise CallError("cut", reason="refused", transient=False)
        return answer(request)

    transport._answer = until
    with pytest.raises(CallError, match="cut"):
        judged(transport, path, EXACT, corpus(2))
    transport._answer = answer


def test_a_serial_transport_is_asked_group_by_group_and_the_clean_note_first(tmp_path: Path) -> None:
    transport = ScriptedTransport(said_yes, serial=True)
    whole = corpus(2)
    judged(transport, tmp_path, EXACT, Corpus(tuple(reversed(whole.examples)), whole.facts), (OTHER,))
    documents = [request.inputs["document"] for request in transport.asked]
    assert [name for name, _ in itertools.groupby(documents)] == [
        "clean g0",
        "flawed g0 b",
        "flawed g0 c",
        "clean g1",
        "flawed g1 b",
        "flawed g1 c",
    ]
    reused = [request.sent["cache_prompt"] for request in transport.asked]
    assert reused == ([False] + [True] * 8) * 2
    assert not transport.primed


@pytest.mark.parametrize("after", range(18))
def test_a_cut_serial_chain_goes_on_in_the_state_in_which_it_was_left(tmp_path: Path, after: int) -> None:
    whole = ScriptedTransport(said_yes, serial=True)
    expected = judged(whole, tmp_path / "whole", EXACT, corpus(2))
    transport = ScriptedTransport(said_yes, serial=True)
    cut(transport, tmp_path / "cut", after)
    del transport.asked[after:]
    found = judged(transport, tmp_path / "cut", EXACT, corpus(2))
    assert [stable(judgement.row()) for judgement in found] == [stable(judgement.row()) for judgement in expected]
    identity = transport.identity
    assert [request.key(identity) for request in transport.asked] == [request.key(identity) for request in whole.asked]
    begun = after // 9 * 9
    assert [request.key(identity) for request in transport.primed] == [
        request.key(identity) for request in whole.asked[begun:after]
    ]


def test_a_chain_that_cannot_be_brought_into_its_state_is_a_failure_and_not_another_answer(tmp_path: Path) -> None:
    transport = ScriptedTransport(said_yes, serial=True)
    cut(transport, tmp_path, 1)
    asked = len(transport.asked)

    async def refuse(request: CallRequest) -> None:
        raise CallError("priming failed", reason="transport", transient=True)

    transport.prime = refuse  # type: ignore[method-assign]
    with pytest.raises(CallError, match="3 calls in a row were not answered: priming failed"):
        judged(transport, tmp_path, EXACT, corpus(2))
    assert len(transport.asked) == asked


def test_a_student_without_prompt_cache_sends_no_parameter_for_it(tmp_path: Path) -> None:
    transport = ScriptedTransport(said_yes, serial=True)
    judged(transport, tmp_path, CHECKER, corpus(1))
    assert all("cache_prompt" not in request.sent and request.after is None for request in transport.asked)


@pytest.mark.parametrize(("setting", "sent"), [("on", True), ("off", False)])
def test_a_prompt_cache_that_is_on_or_off_is_so_for_every_call(tmp_path: Path, setting: Any, sent: bool) -> None:
    transport = ScriptedTransport(said_yes, serial=True)
    judged(transport, tmp_path, replace(CHECKER, prompt_cache=setting), corpus(1))
    assert {request.sent["cache_prompt"] for request in transport.asked} == {sent}
    assert {request.after for request in transport.asked} == {None}
