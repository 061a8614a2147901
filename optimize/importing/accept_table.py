"""The table of accept scores that a release has: each note with what it is, and a column a candidate."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from lineage.errors import InputError
from optimize.importing.records import finite

COLUMNS: Final = ("note_key", "consultation", "class", "kind", "trace")


def read_accept_table(path: Path, data: bytes) -> tuple[list[dict[str, Any]], dict[str, dict[str, float]]]:
    """Accept examples without text, and the scores of each candidate whose column is there."""
    try:
        reader = csv.DictReader(io.StringIO(data.decode("utf-8"), newline=""), strict=True)
        header, rows = list(reader.fieldnames or ()), list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as a table ({error}); get the file again") from error
    if absent := [column for column in COLUMNS if column not in header]:
        raise InputError(f"{path}: column {', '.join(absent)} is missing; get the file again")
    clean = {row["consultation"]: row["note_key"] for row in rows if row["class"] == "clean"}
    scores: dict[str, dict[str, float]] = {name: {} for name in header if name not in COLUMNS}
    examples: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise InputError(f"{path}:{number}: has not as many fields as the header; get the file again")
        if row["class"] != "clean" and row["consultation"] not in clean:
            raise InputError(f"{path}:{number}: consultation {row['consultation']!r} has no clean note to be a twin")
        if row["note_key"] in examples:
            raise InputError(f"{path}:{number}: note {row['note_key']!r} occurs twice; get the file again")
        for name, found in scores.items():
            try:
                score = finite(float(row[name]))
            except ValueError:
                score = None
            if score is None:
                raise InputError(f"{path}:{number}: column {name!r} must be a finite score, got {row[name]!r}")
            found[row["note_key"]] = score
        examples[row["note_key"]] = _example(row, clean)
    return list(examples.values()), scores


def _example(row: Mapping[str, str], clean: Mapping[str, str]) -> dict[str, Any]:
    flawed = row["class"] != "clean"
    return {
        "id": row["note_key"],
        "group": row["consultation"],
        "stratum": row["consultation"].partition("|")[0],
        "label": row["class"],
        "kind": row["kind"],
        "severity": None,
        "trace": row["trace"] or None,
        "twin": clean[row["consultation"]] if flawed else None,
        "fact": None,
        "cohort": None,
        "split": "accept",
    }
