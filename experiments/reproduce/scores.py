"""The scores that the published campaign's candidates gave the accept split, as pairs and clean scores."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from experiments.reproduce.printed import missing
from lineage.errors import InputError
from optimize.objectives import ScoredPair

FILE: Final = "v3_accept_scores.csv"
COLUMNS: Final = ("note_key", "consultation", "class", "kind", "trace")
KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "clean": ("clean", ""),
    "add": ("commission", ""),
    "change": ("commission", ""),
    "omit": ("omission", ""),
    "omitc": ("omission", "complete"),
    "omitpw": ("omission", "partial-weak"),
    "omitps": ("omission", "partial-strong"),
}
"""Class and trace of each kind; an empty trace is unknown."""


@dataclass(frozen=True, slots=True)
class AcceptScores:
    """What one candidate made of the accept split.

    Attributes:
        omissions: pairs of omissions and their clean twins.
        commissions: pairs of commissions and their clean twins.
        clean: scores of clean notes, by consultation.
    """

    omissions: tuple[ScoredPair, ...]
    commissions: tuple[ScoredPair, ...]
    clean: Mapping[str, float]


def read_scores(directory: Path) -> dict[str, AcceptScores]:
    """Scores by candidate.

    Raises:
        InputError: the file is missing, or a column, row or score is not what it should be; names file, line and
            column.
    """
    file = directory / FILE
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines)
            header, rows = list(reader.fieldnames or ()), list(reader)
    except FileNotFoundError:
        raise missing(file) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file}: cannot be read as a table ({error}); copy the published file again") from error
    absent = [column for column in COLUMNS if column not in header]
    if absent or not rows:
        what = f"column {', '.join(absent)}" if absent else "every row"
        raise InputError(f"{file}: {what} is missing; copy the published file again")
    for place, row in enumerate(rows, start=2):
        _check(row, f"{file}:{place}")
    _check_notes(rows, file)
    return {name: _scores(rows, name, file) for name in header if name not in COLUMNS}


def _check(row: Mapping[str, str], where: str) -> None:
    if None in row or None in row.values():
        raise InputError(f"{where}: the row has not as many fields as the header; copy the published file again")
    known = KINDS.get(row["kind"])
    if known is None:
        raise InputError(f"{where}: column 'kind' must be one of {', '.join(KINDS)}, got {row['kind']!r}")
    for column, value in zip(("class", "trace"), known, strict=True):
        if row[column] != value:
            raise InputError(
                f"{where}: column {column!r} of a note of kind {row['kind']!r} must be {value!r}, got {row[column]!r}"
            )


def _check_notes(rows: list[dict[str, str]], file: Path) -> None:
    """Each note once, and each consultation with one clean note."""
    keys = [row["note_key"] for row in rows]
    clean = [row["consultation"] for row in rows if row["class"] == "clean"]
    for column, values in (("note_key", keys), ("consultation", clean)):
        repeated = sorted({value for value in values if values.count(value) > 1})
        if repeated:
            what = "note" if column == "note_key" else "clean note of consultation"
            raise InputError(f"{file}: column {column!r}: {what} {repeated[0]!r} occurs twice")
    lone = sorted({row["consultation"] for row in rows} - set(clean))
    if lone:
        raise InputError(f"{file}: column 'consultation': {lone[0]!r} has no clean note, so its notes have no twin")


def _scores(rows: list[dict[str, str]], name: str, file: Path) -> AcceptScores:
    scores: dict[str, float] = {}
    for place, row in enumerate(rows, start=2):
        try:
            scores[row["note_key"]] = float(row[name])
        except ValueError:
            raise InputError(f"{file}:{place}: column {name!r} must be a score, got {row[name]!r}") from None
        if not math.isfinite(scores[row["note_key"]]):
            raise InputError(f"{file}:{place}: column {name!r} must be finite, got {row[name]!r}")
    clean = {row["consultation"]: scores[row["note_key"]] for row in rows if row["class"] == "clean"}
    pairs = [
        ScoredPair(
            row["note_key"],
            row["consultation"],
            scores[row["note_key"]],
            clean[row["consultation"]],
            row["class"],
            row["kind"],
            row["trace"] or None,
        )
        for row in rows
        if row["class"] != "clean"
    ]
    return AcceptScores(
        tuple(pair for pair in pairs if pair.label == "omission"),
        tuple(pair for pair in pairs if pair.label == "commission"),
        clean,
    )
