"""A person as the reflector: a request that can be read, an answer that is waited for, and a restart in between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.errors import CampaignError
from reflectors import FailedEdit, Feedback, HumanReflector, ReflectionRequest, Trace, Waiting

TRACES = (Trace("a", None, "right"), Trace("b", "missed_omission", "wrong", document="PLAN\nRest."))
NO_WAIT = Waiting(wait=False)


def request(**more: Any) -> ReflectionRequest:
    return ReflectionRequest(
        **{"parent": "Judge.", "traces": TRACES, "earlier": frozenset(), "seed": 0, "iteration": 3, "call": 1, **more}
    )


def answer(directory: Path, text: str, name: str = "0003-1") -> None:
    (directory / f"{name}.answer.md").write_text(text, encoding="utf-8")


def asked(directory: Path, waiting: Waiting = NO_WAIT, **more: Any) -> str:
    """The request as it is written, and nothing answered."""
    with pytest.raises(CampaignError):
        HumanReflector(directory, waiting=waiting).reflect(request(**more))
    (path,) = directory.glob("*.request.md")
    return path.read_text(encoding="utf-8")


def test_the_request_holds_instruction_feedback_rules_and_the_name_of_the_answer(tmp_path: Path) -> None:
    text = asked(tmp_path)
    assert text.startswith("Request ")
    assert "Answer in the file `0003-1.answer.md`, in this folder." in text
    assert "PRESENT INSTRUCTION:\nJudge." in text
    assert "1. wrong\n   The document: PLAN\n   Rest.\n2. right" in text
    assert "Keep every placeholder" in text


def test_without_waiting_a_missing_answer_stops_and_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"0003-1\.answer\.md: no finished answer yet; .* same command to go on"):
        HumanReflector(tmp_path, waiting=NO_WAIT).reflect(request())


def test_the_answer_is_found_after_a_restart_and_kept_whole(tmp_path: Path) -> None:
    before = asked(tmp_path)
    text = "Because of the fragments.\n<instruction>\nJudge all of it.\n</instruction>\n"
    answer(tmp_path, text)
    found = HumanReflector(tmp_path, waiting=NO_WAIT).reflect(request())
    assert (found.text, found.operator, found.problem) == ("Judge all of it.", "human", None)
    assert found.answer == text
    assert found.prompt is not None
    assert found.prompt in before


@pytest.mark.parametrize("text", ["", "Judge all of it.", "<instruction>\nJudge all of"])
def test_an_answer_without_its_closing_marker_is_not_finished(tmp_path: Path, text: str) -> None:
    asked(tmp_path)
    answer(tmp_path, text)
    with pytest.raises(CampaignError, match="no finished answer yet"):
        HumanReflector(tmp_path, waiting=NO_WAIT).reflect(request())


def test_an_empty_instruction_proposes_nothing(tmp_path: Path) -> None:
    asked(tmp_path)
    answer(tmp_path, "<instruction></instruction>")
    assert HumanReflector(tmp_path, waiting=NO_WAIT).reflect(request()).problem == "empty instruction"


def test_it_waits_in_pauses_and_says_for_what(tmp_path: Path) -> None:
    told, pauses = list[Path](), list[float]()

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            answer(tmp_path, "<instruction>Judge all of it.</instruction>")

    waiting = Waiting(poll_s=0.5, tell=told.append, pause=pause)
    assert HumanReflector(tmp_path, waiting=waiting).reflect(request()).text == "Judge all of it."
    assert pauses == [0.5, 0.5, 0.5]
    assert told == [tmp_path / "0003-1.answer.md"]


def test_all_requests_of_one_round_are_written_before_any_answer_is_waited_for(tmp_path: Path) -> None:
    requests = [request(call=n, parent=f"Judge {n}.") for n in (1, 2)]
    with pytest.raises(CampaignError, match=r"0003-1\.answer\.md, .*0003-2\.answer\.md: no finished"):
        HumanReflector(tmp_path, waiting=NO_WAIT).reflect_all(requests)
    assert len(list(tmp_path.glob("*.request.md"))) == 2
    for n in (2, 1):
        answer(tmp_path, f"<instruction>New {n}.</instruction>", f"0003-{n}")
    found = HumanReflector(tmp_path, waiting=NO_WAIT).reflect_all(requests)
    assert [each.text for each in found] == ["New 1.", "New 2."]


def test_notes_written_into_the_request_stay(tmp_path: Path) -> None:
    asked(tmp_path)
    path = tmp_path / "0003-1.request.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nMy notes.\n", encoding="utf-8")
    assert asked(tmp_path).endswith("My notes.\n")


def test_another_request_of_that_name_is_never_answered_by_an_old_answer(tmp_path: Path) -> None:
    asked(tmp_path)
    answer(tmp_path, "<instruction>Judge all of it.</instruction>")
    with pytest.raises(CampaignError, match=r"0003-1\.request\.md: holds another request .* move the file and its"):
        HumanReflector(tmp_path, waiting=NO_WAIT).reflect(request(parent="Judge otherwise."))


def test_an_answer_that_is_not_utf_8_is_refused_with_its_name(tmp_path: Path) -> None:
    asked(tmp_path)
    (tmp_path / "0003-1.answer.md").write_bytes(b"<instruction>caf\xe9</instruction>")
    with pytest.raises(CampaignError, match=r"0003-1\.answer\.md: the answer is not UTF-8"):
        HumanReflector(tmp_path, waiting=NO_WAIT).reflect(request())


def test_blocks_have_files_of_their_own_and_a_crossover_shows_all_parents(tmp_path: Path) -> None:
    text = asked(tmp_path, component="../audit", others=("Other.",))
    assert "INSTRUCTION 2:\nOther." in text
    path = next(tmp_path.glob("*.request.md"))
    assert path.name.startswith("0003-1-")
    answer(tmp_path, "<instruction>Both.</instruction>", path.name.removesuffix(".request.md"))
    found = HumanReflector(tmp_path, waiting=NO_WAIT).reflect(request(component="../audit", others=("Other.",)))
    assert (found.text, found.operator) == ("Both.", "human crossover")


def test_waiting_is_no_part_of_the_settings_and_memory_is(tmp_path: Path) -> None:
    one = HumanReflector(tmp_path, feedback=Feedback(), memory=1).settings()
    assert one == HumanReflector(tmp_path / "b", memory=1, waiting=NO_WAIT).settings()
    assert one != HumanReflector(tmp_path, memory=2).settings()
    failed = (FailedEdit("Judge. Guess.", "rejected", "minibatch reward -1", "Judge."),)
    with pytest.raises(CampaignError):
        HumanReflector(tmp_path, memory=1, waiting=NO_WAIT).reflect(request(failed=failed))
    assert 'added: "Guess."' in (tmp_path / "0003-1.request.md").read_text(encoding="utf-8")
