"""Memory of failed edits: what is told of them, and what never."""

from __future__ import annotations

from reflectors import FailedEdit
from reflectors.memory import EDIT_WORDS, memory_words, remembered

PARENT = "Frame. Rule one. Rule two."


def rejected(text: str, number: int = 1) -> FailedEdit:
    return FailedEdit(text, "rejected", f"minibatch reward -0.{number}", PARENT, number)


def test_the_latest_edits_are_told_the_latest_last() -> None:
    failed = [rejected(f"Frame. Rule {n}.", n) for n in range(5)]
    assert remembered(failed, 2) == (failed[3], failed[4])
    assert remembered(failed, 9) == tuple(failed)
    assert remembered(failed, 0) == ()
    assert memory_words(failed, 0) == memory_words([], 5) == ""


def test_a_rejected_edit_is_told_by_what_it_added_and_removed() -> None:
    assert memory_words([rejected("Frame. Rule two. Rule three.")], 3).splitlines()[1:] == [
        '- rejected (minibatch reward -0.1). added: "Rule three."; removed: "Rule one."'
    ]
    assert memory_words([rejected("Frame. Rule two. Rule one.")], 3).endswith("the same sentences in another order")


def test_the_text_of_an_invalid_proposal_is_never_told() -> None:
    edit = FailedEdit("SECRET", "invalid", "repeats 3 run(s) of 8 words of accept or held-out text", PARENT)
    told = memory_words([edit], 1)
    assert told.endswith("- invalid (repeats 3 run(s) of 8 words of accept or held-out text).")
    assert "SECRET" not in told


def test_a_call_that_was_not_answered_is_no_failed_edit() -> None:
    silent = FailedEdit("", "invalid", "no answer: transport: gone")
    assert memory_words([silent], 3) == ""
    assert remembered([rejected("A."), silent], 1) == (rejected("A."),)


def test_long_edits_are_cut() -> None:
    told = memory_words([rejected("word " * 500)], 1)
    assert len(told.split()) < EDIT_WORDS + 40
    assert "[...]" in told
