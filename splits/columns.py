"""From the columns of a table to the fields of an example."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from lineage.errors import CorpusError
from lineage.spelling import suggestion
from splits.corpus import LABELS
from splits.json_lines import Refuse
from splits.rows import EXAMPLE_FIELDS, REQUIRED

_MAPPED: Final = tuple(name for name in EXAMPLE_FIELDS if name != "meta")
_NAMES: Final = frozenset(("id", "group", "stratum", "twin", "fact", "cohort"))
"""Fields that name something, for which a table may have numbers."""


@dataclass(frozen=True, slots=True)
class Columns:
    """How the columns of a table become fields. A field that is not mentioned takes the column of its own name.

    Attributes:
        names: column of each field.
        values: the one value that a field has in every row, such as ``stratum: all`` or ``source: ""``.
        labels: label of each value of the label's column, such as ``0: clean``; by default the values are labels.
        meta: columns to keep in ``meta``, or ``all`` that fill no field. Nothing is kept unasked.

    Raises:
        CorpusError: a name is not that of a field, or a field is given twice; suggests the near name.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[Any, str] = field(default_factory=dict)
    meta: Sequence[str] | Literal["all"] = ()

    def __post_init__(self) -> None:
        for name in (*self.names, *self.values):
            if name not in _MAPPED:
                raise CorpusError(f"columns: {name!r} is not a field of an example; {suggestion(name, _MAPPED)}")
        if both := sorted(self.names.keys() & self.values.keys()):
            raise CorpusError(f"columns: {both[0]!r} has a column and a value for all rows; give one of them")
        for value, label in self.labels.items():
            if label not in LABELS:
                hint = suggestion(label, LABELS)
                raise CorpusError(f"labels: {value!r} is made {label!r}, which is no label; {hint}")

    def bind(self, columns: Sequence[str], file: str) -> Binding:
        """Find the columns in a table.

        Raises:
            CorpusError: the table lacks a column that is named or needed; suggests the near name.
        """
        for place, column in enumerate(columns):
            if column in columns[:place]:
                raise CorpusError(f"has two columns {column!r}; rename one", file=file)
        asked = [*self.names.items(), *(() if self.meta == "all" else (("meta", column) for column in self.meta))]
        for name, column in asked:
            if column not in columns:
                hint = suggestion(column, columns)
                raise CorpusError(f"there is no column {column!r}; {hint}", file=file, field=name)
        found = {name: self.names.get(name, name) for name in _MAPPED if name not in self.values}
        found = {name: column for name, column in found.items() if column in columns}
        for name in REQUIRED:
            if name not in found and name not in self.values:
                remedy = f"map a column to {name}, or give it one value for all rows"
                raise CorpusError(f"no column fills it; {suggestion(name, columns)}: {remedy}", file=file, field=name)
        used = set(found.values())
        kept = [column for column in columns if column not in used] if self.meta == "all" else self.meta
        labels = {_key(value): label for value, label in self.labels.items()}
        return Binding(found, self.values, labels, tuple(kept))


@dataclass(frozen=True, slots=True)
class Binding:
    """The columns of one table, by the field that they fill."""

    columns: Mapping[str, str]
    values: Mapping[str, Any]
    labels: Mapping[str, str]
    meta: tuple[str, ...]

    def fields(self, cells: Mapping[str, Any], refuse: Refuse) -> dict[str, Any]:
        """The fields of one row. A missing cell is null, and so is an empty one, save that of the source.

        Raises:
            CorpusError: a cell cannot be what its field holds.
        """
        found = dict(self.values)
        for name, column in self.columns.items():
            found[name] = self._value(name, plain(cells.get(column), refuse, name), refuse)
        if self.meta:
            found["meta"] = {column: plain(cells.get(column), refuse, "meta") for column in self.meta}
        return found

    def _value(self, name: str, value: Any, refuse: Refuse) -> Any:
        if name == "label" and self.labels:
            if _key(value) not in self.labels:
                raise refuse(f"{value!r} is made no label; labels has {', '.join(map(repr, self.labels))}", field=name)
            return self.labels[_key(value)]
        if name == "source":
            return value
        if isinstance(value, str) and not value.strip():
            return None
        if name == "residual" and isinstance(value, str):
            try:
                return json.loads(value)
            except json.JSONDecodeError as error:
                raise refuse(f"is not JSON ({error.msg}, column {error.colno})", field=name) from error
        if name in _NAMES and isinstance(value, int | float) and not isinstance(value, bool):
            return _key(value)
        return value


def plain(value: Any, refuse: Refuse, field: str) -> Any:
    """A cell as JSON may hold it: NaN and its like are null, numbers of numpy plain numbers, times ISO text.

    Raises:
        CorpusError: the cell holds something else.
    """
    if hasattr(value, "tolist"):  # a scalar or an array of numpy
        value = value.tolist()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise refuse(f"cannot be kept: {error}; take the broken character out", field=field) from error
        return value
    if isinstance(value, float):
        if math.isinf(value):
            raise refuse("an infinity cannot be kept", field=field)
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {str(name): plain(item, refuse, field) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, refuse, field) for item in value]
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise refuse(f"a {type(value).__name__} cannot be kept; make it text or a number", field=field)


def _key(value: Any) -> str:
    """A value as a name. A column of whole numbers with gaps is one of floats in pandas."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
