"""What an experiment found, as its ledger and ``experiment.json`` hold it, the same in a run and in an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lineage.records import Usage
from optimize.crossing.reading import Family, read_experiment
from optimize.crossing.targets import Cell, Target
from optimize.crossing.words import experiment_words
from optimize.evaluation import Evaluation
from optimize.measured import measures_row


def result_row(
    wanted: Sequence[Target],
    judged: Mapping[Cell, Evaluation],
    winners: Mapping[str, str],
    *,
    family: Family,
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """What an experiment found, as the ledger and ``experiment.json`` hold it.

    Args:
        wanted: its comparisons.
        judged: evaluations by cell; none where nothing was found under any setting.
        winners: candidate id by prompt, the seed among them.
        family: of the comparisons.
        facts: what else is stated of the experiment; ``plan_hash`` seeds all randomness.
    """
    rows = read_experiment(wanted, judged, winners, family, seed=facts["plan_hash"])
    return {
        **facts,
        "confirmatory": facts["exploratory"] is None,
        "alpha": family.alpha,
        "family_alpha": family.shared,
        "level": family.level,
        "comparisons": family.size,
        "winners": dict(winners),
        "cells": [cell_row(cell, judged[cell]) for cell in sorted(judged)],
        "targets": rows,
        "words": experiment_words(
            rows, level=family.level, size=family.size, groups=facts["groups"], exploratory=facts["exploratory"]
        ),
    }


def cell_row(cell: Cell, evaluation: Evaluation) -> dict[str, Any]:
    """Measures and cost of one cell; its interval is of that cell alone, at 95%."""
    usage = sum((judgement.usage for judgement in evaluation.judgements), Usage())
    count = len(evaluation.judgements)
    per = {name: value / count for name, value in usage.row().items() if value is not None} if count else {}
    return {
        "prompt": cell.prompt,
        "setting": cell.setting,
        "candidate": evaluation.candidate,
        "measures": measures_row(evaluation),
        "judgements": count,
        "unscored": len(evaluation.unscored),
        "usage": usage.row(),
        "a_document": {**dict.fromkeys(usage.row()), **per},
    }
