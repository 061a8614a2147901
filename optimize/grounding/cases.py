"""The case set of the grounding gate: answers to questions about notes, and equivalent phrasings of true statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, get_args

from lineage.errors import CorpusError
from splits.bundled import CORPORA
from splits.json_lines import Refuse, read_json_lines

Label = Literal["right", "wrong", "silent"]
"""Whether an answer is right; silent where it denies what the note does not state, as custom reads a note but not the
gate."""
Expected = Literal["delivered", "restated", "rejected"]
Cohort = Literal["first", "second", "third"]

BUNDLED: Final = CORPORA / "grounding"
TYPES: Final = ("history-subject", "negation", "absence", "uncertainty", "laterality", "dose")
FAMILIES: Final = ("nine", "kinds", "limit")
_NOTE: Final = ("group", "note")
_CASE: Final = ("id", "group", "family", "type", "kind", "question", "answer", "label", "expected", "cohort")
_EQUIVALENTS: Final = ("id", "kind", "source", "statement", "equivalents")
_MEANT: Final[Mapping[str, tuple[str, ...]]] = {
    "right": ("delivered", "restated"),
    "wrong": ("rejected",),
    "silent": ("restated",),
}
"""What may be expected of an answer by its label."""


@dataclass(frozen=True, slots=True)
class Case:
    """One answer to a question about a note.

    Attributes:
        id: unique name.
        group: of the note; cases of one note are no independent observations.
        note: the source.
        family: ``nine``, the small set in the published shape; ``kinds``; or ``limit``, where a note denies another
            word of the clause that the answer denies.
        type: what the question asks for.
        kind: what is hard about it.
        question: the question.
        answer: the answer.
        label: whether it is right.
        expected: what a gate should do with it.
        cohort: ``first`` cases were there when the negation parser was written; ``second`` and ``third`` ones were
            written after it, and the README of the set holds what came of them before anything was changed.
    """

    id: str
    group: str
    note: str
    family: str
    type: str
    kind: str
    question: str
    answer: str
    label: Label
    expected: Expected
    cohort: Cohort


@dataclass(frozen=True, slots=True)
class Equivalents:
    """A true statement, and denials that are logically equivalent to it.

    Attributes:
        id: unique name.
        kind: how they are equivalent.
        source: what the statement is true of.
        statement: the statement.
        equivalents: the denials.
    """

    id: str
    kind: str
    source: str
    statement: str
    equivalents: tuple[str, ...]


def load_cases(directory: Path = BUNDLED) -> tuple[Case, ...]:
    """The cases of a directory, from ``notes.jsonl`` and ``cases.jsonl``.

    Raises:
        CorpusError: naming file, line, field and rule.
    """
    notes: dict[str, str] = {}
    path = directory / "notes.jsonl"
    for line, row in read_json_lines(path, "notes"):
        refuse = partial(CorpusError, file=str(path), line=line)
        _check(row, _NOTE, refuse)
        if row["group"] in notes:
            raise refuse(f"group {row['group']!r} stands twice; each has one note", field="group")
        notes[row["group"]] = row["note"]
    path = directory / "cases.jsonl"
    found: list[Case] = []
    for line, row in read_json_lines(path, "cases"):
        refuse = partial(CorpusError, file=str(path), line=line)
        found.append(_case(row, notes, refuse))
    _check_ids([case.id for case in found], path)
    if unused := sorted(set(notes) - {case.group for case in found}):
        raise CorpusError(
            f"note {unused[0]!r} has no case; remove it, or write one", file=str(directory / "notes.jsonl")
        )
    return tuple(found)


def load_equivalents(directory: Path = BUNDLED) -> tuple[Equivalents, ...]:
    """The equivalent phrasings of a directory, from ``equivalents.jsonl``.

    Raises:
        CorpusError: naming file, line, field and rule.
    """
    path = directory / "equivalents.jsonl"
    found: list[Equivalents] = []
    for line, row in read_json_lines(path, "equivalents"):
        refuse = partial(CorpusError, file=str(path), line=line)
        others = row.get("equivalents")
        if not isinstance(others, list) or not others or not all(_is_text(each) for each in others):
            raise refuse("must be a list of at least one text", field="equivalents")
        _check({**row, "equivalents": "-"}, _EQUIVALENTS, refuse)
        phrasings = [row["statement"], *others]
        if len(set(phrasings)) < len(phrasings):
            raise refuse("holds a phrasing twice; each is another one", field="equivalents")
        found.append(Equivalents(row["id"], row["kind"], row["source"], row["statement"], tuple(others)))
    _check_ids([each.id for each in found], path)
    return tuple(found)


def _case(row: Mapping[str, Any], notes: Mapping[str, str], refuse: Refuse) -> Case:
    _check(row, _CASE, refuse)
    for field, known in (
        ("family", FAMILIES),
        ("type", TYPES),
        ("label", get_args(Label)),
        ("expected", get_args(Expected)),
        ("cohort", get_args(Cohort)),
    ):
        if row[field] not in known:
            raise refuse(f"must be one of {', '.join(known)}, got {row[field]!r}", field=field)
    if row["group"] not in notes:
        raise refuse(f"there is no note of group {row['group']!r} in notes.jsonl", field="group")
    if row["expected"] not in _MEANT[row["label"]]:
        meant = " or ".join(_MEANT[row["label"]])
        raise refuse(f"a {row['label']} answer is {meant}, got {row['expected']!r}", field="expected")
    return Case(note=notes[row["group"]], **row)


def _check(row: Mapping[str, Any], fields: Sequence[str], refuse: Refuse) -> None:
    """Every field is there and a text, and there is no other."""
    for field in fields:
        if not _is_text(row.get(field)):
            raise refuse("must be a text that is not empty", field=field)
    if unknown := sorted(set(row) - set(fields)):
        raise refuse(f"is not a field; there are {', '.join(fields)}", field=unknown[0])


def _check_ids(ids: Sequence[str], path: Path) -> None:
    if not ids:
        raise CorpusError("holds nothing to judge", file=str(path))
    for name, count in Counter(ids).items():
        if count > 1:
            raise CorpusError(f"id {name!r} stands twice; ids are unique", file=str(path), field="id")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
