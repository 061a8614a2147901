"""The split lock: which groups are in which split, committed before any search and re-checked at every load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lineage.canonical import digest
from lineage.errors import SplitError
from splits.blocks import Block
from splits.corpus import Corpus, Example
from splits.exclusions import Exclusion
from splits.fingerprints import Fingerprint
from splits.needs import NEEDS
from splits.partition import SPLITS
from splits.provenance import Provenance
from splits.selection import Selection, remaining
from splits.unions import Union

FORMAT: Final = "holdgate split lock 2"


@dataclass(frozen=True, slots=True)
class SplitLock:
    """A committed partition.

    ``alpha`` is the two-sided error rate that all confirmatory comparisons on the held-out split share, and
    ``comparisons`` how many there may be; each spends ``alpha / comparisons``.

    Args:
        corpus_hash: hash of the whole corpus.
        seed: seed of the draw.
        selection: which part of the corpus was split.
        stratify: what the splits are balanced over.
        needs: what every split was to have.
        union: which groups were to be united.
        united: the sets of groups that this came to, of the whole corpus.
        sizes: how many groups of each split were drawn.
        splits: groups of each split.
        counts: examples of each split by kind, trace, severity and stratum.
        fingerprints: of each group, to name what was edited.
        exclusions: what was left out, by where that was read.
        alpha: see above.
        comparisons: see above.
        created_at: when it was planned.
        git: the repository that it was committed in, or None.
        path: the file that it was read from, or None.
    """

    corpus_hash: str
    seed: int
    selection: Selection
    stratify: tuple[str, ...]
    needs: tuple[str, ...]
    union: Union
    united: tuple[Block, ...]
    sizes: Mapping[str, int]
    splits: Mapping[str, tuple[str, ...]]
    counts: Mapping[str, Mapping[str, Mapping[str, int]]]
    fingerprints: Mapping[str, Fingerprint]
    exclusions: Mapping[str, Exclusion]
    alpha: float
    comparisons: int
    created_at: str
    git: Provenance | None = None
    path: Path | None = None

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1 or type(self.comparisons) is not int or self.comparisons < 1:
            raise SplitError(
                f"alpha must be in (0, 1) and comparisons at least 1, got {self.alpha!r} and {self.comparisons!r}"
            )

    @property
    def spend(self) -> float:
        """Two-sided alpha of one confirmatory comparison."""
        return self.alpha / self.comparisons

    @property
    def hash(self) -> str:
        """SHA-256 of everything the lock states."""
        return digest(self._content())

    def row(self) -> dict[str, Any]:
        """The JSON form, which says of each of its fields by which hash an edit of it would be known."""
        content = self._content()
        return {**content, "lock_hash": digest(content)}

    def _content(self) -> dict[str, Any]:
        n_groups = sum(self.sizes.values())
        fields: dict[str, Any] = {
            "format": FORMAT,
            "corpus_hash": self.corpus_hash,
            "method": self._method(),
            "seed": self.seed,
            "selection": self.selection.row(),
            "stratify": list(self.stratify),
            "needs": list(self.needs),
            "union": {**self.union.row(), "united": [list(block) for block in self.united]},
            "sizes": dict(self.sizes),
            "splits": {name: list(groups) for name, groups in self.splits.items()},
            "fractions": {name: round(size / n_groups, 6) for name, size in self.sizes.items()},
            "strata": {name: self.counts[name]["stratum"] for name in SPLITS},
            "counts": {name: {key: dict(row) for key, row in fields.items()} for name, fields in self.counts.items()},
            "fingerprints": {group: str(found) for group, found in self.fingerprints.items()},
            "exclusions": {name: exclusion.row() for name, exclusion in self.exclusions.items()},
            "assertions": list(self._assertions()),
            "alpha": self.alpha,
            "comparisons": self.comparisons,
            "created_at": self.created_at,
            "git": None if self.git is None else self.git.row(),
        }
        return {**fields, "field_hashes": {name: digest(value) for name, value in fields.items()}}

    def _method(self) -> str:
        labels = [name for name in self.stratify if name != "stratum"]
        parts = ["whole groups"]
        if "stratum" in self.stratify:
            parts.append("strata by controlled rounding")
        if labels:
            parts.append(f"{' and '.join(labels)} by iterative stratification")
        if self.union != Union():
            parts.append("united groups first")
        return ", ".join(parts)

    def _assertions(self) -> tuple[str, ...]:
        return (
            "every selected group is in exactly one split",
            "united groups are in one split",
            "every flawed example is in the split of its twin",
            f"no split lacks {' or '.join(NEEDS[need][0] for need in self.needs)}"
            if self.needs
            else "no split is empty",
            "nothing that is excluded is in any split",
            "the selection and the splits, drawn again from the corpus, are the ones that are stated",
            "the fingerprint of every group is that of its examples and facts",
        )

    def describe(self) -> str:
        """Groups and examples of each split, in one line."""
        return ", ".join(
            f"{name} {len(groups)} groups / {sum(self.counts[name]['kind'].values())} notes"
            for name, groups in self.splits.items()
        )


def split_examples(lock: SplitLock, corpus: Corpus, split: str) -> tuple[Example, ...]:
    """Examples of ``reflect`` or ``accept`` in order of their ids; held-out examples come from the seal alone.

    Raises:
        SplitError: ``split`` is neither.
    """
    if split not in ("reflect", "accept"):
        raise SplitError(f"split must be reflect or accept, got {split!r}; held-out examples come from the seal only")
    return _examples(lock, corpus, split)


def split_structure(lock: SplitLock, corpus: Corpus) -> list[dict[str, Any]]:
    """What is needed to recompute every measure of every split, held-out too, without any text: one row an example."""
    selected = _selected(lock, corpus)
    rows = [
        {**_structure(example, corpus), "split": split}
        for split in SPLITS
        for group in lock.splits[split]
        for example in selected[group]
    ]
    return sorted(rows, key=lambda row: str(row["id"]))


def without_text(example: Example, corpus: Corpus) -> Example:
    """An example with nothing left of its texts: what evaluations hold, and what a run directory gives back."""
    return Example(source="", document="", **_structure(example, corpus))


def _structure(example: Example, corpus: Corpus) -> dict[str, Any]:
    """The fields that hold no text; of ``meta`` the mark of a clean candidate, and of ``fact`` the id of a listed one.

    A corpus without a list of facts may have the statement itself in ``fact``.
    """
    fields = ("id", "group", "stratum", "label", "kind", "severity", "trace", "twin", "cohort")
    kept = {field: getattr(example, field) for field in fields}
    listed = any(fact.id == example.fact for fact in corpus.facts.get(example.group, ()))
    mark = {"meta": {"clean": "candidate"}} if example.candidate else {}
    return {**kept, "fact": example.fact if listed else None, **mark}


def _selected(lock: SplitLock, corpus: Corpus) -> dict[str, tuple[Example, ...]]:
    """The selected examples of each group, of all splits."""
    return lock.selection.apply(remaining(corpus, lock.exclusions, lock.united))


def _examples(lock: SplitLock, corpus: Corpus, split: str) -> tuple[Example, ...]:
    selected = _selected(lock, corpus)
    found = [example for group in lock.splits[split] for example in selected[group]]
    return tuple(sorted(found, key=lambda example: example.id))
