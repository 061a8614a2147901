"""The feedback within its bound: what is cut first, what never, and that it is said."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reflectors import Feedback
from reflectors.excerpts import CUT, estimate_tokens
from reflectors.showing import RULE, show_feedback
from reflectors.traces import Trace

DOCUMENT = "\n".join(f"Line {n} of a document that is rather long." for n in range(60))


def failing(name: str, text: str = "Truth of it.", document: str = DOCUMENT) -> Trace:
    return Trace(name, "missed_omission", f"{text} ({name})", document=document, places=(document.find("Line 30"),))


def right(name: str) -> Trace:
    return Trace(name, None, f"Right. ({name})")


def test_failures_come_first_each_in_order_of_the_ids_and_the_rule_last() -> None:
    found = [right("b"), failing("d", document="Short."), right("a"), failing("c", document="")]
    shown = show_feedback(found, Feedback())
    assert shown.text == (
        "Of 4 examples 2 are failures (2 missed omission). 2 judged right already: keep what makes them so.\n"
        "1. Truth of it. (c)\n2. Truth of it. (d)\n   The document: Short.\n3. Right. (a)\n4. Right. (b)\n" + RULE
    )
    assert (shown.count, shown.shortened, shown.left_out) == (4, 0, 0)


def test_what_is_right_and_the_rule_can_be_left_out() -> None:
    shown = show_feedback([right("b"), failing("c", document="")], Feedback(right=False, rule=False))
    assert shown.text == "Of 2 examples 1 are failures (1 missed omission).\n1. Truth of it. (c)"


def test_documents_are_cut_around_the_flaw_before_anything_else_and_it_is_said() -> None:
    found = [failing("a"), failing("b", document="Short."), right("c")]
    shown = show_feedback(found, Feedback(tokens=400))
    assert shown.text.count("Truth of it.") == 2
    assert "The document: Short." in shown.text, "a short document leaves its room to the others"
    assert "Line 30" in shown.text
    assert f"The document: {CUT}" in shown.text
    assert "(To fit about 400 tokens, the documents of 1 examples were cut around the flaw or left out.)" in shown.text
    assert (shown.shortened, shown.left_out) == (1, 0)


def test_examples_that_do_not_fit_are_left_out_whole_what_is_right_first() -> None:
    found = [right("z"), *(failing(f"f{n}", "T" * 300) for n in range(5))]
    shown = show_feedback(found, Feedback(tokens=500))
    assert re.findall(r"\((f\d|z)\)", shown.text) == ["f0", "f1", "f2", "f3", "z"], "a shorter one still fits"
    assert shown.left_out == 1
    assert "and 1 examples were left out.)" in shown.text
    assert "document:" not in shown.text


def test_several_candidates_share_the_bound() -> None:
    found = [failing(f"f{n}") for n in range(4)]
    assert estimate_tokens(show_feedback(found, Feedback(tokens=800), share=2).text) <= 400


@st.composite
def drawn(draw: Any) -> list[Trace]:
    sizes = draw(st.lists(st.tuples(st.booleans(), st.integers(0, 400), st.integers(0, 1500)), max_size=12))
    return [
        failing(f"{n:02}", "T" * size, DOCUMENT[:document] if document else "") if bad else right(f"{n:02}")
        for n, (bad, size, document) in enumerate(sizes)
    ]


@settings(deadline=None, max_examples=60)
@given(drawn(), st.integers(400, 2500), st.sampled_from([1, 2]), st.randoms(use_true_random=False))
def test_the_bound_holds_and_no_ground_truth_is_ever_cut(
    traces: list[Trace], tokens: int, share: int, order: Any
) -> None:
    feedback = Feedback(tokens=tokens)
    shown = show_feedback(traces, feedback, share=share)
    assert estimate_tokens(shown.text) <= tokens // share
    told = [trace for trace in traces if trace.text in shown.text]
    assert len(told) == shown.count == len(traces) - shown.left_out
    shuffled = traces[:]
    order.shuffle(shuffled)
    assert show_feedback(shuffled, feedback, share=share) == shown
    assert ("To fit" in shown.text) == bool(shown.shortened or shown.left_out)
