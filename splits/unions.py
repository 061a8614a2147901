"""Groups that belong together, so that a partition keeps them in one split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Set
from dataclasses import dataclass, fields
from typing import Any, Final

from lineage.canonical import canonical_json
from lineage.errors import SplitError
from lineage.spelling import suggestion
from splits.blocks import Block
from splits.corpus import Corpus, Example
from splits.near_duplicates import near_duplicate_groups

FIELDS: Final = tuple(
    field.name for field in fields(Example) if field.name not in ("id", "group", "twin", "residual", "meta")
)
"""Fields of an example that groups may share."""
META: Final = "meta."
"""How a key of ``meta`` begins, named as a field."""


@dataclass(frozen=True, slots=True)
class Union:
    """Which groups are united: those with near-duplicate texts, and those that share a value of a field.

    What connects two groups may be a third. A value of null, or an empty one, connects nothing.

    Args:
        near_duplicates: the similarity from which texts are near-duplicates, in (0, 1], or None to unite none.
        fields: fields of an example, or keys of its ``meta`` such as ``meta.practice``.

    Raises:
        SplitError: the similarity is out of range, or there is no such field.
    """

    near_duplicates: float | None = None
    fields: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.near_duplicates is not None and not 0 < self.near_duplicates <= 1:
            raise SplitError(f"near-duplicates are united from a similarity in (0, 1], got {self.near_duplicates!r}")
        for name in self.fields:
            if name not in FIELDS and not (name.startswith(META) and name != META):
                raise SplitError(
                    f"groups cannot be united by {name!r}, which is no field that they may share; "
                    f"{suggestion(name, FIELDS)} (or name a key of meta: {META}KEY)"
                )

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"near_duplicates": self.near_duplicates, "fields": list(self.fields)}

    def blocks(self, corpus: Corpus) -> tuple[Block, ...]:
        """Disjoint sets of two or more united groups, each in order, in order of their first group.

        Raises:
            SplitError: no example has a key of ``meta`` that groups are to be united by.
        """
        links: list[Set[str]] = [groups for name in self.fields for groups in _sharing(corpus, name)]
        if self.near_duplicates is not None:
            links += near_duplicate_groups(corpus, threshold=self.near_duplicates)
        return connected(links)


def _sharing(corpus: Corpus, name: str) -> list[set[str]]:
    """For each value of a field the groups that have it."""
    holders: defaultdict[str, set[str]] = defaultdict(set)
    for example in corpus.examples:
        value = example.meta.get(name[len(META) :]) if name.startswith(META) else getattr(example, name)
        if value is not None and value != "":
            holders[value if isinstance(value, str) else canonical_json(value)].add(example.group)
    if not holders and name.startswith(META):
        raise SplitError(f"groups cannot be united by {name!r}: no example of the corpus has it")
    return list(holders.values())


def connected(links: Iterable[Set[str]]) -> tuple[Block, ...]:
    """Connected sets of two or more names, each sorted, in order of their first name; each link connects its names."""
    above: dict[str, str] = {}

    def top(name: str) -> str:
        while (higher := above.setdefault(name, name)) != name:
            above[name] = name = above[higher]
        return name

    for link in links:
        tops = sorted({top(name) for name in link})
        for other in tops[1:]:
            above[other] = tops[0]
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(above):
        found[top(name)].append(name)
    return tuple(sorted(tuple(names) for names in found.values() if len(names) > 1))
