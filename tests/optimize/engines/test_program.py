from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from optimize.engines.desk import Seen
from optimize.engines.program import RivalProgram, UnscoredError, data_set, reward
from optimize.engines.relay import Relay
from splits import Corpus
from students import INSTRUCTION, PerFactChecker, WholeNoteScorer


def student() -> PerFactChecker:
    return PerFactChecker(model={"name": "judge"})


def test_an_accept_example_is_its_id_and_nothing_that_could_be_read(consults: Corpus) -> None:
    for example in data_set(consults, student(), split="accept")[:20]:
        assert set(example.toDict()) == {"example", "split"}


def test_a_reflect_example_has_what_the_judge_sees_and_what_is_true_of_it(consults: Corpus) -> None:
    found = data_set(consults, student(), split="reflect")[1]
    example = consults.by_id[found["example"]]
    assert found["document"] == example.document
    assert found["source"] == ""
    assert found["expected"] == example.flaw
    assert "expected" not in found.inputs()
    whole = data_set(consults, WholeNoteScorer(model={"name": "judge"}), split="reflect")[1]
    assert whole["source"] == example.source


def test_the_program_judges_with_its_own_instruction_on_the_desk() -> None:
    asked: list[Any] = []

    def on_reflect(texts: dict[str, str], example: str) -> Seen:
        asked.append((dict(texts), example))
        return Seen(0.4, 0.7, "Yes", "right") if example == "a" else Seen(None, None, "", "no score: truncated")

    space = SimpleNamespace(seed_candidate=SimpleNamespace(texts={INSTRUCTION: "Begin here."}))
    desk: Any = SimpleNamespace(space=space, on_reflect=on_reflect, on_accept=on_reflect)
    relay = Relay("test")
    found: list[Any] = []

    def foreign() -> None:
        program = RivalProgram(student(), desk, relay)
        changed = program.deepcopy()
        changed.predictors()[0].signature = changed.predictors()[0].signature.with_instructions("Another.")
        found.append(program(example="a", split="reflect"))
        found.append(changed(example="a", split="accept"))
        with pytest.raises(UnscoredError, match="truncated"):
            program(example="b", split="reflect")

    relay.run(foreign)
    assert [texts[INSTRUCTION] for texts, _ in asked] == ["Begin here.", "Another.", "Begin here."]
    assert reward(None, found[0]) == 0.7
    told = reward(None, found[0], pred_name=INSTRUCTION)
    assert (told.score, told.feedback) == (0.7, "right")
