"""The per-fact checker."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import PlanError
from lineage.records import Usage
from splits.corpus import Example, Fact, Residual
from students import Capabilities, PerFactChecker, ReasoningBudget, shape, student_hash
from students.student import Draw
from students.transport.base import CallFailure, CallResult

STUDENT = PerFactChecker(model={"name": "m"})
FACTS = tuple(
    Fact(f"ID-MARK-{number}", "GROUP-MARK", f"fact number {number}.", ("EVIDENCE-MARK",), "SEVERITY-MARK", number > 1)
    for number in range(4)
)
FLAWED = Example(
    id="EXAMPLE-MARK",
    group="GROUP-MARK",
    stratum="STRATUM-MARK",
    source="SOURCE-MARK",
    document="the note",
    label="omission",
    kind="KIND-MARK",
    severity="SEVERITY-MARK",
    trace="TRACE-MARK",
    twin="TWIN-MARK",
    fact="ID-MARK-0",
    residual=(Residual(0, "HEADING-MARK", "STRENGTH-MARK"),),
    cohort="COHORT-MARK",
    meta={"META-MARK": "META-MARK"},
)
TEXTS = {"instruction": "Decide."}


def logprobs(margin: float, finish: str = "length") -> CallResult:
    """An answer with the given yes-minus-no margin."""
    yes = min(margin, 0.0) - math.log1p(math.exp(-abs(margin)))
    return CallResult("x", finish, Usage(calls=1), top=(("Yes", yes), ("No", yes - margin)))


def read(student: PerFactChecker, *margins: float) -> Any:
    return student.read(FLAWED, FACTS[: len(margins)], [logprobs(margin) for margin in margins])


def test_there_is_one_call_a_fact_with_core_facts_first() -> None:
    asked = [request.inputs["fact"] for request in STUDENT.chain(FLAWED, FACTS, TEXTS, Draw(0))]
    assert asked == ["fact number 2.", "fact number 3.", "fact number 0.", "fact number 1."]


def test_the_most_facts_are_kept() -> None:
    assert [fact.id for fact in replace(STUDENT, max_facts=3).checked(FACTS)] == ["ID-MARK-2", "ID-MARK-3", "ID-MARK-0"]


def test_nothing_of_twin_label_trace_or_id_is_in_any_call() -> None:
    for request in STUDENT.chain(FLAWED, FACTS, TEXTS, Draw(5, 2, 1)):
        said = json.dumps([list(request.messages), dict(request.parameters), dict(request.inputs)])
        assert "MARK" not in said
        assert "omission" not in said


def test_the_choice_of_facts_looks_at_neither_note_nor_label() -> None:
    student = replace(STUDENT, max_facts=2)
    other = replace(FLAWED, document=FACTS[0].fact, label="clean", kind="clean", trace=None, twin=None, fact=None)
    one, two = (
        [request.inputs["fact"] for request in student.chain(example, FACTS, TEXTS, Draw(0))]
        for example in (FLAWED, other)
    )
    assert one == two


def test_a_read_asks_for_one_token_with_its_alternatives_and_no_sampling() -> None:
    request = STUDENT.chain(FLAWED, FACTS, TEXTS, Draw(0))[0]
    assert request.sent == {"temperature": 0, "logprobs": True, "top_logprobs": 20, "max_tokens": 1, "seed": 0}


def test_the_draw_is_on_every_call() -> None:
    for request in STUDENT.chain(FLAWED, FACTS, TEXTS, Draw(70, 3, 2)):
        assert (request.seed, request.sample, request.replicate) == (70, 3, 2)


def test_the_calls_of_a_document_share_everything_before_the_fact() -> None:
    said = ["".join(message["content"] for message in r.messages) for r in STUDENT.chain(FLAWED, FACTS, TEXTS, Draw(0))]
    shared = said[0][: said[0].index("fact number")]
    assert all(text.startswith(shared) for text in said)
    assert "the note" in shared
    assert "Decide." in shared


def test_verdicts_hold_probability_margin_and_presence() -> None:
    reading = read(STUDENT, 2.0, -2.0)
    assert reading.status == "scored"
    assert [(verdict.fact, verdict.present) for verdict in reading.facts] == [("ID-MARK-0", True), ("ID-MARK-1", False)]
    assert [verdict.margin for verdict in reading.facts] == [2.0, -2.0]
    assert reading.facts[0].p_yes == round(1 / (1 + math.exp(-2)), 6)


def test_soft_is_the_rounded_mean_probability() -> None:
    assert read(STUDENT, 2.0, -1.0).score == round((1 / (1 + math.exp(-2)) + 1 / (1 + math.exp(1))) / 2, 3)


def test_margin_is_the_logistic_of_the_mean_margin() -> None:
    assert read(replace(STUDENT, aggregator="margin"), 3.0, -1.0).score == round(1 / (1 + math.exp(-1)), 3)


def test_minimum_is_the_least_probability() -> None:
    assert read(replace(STUDENT, aggregator="minimum"), 3.0, -1.0, 0.5).score == round(1 / (1 + math.exp(1)), 3)


def test_share_is_an_exact_fraction_of_facts_at_or_above_the_threshold() -> None:
    share = replace(STUDENT, aggregator="share")
    assert read(share, 1.0, 1.0, -1.0).score == 2 / 3
    assert read(share, 0.0).score == 1.0
    assert read(share, -1.0).score == 0.0
    assert read(share.at_threshold(0.9), 1.0, 3.0, 4.0).score == 2 / 3


def test_presence_agrees_with_the_stored_probability() -> None:
    stored = read(STUDENT, -1e-7).facts[0]
    assert stored.p_yes == 0.5
    assert stored.present


@pytest.mark.parametrize("aggregator", ["soft", "margin", "minimum", "share"])
@given(margins=st.lists(st.floats(-30, 30), min_size=1, max_size=4), place=st.integers(0, 3), more=st.floats(0, 30))
def test_a_likelier_fact_never_lowers_the_score(aggregator: Any, margins: list[float], place: int, more: float) -> None:
    student = replace(STUDENT, aggregator=aggregator)
    place %= len(margins)
    raised = [*margins[:place], margins[place] + more, *margins[place + 1 :]]
    low, high = read(student, *margins).score, read(student, *raised).score
    assert 0 <= low <= high <= 1


@pytest.mark.parametrize("aggregator", ["soft", "margin", "minimum", "share"])
def test_the_least_log_probability_that_a_server_states_does_not_overflow(aggregator: Any) -> None:
    lowest = -3.4028234663852886e38
    for top, score in (((("Yes", 0.0), ("No", lowest)), 1.0), ((("No", 0.0), ("Yes", lowest)), 0.0)):
        answers = [CallResult("x", "length", Usage(), top=top)]
        assert replace(STUDENT, aggregator=aggregator).read(FLAWED, FACTS[:1], answers).score == score


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (CallFailure("transport", "gone"), "transport: fact ID-MARK-3: gone"),
        (CallResult("x", "length", Usage(), top=(("Maybe", -0.1),)), "unparseable: fact ID-MARK-3: 'Maybe'"),
        (CallResult("x", "length", Usage()), "empty: fact ID-MARK-3: no log-probabilities"),
        (CallResult(None, "stop", Usage(), reasoning="hm"), "reasoning_only: fact ID-MARK-3: no log-probabilities"),
        (CallResult(None, "content_filter", Usage()), "refused: fact ID-MARK-3: content_filter"),
    ],
)
def test_one_unread_fact_fails_the_judgement(bad: CallResult | CallFailure, reason: str) -> None:
    reading = STUDENT.read(FLAWED, FACTS, [logprobs(1.0), bad, logprobs(1.0), logprobs(1.0)])
    assert (reading.status, reading.score, reading.reason, reading.facts) == ("failed", None, reason, ())


def test_a_missing_answer_is_never_overlooked() -> None:
    with pytest.raises(ValueError, match="zip"):
        STUDENT.read(FLAWED, FACTS, [logprobs(1.0)])


def test_a_group_without_facts_is_refused() -> None:
    with pytest.raises(PlanError, match="needs facts for every group"):
        STUDENT.chain(FLAWED, (), TEXTS, Draw(0))


@pytest.mark.parametrize(
    "change",
    [
        {"model": {"name": "other"}},
        {"aggregator": "share"},
        {"threshold": 0.6},
        {"max_facts": 3},
        {"budget": ReasoningBudget(answer_tokens=2)},
        {"budget": ReasoningBudget(effort="low", answer_tokens=1)},
        {"prompt_cache": "exact"},
        {"budget": ReasoningBudget(thinking_tokens=5)},
        {"capabilities": Capabilities(cap="max_completion_tokens")},
        {"capabilities": Capabilities(seed=False)},
        {"samples": 2},
    ],
)
def test_every_setting_changes_the_hash(change: dict[str, Any]) -> None:
    assert student_hash(replace(STUDENT, **change)) != student_hash(STUDENT)


def test_equal_settings_have_equal_hashes() -> None:
    assert student_hash(PerFactChecker(model={"name": "m"})) == student_hash(STUDENT)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"aggregator": "mean"}, "aggregator must be one of soft, margin, minimum, share, got 'mean'"),
        ({"threshold": 0.0}, r"probability in \(0, 1\), got 0.0"),
        ({"threshold": 1.0}, r"probability in \(0, 1\), got 1.0"),
        ({"threshold": math.nan}, r"probability in \(0, 1\), got nan"),
        ({"max_facts": 0}, "max_facts must be at least 1, got 0"),
        ({"samples": 0}, "samples must be at least 1, got 0"),
    ],
)
def test_settings_out_of_range_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        replace(STUDENT, **change)


def test_the_prompt_file_changes_the_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shape.PROMPTS / f"{STUDENT.name}.md"
    (tmp_path / path.name).write_text(path.read_text(encoding="utf-8") + "\nBe brief.\n", encoding="utf-8")
    monkeypatch.setattr(shape, "PROMPTS", tmp_path)
    assert student_hash(replace(STUDENT)) != student_hash(STUDENT)
