"""Scores of documents, from a table or from what a run has recorded: what a flag rule is set on and read on."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final, Literal

from lineage.canonical import digest, digest_bytes
from lineage.errors import InputError
from optimize.gate import CleanCounts
from optimize.recompute import RecordedRun
from optimize.replicates import last_measurement, recorded_evaluation
from splits.json_lines import read_json_lines

Part = Literal["site", "stratum"]
"""What a set may be broken down by."""
LABELS: Final = ("clean", "omission", "commission", "flawed")
COLUMNS: Final = frozenset({"id", "group", "site", "stratum", "label", "score", "candidate"})
_HINT: Final = {"id": "", "label": ", but for the clean notes that --deployment names"}
_TRUE: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}


@dataclass(frozen=True, slots=True)
class ScoredDocument:
    """A document with the score that a judge gave it.

    Attributes:
        id: of the document.
        group: what shares its source with it.
        site: where it comes from, as an example's cohort says; empty where that is not told.
        label: ``clean``, ``omission``, ``commission`` or ``flawed``.
        score: higher is a better document; None where the judgement failed.
        candidate: whether a clean document is only a clean candidate, written by people and not verified.
        stratum: of its group; empty where there are none.
    """

    id: str
    group: str
    site: str
    label: str
    score: float | None
    candidate: bool = False
    stratum: str = ""

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {name: getattr(self, name) for name in ("id", "group", "site", "stratum", "label", "score", "candidate")}


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scored documents of one set.

    Attributes:
        name: what the set is called.
        documents: in order of their ids.
        hash: SHA-256 of the file, or of the documents of a run.
    """

    name: str
    documents: tuple[ScoredDocument, ...]
    hash: str

    @property
    def constructed(self) -> bool:
        """Whether flawed documents were made from the clean ones: a group of both holds such twins."""
        flawed = {document.group for document in self.documents if document.label != "clean"}
        return any(document.label == "clean" and document.group in flawed for document in self.documents)

    @property
    def clean_counts(self) -> CleanCounts:
        """Verified and candidate clean documents."""
        clean = [document.candidate for document in self.documents if document.label == "clean"]
        return CleanCounts(clean.count(False), clean.count(True))

    def parts(self, by: Part) -> tuple[str, ...]:
        """Named sites or strata, sorted."""
        return tuple(sorted({getattr(document, by) for document in self.documents} - {""}))


def read_scores(path: Path, *, clean: bool = False) -> ScoreTable:
    """Scores from a CSV file, or from JSON lines where the name ends in ``.jsonl``.

    Columns: ``id``, ``score`` (empty or null for a failed judgement), ``label``; and, where there are any, ``group``
    (each document is its own without), ``site``, ``stratum``, ``candidate`` (a clean document not verified clean).

    Args:
        path: the file.
        clean: whether a document without a label is a clean one, as in a deployment's own notes.

    Raises:
        InputError: naming file, line, column and rule.
    """
    rows = read_json_lines(path, "scores") if path.suffix == ".jsonl" else _csv_rows(path)
    documents: dict[str, ScoredDocument] = {}
    for number, row in rows:
        document = _document(row, f"{path}:{number}", clean=clean)
        if document.id in documents:
            raise InputError(f"{path}:{number}: id {document.id!r} occurs twice; give each document one row")
        documents[document.id] = document
    if not documents:
        raise InputError(f"{path}: holds no document; give rows of id, group, site, label and score")
    ordered = tuple(documents[name] for name in sorted(documents))
    return ScoreTable(str(path), ordered, digest_bytes(path.read_bytes()))


def recorded_scores(run: RecordedRun, *, split: str, candidate: str) -> ScoreTable:
    """Scores that a run recorded of a candidate on a split.

    With replicates the score is their median, which is below a threshold exactly where a majority of them is; of an
    even number the first is left out. A document that failed in one of them has none.

    Raises:
        CampaignError: the run is not finished, and its held-out judgements are asked for.
        LedgerError: the run has no judgement of this candidate on this split.
    """
    evaluation = last_measurement(run, recorded_evaluation(run, split=split, candidate=candidate))
    replicates = evaluation.replicates[(len(evaluation.replicates) + 1) % 2 :]
    documents = []
    for example in evaluation.examples:
        scores = [evaluation.score(example.id, replicate) for replicate in replicates]
        known = [score for score in scores if score is not None]
        documents.append(
            ScoredDocument(
                example.id,
                example.group,
                example.cohort or "",
                example.label,
                float(median(known)) if len(known) == len(scores) else None,
                example.candidate,
                example.stratum or "",
            )
        )
    ordered = tuple(documents)
    return ScoreTable(f"{run.directory.name} {split}", ordered, digest([document.row() for document in ordered]))


def _csv_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            for row in reader:
                if None in row or None in row.values():
                    raise InputError(
                        f"{path}:{reader.line_num}: has {'more' if None in row else 'fewer'} cells than the header"
                    )
                yield reader.line_num, row
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file; give a CSV or JSONL table of scores") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: is not a readable CSV file in UTF-8 ({error})") from error


def _document(row: Mapping[str, Any], place: str, *, clean: bool) -> ScoredDocument:
    if unknown := sorted(set(row) - COLUMNS):
        raise InputError(f"{place}: column {unknown[0]!r} is unknown; columns are {', '.join(sorted(COLUMNS))}")
    name = _text(row, "id", place)
    label = _text(row, "label", place, default="clean" if clean else None)
    if label not in LABELS:
        raise InputError(f"{place}: label must be one of {', '.join(LABELS)}, got {label!r}")
    given = row.get("candidate")
    candidate = _TRUE.get("" if given is None else str(given).strip().lower())
    if candidate is None or (candidate and label != "clean"):
        raise InputError(f"{place}: candidate must be true or false, and true for clean documents only, got {given!r}")
    return ScoredDocument(
        name,
        _text(row, "group", place, default=name),
        _text(row, "site", place, default=""),
        label,
        _score(row, place),
        candidate,
        _text(row, "stratum", place, default=""),
    )


def _text(row: Mapping[str, Any], column: str, place: str, *, default: str | None = None) -> str:
    value = row.get(column)
    if isinstance(value, str) and value.strip():
        return value.strip()
    if value in (None, "") or isinstance(value, str):
        if default is None:
            raise InputError(f"{place}: column {column!r} is missing or empty; every document has one{_HINT[column]}")
        return default
    raise InputError(f"{place}: {column} must be a text, got {value!r}")


def _score(row: Mapping[str, Any], place: str) -> float | None:
    if "score" not in row:
        raise InputError(f"{place}: column 'score' is missing; leave a cell empty where the judgement failed")
    value = row["score"]
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        score = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise InputError(f"{place}: score must be a finite number, got {value!r}; leave it empty where judging failed")
    return score
