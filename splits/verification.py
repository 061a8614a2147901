"""Checking a split lock against its corpus: every assertion that it states, one after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from lineage.errors import SplitError
from splits.corpus import Corpus, Example
from splits.fingerprints import edits
from splits.lock import SplitLock, _selected
from splits.needs import NEEDS, lacking
from splits.partition import SPLITS, count_by_field, partition_groups
from splits.profiles import features_of

SHOWN: Final = 5
"""Most names of one kind that a message has."""


def verify_lock(lock: SplitLock, corpus: Corpus) -> None:
    """Check that a lock's corpus, selection, splits, counts and fingerprints are what it states.

    Raises:
        SplitError: naming the first difference: the edited example, the moved group, what a split lacks.
    """
    name = str(lock.path or "split lock")
    _check_corpus(lock, corpus, name)
    selected = _selected(lock, corpus)
    _check_places(lock, selected, name)
    if lock.union.blocks(corpus) != lock.united:
        raise SplitError(f"{name}: the united groups are not those that the corpus gives; restore the lock")
    for block in lock.united:
        holders = [split for split in SPLITS if not set(block).isdisjoint(lock.splits[split])]
        if len(holders) > 1:
            raise SplitError(f"{name}: united groups {_shown(block)} are in {' and '.join(holders)}")
    drawn = partition_groups(
        list(selected),
        features_of(selected, lock.stratify),
        lock.sizes,
        seed=lock.seed,
        united=lock.united,
    )
    if moved := _moved(drawn, lock.splits):
        raise SplitError(
            f"{name}: group {_shown(moved)} was moved: seed {lock.seed} does not draw it where it stands; restore the "
            "lock"
        )
    if drawn != lock.splits:
        raise SplitError(f"{name}: the groups of a split are not in their order; restore the lock")
    for split in SPLITS:
        examples = [example for group in lock.splits[split] for example in selected[group]]
        if count_by_field(examples) != lock.counts[split]:
            raise SplitError(f"{name}: the counts of {split} do not match the corpus")
        ids = {example.id for example in examples}
        if strays := [example.id for example in examples if example.twin is not None and example.twin not in ids]:
            raise SplitError(f"{name}: {split}: the twin of {strays[0]} is in another split")
    if (found := lacking(lock.splits, selected, lock.needs)) is not None:
        raise SplitError(f"{name}: {found[0]} lacks {NEEDS[found[1]][0]}")


def _check_corpus(lock: SplitLock, corpus: Corpus, name: str) -> None:
    """The corpus is the one that was locked; where it is not, what was edited is named."""
    found = list(edits(lock.fingerprints, corpus))
    if corpus.hash != lock.corpus_hash:
        words = [edit.words for edit in found]
        what = _shown(words, "; ") if found else "not in a group that is split here, but in one that is left out"
        raise SplitError(
            f"{name}: the corpus has hash {corpus.hash[:12]}…, the lock was committed on {lock.corpus_hash[:12]}…: "
            f"an example or a fact was edited, added or removed ({what}); restore the corpus or commit a new lock"
        )
    if found:
        groups = list(dict.fromkeys(edit.group for edit in found))
        raise SplitError(f"{name}: the lock's fingerprint of group {_shown(groups)} was edited; restore the lock")


def _check_places(lock: SplitLock, selected: Mapping[str, Sequence[Example]], name: str) -> None:
    """Every selected group, and no other, is in exactly one split, and has a fingerprint."""
    placed = Counter(group for groups in lock.splits.values() for group in groups)
    if twice := sorted(group for group, count in placed.items() if count > 1):
        raise SplitError(f"{name}: group {_shown(twice)} is in more than one split")
    if odd := sorted(set(placed) ^ set(selected)):
        raise SplitError(f"{name}: group {_shown(odd)} is in the lock or the selection, but not in both")
    if odd := sorted(set(placed) ^ set(lock.fingerprints)):
        raise SplitError(f"{name}: group {_shown(odd)} is in a split or has a fingerprint, but not both")


def _moved(drawn: Mapping[str, Sequence[str]], stated: Mapping[str, Sequence[str]]) -> list[str]:
    """Groups that stand in another split than they are drawn in."""
    places = {group: split for split, groups in drawn.items() for group in groups}
    return sorted(group for split, groups in stated.items() for group in groups if places[group] != split)


def _shown(names: Sequence[str], between: str = ", ") -> str:
    more = f"{between}and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return between.join(names[:SHOWN]) + more
