"""What is wrong in a corpus file, at which place, and the rows that checks read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

from lineage.errors import CorpusError
from splits.corpus import Example
from splits.lenient import LenientRow

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Defect:
    """What is wrong at one place.

    An ``error`` makes the corpus unreadable, or a measure on it wrong; a ``warning`` wants to be looked at.

    Attributes:
        severity: which of the two.
        kind: short name of the rule.
        file: path of the file.
        line: 1-based line, or None for the whole file.
        field: the field concerned, or None.
        id: id of the example or of the fact, as it stands there, or None.
        words: what is wrong, and what to do.
    """

    severity: Severity
    kind: str
    file: str
    line: int | None
    field: str | None
    id: str | None
    words: str

    @property
    def place(self) -> str:
        """File, line and field."""
        place = self.file + (f":{self.line}" if self.line is not None else "")
        return place + (f", field {self.field!r}" if self.field else "")

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


@dataclass(frozen=True)
class RowFile:
    """A corpus or facts file: its path and all its rows."""

    path: str
    rows: Sequence[LenientRow]

    @cached_property
    def examples(self) -> Mapping[int, Example]:
        """What can be read of the examples, by line."""
        return {row.line: row.example for row in self.rows if row.example is not None}

    @cached_property
    def guessed(self) -> Mapping[int, set[str]]:
        """The fields of each line whose values are neutral ones, as those in the file break a rule."""
        return {row.line: row.guessed for row in self.rows}

    @cached_property
    def first(self) -> Mapping[str, int]:
        """The first line of each example's id."""
        return {example.id: line for line, example in reversed(list(self.examples.items()))}

    def texts(self) -> Iterator[tuple[int, str, str]]:
        """Line, field and text of documents and sources, each text of a group once, where both are as in the file."""
        seen: set[tuple[str, str]] = set()
        for line, example in self.examples.items():
            for field, text in (("document", example.document), ("source", example.source)):
                if (example.group, text) not in seen and not self.guessed[line] & {field, "group"}:
                    seen.add((example.group, text))
                    yield line, field, text

    def defect(self, severity: Severity, kind: str, line: int, field: str | None, words: str) -> Defect:
        """A defect of a line."""
        return Defect(severity, kind, self.path, line, field, self._id(line), words)

    def broken(self) -> Iterator[Defect]:
        """Every broken rule of the format."""
        for row in self.rows:
            for error in row.broken:
                words = error_words(error)
                kind = "empty text" if words.startswith("must be a non-empty") else "format"
                yield self.defect("error", kind, row.line, error.field, words)

    def _id(self, line: int) -> str | None:
        name = self._values[line].get("id")
        return name if isinstance(name, str) else None

    @cached_property
    def _values(self) -> Mapping[int, Mapping[str, Any]]:
        return {row.line: row.values for row in self.rows}


def error_words(error: CorpusError) -> str:
    """What an error says without the place before it."""
    return str(error).removeprefix(str(CorpusError("", file=error.file, line=error.line, field=error.field)))
