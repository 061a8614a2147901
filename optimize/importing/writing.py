"""An imported lineage as a run directory: a ledger that says what it is, and the list of accept examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from lineage._version import __version__
from lineage.canonical import canonical_json, digest_bytes, write_atomic
from lineage.errors import InputError
from lineage.imported import IMPORTED, PUBLISHED
from lineage.ledger import Ledger
from lineage.records import VOLATILE
from optimize.importing.records import ImportedCandidate, ImportedLineage, imported_id

EXAMPLES: Final = "examples.jsonl"


def write_lineage(lineage: ImportedLineage, directory: Path) -> None:
    """Write an imported lineage into a run directory of its own.

    Raises:
        InputError: the directory holds something already, or the lineage names a parent that comes later or never.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise InputError(f"{directory} holds something already; an import takes a new directory: give another --out")
    steps = list(_steps(lineage))  # every defect is found before anything is written
    if lineage.examples is not None:
        write_atomic(directory / EXAMPLES, examples_text(lineage.examples))
    with Ledger(directory / "ledger.jsonl") as ledger:
        for kind, body in steps:
            ledger.perform(kind, body, dict)


def examples_text(examples: Any) -> str:
    """The list of examples as its file holds it."""
    return "".join(canonical_json(dict(row)) + "\n" for row in sorted(examples, key=lambda row: str(row["id"])))


def _steps(lineage: ImportedLineage) -> Iterator[tuple[str, dict[str, Any]]]:
    yield (
        IMPORTED,
        {
            "name": lineage.name,
            "format": lineage.format,
            "files": [file.row() for file in lineage.files],
            "has": list(lineage.has),
            "lacks": list(lineage.lacks),
            "targets": list(lineage.targets),
            "settings": dict(lineage.settings),
            VOLATILE: {"holdgate": __version__},
        },
    )
    if lineage.examples is not None:
        text = examples_text(lineage.examples)
        sha256 = digest_bytes(text.encode("utf-8"))
        yield "examples", {"split": "accept", "count": len(lineage.examples), "examples": sha256}
    ids: dict[str, str] = {}
    count = 0
    for candidate in lineage.candidates:
        for kind, body in _candidate(candidate, ids):
            count += kind == PUBLISHED
            yield kind, body
    for comparison in lineage.comparisons:
        count += 1
        yield (
            PUBLISHED,
            {
                "of": "comparison",
                "target": comparison.target,
                "split": comparison.split,
                "baseline": None if comparison.baseline is None else ids[comparison.baseline],
                "winner": None if comparison.winner is None else ids[comparison.winner],
                "figures": dict(comparison.figures),
            },
        )
    for target, emitted in lineage.emitted.items():
        count += 1
        yield PUBLISHED, {"of": "decision", "target": target, "emitted": emitted}
    yield "finished", {"candidates": len(lineage.candidates), "published": count}


def _candidate(candidate: ImportedCandidate, ids: dict[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of one candidate; its id is put into ``ids`` by its place."""
    if candidate.place in ids:
        raise InputError(f"candidate {candidate.place} occurs twice in the source; each has a place of its own")
    if unknown := [parent for parent in candidate.parents if parent not in ids]:
        raise InputError(
            f"candidate {candidate.place} names the parent {unknown[0]}, which is no candidate before it; the source "
            "is damaged or incomplete: get it again"
        )
    body: dict[str, Any] = {
        "name": candidate.name,
        "target": candidate.target,
        "place": candidate.place,
        "kind": candidate.kind,
        "parents": [ids[parent] for parent in candidate.parents],
        "iteration": candidate.iteration,
        "operator": None,
        "texts": dict(candidate.texts),
        "hashes": dict(candidate.hashes),
        "chars": candidate.chars,
        "repeats": False,
    }
    if imported_id(body) in ids.values():
        body["repeats"] = True
    ids[candidate.place] = name = imported_id(body)
    yield "candidate", {**body, "candidate": name}
    said = {"candidate": name, "target": candidate.target}
    yield (
        "outcome",
        {
            **said,
            "parents": body["parents"],
            "iteration": candidate.iteration,
            "outcome": candidate.outcome,
            "reason": candidate.reason,
            "minibatch": None
            if candidate.minibatch is None
            else dict(zip(("parent", "child"), candidate.minibatch, strict=True)),
        },
    )
    if candidate.measures:
        yield PUBLISHED, {"of": "accept", **said, "measures": dict(candidate.measures)}
    if candidate.scores is not None:
        scores: Mapping[str, float] = candidate.scores
        yield (
            PUBLISHED,
            {"of": "scores", **said, "split": "accept", "scale": candidate.scale, "scores": dict(scores)},
        )
