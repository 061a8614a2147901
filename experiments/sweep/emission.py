"""The campaign plan that confirms a point of a study on held-out groups."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from experiments.loading import _filled
from experiments.sweep.loading import LoadedStudy
from lineage.canonical import digest, write_atomic
from lineage.errors import CampaignError, InputError
from optimize.plan import parse_plan
from optimize.studied_plan import StudiedPlan
from optimize.sweep import StudyResult, TrialResult, point_words

FILES: Final = (
    "corpus.path",
    "corpus.facts",
    "corpus.table",
    "splits.lock",
    "models",
    "student.model.replay",
    "reflector.model.replay",
    "reflector.ledger",
)
"""Settings that name a file from the plan's directory."""
MAYBE_FILES: Final = ("baseline", "search.seeds", "corpus.huggingface.name")
"""Settings that may also name something else."""


def emit_plan(loaded: LoadedStudy, result: StudyResult, target: Path, *, number: int | None = None) -> TrialResult:
    """Write the campaign plan of a complete trial, which states the study that chose it.

    Args:
        loaded: the study.
        result: what came of it.
        target: the file.
        number: of the trial; None takes the first in rank.

    Returns:
        The trial.

    Raises:
        CampaignError: no trial is complete yet.
        InputError: the trial is not among the complete ones.
    """
    if not result.ranked:
        raise CampaignError(f"no trial of the study {result.name} is complete; run it first: holdgate sweep STUDY")
    chosen = next((trial for trial in result.ranked if number in (None, trial.number)), None)
    if chosen is None or chosen.parameters is None:
        complete = ", ".join(str(trial.number) for trial in result.ranked)
        raise InputError(f"--trial {number}: is not complete; complete are {complete}")
    data = loaded.inputs.space.data_at(chosen.parameters, loaded.base)
    data["name"] = f"{data['name']}-{result.name}-{chosen.number}"
    studied = StudiedPlan(
        study=result.name, trials=len(result.trials), candidates=result.candidates, result=digest(result.row())
    )
    data["studied"] = studied.model_dump(mode="json")
    source, place = loaded.base_path.parent.resolve(), target.absolute().parent
    _relocate(data, FILES, lambda name: os.path.relpath(source / name, place))
    _relocate(
        data, MAYBE_FILES, lambda name: os.path.relpath(source / name, place) if (source / name).exists() else name
    )
    parse_plan(_filled(data, str(target)), where=str(target))
    write_atomic(target, _header(result, chosen) + yaml.safe_dump(data, sort_keys=False, allow_unicode=True))
    return chosen


def _header(result: StudyResult, chosen: TrialResult) -> str:
    lines = [
        f"Confirms trial {chosen.number} of the study {result.name}: {point_words(chosen.parameters or {})}.",
        f"The study looked at {result.candidates} candidates in {len(result.trials)} trials on accept, which is why it "
        "is stated below.",
        "The campaign compares its winner with its own baseline, both judged by the student of this point; it says",
        "nothing of how this point compares with others of the study.",
    ]
    return "".join(f"# {line}\n" for line in lines)


def _relocate(data: dict[str, Any], places: tuple[str, ...], moved: Callable[[str], str]) -> None:
    for place in places:
        *above, last = place.split(".")
        section: Any = data
        for name in above:
            section = section.get(name) if isinstance(section, Mapping) else None
        if not isinstance(section, dict) or section.get(last) is None:
            continue
        value = section[last]
        section[last] = [moved(one) for one in value] if isinstance(value, list) else moved(value)
