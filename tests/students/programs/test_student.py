"""dspy programs as students: their calls are ours, their instructions evolve, and bad answers are failures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest

from lineage.errors import PlanError
from lineage.records import Candidate, Usage
from splits.corpus import Example, Fact
from students import Capabilities, ReasoningBudget, student_hash
from students.programs import ProgramStudent, load_program
from students.student import Draw
from students.transport import CallFailure, CallRequest, CallResult

MODEL = {"name": "m"}
FLAWED = Example(
    "EXAMPLE-MARK", "GROUP-MARK", "STRATUM-MARK", "the source", "the note", "omission", "KIND-MARK", twin="TWIN-MARK"
)
FACTS = (Fact("ID-MARK", "GROUP-MARK", "one fact", ("EVIDENCE-MARK",), "SEVERITY-MARK", True),)


class TwoSteps(dspy.Module):  # type: ignore[misc]  # dspy has no types
    """Problems first, a score from them."""

    def __init__(self) -> None:
        super().__init__()
        self.find = dspy.Predict("source, document -> problems: list[str]")
        self.rate = dspy.Predict("document, problems: list[str] -> score: float")

    def forward(self, source: str, document: str) -> Any:
        return self.rate(document=document, problems=self.find(source=source, document=document).problems)


class OneStep(dspy.Module):  # type: ignore[misc]
    """One field of a given type."""

    def __init__(self, field: str = "score: float", **config: Any) -> None:
        super().__init__()
        self.judge = dspy.Predict(f"source, document -> {field}", **config)

    def forward(self, source: str, document: str) -> Any:
        return self.judge(source=source, document=document)


def student(program: Any = None, **settings: Any) -> ProgramStudent:
    return ProgramStudent(program=program or TwoSteps(), title="two-steps", model=MODEL, **settings)


@pytest.fixture
def judge(sit: Any) -> Callable[..., Any]:
    """Judge with the program's own instructions, or with a candidate's."""

    def sitting(made: ProgramStudent, corpus: Any, answer: Any, texts: Any = None) -> Any:
        return sit(made, corpus, answer, candidates=[Candidate(dict(texts or made.seed_texts), "seed")])

    return sitting


def fields(**said: str) -> str:
    return "\n\n".join([*(f"[[ ## {name} ## ]]\n{text}" for name, text in said.items()), "[[ ## completed ## ]]"])


def answering(request: CallRequest) -> CallResult:
    asked = request.messages[-1]["content"]
    said = fields(problems='["allergy left out"]') if "[[ ## source ## ]]" in asked else fields(score="7.5")
    return CallResult(said, "stop", Usage(1, 10, 5))


def test_each_question_of_a_program_is_a_call_of_ours(judge: Any, groups: Any) -> None:
    found = judge(student(), groups(1), answering)
    assert [judgement.score for judgement in found.judgements] == [7.5] * 3
    assert len(found.asked) == 6
    assert found.judgements[0].usage.calls == 2
    assert {request.sent["temperature"] for request in found.asked} == {0.0}
    assert "allergy left out" in found.asked[-1].messages[-1]["content"]
    again = judge(student(), groups(1), answering)
    assert again.asked == []
    assert [judgement.paid for judgement in again.judgements] == [0] * 3


def test_nothing_but_source_document_and_facts_is_in_a_call() -> None:
    made = student(OneStep())
    (request,) = made.chain(FLAWED, FACTS, made.seed_texts, Draw(0))
    said = str(request.messages)
    assert "MARK" not in said
    assert "omission" not in said
    assert "one fact" not in said  # facts are not among its inputs


def test_the_blocks_are_the_predictors_instructions_and_a_candidate_replaces_them(judge: Any, groups: Any) -> None:
    made = student()
    assert set(made.seed_texts) == {"find", "rate"}
    texts = {"find": "Look for what is missing.", "rate": "Be strict."}
    found = judge(made, groups(1), answering, texts)
    said = [request.messages[0]["content"] for request in found.asked]
    assert any("Look for what is missing." in text for text in said)
    assert any("Be strict." in text for text in said)
    with pytest.raises(PlanError, match="its blocks are"):
        made.program_of({"instruction": "x"})


def test_a_candidate_does_not_change_the_program_itself() -> None:
    made = student()
    before = dict(made.seed_texts)
    made.program_of({"find": "A.", "rate": "B."})
    assert made.seed_texts == before


@pytest.mark.parametrize(
    ("field", "said", "score"),
    [
        ("score: float", "7.5", 7.5),
        ("score: int", "3", 3.0),
        ("score: bool", "True", 10.0),
        ("score: bool", "False", 0.0),
        ("score", "8/10", 8.0),
        ("score", "4/5", 8.0),
    ],
)
def test_a_score_is_a_number_a_text_or_a_verdict(judge: Any, groups: Any, field: str, said: str, score: float) -> None:
    answer = CallResult(fields(score=said), "stop", Usage(1, 10, 5))
    found = judge(student(OneStep(field)), groups(1), lambda request: answer)
    assert found.judgements[0].score == score


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (CallResult("no fields here", "stop", Usage(1)), "unparseable"),
        (CallResult(fields(score="eleven"), "stop", Usage(1)), "unparseable"),
        (CallResult(fields(score="11"), "stop", Usage(1)), "unparseable: score is 11.0"),
        (CallResult(fields(score="nan"), "stop", Usage(1)), "unparseable"),
        (CallResult(fields(score="7"), "length", Usage(1)), "truncated: answer 1"),
        (CallResult(None, "content_filter", Usage(1)), "refused: answer 1"),
        (CallResult("", "stop", Usage(1)), "empty: answer 1"),
    ],
)
def test_a_bad_answer_is_a_failure_and_never_a_number(judge: Any, groups: Any, result: CallResult, reason: str) -> None:
    found = judge(student(OneStep()), groups(1), lambda request: result)
    assert len(found.asked) == 3  # no second request in another format
    for judgement in found.judgements:
        assert judgement.score is None
        assert judgement.reason is not None
        assert judgement.reason.startswith(reason)


def test_a_call_that_failed_ends_the_judgement() -> None:
    made = student()
    answers = [CallFailure("transport", "gone")]
    assert made.follow(FLAWED, (), made.seed_texts, Draw(0), answers) == ()
    assert made.read(FLAWED, (), answers).reason == "transport: answer 1: gone"


def test_facts_are_given_as_texts_where_they_are_asked_for() -> None:
    class Listed(dspy.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.judge = dspy.Predict("note, facts: list[str] -> score: float")

        def forward(self, note: str, facts: list[str]) -> Any:
            return self.judge(note=note, facts=facts)

    made = student(Listed(), inputs={"note": "document", "facts": "facts"})
    (request,) = made.chain(FLAWED, FACTS, made.seed_texts, Draw(0))
    assert "one fact" in request.messages[-1]["content"]
    assert "MARK" not in str(request.messages)
    with pytest.raises(PlanError, match="facts"):
        made.chain(FLAWED, (), made.seed_texts, Draw(0))


def test_a_program_that_never_ends_is_stopped(judge: Any, groups: Any) -> None:
    class Endless(dspy.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.judge = dspy.Predict("source, document -> score: float")

        def forward(self, source: str, document: str) -> Any:
            while True:
                self.judge(source=source, document=document)

    group = groups(1)
    found = judge(
        student(Endless()),
        group.part(group.examples[:1]),
        lambda request: CallResult(fields(score="5"), "stop", Usage(1)),
    )
    assert found.judgements[0].reason == "unparseable: no prediction after 20 questions"


def test_samples_are_averaged_and_a_rule_flags(judge: Any, groups: Any) -> None:
    made = student(OneStep(), samples=2, temperature=1.0, flag_below=6.0)
    group = groups(1)
    found = judge(
        made,
        group.part(group.examples[:1]),
        lambda r: CallResult(fields(score="4" if r.sample else "7"), "stop", Usage(1)),
    )
    assert found.judgements[0].score == 5.5
    assert found.judgements[0].flags == ("score < 6",)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: student(OneStep(temperature=0.7)), "settings .temperature. of its own"),
        (lambda: student(OneStep(), inputs={"source": "label"}), "inputs can be"),
        (lambda: student(OneStep(), inputs={"source": "source"}), "does not take the inputs"),
        (lambda: student(OneStep(), inputs={"transcript": "source", "document": "document"}), "does not take"),
        (lambda: student(OneStep(), scale=0.0), "scale must be above 0"),
        (lambda: student(dspy.Module()), "at least one predictor"),
        (lambda: ProgramStudent(program="x", title="t", model=MODEL), "at least one predictor"),
        (
            lambda: student(OneStep(), budget=ReasoningBudget(thinking_tokens=64), capabilities=Capabilities()),
            "scratchpad",
        ),
    ],
)
def test_a_program_that_cannot_be_a_student_is_refused(make: Callable[[], Any], match: str) -> None:
    with pytest.raises(PlanError, match=match):
        make()


def test_a_model_of_its_own_is_refused() -> None:
    program = OneStep()
    program.set_lm(dspy.LM("openai/gpt-4.1-mini", api_key="x"))
    with pytest.raises(PlanError, match="a model of its own"):
        student(program)


def test_instructions_are_not_part_of_the_hash_and_all_else_is() -> None:
    first, other, shown = OneStep(), OneStep(), OneStep()
    other.judge.signature = other.judge.signature.with_instructions("Another text.")
    shown.judge.demos = [dspy.Example(source="s", document="d", score=3.0)]
    made = student(first)
    assert student_hash(made) == student_hash(student(other))
    different = [student(shown), student(OneStep("score: int")), student(first, scale=5.0), student(TwoSteps())]
    assert student_hash(made) not in {student_hash(each) for each in different}


def test_an_optimised_program_is_saved_in_dspys_own_format(tmp_path: Path) -> None:
    made = student()
    path = tmp_path / "out" / "program.json"
    made.save(Candidate({"find": "Find it.", "rate": "Rate it."}, "seed"), path)
    loaded = TwoSteps()
    loaded.load(str(path))
    assert {name: p.signature.instructions for name, p in loaded.named_predictors()} == {
        "find": "Find it.",
        "rate": "Rate it.",
    }
    with pytest.raises(PlanError, match=r"\.json"):
        made.save(Candidate({"find": "a", "rate": "b"}, "seed"), tmp_path / "program.pkl")


@pytest.mark.parametrize(
    ("place", "match"),
    [
        ("no colon", "package.module:function"),
        ("no.such.module:make", "No module named"),
        ("json:no_such", "no_such"),
        ("os:getcwd", "returns str"),
    ],
)
def test_a_place_without_a_program_is_named(place: str, match: str) -> None:
    with pytest.raises(PlanError, match=match):
        load_program(place)


def test_a_program_is_loaded_by_its_place_with_its_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_judges.py").write_text(
        "import dspy\n\n\ndef judge():\n    return dspy.Predict('source, document -> score: float')\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    program = load_program("my_judges:judge")
    program.signature = program.signature.with_instructions("Saved text.")
    program.save(str(tmp_path / "state.json"))
    assert load_program("my_judges:judge", state=tmp_path / "state.json").signature.instructions == "Saved text."
    (tmp_path / "broken.json").write_text("{}", encoding="utf-8")
    with pytest.raises(PlanError, match="is no saved state"):
        load_program("my_judges:judge", state=tmp_path / "broken.json")
