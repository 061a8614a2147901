"""A pipeline whose list another model makes, so that only the checker is swapped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lineage.errors import PlanError
from lineage.records import Candidate, Judgement
from splits.corpus import Corpus
from students import Bench, Capabilities
from students.judging import Lister
from students.pipeline import FactPipeline
from students.testing import ScriptedTransport, said
from students.transport import CallCache, CallRequest, CallResult, Calls, Limits, Spend

Groups = Callable[[int], Corpus]
FACTS = "1. It hurts. || source\n2. A rash came. || source"


def answer(request: CallRequest) -> CallResult:
    if request.prompt == "pipeline-facts":
        return said(FACTS)
    word = "critical" if request.prompt == "pipeline-audit" else "present"
    keys = [line.partition(":")[0] for line in request.inputs["facts"].splitlines()]
    return said("\n".join(f"{key}: {word}" for key in keys))


def named(name: str, *, serial: bool = False) -> ScriptedTransport:
    transport = ScriptedTransport(answer, serial=serial)
    transport.identity = {"name": name}  # type: ignore[dict-item]  # a name rather than a mark
    return transport


def judge(
    cache: Path,
    student: FactPipeline,
    corpus: Corpus,
    checker: ScriptedTransport,
    lister: ScriptedTransport | None = None,
) -> tuple[Judgement, ...]:
    with CallCache(cache) as kept:
        spend = Spend(Limits())
        other = None if lister is None else Lister(Calls(lister, cache=kept, spend=spend), student.prompt_cache)
        bench = Bench(Calls(checker, cache=kept, spend=spend), run_seed=1, campaign="c", lister=other)
        try:
            return bench.judge(student, corpus, [Candidate(dict(student.seed_texts), "seed")], phase="t")
        finally:
            bench.close()


def test_the_list_comes_from_the_lister_and_the_checks_from_the_checker(groups: Groups, tmp_path: Path) -> None:
    lister, checker = named("lister"), named("checker")
    student = FactPipeline(model=checker.identity, lister=lister.identity, audit=True)
    judged = judge(tmp_path / "c.sqlite", student, groups(2), checker, lister)
    assert [request.prompt for request in lister.asked].count("pipeline-facts") == 2
    assert {request.prompt for request in lister.asked} == {"pipeline-facts", "pipeline-audit"}
    assert {request.prompt for request in checker.asked} == {"pipeline-check"}
    assert {judgement.score for judgement in judged} == {1.0}
    assert all(judgement.shared.calls == 2 and judgement.usage.calls == 3 for judgement in judged)


def test_the_same_list_is_checked_by_both_checkers_and_paid_for_once(groups: Groups, tmp_path: Path) -> None:
    first, second = named("first"), named("second")
    plain = FactPipeline(model=first.identity)
    before = judge(tmp_path / "c.sqlite", plain, groups(2), first)
    swapped = FactPipeline(model=second.identity, lister=first.identity)
    first.asked.clear()
    after = judge(tmp_path / "c.sqlite", swapped, groups(2), second, first)
    assert first.asked == [], "its lists are found in the cache"
    assert [j.raw[0] for j in after] == [j.raw[0] for j in before]
    assert len(second.asked) == len(after)


def test_each_model_keeps_a_prompt_cache_of_its_own(groups: Groups, tmp_path: Path) -> None:
    lister, checker = named("lister", serial=True), named("checker", serial=True)
    student = FactPipeline(model=checker.identity, lister=lister.identity, prompt_cache="exact")
    judge(tmp_path / "c.sqlite", student, groups(1), checker, lister)
    assert [request.parameters["cache_prompt"] for request in lister.asked] == [False]
    assert [request.parameters["cache_prompt"] for request in checker.asked] == [False, True, True]
    assert checker.asked[0].after is None, "what the other model was asked is no part of its chain"


def test_a_seed_is_sent_to_the_model_that_takes_one_alone(groups: Groups, tmp_path: Path) -> None:
    lister, checker = named("lister"), named("checker")
    seedless = Capabilities(seed=False)
    student = FactPipeline(model=checker.identity, lister=lister.identity, lister_capabilities=seedless)
    judge(tmp_path / "a.sqlite", student, groups(1), checker, lister)
    assert {request.seed for request in lister.asked} == {None}
    assert None not in {request.seed for request in checker.asked}
    student = FactPipeline(model=checker.identity, lister=lister.identity, capabilities=seedless)
    lister.asked.clear(), checker.asked.clear()
    judge(tmp_path / "b.sqlite", student, groups(1), checker, lister)
    assert {request.seed for request in checker.asked} == {None}
    assert None not in {request.seed for request in lister.asked}, "the list is the one of an unswapped run"


def test_a_lister_is_part_of_the_students_hash_and_has_no_effect_on_given_facts() -> None:
    plain = FactPipeline(model={"name": "m"})
    assert "lister" not in plain.settings()
    assert FactPipeline(model={"name": "m"}, lister={"name": "l"}).settings()["lister"] == {"name": "l"}
    with pytest.raises(PlanError, match="lister has no effect on facts_from: corpus"):
        FactPipeline(model={"name": "m"}, lister={"name": "l"}, facts_from="corpus")


def test_the_lister_is_asked_as_it_takes_it() -> None:
    able = Capabilities(cap="max_completion_tokens", temperature="refused")
    with pytest.raises(PlanError, match="does not accept temperature"):
        FactPipeline(model={"name": "m"}, lister={"name": "l"}, lister_capabilities=able)
    student = FactPipeline(model={"name": "m"}, lister={"name": "l"}, lister_capabilities=able, temperature=None)
    assert student.prompts["facts"].sending.answer == {"max_completion_tokens": 1024}
    assert student.prompts["check"].sending.answer == {"max_tokens": 512}
