"""The whole-note scorer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import PlanError
from lineage.records import Usage
from splits.corpus import Example, Fact, Residual
from students import Capabilities, ReasoningBudget, WholeNoteScorer, shape, student_hash
from students.student import Draw
from students.transport.base import CallFailure, CallResult

STUDENT = WholeNoteScorer(model={"name": "m"})
FLAWED = Example(
    id="EXAMPLE-MARK",
    group="GROUP-MARK",
    stratum="STRATUM-MARK",
    source="<<S>>",
    document="<<D>>",
    label="omission",
    kind="KIND-MARK",
    severity="SEVERITY-MARK",
    trace="TRACE-MARK",
    twin="TWIN-MARK",
    fact="FACT-MARK",
    residual=(Residual(0, "HEADING-MARK", "STRENGTH-MARK"),),
    cohort="COHORT-MARK",
    meta={"META-MARK": "META-MARK"},
)
FACTS = (Fact("FACT-MARK", "GROUP-MARK", "TEXT-MARK", ("EVIDENCE-MARK",), "SEVERITY-MARK", True),)
TEXTS = {"instruction": "Judge."}


def read(text: str | None, finish: str = "stop", reasoning: str | None = None) -> Any:
    return STUDENT.read(FLAWED, (), [CallResult(text, finish, Usage(calls=1), reasoning=reasoning)])


def test_there_is_one_call_with_transcript_and_note() -> None:
    (request,) = STUDENT.chain(FLAWED, FACTS, TEXTS, Draw(7, 1, 2))
    said = "".join(message["content"] for message in request.messages)
    assert said.index("Judge.") < said.index("<<S>>") < said.index("<<D>>")
    assert (request.seed, request.sample, request.replicate) == (7, 1, 2)
    assert request.sent == {"temperature": 0.0, "max_tokens": 16, "seed": 7}


def test_nothing_of_facts_twin_label_trace_or_id_is_in_the_call() -> None:
    (request,) = STUDENT.chain(FLAWED, FACTS, TEXTS, Draw(0))
    said = json.dumps([list(request.messages), dict(request.parameters), dict(request.inputs)])
    assert "MARK" not in said
    assert "omission" not in said


def test_a_model_that_refuses_a_temperature_is_sent_none() -> None:
    (request,) = replace(STUDENT, temperature=None).chain(FLAWED, (), TEXTS, Draw(0))
    assert "temperature" not in request.sent


@pytest.mark.parametrize(("text", "score"), [("Score: 8", 8.0), ("0", 0.0), ("Score: 10", 10.0), ("9/10", 9.0)])
def test_scores_are_read_on_their_scale(text: str, score: float) -> None:
    reading = read(text)
    assert (reading.status, reading.score, reading.reason) == ("scored", score, None)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (("Score: 8", "length"), "truncated: after 0 reasoning tokens"),
        (("Score: 4 or 5",), "unparseable: Score: 4 or 5"),
        ((None,), "empty: no text"),
        ((None, "stop", "I think it is 8"), "reasoning_only: no text"),
        ((None, "content_filter"), "refused: content_filter"),
    ],
)
def test_an_answer_without_one_score_fails_the_judgement_and_says_why(answer: tuple[Any, ...], reason: str) -> None:
    reading = read(*answer)
    assert (reading.status, reading.score, reading.reason) == ("failed", None, reason)


def test_a_call_without_an_answer_fails_the_judgement() -> None:
    reading = STUDENT.read(FLAWED, (), [CallFailure("transport", "gone")])
    assert (reading.status, reading.reason) == ("failed", "transport: gone")


@pytest.mark.parametrize(
    "change",
    [
        {"model": {"name": "other"}},
        {"temperature": 1.0},
        {"temperature": None},
        {"budget": ReasoningBudget(answer_tokens=17)},
        {"samples": 2},
        {"prompt_cache": "on"},
        {"budget": ReasoningBudget(thinking_tokens=5)},
        {"capabilities": Capabilities(cap="max_completion_tokens")},
        {"capabilities": Capabilities(seed=False)},
    ],
)
def test_every_setting_changes_the_hash(change: dict[str, Any]) -> None:
    assert student_hash(replace(STUDENT, **change)) != student_hash(STUDENT)


def test_no_samples_are_refused() -> None:
    with pytest.raises(PlanError, match="samples must be at least 1, got 0"):
        replace(STUDENT, samples=0)


def test_the_prompt_file_changes_the_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shape.PROMPTS / f"{STUDENT.name}.md"
    (tmp_path / path.name).write_text(path.read_text(encoding="utf-8") + "\nBe brief.\n", encoding="utf-8")
    monkeypatch.setattr(shape, "PROMPTS", tmp_path)
    assert student_hash(replace(STUDENT)) != student_hash(STUDENT)
