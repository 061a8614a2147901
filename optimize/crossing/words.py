"""What an experiment found, in words: each comparison, and what it excludes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

SEARCHED_ONCE: Final = (
    "Each setting was searched once. The intervals are over held-out groups for these very prompts; another search "
    "would find other prompts, and how much those differ is in no interval here."
)


def experiment_words(
    rows: Sequence[Mapping[str, Any]], *, level: float, size: int, groups: int, exploratory: str | None
) -> list[str]:
    """Sentences on every comparison, and on how far they may be believed."""
    said = [target_words(row) for row in rows]
    said.append(
        f"{size} comparisons are registered, on {groups} held-out groups: Holm over one-sided sign-flip tests, and "
        f"simultaneous {100 * level:.4g}% intervals."
    )
    said.append(SEARCHED_ONCE)
    if exploratory is not None:
        said.append(f"The experiment is exploratory and confirms nothing: {exploratory}.")
    return said


def target_words(row: Mapping[str, Any]) -> str:
    """One comparison in words."""
    name = row["name"][0].upper() + row["name"][1:]
    if row["decision"] == "void":
        return f"{name}: both sides are the same prompt, so nothing was compared, and nothing was spent."
    found = row["comparison"]
    if found["difference"] is None:
        return f"{name}: no pair is scored in every cell."
    interval = (
        "no interval, as every group has the same difference"
        if found["low"] is None
        else f"[{_points(found['low'])}, {_points(found['high'])}]"
    )
    seen = (
        f"{_points(found['difference'])} points {interval}, adjusted one-sided p = {row['adjusted_p']:.4f} "
        f"({found['pairs']} pairs in {found['groups']} groups)"
    )
    if row["decision"] == "undecided":
        return f"{name}: undecided, as only {row['coverage']:.1%} of pairs are scored in every cell; seen: {seen}."
    if row["decision"] == "shown":
        return f"{name}: {seen}. It is shown that {row['claim']}."
    excluded = "" if found["high"] is None else f" A difference above {_points(found['high'])} points is excluded."
    worst = row["worst"]
    failed = "" if worst is None else f" With failed judgements counted against it p = {worst['adjusted_p']:.4f}."
    return f"{name}: {seen}. It is not shown that {row['claim']}.{excluded}{failed}"


def _points(value: float) -> str:
    return f"{100 * value:+.1f}"
