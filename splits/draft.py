"""Planning a split lock: the partition that a commit would write, drawn and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from splits.corpus import Corpus, Example
from splits.exclusions import Exclusion
from splits.fingerprints import fingerprints
from splits.lock import SplitLock
from splits.needs import NEEDS, OBJECTIVE, check_needs
from splits.partition import SPLITS, Sizes, count_by_field, partition_groups, some_of
from splits.profiles import STRATIFY, features_of
from splits.selection import Selection, remaining
from splits.unions import Union


def plan_lock(
    corpus: Corpus,
    *,
    sizes: Sizes,
    seed: int,
    selection: Selection | None = None,
    stratify: Sequence[str] = ("stratum",),
    needs: Sequence[str] = OBJECTIVE,
    union: Union | None = None,
    exclusions: Mapping[str, Exclusion] | None = None,
    alpha: float = 0.05,
    comparisons: int = 1,
) -> SplitLock:
    """Draw the partition that a commit would write.

    Args:
        corpus: the whole corpus.
        sizes: groups of each split, or fractions of all selected groups.
        seed: equal seeds give equal splits.
        selection: which part of what is not excluded is split; by default all of it.
        stratify: what the splits are balanced over (see :func:`~splits.profiles.features_of`).
        needs: what no split may lack (see ``NEEDS``).
        union: which groups stay in one split; none by default.
        exclusions: what is left out, by where that was read.
        alpha: two-sided error rate that all confirmatory comparisons share.
        comparisons: how many there may be.

    Raises:
        SplitError: an argument breaks a rule, united groups do not fit, or a split would lack what the objective needs.
    """
    selection, union, exclusions = selection or Selection(seed=seed), union or Union(), dict(exclusions or {})
    stratify, needs = some_of(stratify, STRATIFY, what="stratify"), some_of(needs, NEEDS, what="needs")
    united = union.blocks(corpus)
    left = remaining(corpus, exclusions, united)
    selected = selection.apply(left)
    features = features_of(selected, stratify)

    def draw(wanted: Sizes) -> dict[str, tuple[str, ...]]:
        return partition_groups(list(selected), features, wanted, seed=seed, united=united)

    splits = draw(sizes)
    lock = SplitLock(
        corpus_hash=corpus.hash,
        seed=seed,
        selection=selection,
        stratify=stratify,
        needs=needs,
        union=union,
        united=united,
        sizes={name: len(groups) for name, groups in splits.items()},
        splits=splits,
        counts={name: count_by_field([ex for group in splits[name] for ex in selected[group]]) for name in SPLITS},
        fingerprints=fingerprints(corpus, selected),
        exclusions=exclusions,
        alpha=alpha,
        comparisons=comparisons,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )

    def of_more(count: int) -> dict[str, tuple[Example, ...]]:
        return replace(selection, groups=count).apply(left)

    more = None if selection.groups is None else of_more
    check_needs(splits, selected, needs, draw=draw, select=more, most=len(left.groups))
    return lock
