"""Which examples a campaign uses: what is left after exclusions, and a deterministic part of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lineage.errors import SplitError
from splits.blocks import Block
from splits.corpus import Corpus, Example
from splits.exclusions import Exclusion
from splits.partition import spread_groups

_FLAW_ORDER: Final = ("complete", "partial-weak", "partial-strong", "omit", "add", "change")


@dataclass(frozen=True, slots=True)
class Selection:
    """A deterministic part of a corpus: whole groups, and how many flawed examples of each.

    ``groups`` is the number of groups, drawn from the strata in proportion, or None for all. With
    ``flawed_per_group`` each group keeps its clean examples, one complete omission, and then other flaws in rotation
    over the groups, so that every kind occurs; None keeps all.

    Raises:
        SplitError: a number is not a whole number of at least 1.
    """

    groups: int | None = None
    flawed_per_group: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("groups", self.groups), ("flawed_per_group", self.flawed_per_group)):
            if value is not None and (type(value) is not int or value < 1):
                raise SplitError(f"selection: {name} must be a whole number of at least 1, or null, got {value!r}")

    def row(self) -> dict[str, Any]:
        """The JSON form, as in the split lock."""
        return {"groups": self.groups, "flawed_per_group": self.flawed_per_group, "seed": self.seed}

    def apply(self, corpus: Corpus) -> dict[str, tuple[Example, ...]]:
        """The selected examples of each selected group, groups in order.

        Raises:
            SplitError: more groups are asked for than the corpus has.
        """
        names: Sequence[str] = list(corpus.groups)
        if self.groups is not None:
            if self.groups > len(names):
                raise SplitError(f"selection asks for {self.groups} groups, the corpus has {len(names)}; ask for fewer")
            strata = {group: examples[0].stratum for group, examples in corpus.groups.items()}
            names = spread_groups(names, strata, self.groups, seed=self.seed, purpose="selection")
        return {name: self._thin(corpus.groups[name], rank) for rank, name in enumerate(names)}

    def _thin(self, examples: tuple[Example, ...], rank: int) -> tuple[Example, ...]:
        if self.flawed_per_group is None:
            return examples
        flawed = sorted(
            (example for example in examples if example.twin),
            key=lambda example: (_FLAW_ORDER.index(example.flaw), example.id),
        )
        first, others = flawed[:1], flawed[1:]
        turn = rank % len(others) if others else 0
        kept = {example.id for example in (first + others[turn:] + others[:turn])[: self.flawed_per_group]}
        return tuple(example for example in examples if example.twin is None or example.id in kept)


def remaining(corpus: Corpus, exclusions: Mapping[str, Exclusion], united: Sequence[Block] = ()) -> Corpus:
    """What of a corpus is left to be used; with nothing excluded, the corpus itself.

    An excluded group takes the groups with it that it is united with, and an excluded pair is its flawed example. Where
    an excluded id is a clean example's, everything that has it for its twin goes too.

    Args:
        corpus: the whole corpus.
        exclusions: what is left out, by where that was read.
        united: sets of united groups.

    Raises:
        SplitError: a group or an example is excluded that the corpus does not have, or nothing is left.
    """
    for place, exclusion in exclusions.items():
        for what, names, known in (
            ("group", exclusion.groups, corpus.groups),
            ("example", exclusion.pairs, corpus.by_id),
        ):
            if unknown := [name for name in names if name not in known]:
                shown = ", ".join(unknown[:5]) + (", …" if len(unknown) > 5 else "")
                raise SplitError(f"{place}: excluded {what} {shown} is not in the corpus; exclude only what is")
    groups = {group for exclusion in exclusions.values() for group in exclusion.groups}
    pairs = {pair for exclusion in exclusions.values() for pair in exclusion.pairs}
    if not groups and not pairs:
        return corpus
    for block in united:
        if not groups.isdisjoint(block):
            groups.update(block)
    kept = tuple(
        example
        for example in corpus.examples
        if example.group not in groups and example.id not in pairs and example.twin not in pairs
    )
    if not kept:
        raise SplitError(f"nothing of the corpus is left: {', '.join(exclusions)} exclude it all; exclude less")
    return Corpus(kept, corpus.facts)
