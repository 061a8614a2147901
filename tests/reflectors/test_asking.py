"""The request in words: the same words whoever reads them, with every part where it belongs."""

from __future__ import annotations

from typing import Any

from reflectors import FailedEdit, Feedback, ReflectionRequest, Trace
from reflectors.asking import CROSSOVER, REFLECT, Asking, prompt_sections
from reflectors.excerpts import estimate_tokens
from reflectors.marking import BEGIN, END
from reflectors.showing import RULE

TRACES = (Trace("a", None, "right $z"), Trace("b", "missed_omission", "wrong ${y}"))
FAILED = (FailedEdit("Judge. Guess.", "rejected", "minibatch reward -0.5000", "Judge.", 1),)


def request(**more: Any) -> ReflectionRequest:
    return ReflectionRequest(
        **{"parent": "Judge $x {y}.", "traces": TRACES, "earlier": frozenset(), "seed": 0, "iteration": 2, **more}
    )


def words(memory: int = 0, told: Feedback | None = None, **more: Any) -> str:
    return Asking(told or Feedback(), memory).words(request(**more)).user


def test_instruction_and_traces_stand_as_they_are_failures_first() -> None:
    assert words().startswith("PRESENT INSTRUCTION:\nJudge $x {y}.\n\nWHAT IT DID ON 2 EXAMPLES:\nOf 2 examples 1 are ")
    assert f"\n1. wrong ${{y}}\n2. right $z\n{RULE}\n\nWrite the new instruction." in words()


def test_failed_edits_are_told_when_asked_and_else_not() -> None:
    assert "FAILED" not in words(failed=FAILED)
    told = words(memory=2, failed=FAILED)
    assert 'rejected (minibatch reward -0.5000). added: "Guess."\n\nWrite the new instruction.' in told


def test_another_block_than_the_instruction_is_named() -> None:
    assert words(component="audit").startswith('PRESENT INSTRUCTION (the block "audit"):\n')
    assert words(component="audit", others=("B.",)).endswith('Write the merged instruction (the block "audit").')


def test_the_rule_can_be_left_out_and_then_stands_nowhere() -> None:
    for others in ((), ("B.",)):
        asked = Asking(Feedback(rule=False)).words(request(others=others))
        assert "Scoring every document" not in asked.system + asked.user
        assert "Scoring every document" in Asking(Feedback()).words(request(others=others)).user


def test_a_crossover_shows_every_parent_with_what_it_did_in_a_prompt_of_its_own() -> None:
    other = (Trace("a", "false_absence", "called absent"), Trace("b", None, "fine"))
    asked = Asking(Feedback(rule=False), 1).words(request(others=("B.", "C."), others_traces=(other,), failed=FAILED))
    assert asked.system == prompt_sections(CROSSOVER)["system"] != prompt_sections(REFLECT)["system"]
    first, second, third = asked.user.partition("EARLIER")[0].split("INSTRUCTION ")[1:]
    assert first.startswith("1:\nJudge $x {y}.\n\nWHAT IT DID ON 2 EXAMPLES:")
    assert second.startswith("2:\nB.\n\nWHAT IT DID ON 2 EXAMPLES:")
    assert "1. called absent\n2. fine" in second
    assert third.strip() == "3:\nC.", "nothing is known of what it did"
    assert 'added: "Guess."' in asked.user
    assert len(asked.shown) == 2


def test_parents_share_the_bound() -> None:
    long = tuple(Trace(f"{n:03}", "missed_omission", "word " * 40) for n in range(40))
    asked = Asking(Feedback(tokens=1000)).words(request(traces=long, others=("B.",), others_traces=(long,)))
    assert [estimate_tokens(shown.text) <= 500 for shown in asked.shown] == [True, True]


def test_both_prompts_ask_for_the_markers_and_forbid_the_fixed_parts() -> None:
    for path in (REFLECT, CROSSOVER):
        system = prompt_sections(path)["system"]
        assert BEGIN in system
        assert END in system
        assert "Do not describe the inputs or the answer format." in system


def test_settings_name_parts_bound_memory_and_both_prompts() -> None:
    row = Asking(Feedback(tokens=900, right=False), 3).settings()
    assert row["feedback"] == Feedback(tokens=900, right=False).row()
    assert (row["memory"], len(row["prompt"]), len(row["crossover"])) == (3, 64, 64)
