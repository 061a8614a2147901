"""The pipelines end to end on scripted answers: what is asked, what is shared, and what becomes of bad answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lineage.errors import BlindnessError, PlanError
from lineage.records import FactVerdict, Usage
from splits.corpus import Example, Fact
from students import ReasoningBudget, student_hash
from students.pipeline import FactPipeline
from students.pipeline import student as module
from students.transport import CallRequest, CallResult

MODEL = {"name": "m"}
LIST = "1. The throat is sore. || source g0\n2. He drinks water. || not in it\n3. He is allergic. || source"


def scripted(**answers: str | Callable[[CallRequest], str]) -> Callable[[CallRequest], CallResult]:
    """Answers by the prompt's name, with underscores for dashes and without ``pipeline-``."""

    def answer(request: CallRequest) -> CallResult:
        said = answers[request.prompt.removeprefix("pipeline-").replace("-", "_")]
        return CallResult(said if isinstance(said, str) else said(request), "stop", Usage(1, 10, 5))

    return answer


def keys(request: CallRequest) -> list[str]:
    """Keys of the facts that a call asks about."""
    return [line.partition(":")[0] for line in request.inputs["facts"].splitlines()]


def test_two_stages_take_facts_from_the_source_and_score_the_share_present(sit: Any, groups: Any) -> None:
    found = sit(
        FactPipeline(model=MODEL), groups(1), scripted(facts=LIST, check="f1: present\nf2: absent\nf3: present")
    )
    assert [judgement.score for judgement in found.judgements] == [2 / 3] * 3
    facts = found.judgements[0].facts
    assert facts[0] == FactVerdict("f1", 1.0, None, True, text="The throat is sore.", quote="source g0")
    assert facts[1] == FactVerdict("f2", 0.0, None, False, text="He drinks water.")
    assert found.judgements[0].parts == {"facts": 3, "present": 2, "unweighted": 2 / 3, "coerced": 0}


def test_the_list_is_paid_for_once_a_group_and_named_as_shared(sit: Any, groups: Any) -> None:
    found = sit(
        FactPipeline(model=MODEL), groups(2), scripted(facts=LIST, check="f1: present\nf2: absent\nf3: present")
    )
    asked = [request.prompt for request in found.asked]
    assert asked.count("pipeline-facts") == 2
    assert asked.count("pipeline-check") == 6
    assert {judgement.shared.calls for judgement in found.judgements} == {1}


def test_extraction_and_audit_see_no_document_and_the_checker_sees_no_severity(sit: Any, groups: Any) -> None:
    found = sit(
        FactPipeline(model=MODEL, stages=3, second_look=True),
        groups(1),
        scripted(
            facts=LIST,
            audit="f1: critical\nf2: supporting\nf3: peripheral",
            check_graded="f1: full\nf2: partial\nf3: absent",
            second_look="f3: NONE",
        ),
    )
    for request in found.asked:
        said = "\n".join(message["content"] for message in request.messages)
        if request.prompt in ("pipeline-facts", "pipeline-audit"):
            assert "clean g0" not in said
            assert "flawed g0" not in said
        else:
            facts = request.inputs["facts"]
            assert not any(word in facts for word in ("critical", "supporting", "peripheral"))


def test_three_stages_weigh_what_is_captured_and_show_the_unweighted_beside_it(sit: Any, groups: Any) -> None:
    found = sit(
        FactPipeline(model=MODEL, stages=3, rule="critical-absent"),
        groups(1),
        scripted(
            facts=LIST,
            audit="f1: critical\nf2: duplicate\nf3: peripheral",
            check_graded="f1: absent\nf2: partial",
        ),
    )
    judgement = found.judgements[0]
    assert judgement.score == pytest.approx(0.5 / 5)
    assert judgement.parts == {"facts": 2, "present": 1, "unweighted": 0.25, "dropped": 1}
    assert judgement.flags == ('absent (critical): The throat is sore.; source: "source g0"',)
    assert [(fact.severity, fact.grade) for fact in judgement.facts] == [
        ("critical", "absent"),
        ("peripheral", "partial"),
    ]


def test_partial_counts_as_present_where_there_are_two_grades_and_is_counted(sit: Any, groups: Any) -> None:
    found = sit(FactPipeline(model=MODEL), groups(1), scripted(facts=LIST, check="f1: partial\nf2: absent\nf3: absent"))
    assert found.judgements[0].score == pytest.approx(1 / 3)
    assert found.judgements[0].parts["coerced"] == 1


def test_a_second_look_rescues_only_with_words_that_stand_in_the_document(sit: Any, groups: Any) -> None:
    group = groups(1)
    found = sit(
        FactPipeline(model=MODEL, second_look=True, rule="any-absent"),
        group.part(group.examples[1:2]),
        scripted(
            facts=LIST,
            check="f1: absent\nf2: absent\nf3: present",
            second_look='f1: "FLAWED  g0 B"\nf2: "drinks a lot of water"',
        ),
    )
    (judgement,) = found.judgements
    assert [fact.rescue for fact in judgement.facts] == ["FLAWED  g0 B", None, None]
    assert judgement.score == pytest.approx(2 / 3)
    assert (judgement.parts["rescued"], judgement.parts["quotes_refused"]) == (1, 1)
    assert judgement.flags == ("absent (no severity): He drinks water.; no quote",)


def test_nothing_absent_asks_for_no_second_look(sit: Any, groups: Any) -> None:
    found = sit(
        FactPipeline(model=MODEL, second_look=True),
        groups(1),
        scripted(facts=LIST, check="f1: present\nf2: present\nf3: present"),
    )
    assert {request.prompt for request in found.asked} == {"pipeline-facts", "pipeline-check"}


def test_missing_facts_are_asked_for_once_more_and_then_fail_the_judgement(sit: Any, groups: Any) -> None:
    group = groups(1)
    one = group.part(group.examples[:1])
    answers = scripted(facts=LIST, check=lambda r: "f1: present\nf3: absent" if len(keys(r)) == 3 else "f2: present")
    (judgement,) = sit(FactPipeline(model=MODEL), one, answers).judgements
    assert judgement.score == pytest.approx(2 / 3)
    never = scripted(facts=LIST, check=lambda r: "f1: present\nf3: absent" if len(keys(r)) == 3 else "f2: maybe")
    (judgement,) = sit(FactPipeline(model=MODEL), one, never, cache="again").judgements
    assert judgement.score is None
    assert judgement.reason.startswith("unparseable: retry of check of the facts")


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"facts": "NONE"}, "empty: list of facts: no fact"),
        ({"facts": "I cannot help with that."}, "unparseable: list of facts"),
        ({"facts": LIST, "check": "f1: present\nf1: absent"}, "unparseable: check of the facts: two verdicts"),
        ({"facts": LIST, "check": "f1: present, f2: absent, f9: absent"}, "unparseable: check of the facts: unknown"),
    ],
)
def test_a_bad_answer_is_a_failure_with_its_reason(sit: Any, groups: Any, answers: dict[str, str], reason: str) -> None:
    found = sit(FactPipeline(model=MODEL), groups(1), scripted(**answers))
    assert all(judgement.score is None and judgement.status == "failed" for judgement in found.judgements)
    assert found.judgements[0].reason.startswith(reason)


def test_a_list_of_which_the_audit_leaves_nothing_fails(sit: Any, groups: Any) -> None:
    answers = scripted(facts=LIST, audit="f1: trivial\nf2: trivial\nf3: unsupported")
    found = sit(FactPipeline(model=MODEL, audit=True), groups(1), answers)
    assert found.judgements[0].reason.startswith("empty: audit of the facts: every fact was dropped")


def test_sections_are_checked_apart_and_a_lost_restatement_lowers_the_score(sit: Any, groups: Any) -> None:
    group = groups(1)
    shared = ("g0", "s", "source g0")
    twice = Example("g0-a", *shared, "HISTORY\nPenicillin rash.\nPLAN\nNo penicillin, for the rash.", "clean", "clean")
    once = Example(
        "g0-b", *shared, "HISTORY\nWell.\nPLAN\nNo penicillin, for the rash.", "omission", "omit", twin="g0-a"
    )
    corpus = type(group)((twice, once), group.facts)
    said = scripted(
        check=lambda r: "\n".join(
            f"{key}: {'present' if key == 'f1' and 'rash' in r.inputs['document'] else 'absent'}" for key in keys(r)
        )
    )
    found = sit(FactPipeline(model=MODEL, facts_from="corpus", sections=True), corpus, said)
    clean, flawed = found.judgements
    assert (clean.score, flawed.score) == (0.25, 0.5 / 3)
    assert clean.facts[0].mentions == ("full", "full")
    assert (clean.parts["restated"], flawed.parts["restated"]) == (1, 0)
    assert (flawed.parts["section_1"], flawed.parts["section_2"]) == (0, pytest.approx(1 / 3))


def test_facts_of_the_corpus_keep_their_ids_severity_and_evidence(sit: Any) -> None:
    from splits.corpus import Corpus

    example = Example("e", "g", "s", "the source", "the document", "clean", "clean")
    facts = {"g": (Fact("k1", "g", "A fact.", ("the source",), "critical", True),)}
    found = sit(
        FactPipeline(model=MODEL, facts_from="corpus", rule="critical-absent"),
        Corpus((example,), facts),
        scripted(check="f1: absent"),
    )
    (verdict,) = found.judgements[0].facts
    assert (verdict.fact, verdict.severity, verdict.quote) == ("k1", "critical", "the source")
    assert len(found.judgements[0].flags) == 1
    assert found.judgements[0].shared.calls == 0


def test_a_pipeline_whose_extraction_is_given_the_document_is_stopped(
    sit: Any, groups: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    extracted = module.extracted_facts
    seen = "clean g0 with some more words"
    monkeypatch.setattr(
        module, "extracted_facts", lambda prompt, source, most: extracted(prompt, f"{source}\n{seen}", most=most)
    )
    group = groups(1)
    leaky = type(group)((Example("g0-a", "g0", "s", "source g0", seen, "clean", "clean"),), group.facts)
    with pytest.raises(BlindnessError, match="g0-a"):
        sit(FactPipeline(model=MODEL), leaky, scripted(facts=LIST))


def test_scratchpads_are_written_before_list_and_check(sit: Any, groups: Any) -> None:
    student = FactPipeline(model=MODEL, budget=ReasoningBudget(thinking_tokens=64, answer_tokens=512))
    group = groups(1)

    def answer(request: CallRequest) -> CallResult:
        said = (
            "thoughts" if request.thinks else LIST if request.prompt == "pipeline-facts" else "f1: yes\nf2: no\nf3: no"
        )
        return CallResult(said, "stop", Usage(1, 10, 5))

    found = sit(student, group.part(group.examples[:1]), answer)
    assert [(r.prompt, r.thinks) for r in found.asked] == [
        ("pipeline-facts", True),
        ("pipeline-facts", False),
        ("pipeline-check", True),
        ("pipeline-check", False),
    ]
    assert found.judgements[0].score == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"rule": "critical-absent"}, "needs facts with a severity"),
        ({"stages": 4}, "stages must be 2 or 3"),
        ({"facts_from": "note"}, "facts_from"),
        ({"facts_from": "corpus", "audit": True}, "audit has no effect"),
        ({"max_facts": None}, "max_facts"),
        ({"max_facts": 0}, "max_facts"),
        ({"rule_count": 2}, "rule_count has no effect"),
        ({"weights": {"critical": 9, "supporting": 1, "peripheral": 1}}, "no effect on two stages"),
        ({"block": "chekc"}, "did you mean 'check'"),
        ({"block": "look"}, "no block 'look'"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], match: str) -> None:
    with pytest.raises(PlanError, match=match):
        FactPipeline(model=MODEL, **settings)


def test_every_setting_is_part_of_the_hash() -> None:
    made = [
        FactPipeline(model=MODEL),
        FactPipeline(model=MODEL, stages=3),
        FactPipeline(model=MODEL, audit=True),
        FactPipeline(model=MODEL, second_look=True),
        FactPipeline(model=MODEL, sections=True),
        FactPipeline(model=MODEL, rule="any-absent"),
        FactPipeline(model=MODEL, max_facts=5),
        FactPipeline(model=MODEL, block="facts"),
        FactPipeline(model=MODEL, facts_from="corpus"),
        FactPipeline(model=MODEL, list_tokens=99),
        FactPipeline(model=MODEL, stages=3, weights={"critical": 9, "supporting": 1, "peripheral": 1}),
    ]
    assert len({student_hash(student) for student in made}) == len(made)


def test_any_block_can_be_the_one_that_evolves(sit: Any, groups: Any) -> None:
    from lineage.records import Candidate

    for block in ("check", "facts", "audit", "look"):
        student = FactPipeline(model=MODEL, stages=3, second_look=True, block=block)
        answers = scripted(
            facts=LIST,
            audit="f1: critical\nf2: supporting\nf3: peripheral",
            check_graded="f1: full\nf2: partial\nf3: absent",
            second_look="f3: NONE",
        )
        candidate = Candidate({"instruction": "EVOLVED TEXT"}, "seed")
        found = sit(student, groups(1), answers, cache=block, candidates=[candidate])
        where = {r.prompt for r in found.asked if "EVOLVED TEXT" in r.messages[0]["content"]}
        assert len(where) == 1
        assert student.seed_texts["instruction"]
