"""The split lock: which groups are in which split, committed before any search and re-checked at every load."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from lineage.canonical import digest, pretty_json, write_atomic
from lineage.errors import SplitError
from splits.corpus import Corpus, Example
from splits.partition import SPLITS, Selection, count_by_field, partition_groups, strata_of

FORMAT: Final = "holdgate split lock 1"
ASSERTIONS: Final = (
    "every selected group is in exactly one split",
    "every flawed example is in the split of its twin",
    "no split lacks a clean example or an omission with a twin",
    "the selection, drawn again from the corpus, is the one that was split",
)


@dataclass(frozen=True, slots=True)
class SplitLock:
    """A committed partition.

    ``alpha`` is the two-sided error rate that all confirmatory comparisons on the held-out split share, and
    ``comparisons`` how many there may be; each spends ``alpha / comparisons``.
    """

    corpus_hash: str
    seed: int
    selection: Selection
    splits: Mapping[str, tuple[str, ...]]
    counts: Mapping[str, Mapping[str, Mapping[str, int]]]
    exclusions: Mapping[str, tuple[str, ...]]
    alpha: float
    comparisons: int
    created_at: str
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
        """The JSON form."""
        return {**self._content(), "lock_hash": self.hash}

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "corpus_hash": self.corpus_hash,
            "method": "stratified by group, controlled rounding",
            "seed": self.seed,
            "selection": self.selection.row(),
            "splits": {name: list(groups) for name, groups in self.splits.items()},
            "fractions": {
                name: round(len(groups) / sum(map(len, self.splits.values())), 6)
                for name, groups in self.splits.items()
            },
            "strata": {name: self.counts[name]["stratum"] for name in SPLITS},
            "counts": {name: {key: dict(row) for key, row in fields.items()} for name, fields in self.counts.items()},
            "exclusions": {
                name: {"groups": list(groups), "hash": digest(list(groups))} for name, groups in self.exclusions.items()
            },
            "assertions": list(ASSERTIONS),
            "alpha": self.alpha,
            "comparisons": self.comparisons,
            "created_at": self.created_at,
        }

    def describe(self) -> str:
        """Groups and examples of each split, in one line."""
        return ", ".join(
            f"{name} {len(groups)} groups / {sum(self.counts[name]['kind'].values())} notes"
            for name, groups in self.splits.items()
        )


def plan_lock(
    corpus: Corpus,
    *,
    sizes: Mapping[str, int],
    seed: int,
    selection: Selection | None = None,
    alpha: float = 0.05,
    comparisons: int = 1,
    exclusions: Mapping[str, tuple[str, ...]] | None = None,
) -> SplitLock:
    """Draw the partition that a commit would write.

    Raises:
        SplitError: sizes, selection or alpha break a rule, or a split would lack what the objective needs.
    """
    selection = selection or Selection(seed=seed)
    excluded = {group for groups in (exclusions or {}).values() for group in groups}
    selected = _selected(corpus, selection, excluded)
    splits = partition_groups(sorted(selected), strata_of(selected), sizes, seed=seed)
    counts = {name: count_by_field([ex for group in splits[name] for ex in selected[group]]) for name in SPLITS}
    lock = SplitLock(
        corpus_hash=corpus.hash,
        seed=seed,
        selection=selection,
        splits=splits,
        counts=counts,
        exclusions=dict(exclusions or {}),
        alpha=alpha,
        comparisons=comparisons,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    _assert_usable(lock, selected)
    return lock


def commit_lock(lock: SplitLock, path: Path) -> None:
    """Write the lock once.

    Raises:
        SplitError: there already is a lock at ``path``; a committed split is never overwritten.
    """
    if path.exists():
        raise SplitError(
            f"{path} exists; a committed split lock is never overwritten: verify it, or commit another file"
        )
    write_atomic(path, pretty_json(lock.row()))


def load_lock(path: Path, corpus: Corpus) -> SplitLock:
    """Read a lock and check it again, field by field, against the corpus.

    Raises:
        SplitError: naming what changed: a lock byte, a moved group, an edited corpus.
    """
    if not path.is_file():
        raise SplitError(f"{path}: there is no split lock; write one with: holdgate split commit")
    try:
        text = path.read_bytes().decode("utf-8")
        data = json.loads(text)
        lock = SplitLock(
            corpus_hash=data["corpus_hash"],
            seed=data["seed"],
            selection=Selection(**data["selection"]),
            splits={name: _names(data["splits"][name]) for name in SPLITS},
            counts=data["counts"],
            exclusions={name: _names(entry["groups"]) for name, entry in data["exclusions"].items()},
            alpha=data["alpha"],
            comparisons=data["comparisons"],
            created_at=data["created_at"],
            path=path,
        )
        stated, whole = data["lock_hash"], lock.row()
    except SplitError as error:
        raise SplitError(f"{path}: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise SplitError(f"{path}: is not a split lock ({type(error).__name__}: {error})") from error
    verify_lock(lock, corpus)
    if whole != data or stated != lock.hash or text != pretty_json(data):
        differs = sorted(key for key in set(whole) | set(data) if whole.get(key) != data.get(key))
        raise SplitError(f"{path}: the lock was edited (differs in {', '.join(differs) or 'its layout'}); restore it")
    return lock


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError(f"groups must be a list of names, got {value!r}")
    return tuple(value)


def verify_lock(lock: SplitLock, corpus: Corpus) -> None:
    """Check a lock against its corpus: hash, selection, disjointness, moved groups, counts.

    Raises:
        SplitError: naming the first difference.
    """
    name = str(lock.path or "split lock")
    if corpus.hash != lock.corpus_hash:
        raise SplitError(
            f"{name}: the corpus has hash {corpus.hash[:12]}…, the lock was committed on {lock.corpus_hash[:12]}…: "
            "an example or a fact was edited, added or removed; restore the corpus or commit a new lock"
        )
    excluded = {group for groups in lock.exclusions.values() for group in groups}
    selected = _selected(corpus, lock.selection, excluded)
    sizes = {split: len(groups) for split, groups in lock.splits.items()}
    placed = [group for groups in lock.splits.values() for group in groups]
    if len(set(placed)) != len(placed):
        twice = sorted({group for group in placed if placed.count(group) > 1})
        raise SplitError(f"{name}: group {', '.join(twice)} is in more than one split")
    if set(placed) != set(selected):
        odd = sorted(set(placed) ^ set(selected))
        raise SplitError(f"{name}: group {', '.join(odd)} is in the lock or the selection, but not in both")
    drawn = partition_groups(sorted(selected), strata_of(selected), sizes, seed=lock.seed)
    moved = sorted({group for split in SPLITS for group in set(drawn[split]) ^ set(lock.splits[split])})
    if moved:
        raise SplitError(
            f"{name}: group {', '.join(moved)} was moved: seed {lock.seed} does not draw it where it stands"
        )
    for split in SPLITS:
        found = count_by_field([example for group in lock.splits[split] for example in selected[group]])
        if found != lock.counts[split]:
            raise SplitError(f"{name}: the counts of {split} do not match the corpus")
    _assert_usable(lock, selected)


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
    fields = ("id", "group", "stratum", "label", "kind", "severity", "trace", "twin", "fact", "cohort")
    rows = [
        {
            **{field: getattr(example, field) for field in fields},
            **({"meta": {"clean": "candidate"}} if example.candidate else {}),
            "split": split,
        }
        for split in SPLITS
        for example in _examples(lock, corpus, split)
    ]
    return sorted(rows, key=lambda row: str(row["id"]))


def _examples(lock: SplitLock, corpus: Corpus, split: str) -> tuple[Example, ...]:
    selected = _selected(corpus, lock.selection, {g for groups in lock.exclusions.values() for g in groups})
    found = [example for group in lock.splits[split] for example in selected[group]]
    return tuple(sorted(found, key=lambda example: example.id))


def _selected(corpus: Corpus, selection: Selection, excluded: set[str]) -> dict[str, tuple[Example, ...]]:
    if unknown := sorted(excluded - set(corpus.groups)):
        raise SplitError(f"excluded group {', '.join(unknown)} is not in the corpus")
    kept = tuple(example for example in corpus.examples if example.group not in excluded)
    return selection.apply(Corpus(kept, corpus.facts))


def _assert_usable(lock: SplitLock, selected: Mapping[str, tuple[Example, ...]]) -> None:
    for split in SPLITS:
        examples = [example for group in lock.splits[split] for example in selected[group]]
        ids = {example.id for example in examples}
        strays = [example.id for example in examples if example.twin is not None and example.twin not in ids]
        if strays:
            raise SplitError(f"{split}: the twin of {strays[0]} is in another split")
        omissions = [example for example in examples if example.label == "omission" and example.twin]
        if not omissions or not any(example.label == "clean" for example in examples):
            have = len({ex.group for group in selected.values() for ex in group if ex.label == "omission"})
            raise SplitError(
                f"{split}: lacks an omission with a clean twin among its {len(lock.splits[split])} groups "
                f"({have} groups of the selection have one); give it more groups"
            )
