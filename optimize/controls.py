"""The part of a split lock on which candidates are accepted and the winner is chosen, controls considered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lineage.canonical import digest
from lineage.errors import PlanError
from optimize.controls_plan import ControlsPlan
from splits.corpus import Corpus, Example
from splits.lock import SplitLock, split_examples


@dataclass(frozen=True, slots=True)
class AcceptPart:
    """The examples that stand for accept, and the split that they are of."""

    examples: tuple[Example, ...]
    split: Literal["accept", "reflect"]


def accept_part(controls: ControlsPlan, lock: SplitLock, corpus: Corpus) -> AcceptPart:
    """What candidates are judged on in full: all of accept, or what a control puts in its place.

    Raises:
        PlanError: a control asks for more groups than accept has.
    """
    if controls.accept_is_reflect:
        return AcceptPart(split_examples(lock, corpus, "reflect"), "reflect")
    examples = split_examples(lock, corpus, "accept")
    if controls.accept_groups is None:
        return AcceptPart(examples, "accept")
    kept = nested_groups(lock, controls.accept_groups)
    return AcceptPart(tuple(example for example in examples if example.group in kept), "accept")


def nested_groups(lock: SplitLock, count: int) -> frozenset[str]:
    """So many groups of accept, the same in every campaign on the lock; a smaller number of them lies within a larger.

    Raises:
        PlanError: accept has fewer.
    """
    groups = lock.splits["accept"]
    if count > len(groups):
        raise PlanError(f"controls.accept_groups must be at most the {len(groups)} groups of accept, got {count}")
    return frozenset(sorted(groups, key=lambda group: digest(["accept size", lock.hash, group]))[:count])
