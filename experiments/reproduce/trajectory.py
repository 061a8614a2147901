"""The published search: measures of the candidates whose scores are there, and the choice of the winners."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from experiments.reproduce.accept import FROM_SCORES, detection
from experiments.reproduce.figures import Figure, Range, compare, compare_exactly, undetermined
from experiments.reproduce.printed import Printed, Record, read_lines
from experiments.reproduce.results import TARGETS, Results
from experiments.reproduce.scores import AcceptScores
from lineage.errors import InputError
from optimize.objectives import paired_discrimination

FILE: Final = "v3_trajectory.jsonl"
README: Final = "README.md"


def trajectory_figures(directory: Path, results: Results, scores: Mapping[str, AcceptScores]) -> Iterator[Figure]:
    """The winners by our rule of choice, and the accept measures that the scores determine.

    Raises:
        InputError: the file, a leg or a key is missing or is not what it should be.
    """
    file = directory / FILE
    records = read_lines(file)
    for target in TARGETS:
        pool = [record for record in records if record["leg"].text == target and "valid_paired" in record]
        if not pool:
            raise InputError(f"{file}: no candidate of the leg {target!r} has 'valid_paired'; copy the file again")
        place = results.record[target]["accept"]
        winner = place["winner"]["name"]
        chosen = max(pool, key=_standing)
        yield compare_exactly(
            winner,
            _name_like(winner, chosen["id"].count),
            "the choice on accept from the published search: paired discrimination, then detection, shorter, earlier",
        )
        for key, measured in (("paired", "valid_paired"), ("det10", "valid_det10")):
            printed = place["winner"][key]
            how = f"the measure of candidate {chosen['id'].count} in {FILE}"
            yield results.compare(printed, Range.of(chosen[measured].number), how)
        for record in pool:
            yield from _measures(record, winner, scores)


def _measures(record: Record, winner: Record, scores: Mapping[str, AcceptScores]) -> Iterator[Figure]:
    name = record["name"].text if "name" in record else _name_like(winner, record["id"].count)
    keys = ("valid_paired", "valid_det10")
    if name not in scores:
        for key in keys:
            yield undetermined(record[key], f"the scores of {name} are not in the data")
        return
    ours = scores[name]
    for key, value in zip(keys, (paired_discrimination(ours.omissions).value, detection(ours).detection), strict=True):
        yield compare(record[key], Range.exact(value), f"{name}, {FROM_SCORES}")


def _standing(record: Record) -> tuple[float, float, int, int]:
    return (
        float(record["valid_paired"].number),
        float(record["valid_det10"].number),
        -record["chars"].count,
        -record["id"].count,
    )


def _name_like(winner: Record, number: int) -> str:
    """A candidate's name: published names end in the candidate's number, with as many digits as the winner's.

    Raises:
        InputError: the winner's name does not end in a number.
    """
    found = re.fullmatch(r"(.*?)(\d+)", winner.text)
    if found is None:
        raise winner.wrong("a name that ends in the candidate's number")
    return f"{found[1]}{number:0{len(found[2])}d}"


def commission_figures(directory: Path, scores: Mapping[str, AcceptScores], results: Results) -> Iterator[Figure]:
    """Paired discrimination on commissions of the first target's arms, which the README of the records states."""
    file = directory / README
    said = re.search(r"commissions (\d\.\d+) and (\d\.\d+)", file.read_text(encoding="utf-8") if file.exists() else "")
    if said is None:
        return
    target, baseline = next(iter(TARGETS.items()))
    names = (baseline, results.record[target]["accept"]["winner"]["name"].text)
    for name, text in zip(names, said.groups(), strict=True):
        if name in scores:
            value = paired_discrimination(scores[name].commissions).value
            yield compare(
                Record(Printed(text), file, ("commissions", name)),
                Range.exact(value),
                f"paired discrimination on commissions, {FROM_SCORES}",
            )
