"""Which groups train a verifier, which validate it and which test it: by a split lock, or freshly drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lineage.errors import SplitError
from splits.corpus import Corpus
from splits.lock import SplitLock
from splits.partition import SPLITS, Features, partition_groups

PARTS: Final = ("train", "validation", "test")
"""Parts of the data, in the order of the splits that they are taken from."""
FRACTIONS: Final = (0.6, 0.2, 0.2)


@dataclass(frozen=True, slots=True)
class StepParts:
    """Groups of each part; a group is in one part only.

    Attributes:
        groups: of each part, in order of their names.
        origin: ``split lock`` or ``fresh draw``.
        seed: of the draw.
        lock: hash of the lock, or None.
        sealed: held-out groups of the lock, which are in no part.
    """

    groups: Mapping[str, tuple[str, ...]]
    origin: str
    seed: int
    lock: str | None = None
    sealed: int = 0

    def __post_init__(self) -> None:
        together = [group for groups in self.groups.values() for group in groups]
        if len(set(together)) != len(together):
            twice = next(group for group in together if together.count(group) > 1)
            raise SplitError(f"group {twice!r} is in two parts; a group's notes share their source: give it to one")

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "origin": self.origin,
            "seed": self.seed,
            "lock": self.lock,
            "sealed": self.sealed,
            "groups": {part: list(groups) for part, groups in self.groups.items()},
        }


def parts_of_lock(lock: SplitLock) -> StepParts:
    """Training groups from ``reflect`` and validation groups from ``accept``.

    Held-out groups are in no part: their texts stay behind the seal, and what a verifier was trained on could never
    confirm anything about it.
    """
    groups = {"train": tuple(lock.splits["reflect"]), "validation": tuple(lock.splits["accept"])}
    return StepParts(groups, "split lock", lock.seed, lock.hash, len(lock.splits["heldout"]))


def fresh_parts(
    corpus: Corpus,
    *,
    seed: int,
    fractions: Sequence[float] = FRACTIONS,
    united: Sequence[Sequence[str]] = (),
) -> StepParts:
    """Draw training, validation and test groups, balanced over strata.

    Args:
        corpus: the corpus.
        seed: equal seeds give equal parts.
        fractions: of the groups, for training, validation and test.
        united: sets of groups that stay in one part, such as near-duplicates.

    Raises:
        SplitError: the fractions do not add up, or leave a part empty.
    """
    if len(fractions) != len(PARTS):
        raise SplitError(f"fractions must be three, for {', '.join(PARTS)}, got {len(fractions)}")
    strata = {group: examples[0].stratum for group, examples in corpus.groups.items()}
    sizes = dict(zip(SPLITS, fractions, strict=True))
    drawn = partition_groups(list(corpus.groups), Features(strata), sizes, seed=seed, united=united)
    return StepParts({part: drawn[split] for part, split in zip(PARTS, SPLITS, strict=True)}, "fresh draw", seed)
