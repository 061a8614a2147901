"""Strict reading of JSON lines: UTF-8, one object a line, no name twice, nothing that JSON or UTF-8 cannot hold."""

from __future__ import annotations

import json
import math
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from lineage.errors import CorpusError

Refuse = Callable[..., CorpusError]
"""Makes the error for one place; takes the message and, by name, the field."""


def read_json_lines(path: Path, what: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each object of a JSONL file with its 1-based line number; blank lines are passed over.

    Args:
        path: the file.
        what: what the file is to the user, such as ``corpus``.

    Raises:
        CorpusError: naming file, line and, where there is one, field.
    """
    if not path.is_file():
        raise CorpusError(f"there is no such {what} file; give the path of a JSONL file", file=str(path))
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.isspace():
                yield number, parse_json_line(line, partial(CorpusError, file=str(path), line=number))


def read_json(path: Path, what: str) -> Any:
    """The one value of a JSON file.

    Args:
        path: the file.
        what: what the file is to the user, such as ``pairs``.

    Raises:
        CorpusError: naming file and line.
    """
    if not path.is_file():
        raise CorpusError(f"there is no such {what} file; give the path of a JSON file", file=str(path))
    refuse = partial(CorpusError, file=str(path))
    data = path.read_bytes()
    try:
        _refuse_mark(data, refuse)
        value = _STRICT.decode(data.decode("utf-8"))
        if b"\\ud" in data.lower():
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        message = f"is not JSON ({error.msg}, column {error.colno}); it may be cut off: fetch the file again"
        raise refuse(message, line=error.lineno) from error
    except ValueError as error:
        raise refuse(f"holds what JSON or UTF-8 cannot: {error}; save it as UTF-8") from error
    return value


def parse_json_line(line: bytes, refuse: Refuse) -> dict[str, Any]:
    """The object that a line holds.

    Raises:
        CorpusError: made by ``refuse``; the line is not one JSON object in UTF-8.
    """
    # Of all that JSON may hold only escaped surrogates cannot be written as UTF-8, and they are rare: look closer then.
    if b"\\ud" in line or b"\\uD" in line:
        return _searched(line, refuse)
    try:
        row = _STRICT.decode(line.decode("utf-8"))
    except ValueError:
        return _searched(line, refuse)
    if not isinstance(row, dict):
        raise refuse("must be one JSON object")
    return row


def _searched(line: bytes, refuse: Refuse) -> dict[str, Any]:
    """Parse with the place of a defect in sight."""
    _refuse_mark(line, refuse)
    try:
        text = line.removesuffix(b"\n").decode("utf-8")
        row = json.loads(text, object_pairs_hook=partial(_object, refuse))
    except UnicodeDecodeError as error:
        raise refuse(f"is not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8") from error
    except json.JSONDecodeError as error:
        cut = "" if line.endswith(b"\n") else "; the last line may be cut off: fetch or write the file again"
        raise refuse(f"is not JSON ({error.msg}, column {error.colno}){cut}") from error
    if not isinstance(row, dict):
        raise refuse("must be one JSON object")
    for field, value in row.items():
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
        except UnicodeEncodeError as error:  # half a surrogate pair, which json.loads lets through, as it does NaN
            message = f"holds what JSON or UTF-8 cannot: {error}; take the broken character out"
            raise refuse(message, field=field) from error
        except ValueError as error:
            message = "holds NaN or an infinity, which JSON cannot; give a number, or null for nothing"
            raise refuse(message, field=field) from error
    return row


def _refuse_mark(data: bytes, refuse: Refuse) -> None:
    """Refuse a byte order mark, which spreadsheets and some editors put before UTF-8."""
    if data.startswith(BOM_UTF8):
        raise refuse("begins with a byte order mark; save it as UTF-8 without one")


def _object(refuse: Refuse, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise refuse("stands twice in one object; keep one", field=name)
        found[name] = value
    return found


def _unlike(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose names differ; plain ``json`` silently keeps the last of two."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} has no finite value")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_STRICT: Final = json.JSONDecoder(object_pairs_hook=_unlike, parse_float=_finite, parse_constant=_no_constant)
