"""Corpora from tables in which each row is an example: CSV, JSONL and Parquet files, and pandas frames."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lineage.errors import CorpusError
from splits.columns import Columns
from splits.corpus import Corpus
from splits.json_lines import Refuse, read_json_lines
from splits.loaders import load_facts
from splits.rows import Row, read_examples

if TYPE_CHECKING:
    from pandas import DataFrame


class Cells(NamedTuple):
    """One row of a table: its cells by column, how its place is called, and how it is refused."""

    values: Mapping[str, Any]
    place: str
    refuse: Refuse


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows are read once, in order."""

    columns: list[str]
    rows: Iterable[Cells]


def load_table(
    path: Path, *, columns: Columns | None = None, file_format: str | None = None, facts: Path | None = None
) -> Corpus:
    """Read a table file.

    Args:
        path: a CSV, JSONL or Parquet file in UTF-8; a CSV has a header.
        columns: how columns become fields; by default each field takes the column of its name.
        file_format: ``csv``, ``jsonl`` or ``parquet``; by default what the file's name ends in.
        facts: the ``facts.jsonl`` that goes with it.

    Raises:
        CorpusError: naming file, line or row, field and rule of the first violation.
    """
    kind = path.suffix.lstrip(".").lower() if file_format is None else file_format
    if kind not in FORMATS:
        raise CorpusError(f"format {kind!r} is not one of {', '.join(FORMATS)}; name one of them", file=str(path))
    if not path.is_file():
        raise CorpusError("there is no such table", file=str(path))
    return table_corpus(FORMATS[kind](path), str(path), columns=columns, facts=facts)


def corpus_from_frame(frame: DataFrame, *, columns: Columns | None = None, facts: Path | None = None) -> Corpus:
    """Make a corpus of a pandas frame; its index is not read.

    Args:
        frame: one row an example.
        columns: how columns become fields; by default each field takes the column of its name.
        facts: the ``facts.jsonl`` that goes with it.

    Raises:
        CorpusError: naming row, counted from 1, field and rule of the first violation.
    """
    names = [str(name) for name in frame.columns]
    series = [frame.iloc[:, place].tolist() for place in range(len(names))]
    rows = (dict(zip(names, cells, strict=True)) for cells in zip(*series, strict=True))
    return table_corpus(Table(names, numbered(rows, "frame")), "frame", columns=columns, facts=facts)


def table_corpus(table: Table, file: str, *, columns: Columns | None = None, facts: Path | None = None) -> Corpus:
    """Make a corpus of the rows of a table; ``file`` is how its errors call it.

    Raises:
        CorpusError: naming place, field and rule of the first violation.
    """
    binding = (columns or Columns()).bind(table.columns, file)
    rows = (Row(binding.fields(row.values, row.refuse), row.place, row.refuse) for row in table.rows)
    examples = read_examples(rows)
    if not examples:
        raise CorpusError("holds no row; a corpus needs at least one", file=file)
    return Corpus(examples, {} if facts is None else load_facts(facts, {example.group for example in examples}))


def numbered(rows: Iterable[Mapping[str, Any]], file: str) -> Iterator[Cells]:
    """Rows that have a number, from 1, and no line."""
    for number, values in enumerate(rows, start=1):
        yield Cells(values, f"row {number}", partial(CorpusError, file=f"{file}, row {number}"))


def _csv(path: Path) -> Table:
    rows = _csv_lines(path)
    header = next(rows, None)
    if header is None:
        raise CorpusError("is empty; the first line names the columns", file=str(path))
    return Table(header[1], _csv_cells(rows, header[1], path))


def _csv_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Records with the line that each begins on; cells may hold line ends."""
    csv.field_size_limit(sys.maxsize)  # the module has one limit for all its readers, too small for a transcript
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            while True:
                begins = reader.line_num + 1
                if (cells := next(reader, None)) is None:
                    return
                if cells:
                    yield begins, cells
        except csv.Error as error:
            raise CorpusError(f"is not CSV ({error}); it may be cut off", file=str(path), line=begins) from error
        except UnicodeDecodeError as error:
            message = f"is not UTF-8 ({error.reason}); save it as UTF-8"
            raise CorpusError(message, file=str(path), line=_undecodable(path)) from error


def _undecodable(path: Path) -> int | None:
    """The first line that is not UTF-8; the decoder reads ahead of the records."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return None


def _csv_cells(rows: Iterator[tuple[int, list[str]]], header: list[str], path: Path) -> Iterator[Cells]:
    for line, cells in rows:
        refuse = partial(CorpusError, file=str(path), line=line)
        if len(cells) != len(header):
            raise refuse(f"has {len(cells)} cells, and the header {len(header)}; it may be cut off, or lack quotes")
        yield Cells(dict(zip(header, cells, strict=True)), f"line {line}", refuse)


def _jsonl(path: Path) -> Table:
    rows = [
        Cells(values, f"line {line}", partial(CorpusError, file=str(path), line=line))
        for line, values in read_json_lines(path, "table")
    ]
    return Table(list(dict.fromkeys(name for row in rows for name in row.values)), rows)


def _parquet(path: Path) -> Table:
    from pyarrow import ArrowException  # takes a while to import, and few corpora need it
    from pyarrow.parquet import ParquetFile

    def rows() -> Iterator[Mapping[str, Any]]:
        try:
            for batch in file.iter_batches():
                yield from batch.to_pylist()
        except (ArrowException, OSError) as error:
            raise CorpusError(f"cannot be read to its end ({error}); fetch it again", file=str(path)) from error

    try:
        file = ParquetFile(path)
    except (ArrowException, OSError) as error:
        raise CorpusError(f"is not Parquet ({error}); it may be cut off", file=str(path)) from error
    return Table(list(file.schema_arrow.names), numbered(rows(), str(path)))


FORMATS: Final[Mapping[str, Callable[[Path], Table]]] = {"csv": _csv, "jsonl": _jsonl, "parquet": _parquet}
"""Reader of each format of table files."""
