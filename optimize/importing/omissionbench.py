"""The records of the OmissionBench campaign: its trajectory, its accept scores, and its printed results."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast

from lineage.errors import InputError
from lineage.records import CandidateKind
from optimize.importing.accept_table import read_accept_table
from optimize.importing.gepa_trace import minibatch_words
from optimize.importing.records import (
    Comparison,
    ImportedCandidate,
    ImportedLineage,
    ImportedOutcome,
    SourceFile,
    finite,
)

TRAJECTORY: Final = "trajectory.jsonl"
SCORES: Final = "accept_scores.csv"
RESULTS: Final = "published_results.json"
"""How the files of a release are called, after the release's own prefix."""

SCALES: Final[Mapping[str, float]] = {"pipeline": 1.0, "mono": 10.0}
"""Highest score of each target's judge: the share of facts present, and a note's score from 0 to 10."""
OUTCOMES: Final[Mapping[str, ImportedOutcome]] = {
    "seed": "seed",
    "accepted": "accepted",
    "rejected_minibatch": "rejected",
}
KINDS: Final = ("seed", "mutation", "merge")

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Source:
    """The files of a release, as far as they are there."""

    trajectory: Path
    scores: Path | None
    results: Path | None
    statistics: Path | None


def read_omissionbench(path: Path, *, name: str) -> ImportedLineage:
    """The lineage in a folder of the release, or in its trajectory alone.

    Raises:
        InputError: a file, a line or a key is missing or is not what it should be.
    """
    source = _find(path)
    files = [SourceFile.of(source.trajectory, data := _bytes(source.trajectory))]
    rows = list(_lines(source.trajectory, data))
    results: Row = {}
    if source.results is not None:
        files.append(SourceFile.of(source.results, data := _bytes(source.results)))
        results = _object(source.results, data)
    examples: list[dict[str, Any]] | None = None
    scores: dict[str, dict[str, float]] = {}
    if source.scores is not None:
        files.append(SourceFile.of(source.scores, data := _bytes(source.scores)))
        examples, scores = read_accept_table(source.scores, data)
    candidates = tuple(_candidates(rows, source.trajectory, results, scores))
    if left := sorted(set(scores) - {candidate.name for candidate in candidates}):
        raise InputError(f"{source.scores}: column {left[0]!r} is of no candidate in {source.trajectory.name}")
    targets = tuple(dict.fromkeys(candidate.target for candidate in candidates))
    return ImportedLineage(
        name=name,
        format="omissionbench",
        files=tuple(files),
        has=tuple(_has(scores, results)),
        lacks=tuple(_lacks(source, scores)),
        candidates=candidates,
        comparisons=tuple(_comparisons(candidates, targets, results)),
        emitted={
            target: results[target]["emitted"]
            for target in targets
            if isinstance(results.get(target, {}).get("emitted"), bool)
        },
        examples=examples,
        settings={key: results[key] for key in ("source", "rule") if isinstance(results.get(key), str)},
    )


def _find(path: Path) -> _Source:
    if path.is_dir():
        found = sorted(path.glob(f"*{TRAJECTORY}"))
        if len(found) != 1:
            raise InputError(
                f"{path}: holds {len(found)} files that end in {TRAJECTORY}; name the folder of one release, or its "
                "trajectory itself"
            )
        path = found[0]
    prefix = path.name.removesuffix(TRAJECTORY)

    def beside(name: str) -> Path | None:
        return file if (file := path.with_name(name)).is_file() else None

    return _Source(path, beside(prefix + SCORES), beside(prefix + RESULTS), beside("published_statistics.json"))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); get the release's files again") from error


def _lines(path: Path, data: bytes) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8"))
        except ValueError as error:
            raise InputError(f"{path}:{number}: is no JSON ({error}); get the file again") from error
        if not isinstance(row, dict):
            raise InputError(f"{path}:{number}: is no record of a proposal; get the file again")
        yield number, row


def _object(path: Path, data: bytes) -> Row:
    try:
        found = json.loads(data.decode("utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: is no JSON ({error}); get the file again") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: is no record of results; get the file again")
    return found


def _candidates(
    rows: Sequence[tuple[int, Row]], path: Path, results: Row, scores: Mapping[str, Mapping[str, float]]
) -> Iterator[ImportedCandidate]:
    if not rows:
        raise InputError(f"{path}: holds no proposal; get the file again")
    for number, row in rows:
        where = f"{path}:{number}"
        target, iteration = _of(row, "leg", str, where), _of(row, "iter", int, where)
        kind, outcome = _of(row, "kind", str, where), _of(row, "outcome", str, where)
        for key, value, known in (("kind", kind, KINDS), ("outcome", outcome, OUTCOMES)):
            if value not in known:
                raise InputError(f"{where}: {key} must be one of {', '.join(known)}, got {value!r}")
        accepted = outcome != "rejected_minibatch"
        place = f"{target}#{_of(row, 'id', int, where)}" if accepted else f"{target} iteration {iteration}"
        name = row.get("name") or _name(target, row, iteration, results)
        minibatch = (finite(row.get("mb_parent")), finite(row.get("mb_child")))
        measures = {"paired": finite(row.get("valid_paired")), "detection": finite(row.get("valid_det10"))}
        yield ImportedCandidate(
            place=place,
            name=name,
            target=target,
            kind=cast(CandidateKind, kind),
            outcome=OUTCOMES[outcome],
            iteration=iteration,
            parents=_parents(row, target, where),
            hashes={"instruction": row["instruction_sha256"]} if row.get("instruction_sha256") else {},
            chars=row.get("chars"),
            reason=minibatch_words(*minibatch) if not accepted else None,
            minibatch=None if minibatch == (None, None) else minibatch,
            measures={
                **{key: value for key, value in measures.items() if value is not None},
                **_at_threshold(name, target, results),
            },
            scores=scores.get(name),
            scale=SCALES.get(target) if name in scores else None,
        )


def _parents(row: Row, target: str, where: str) -> tuple[str, ...]:
    if row["kind"] == "seed":
        return ()
    origin = _of(row, "origin", str, where)
    numbers = re.fullmatch(r"#\d+(?:\+#\d+)*", origin)
    if numbers is None:
        raise InputError(f"{where}: origin must name parents like '#4+#2', got {origin!r}")
    return tuple(f"{target}{part}" for part in origin.split("+"))


def _name(target: str, row: Row, iteration: int, results: Row) -> str:
    """As published names go: those of winners end in the candidate's number."""
    winner = results.get(target, {}).get("accept", {}).get("winner", {}).get("name")
    found = re.fullmatch(r"(.*?)(\d+)", winner) if isinstance(winner, str) else None
    if "id" not in row:
        return f"{target}-i{iteration:02d}"
    return f"{found[1]}{row['id']:0{len(found[2])}d}" if found else f"{target}-{row['id']:02d}"


def _at_threshold(name: str, target: str, results: Row) -> dict[str, float]:
    """False alarms and threshold of a winner, which the trajectory does not have."""
    winner = results.get(target, {}).get("accept", {}).get("winner", {})
    if winner.get("name") != name:
        return {}
    read = {"false_alarm": finite(winner.get("fa10")), "threshold": finite(winner.get("threshold"))}
    return {key: value for key, value in read.items() if value is not None}


def _comparisons(candidates: Sequence[ImportedCandidate], targets: Sequence[str], results: Row) -> Iterator[Comparison]:
    splits: tuple[Literal["accept", "heldout"], ...] = ("accept", "heldout")
    for target in targets:
        accept = results.get(target, {}).get("accept", {})
        mine = [candidate for candidate in candidates if candidate.target == target]
        winner = [one.place for one in mine if one.name == accept.get("winner", {}).get("name")]
        stated = finite(accept.get("baseline", {}).get("paired"))
        seeds = [
            one.place
            for one in mine
            if one.kind == "seed" and stated is not None and abs(one.measures.get("paired", -1.0) - stated) <= 5e-5
        ]
        for split in splits:
            figures = results.get(target, {}).get(split)
            if isinstance(figures, dict):
                yield Comparison(
                    target,
                    split,
                    baseline=seeds[0] if len(seeds) == 1 else None,
                    winner=winner[0] if winner else None,
                    figures=figures,
                )


def _has(scores: Mapping[str, Any], results: Row) -> Iterator[str]:
    yield "every proposal, accepted and rejected, with its parents, minibatch means and length"
    yield "paired discrimination and detection on accept of every accepted candidate"
    if scores:
        yield f"the score of each accept note by {', '.join(scores)}"
    if results:
        yield "the printed results of baseline and winner on accept and held-out notes, with their intervals"


def _lacks(source: _Source, scores: Mapping[str, Any]) -> Iterator[str]:
    yield "the texts of the instructions: their hashes and lengths alone, and of seeds the lengths"
    yield "held-out scores: only what was printed of them"
    yield "judgements and answers, the reflector's prompts and answers, and spend"
    yield "the documents and sources"
    if not scores:
        yield "accept scores by note"
    if source.results is None:
        yield "printed results"
    if source.statistics is not None:
        yield f"{source.statistics.name}, which is about the statistics of the paper and not about this lineage"


def _of(row: Row, key: str, kind: type, where: str) -> Any:
    value = row.get(key)
    if type(value) is not kind:
        raise InputError(f"{where}: {key!r} must be a {kind.__name__}, got {value!r}; get the file again")
    return value
