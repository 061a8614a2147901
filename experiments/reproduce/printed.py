"""Published JSON read with the text of its numbers, so that a number knows to how many places it was printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from lineage.errors import InputError


class Printed(float):
    """A number as it was printed.

    Attributes:
        text: the characters in the file.
    """

    text: str

    def __new__(cls, text: str) -> Printed:
        """The number that the text stands for."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    @property
    def places(self) -> int:
        """Decimal places printed; trailing zeros that the file lost are not known."""
        exponent = Decimal(self.text).as_tuple().exponent
        assert isinstance(exponent, int), "JSON has no NaN and no infinity"
        return max(0, -exponent)


class Record:
    """A value of a published file, with its place, so that what is missing or altered is named by file and key.

    Args:
        value: what was parsed.
        file: path of the file.
        path: keys and positions that lead there.
    """

    def __init__(self, value: Any, file: Path, path: tuple[str, ...] = ()) -> None:
        self.value, self.file, self.path = value, file, path

    @property
    def key(self) -> str:
        """The place in words, such as ``pipeline.accept.baseline``."""
        return ".".join(self.path)

    def __getitem__(self, key: str) -> Record:
        """The value of a key.

        Raises:
            InputError: this is no mapping, or it lacks the key.
        """
        if not isinstance(self.value, Mapping):
            raise self.wrong("a mapping")
        if key not in self.value:
            place = ".".join((*self.path, key))
            raise InputError(f"{self.file}: key {place!r} is missing; copy the published file again")
        return Record(self.value[key], self.file, (*self.path, key))

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, Mapping) and key in self.value

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of a mapping.

        Raises:
            InputError: this is no mapping.
        """
        if not isinstance(self.value, Mapping):
            raise self.wrong("a mapping")
        return tuple(self.value)

    @property
    def items(self) -> list[Record]:
        """Values of a list.

        Raises:
            InputError: this is no list.
        """
        if not isinstance(self.value, Sequence) or isinstance(self.value, str):
            raise self.wrong("a list")
        return [Record(value, self.file, (*self.path, str(place))) for place, value in enumerate(self.value)]

    @property
    def number(self) -> Printed:
        """A number; a whole one is printed without places.

        Raises:
            InputError: this is no number.
        """
        if isinstance(self.value, Printed):
            return self.value
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.wrong("a number")
        return Printed(str(self.value))

    @property
    def pair(self) -> tuple[Printed, Printed]:
        """Two numbers, such as the ends of an interval.

        Raises:
            InputError: this is no list of two numbers.
        """
        ends = self.items
        if len(ends) != 2:
            raise self.wrong("a list of two numbers")
        return ends[0].number, ends[1].number

    @property
    def count(self) -> int:
        """A whole number of at least 0.

        Raises:
            InputError: this is none.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int) or self.value < 0:
            raise self.wrong("a whole number of at least 0")
        return self.value

    @property
    def text(self) -> str:
        """A string.

        Raises:
            InputError: this is none.
        """
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value

    @property
    def truth(self) -> bool:
        """True or false.

        Raises:
            InputError: this is neither.
        """
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def wrong(self, rule: str) -> InputError:
        """The error of a value that breaks a rule."""
        shown = self.value.text if isinstance(self.value, Printed) else json.dumps(self.value, default=str)
        return InputError(f"{self.file}: key {self.key!r} must be {rule}, got {shown[:60]}; copy the file again")

    def leaves(self) -> Iterator[Record]:
        """Every number and truth value below; a list of numbers is one."""
        if isinstance(self.value, Mapping):
            for key in self.value:
                yield from self[key].leaves()
        elif not isinstance(self.value, str) and not (
            isinstance(self.value, list) and all(isinstance(item, str) for item in self.value)
        ):
            yield self


def read_record(file: Path) -> Record:
    """A published JSON file.

    Raises:
        InputError: the file is missing, or is no JSON mapping.
    """
    return Record(_parsed(_text(file), file), file)


def read_lines(file: Path) -> list[Record]:
    """A published file of JSON lines.

    Raises:
        InputError: the file is missing, or a line is no JSON mapping.
    """
    lines = _text(file).splitlines()
    return [
        Record(_parsed(line, file, place), file, (f"line {place}",))
        for place, line in enumerate(lines, start=1)
        if line.strip()
    ]


def missing(file: Path) -> InputError:
    """The error of a published file that is not there."""
    return InputError(f"{file}: there is no such file; --data names the directory of the published records")


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise missing(file) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read as UTF-8 text ({error}); copy the published file again") from error


def _parsed(text: str, file: Path, line: int | None = None) -> Mapping[str, Any]:
    where = f"{file}" if line is None else f"{file}:{line}"
    try:
        found = json.loads(text, parse_float=Printed, parse_constant=_refused)
    except ValueError as error:
        raise InputError(f"{where}: not JSON ({error}); copy the published file again") from error
    if not isinstance(found, dict):
        raise InputError(f"{where}: must be one JSON mapping; copy the published file again")
    return found


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no number")
