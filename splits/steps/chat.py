"""Step-labelled records, and the chat lines that trainers read: one conversation a step, ended by its label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lineage.canonical import digest
from splits.corpus import Example
from splits.steps.cutting import Step, SteppedNote
from splits.steps.labelling import LabelledNote

Messages = Sequence[Mapping[str, str]]
Render = Callable[[Example, SteppedNote, Step], Messages]
"""What a verifier is asked about a step: the same messages that it is sent when it judges."""


@dataclass(frozen=True, slots=True)
class ChatLines:
    """The conversations of some notes.

    Attributes:
        lines: each with ``messages`` and its ``provenance``.
        labels: conversations by label.
        repeated: left out, as the same messages with the same label stand there already: what precedes an error is
            what the clean note says.
        unlabelled: steps left out, as their label is not known.
    """

    lines: tuple[dict[str, Any], ...]
    labels: Mapping[str, int]
    repeated: int
    unlabelled: int


def step_rows(notes: Iterable[LabelledNote], *, part: str) -> Iterator[dict[str, Any]]:
    """The step-labelled records: one row a step, in order."""
    for labelled in notes:
        for step, label in zip(labelled.note.steps, labelled.labels, strict=True):
            yield {
                **_provenance(labelled, step, part),
                "number": step.number,
                "place": step.place,
                "start": step.start,
                "end": step.end,
                "text": step.text,
                "label": label,
            }


def chat_lines(notes: Iterable[LabelledNote], *, part: str, render: Render) -> ChatLines:
    """A conversation for each step with a label: what a verifier is asked, and its label as the assistant's answer.

    All values of ``provenance`` are text, so that a reader which infers a schema from some lines can read all.

    Args:
        notes: the notes.
        part: name of the part that they are in.
        render: makes the messages.
    """
    lines: list[dict[str, Any]] = []
    labels: Counter[str] = Counter()
    seen: set[str] = set()
    repeated = unlabelled = 0
    for labelled in notes:
        for step, label in zip(labelled.note.steps, labelled.labels, strict=True):
            if label is None:
                unlabelled += 1
                continue
            asked = [dict(message) for message in render(labelled.example, labelled.note, step)]
            messages = [*asked, {"role": "assistant", "content": label}]
            if (key := digest(messages)) in seen:
                repeated += 1
                continue
            seen.add(key)
            labels[label] += 1
            lines.append({"messages": messages, "provenance": _provenance(labelled, step, part)})
    return ChatLines(tuple(lines), dict(sorted(labels.items())), repeated, unlabelled)


def _provenance(labelled: LabelledNote, step: Step, part: str) -> dict[str, str]:
    meta = labelled.example.meta
    return {
        "step": f"{labelled.example.id}#{step.id}",
        "note": labelled.example.id,
        "group": labelled.example.group,
        "part": part,
        "kind": step.kind,
        "error": labelled.error or "none",
        "origin": labelled.origin,
        "rule": str(meta.get("rule", "none")),
        "seed": str(meta.get("seed", "none")),
    }
