"""Asking for keyed verdicts, and once more for those that an answer left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from students.dialogue import Dialogue, Question, taken, text_of, think
from students.keyed import Keyed, parse_verdicts
from students.parsing import Abstained, Unread

Verdict = TypeVar("Verdict")


def keys_of(prefix: str, count: int) -> tuple[str, ...]:
    """Keys for so many items, from 1."""
    return tuple(f"{prefix}{number}" for number in range(1, count + 1))


def ask_keyed(question: Question, items: Mapping[str, str], *, slot: str) -> Dialogue[dict[str, bool]]:
    """Ask for a verdict, present or absent, for each key (see :func:`ask_each`)."""
    return (yield from ask_each(question, items, slot=slot, parse=parse_verdicts))


def ask_each(
    question: Question,
    items: Mapping[str, str],
    *,
    slot: str,
    parse: Callable[[str, Sequence[str]], Keyed[Verdict] | Unread | Abstained],
) -> Dialogue[dict[str, Verdict]]:
    """Ask for what an answer says of each key.

    Keys without a verdict are asked for once more, alone and after the same scratchpad.

    Args:
        question: the question without the list of items.
        items: the text of each item by its key.
        slot: the prompt's slot for the list.
        parse: reads an answer about some of the keys.

    Returns:
        A verdict for every key.

    Raises:
        UnreadError: an answer could not be read, or a key has no verdict after the second.
    """
    (question,) = yield from think(_listing(question, items, slot))
    wanted, said = tuple(items), dict[str, Verdict]()
    for about in (question.about, f"retry of {question.about}" if question.about else "retry"):
        if wanted:
            (answer,) = yield (_listing(question, {key: items[key] for key in wanted}, slot),)
            found = taken(parse(text_of(answer, about=about), wanted), about=about)
            said |= found.found
            wanted = found.missing
    if wanted:
        lacking = Unread("unparseable", f"no verdict for {', '.join(wanted)}, asked twice")
        taken(lacking, about=question.about)
    return {key: said[key] for key in items}


def _listing(question: Question, items: Mapping[str, str], slot: str) -> Question:
    listed = "\n".join(f"{key}: {text}" for key, text in items.items())
    return replace(question, values={**question.values, slot: listed})
