"""The iterations of a search as gepa's state has them: what was judged on a minibatch, and how it did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from optimize.importing.records import finite


@dataclass(frozen=True, slots=True)
class Task:
    """A proposal that was judged on a minibatch: numbers of its parents, and mean scores of parent and child."""

    parents: tuple[int, ...]
    minibatch: tuple[float | None, float | None]


def tasks_of(row: Mapping[str, Any]) -> Iterator[Task]:
    """The proposals of an iteration of which parent and child were judged on a minibatch."""
    merged = row.get("merged_entities")
    if isinstance(merged, list | tuple) and all(type(parent) is int for parent in merged[:2]):
        means = [_mean(row.get(f"{name}_subsample_scores")) for name in ("id1", "id2", "new_program")]
        known = [mean for mean in means[:2] if mean is not None]
        if known:
            yield Task(tuple(merged[:2]), (max(known), means[2]))  # gepa asks a merge to match the better parent
        return
    for task in row.get("tasks") or [row]:
        parent = task.get("parent_idx", task.get("selected_program_candidate")) if isinstance(task, Mapping) else None
        if type(parent) is not int or not task.get("new_subsample_scores"):
            continue
        yield Task((parent,), (_mean(task.get("subsample_scores")), _mean(task["new_subsample_scores"])))


def _mean(scores: Any) -> float | None:
    """Mean of scores; None where there are none, or one of them is none."""
    values = [finite(value) for value in scores] if isinstance(scores, list | tuple) else []
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def minibatch_words(parent: float | None, child: float | None) -> str:
    """Means on the minibatch in words."""
    before, after = ("unknown" if value is None else f"{value:.3f}" for value in (parent, child))
    return f"minibatch mean {after}, its parent's {before}"
