"""Reading a damaged corpus as far as it goes: every broken rule of every row, and what is left of the row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from lineage.errors import CorpusError
from splits.corpus import KINDS, Example, Fact
from splits.json_lines import parse_json_line
from splits.rows import EXAMPLE_FIELDS, REQUIRED, Row, read_example, read_facts

_MOST_REPAIRS: Final = 100
Record = TypeVar("Record")
Values = dict[str, Any]


@dataclass(slots=True)
class LenientRow:
    """One line of a file.

    Attributes:
        line: its 1-based number.
        values: the values by field as they stand in the file; none where the line is no object.
        example: the example, with neutral values where the line breaks a rule; None where nothing can be read.
        fact: likewise the fact, in a facts file.
        broken: the rules that the line breaks, in the order in which they were met.
        guessed: the fields whose values are neutral ones.
    """

    line: int
    values: Mapping[str, Any] = field(default_factory=dict)
    example: Example | None = None
    fact: Fact | None = None
    broken: list[CorpusError] = field(default_factory=list)
    guessed: set[str] = field(default_factory=set)


def lenient_examples(path: Path) -> Iterator[LenientRow]:
    """Every line of a corpus file; the rules are those of :func:`splits.load_corpus`, none of which stops the reading.

    Raises:
        CorpusError: there is no such file.
    """
    for row in _lines(path, "corpus"):
        if not row.broken:
            row.example = _repaired(row, partial(_read_example, row, str(path)), _neutral_example)
        yield row


def lenient_facts(path: Path) -> Iterator[LenientRow]:
    """Every line of a facts file.

    Raises:
        CorpusError: there is no such file.
    """
    for row in _lines(path, "facts"):
        if not row.broken:
            row.fact = _repaired(row, partial(_read_fact, row, str(path)), _neutral_fact)
        yield row


def _lines(path: Path, what: str) -> Iterator[LenientRow]:
    if not path.is_file():
        raise CorpusError(f"there is no such {what} file; give the path of a JSONL file", file=str(path))
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.isspace():
                continue
            row = LenientRow(number)
            try:
                row.values = parse_json_line(line, partial(CorpusError, file=str(path), line=number))
            except CorpusError as error:
                row.broken.append(error)
            yield row


def _repaired(
    row: LenientRow, read: Callable[[Values], Record], neutral: Callable[[str, LenientRow], Any]
) -> Record | None:
    """What can be read of a row when each value that breaks a rule is replaced by a neutral one."""
    values = dict(row.values)
    for _ in range(_MOST_REPAIRS):
        try:
            return read(values)
        except CorpusError as error:
            row.broken.append(error)
            if error.field is None:
                return None
            value = neutral(error.field, row)
            row.guessed.add(error.field)
            if value is _REMOVED:
                del values[error.field]
            else:
                values[error.field] = value
    return None


def _read_example(row: LenientRow, file: str, values: Values) -> Example:
    refuse = partial(CorpusError, file=file, line=row.line)
    mentions, document = values.get("residual"), values.get("document")
    if isinstance(mentions, list) and isinstance(document, str) and document.strip():
        kept = []
        for mention in mentions:  # each by itself, so that all that lie outside are named
            try:
                read_example({**_BLANK, "document": document, "residual": [mention]}, refuse)
                kept.append(mention)
            except CorpusError as error:
                row.broken.append(error)
        values["residual"] = kept
    return read_example(values, refuse)


def _neutral_example(name: str, row: LenientRow) -> Any:
    if name not in EXAMPLE_FIELDS:
        return _REMOVED
    given = row.values.get(name)
    if name == "label":
        likely = "omission" if row.values.get("twin") or row.values.get("trace") else "clean"
        return next((label for label, kinds in KINDS.items() if row.values.get("kind") in kinds), likely)
    if name == "id" and isinstance(given, str) and "/" in given:
        return given.replace("/", ".")
    return f"?{row.line}" if name in ("id", "group") else _BLANK.get(name)


def _read_fact(row: LenientRow, file: str, values: Values) -> Fact:
    place = Row(values, f"line {row.line}", partial(CorpusError, file=file, line=row.line))
    group = values.get("group")
    ((fact,),) = read_facts([place], [group] if isinstance(group, str) else []).values()
    return fact


def _neutral_fact(name: str, row: LenientRow) -> Any:
    if name not in _BLANK_FACT:
        return _REMOVED
    return f"?{row.line}" if name in ("id", "group") else _BLANK_FACT[name]


_REMOVED: Final = object()
_BLANK: Final[Mapping[str, Any]] = {**dict.fromkeys(REQUIRED, "?"), "source": "", "label": "clean"}
_BLANK_FACT: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("id", "group", "fact"), "?"),
    "evidence": [],
    "severity": "peripheral",
    "core": False,
}
