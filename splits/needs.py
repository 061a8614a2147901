"""What the objective needs of every split, and which numbers of groups would give it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from lineage.errors import SplitError
from splits.corpus import Example
from splits.partition import SPLITS

NEEDS: Final[Mapping[str, tuple[str, Callable[[Example], bool]]]] = {
    "clean": ("a clean example", lambda example: example.label == "clean"),
    "omission": (
        "an omission with a clean twin",
        lambda example: example.label == "omission" and example.twin is not None,
    ),
    "commission": (
        "a commission with a clean twin",
        lambda example: example.label == "commission" and example.twin is not None,
    ),
}
"""Kinds of example that an objective may need in every split, in words and as a test of an example."""

OBJECTIVE: Final = ("clean", "omission")
"""What paired discrimination on omissions needs; a corpus of labels alone has no pairs, and its splits need less."""

TRIES: Final = 40
"""Most partitions that are drawn in search of sizes that would do."""

Draw = Callable[[Mapping[str, int]], Mapping[str, Sequence[str]]]
Selected = Mapping[str, Sequence[Example]]
Select = Callable[[int], Selected]


def lacking(splits: Mapping[str, Sequence[str]], selected: Selected, needs: Sequence[str]) -> tuple[str, str] | None:
    """The first split that lacks a kind of example, and what it lacks; None where none does."""
    for name in SPLITS:
        for need in needs:
            if not any(NEEDS[need][1](example) for group in splits[name] for example in selected[group]):
                return name, need
    return None


def check_needs(
    splits: Mapping[str, Sequence[str]],
    selected: Selected,
    needs: Sequence[str],
    *,
    draw: Draw,
    select: Select | None = None,
    most: int = 0,
) -> None:
    """Refuse splits that lack what the objective needs, and say which numbers of groups would do.

    Args:
        splits: groups of each split.
        selected: examples of each group.
        needs: what every split needs.
        draw: draws splits of other sizes, with the same seed.
        select: the examples of a selection of more groups, where not all are selected.
        most: groups that there are to select from.

    Raises:
        SplitError: a split lacks one of them.
    """
    if (found := lacking(splits, selected, needs)) is None:
        return
    name, need = found
    words = NEEDS[need][0]
    holders = _holding(selected, need)
    said = (
        f"{name}: lacks {words} among its {len(splits[name])} groups ({len(holders)} groups of the selection hold one)"
    )
    if len(holders) < len(SPLITS):
        more = None if select is None else _enough(len(selected), most, select, need)
        raise SplitError(
            f"{said}; each of {len(SPLITS)} splits needs a group that does, so that no sizes would do: "
            + ("use a corpus that has more of them" if more is None else f"a selection of {more} groups would")
            + f"; or leave {need} out of the needs (--needs), if the objective can do without"
        )
    for sizes in _larger({split: len(splits[split]) for split in SPLITS}, name, len(selected) - len(holders) + 1):
        try:
            drawn = draw(sizes)
        except SplitError:  # united groups do not fit
            continue
        if lacking(drawn, selected, needs) is None:
            raise SplitError(
                f"{said}; {sizes[name]} groups would do with this seed: sizes {','.join(map(str, sizes.values()))}; "
                "or stratify by kinds"
            )
    raise SplitError(f"{said}; give it more groups, or stratify by kinds")


def _holding(selected: Selected, need: str) -> list[str]:
    return [group for group, examples in selected.items() if any(map(NEEDS[need][1], examples))]


def _larger(sizes: Mapping[str, int], name: str, certain: int) -> Iterator[dict[str, int]]:
    """Larger sizes for a split, the others giving in proportion, up to the size that cannot fail.

    ``certain`` groups hold the kind whichever they are, as fewer lack it.
    """
    total = sum(sizes.values())
    others = [other for other in SPLITS if other != name]
    most = min(max(certain, sizes[name] + 1), total - len(others))
    steps = range(sizes[name] + 1, most + 1)
    for size in steps if len(steps) <= TRIES else [steps[at * (len(steps) - 1) // (TRIES - 1)] for at in range(TRIES)]:
        rest, weight = total - size, sum(sizes[other] for other in others)
        first = min(max(round(sizes[others[0]] * rest / weight), 1), rest - 1)
        yield {split: {name: size, others[0]: first, others[1]: rest - first}[split] for split in SPLITS}


def _enough(count: int, most: int, select: Select, need: str) -> int | None:
    """The first larger selection, in steps of a tenth, with a group that holds the kind for every split."""
    while count < most:
        count = min(most, count + max(1, count // 10))
        if len(_holding(select(count), need)) >= len(SPLITS):
            return count
    return None
