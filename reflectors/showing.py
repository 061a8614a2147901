"""Feedback within its bound: what is shown of the traces, what is cut, and the words that say so.

The rule of truncation, in this order, until it fits:

1. Failures come first and what is judged right comes last, each in order of the examples' ids.
2. Documents are cut around the flaw and what is left of the fact; the room is shared equally, and what a short document
   leaves over goes to the others.
3. Documents are left out.
4. Examples are left out whole, those that are judged right first, then failures from the last.

What is said of an example, its ground truth with it, is never cut. What was cut is said at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from reflectors.excerpts import around, estimate_tokens
from reflectors.feedback import Feedback
from reflectors.traces import Trace, count_failures

RULE: Final = (
    "A judge earns by ranking each flawed document below its own correct twin. Scoring every document lower or higher "
    "gains nothing, and neither does calling every fact absent or present."
)
_DOCUMENT: Final = "\n   The document: "
_ASIDE: Final = 90
"""Tokens kept for the summary, and for the sentence that says what was cut."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The feedback on one candidate, as it is shown.

    Attributes:
        text: numbered examples, with a summary before them and what was cut after them.
        count: examples shown.
        shortened: examples whose document was cut or left out.
        left_out: examples not shown for want of room.
    """

    text: str
    count: int
    shortened: int = 0
    left_out: int = 0


def show_feedback(traces: Sequence[Trace], feedback: Feedback, *, share: int = 1) -> Shown:
    """The feedback that fits into the bound.

    Args:
        traces: of one candidate, in any order.
        feedback: which parts are told, and the bound.
        share: how many candidates share the bound.
    """
    rule = f"\n{RULE}" if feedback.rule else ""
    room = feedback.tokens // share - _ASIDE - estimate_tokens(rule)
    ordered = sorted(traces, key=lambda trace: (trace.failing is None, trace.example))
    told = [trace for trace in ordered if feedback.right or trace.failing is not None]
    kept = _whole(told, room)
    spare = room - sum(_tokens(trace) for trace in kept)
    documents = _documents(kept, spare)
    shortened = sum(shown != trace.document for trace, shown in zip(kept, documents, strict=True))
    lines = [
        f"{number}. {trace.text}" + (f"{_DOCUMENT}{_indented(document)}" if document else "")
        for number, (trace, document) in enumerate(zip(kept, documents, strict=True), start=1)
    ]
    shown = Shown("", len(kept), shortened, len(told) - len(kept))
    text = "\n".join((_summary(ordered, feedback), *lines, *_cut_words(shown, feedback)))
    return replace(shown, text=f"{text}{rule}")


def _whole(traces: Sequence[Trace], room: int) -> list[Trace]:
    """As many traces as fit without their documents; one that does not fit keeps no shorter one out."""
    kept: list[Trace] = []
    for trace in traces:
        if (needed := _tokens(trace)) <= room:
            kept.append(trace)
            room -= needed
    return kept


def _documents(traces: Sequence[Trace], room: int) -> list[str]:
    """The document of each trace, cut to an equal share of the room; short ones come first, to pass on their rest."""
    shown = ["" for _ in traces]
    waiting = sorted(
        (index for index, trace in enumerate(traces) if trace.document), key=lambda index: len(traces[index].document)
    )
    for place, index in enumerate(waiting):
        share = max(room, 0) // (len(waiting) - place)
        trace = traces[index]
        frame = estimate_tokens(_DOCUMENT) + trace.document.count("\n") + 1  # each line is indented
        shown[index] = around(trace.document, trace.places, tokens=max(share - frame, 0))
        if shown[index]:
            room -= estimate_tokens(shown[index]) + frame
    return shown


def _tokens(trace: Trace) -> int:
    """Tokens of a trace without its document, its number and line break counted."""
    return estimate_tokens(f"000. {trace.text}\n")


def _indented(document: str) -> str:
    return document.replace("\n", "\n   ")


def _summary(traces: Sequence[Trace], feedback: Feedback) -> str:
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in count_failures(traces).items())
    right = sum(trace.failing is None for trace in traces)
    judged_right = f" {right} judged right already: keep what makes them so." if feedback.right and right else ""
    return f"Of {len(traces)} examples {len(traces) - right} are failures ({counts or 'none'}).{judged_right}"


def _cut_words(shown: Shown, feedback: Feedback) -> list[str]:
    """What was cut, or nothing."""
    cut = []
    if shown.shortened:
        cut.append(f"the documents of {shown.shortened} examples were cut around the flaw or left out")
    if shown.left_out:
        cut.append(f"{shown.left_out} examples were left out")
    return [f"(To fit about {feedback.tokens} tokens, {' and '.join(cut)}.)"] if cut else []
