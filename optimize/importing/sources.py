"""The kinds of lineage that can be imported, by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from lineage.errors import InputError
from lineage.spelling import suggestion
from optimize.importing import gepa_search
from optimize.importing.gepa_search import read_gepa, read_result
from optimize.importing.omissionbench import read_omissionbench
from optimize.importing.records import ImportedLineage
from optimize.importing.writing import write_lineage


def _dspy(path: Path, *, name: str) -> ImportedLineage:
    """A run directory of gepa's, which dspy's log_dir is, or the JSON of ``detailed_results``."""
    if path.is_dir() or path.suffix == ".bin":
        return read_gepa(path, name=name)
    return read_result(path, name=name, kind="dspy")


KINDS: Final[Mapping[str, Callable[..., ImportedLineage]]] = {
    "omissionbench": read_omissionbench,
    "gepa": read_gepa,
    "dspy": _dspy,
}
"""Readers by the name of what they read."""


def read_lineage(kind: str, path: Path, *, name: str | None = None) -> ImportedLineage:
    """A published lineage.

    Args:
        kind: one of ``KINDS``.
        path: the file or folder.
        name: what to call it; by default as the folder or file is called.

    Raises:
        InputError: there is no such kind, or the source is missing or is not one of it.
    """
    if kind not in KINDS:
        raise InputError(f"no kind of lineage {kind!r}; {suggestion(kind, KINDS)}")
    if not path.exists():
        raise InputError(f"{path}: there is nothing; name the file or folder that the lineage was saved in")
    return KINDS[kind](path, name=name or path.absolute().name.removesuffix(path.suffix if path.is_file() else ""))


def import_lineage(kind: str, path: Path, directory: Path, *, name: str | None = None) -> ImportedLineage:
    """Read a published lineage and write it as a read-only run directory.

    Raises:
        InputError: as :func:`read_lineage`, or the directory holds something already.
    """
    lineage = read_lineage(kind, path, name=name)
    write_lineage(lineage, directory)
    return lineage


def result_lineage(result: Any, *, name: str) -> ImportedLineage:
    """The lineage in a result that a program holds: gepa's ``GEPAResult``, or dspy's ``detailed_results``.

    Args:
        result: anything with a ``to_dict`` that gives the form of such a result.
        name: what to call it.

    Raises:
        InputError: it is no such result.
    """
    if not callable(getattr(result, "to_dict", None)):
        raise InputError(f"a {type(result).__name__} is no result of a search; give program.detailed_results")
    found = dict(result.to_dict())
    kind = "dspy" if "log_dir" in found else "gepa"
    kept = {key: found.get(key) for key in _READ}
    data = json.dumps(kept, default=str, sort_keys=True).encode("utf-8")
    return gepa_search.result_lineage(kept, file=Path(f"{type(result).__name__}"), data=data, name=name, kind=kind)


_READ: Final = ("candidates", "parents", "val_aggregate_scores", "val_subscores", "total_metric_calls", "seed")
"""What is read of a result; the outputs that it may hold are not."""
