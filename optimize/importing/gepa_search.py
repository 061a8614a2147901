"""Searches that gepa saved: its run directory, and its result and dspy's as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from lineage.errors import InputError
from lineage.records import CandidateKind
from optimize.importing.gepa_trace import minibatch_words, tasks_of
from optimize.importing.records import ImportedCandidate, ImportedLineage, SourceFile, finite
from optimize.importing.unpickling import load_restricted

STATE: Final = "gepa_state.bin"
TARGET: Final = "instruction"
HAS: Final[tuple[str, ...]] = (
    "every accepted candidate with its texts and parents",
    "its score on each validation example",
)
LACKS: Final = (
    "held-out data: every score is of the validation examples that candidates were chosen by",
    "judgements, answers and false alarms: only one number an example",
    "which examples are flawed and which are twins, so no paired measure and no detection",
    "the reflector's prompts and answers, and spend",
)

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Pool:
    """The accepted candidates of a search, in the order in which they were found."""

    texts: Sequence[Row]
    parents: Sequence[Sequence[int | None]]
    scores: Sequence[Row]
    trace: Sequence[Row] = ()
    settings: Row = field(default_factory=dict)
    means: Sequence[float | None] = ()


def read_gepa(path: Path, *, name: str) -> ImportedLineage:
    """The search in a run directory of gepa's, or in the JSON form of its result.

    Raises:
        InputError: the file is missing, is not one, or names what is not data.
    """
    file = path / STATE if path.is_dir() else path
    if file.suffix == ".json":
        return read_result(file, name=name, kind="gepa")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); name gepa's run_dir, or its {STATE}") from error
    state = load_restricted(data, where=str(file))
    if not isinstance(state, dict):
        raise InputError(f"{file}: holds no saved search but a {type(state).__name__}; name gepa's {STATE}")
    scores = state.get("prog_candidate_val_subscores")
    if isinstance(scores, list):  # before version 2 of the state, scores were lists by place
        scores = [dict(enumerate(row)) if isinstance(row, list) else row for row in scores]
    pool = _Pool(
        texts=_rows(state.get("program_candidates"), "program_candidates", file),
        parents=_lists(state.get("parent_program_for_candidate"), "parent_program_for_candidate", file),
        scores=_rows(scores, "prog_candidate_val_subscores", file),
        trace=[row for row in state.get("full_program_trace") or () if isinstance(row, dict)],
        settings={
            "metric_calls": state.get("total_num_evals"),
            "frontier": state.get("frontier_type"),
            "state_version": state.get("validation_schema_version"),
        },
    )
    has: tuple[str, ...] = (
        "every accepted candidate with its texts and parents",
        "its score on each validation example",
    )
    if pool.trace:
        has = (*HAS, "every iteration's minibatch scores, rejected proposals among them")
    lacks = (*LACKS, "the texts of rejected proposals") if pool.trace else (*LACKS, "rejected proposals")
    return _lineage(pool, file, data, name=name, source="gepa run_dir", has=has, lacks=lacks)


def read_result(file: Path, *, name: str, kind: str) -> ImportedLineage:
    """The search in the JSON form of gepa's or dspy's result.

    Raises:
        InputError: the file is missing or is not one.
    """
    try:
        data = file.read_bytes()
        result = json.loads(data.decode("utf-8"), parse_constant=lambda _: None)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{file}: is not JSON ({error}); save the result so: json.dumps(result.to_dict(), default=str)"
        ) from error
    return result_lineage(result, file=file, data=data, name=name, kind=kind)


def result_lineage(result: Any, *, file: Path, data: bytes, name: str, kind: str) -> ImportedLineage:
    """The search in a result, as its ``to_dict`` gives it."""
    if not isinstance(result, Mapping):
        raise InputError(f"{file}: holds no result but a {type(result).__name__}; save result.to_dict()")
    scores = result.get("val_subscores")
    if isinstance(scores, list):
        scores = [dict(enumerate(row)) if isinstance(row, list) else row for row in scores]
    pool = _Pool(
        texts=_rows(result.get("candidates"), "candidates", file),
        parents=_lists(result.get("parents"), "parents", file),
        scores=_rows(scores, "val_subscores", file),
        settings={"metric_calls": result.get("total_metric_calls"), "seed": result.get("seed")},
        means=[finite(value) for value in result.get("val_aggregate_scores") or ()],
    )
    lacks = (*LACKS, "rejected proposals, iterations and minibatches")
    source = {"dspy": "dspy detailed_results", "gepa": "gepa result"}[kind]
    return _lineage(pool, file, data, name=name, source=source, has=HAS, lacks=lacks)


def _lineage(
    pool: _Pool, file: Path, data: bytes, *, name: str, source: str, has: tuple[str, ...], lacks: tuple[str, ...]
) -> ImportedLineage:
    count = len(pool.texts)
    if not count:
        raise InputError(f"{file}: holds no candidate; a search has at least its seed")
    for what, values in (("parents", pool.parents), ("scores", pool.scores)):
        if len(values) != count:
            raise InputError(f"{file}: holds {count} candidates and the {what} of {len(values)}; get the file again")
    return ImportedLineage(
        name=name,
        format=source,
        files=(SourceFile.of(file, data),),
        has=has,
        lacks=lacks,
        candidates=tuple(_candidates(pool, file)),
        settings={key: value for key, value in pool.settings.items() if isinstance(value, int | str)},
    )


def _candidates(pool: _Pool, file: Path) -> Iterator[ImportedCandidate]:
    """Accepted candidates at their iterations, and what was rejected between them."""
    found: set[int] = set()
    for number, parents in enumerate(pool.parents):
        if not _known(parents):
            found.add(number)
            yield _accepted(pool, number, file)
    for place, row in enumerate(pool.trace, start=1):
        iteration = row["i"] + 1 if isinstance(row.get("i"), int) else place
        fresh = row.get("new_program_indices") or [row.get("new_program_idx")]
        tasks = list(tasks_of(row))
        for number in fresh:
            if not isinstance(number, int) or not 0 <= number < len(pool.texts) or number in found:
                continue
            found.add(number)
            parents = _known(pool.parents[number])
            task = next((task for task in tasks if set(task.parents) == set(parents)), None)
            tasks = [other for other in tasks if other is not task]
            yield _accepted(pool, number, file, iteration=iteration, minibatch=None if task is None else task.minibatch)
        for count, task in enumerate(task for task in tasks if found.issuperset(task.parents)):
            suffix = f".{count + 1}" if count else ""
            yield ImportedCandidate(
                place=f"proposal {place}{suffix}",
                name=f"i{place:02d}{suffix}",
                target=TARGET,
                kind="mutation" if len(task.parents) == 1 else "merge",
                outcome="rejected",
                iteration=iteration,
                parents=tuple(str(parent) for parent in task.parents),
                reason=minibatch_words(*task.minibatch),
                minibatch=task.minibatch,
            )
    for number in range(len(pool.texts)):  # without a trace of their iterations
        if number not in found:
            yield _accepted(pool, number, file, iteration=None)


def _accepted(
    pool: _Pool,
    number: int,
    file: Path,
    *,
    iteration: int | None = 0,
    minibatch: tuple[float | None, float | None] | None = None,
) -> ImportedCandidate:
    parents = _known(pool.parents[number])
    texts = {str(key): value for key, value in pool.texts[number].items() if isinstance(value, str)}
    if len(texts) != len(pool.texts[number]):
        raise InputError(f"{file}: candidate {number} has a block that is no text; a candidate maps names to texts")
    kind: CandidateKind = "seed" if not parents else "mutation" if len(parents) == 1 else "merge"
    scores = {str(key): score for key, value in pool.scores[number].items() if (score := finite(value)) is not None}
    mean = pool.means[number] if number < len(pool.means) else fmean(scores.values()) if scores else None
    return ImportedCandidate(
        place=str(number),
        name="seed" if number == 0 else f"p{number:02d}",
        target=TARGET,
        kind=kind,
        outcome="accepted" if parents else "seed",
        iteration=iteration,
        parents=tuple(str(parent) for parent in parents),
        texts=texts,
        chars=sum(map(len, texts.values())),
        minibatch=minibatch,
        measures={} if mean is None else {"score": mean},
        scores=scores or None,
    )


def _known(parents: Sequence[int | None]) -> tuple[int, ...]:
    return tuple(parent for parent in parents if parent is not None)


def _rows(value: Any, name: str, file: Path) -> Sequence[Row]:
    if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
        raise InputError(f"{file}: {name} is missing, or is no list of mappings; it is not a saved search of gepa's")
    return value


def _lists(value: Any, name: str, file: Path) -> Sequence[Sequence[int | None]]:
    sound = isinstance(value, list) and all(
        isinstance(row, list | tuple) and all(part is None or type(part) is int for part in row) for row in value
    )
    if not sound:
        raise InputError(f"{file}: {name} is missing, or does not list the numbers of each candidate's parents")
    return list(value)
