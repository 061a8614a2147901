"""Records of upstream files, whose fields are asked for by name and type and refused with their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from lineage.errors import CorpusError
from splits.json_lines import read_json_lines
from splits.rows import Row


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object of an upstream file, or one inside it.

    Attributes:
        values: its values by upstream name.
        file: path of the file.
        line: 1-based line, where the file has one record a line.
        within: where in the line it stands, such as ``items[3].``.
    """

    values: Mapping[str, Any]
    file: str
    line: int | None = None
    within: str = ""

    def refuse(self, message: str, *, field: str | None = None) -> CorpusError:
        """The error for this record or one of its fields."""
        place = f"{self.within}{field}" if field else self.within.rstrip(".")
        return CorpusError(message, file=self.file, line=self.line, field=place or None)

    def get(self, field: str) -> Any:
        """A field as it is.

        Raises:
            CorpusError: the record lacks it; suggests the near name.
        """
        if field not in self.values:
            near = get_close_matches(field, self.values, n=1)
            has = f"there is {near[0]!r}" if near else f"there are {', '.join(sorted(self.values)) or 'none'}"
            raise self.refuse(f"is missing ({has}); is this the file that the adapter reads?", field=field)
        return self.values[field]

    def text(self, field: str, *, empty: bool = False) -> str:
        """A text, which may be empty only if ``empty``."""
        value = self.get(field)
        if not isinstance(value, str) or not (empty or value.strip()):
            raise self.refuse(f"must be a {'' if empty else 'non-empty '}text, got {_shown(value)}", field=field)
        return value

    def optional(self, field: str) -> str | None:
        """A non-empty text, or null."""
        return None if self.get(field) is None else self.text(field)

    def one_of(self, field: str, allowed: Iterable[Any]) -> Any:
        """One of the values that the field may have."""
        value, known = self.get(field), list(allowed)
        if not any(type(value) is type(option) and value == option for option in known):
            raise self.refuse(f"must be one of {known}, got {_shown(value)}", field=field)
        return value

    def number(self, field: str) -> float:
        """A number that is not true or false."""
        value = self.get(field)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(f"must be a number, got {_shown(value)}", field=field)
        return float(value)

    def whole(self, field: str) -> int:
        """A whole number."""
        value = self.get(field)
        if type(value) is not int:
            raise self.refuse(f"must be a whole number, got {_shown(value)}", field=field)
        return value

    def texts(self, field: str) -> list[str]:
        """A list of texts."""
        value = self.get(field)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.refuse(f"must be a list of texts, got {_shown(value)}", field=field)
        return value

    def record(self, field: str) -> Record:
        """The object that is the value of a field."""
        value = self.get(field)
        if not isinstance(value, dict):
            raise self.refuse(f"must be an object, got {_shown(value)}", field=field)
        return Record(value, self.file, self.line, f"{self.within}{field}.")

    def records(self, field: str) -> list[Record]:
        """The objects in a list."""
        value = self.get(field)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.refuse(f"must be a list of objects, got {_shown(value)}", field=field)
        return [Record(item, self.file, self.line, f"{self.within}{field}[{at}].") for at, item in enumerate(value)]

    def row(self, **values: Any) -> Row:
        """A row of the corpus that was made from this record."""
        place = f"line {self.line}" if self.line is not None else self.within.rstrip(".")
        return Row(values, place, partial(_refuse_row, self))


def read_records(path: Path, *fields: str) -> list[Record]:
    """The records of a JSONL file, all of which have the given fields; their ids differ.

    Raises:
        CorpusError: there is no such file, it holds nothing, a line is broken, a field is missing, or an id repeated.
    """
    records = [Record(values, str(path), line) for line, values in read_json_lines(path, "corpus")]
    if not records:
        raise CorpusError("holds no record; fetch the file again", file=str(path))
    for record in records:
        for field in fields:
            record.get(field)
    by_id(records)
    return records


def by_id(records: Iterable[Record], field: str = "id") -> dict[str, Record]:
    """Records by their id.

    Raises:
        CorpusError: two have the same.
    """
    found: dict[str, Record] = {}
    for record in records:
        name = record.text(field)
        if name in found:
            before = f" on line {found[name].line}" if found[name].line is not None else ""
            raise record.refuse(f"{name!r} stands twice, before{before}; ids must be unique", field=field)
        found[name] = record
    return found


def find_file(path: Path, name: str, *, beside: bool = False) -> Path:
    """A file of an upstream folder.

    Args:
        path: the folder, or its main file.
        name: name of the file in the folder.
        beside: the file wanted is not the main one, but stands in the same folder.

    Raises:
        CorpusError: it is not there.
    """
    if not path.exists():
        raise CorpusError("there is no such file or folder", file=str(path))
    found = path / name if path.is_dir() else path.parent / name if beside else path
    if not found.is_file():
        lies = ", ".join(sorted(item.name for item in found.parent.iterdir())[:8]) or "nothing"
        raise CorpusError(
            f"there is no {name} in this folder, which holds {lies}; the adapter needs it", file=str(found.parent)
        )
    return found


def flat(name: str) -> str:
    """An upstream id as an id of ours, which holds no slash."""
    return name.replace("/", ".")


def grouped(records: Iterable[Record], field: str) -> Iterator[tuple[str, list[Record]]]:
    """Records by a text field, in order of first appearance."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.text(field), []).append(record)
    yield from found.items()


def _refuse_row(record: Record, message: str, *, field: str | None = None) -> CorpusError:
    return record.refuse(f"as made from this record: {message}", field=field)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
