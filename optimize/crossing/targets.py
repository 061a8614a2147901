"""The comparisons of a crossed experiment: which cells are set against which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from optimize.crossing.plan import Kind

SEED: Final = "seed"
"""The prompt that every search began at; the others are named by the setting that they were searched under."""


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One prompt judged under one setting."""

    prompt: str
    setting: str

    def __str__(self) -> str:
        return f"{self.prompt} at {self.setting}"


@dataclass(frozen=True, slots=True)
class Target:
    """One registered comparison: the sum of some cells less the sum of as many others, above zero if the claim holds.

    Attributes:
        kind: of the comparison.
        name: its name in the register.
        plus: cells that count for the claim.
        minus: cells that count against it.
        claim: what is claimed, in words.
    """

    kind: Kind
    name: str
    plus: tuple[Cell, ...]
    minus: tuple[Cell, ...]
    claim: str

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells that it reads."""
        return (*self.plus, *self.minus)

    def void(self, winners: Mapping[str, str]) -> bool:
        """Whether both sides are the same prompts under the same settings, so that nothing is compared.

        Args:
            winners: candidate id by prompt, the seed among them.
        """
        sides = [sorted((winners[cell.prompt], cell.setting) for cell in side) for side in (self.plus, self.minus)]
        return sides[0] == sides[1]


def targets(settings: Sequence[str], kinds: Sequence[Kind]) -> tuple[Target, ...]:
    """The comparisons of an experiment, in a fixed order."""
    found = {
        "interaction": [_interaction(a, b) for a, b in combinations(settings, 2)],
        "own": [_gain("own", setting, setting) for setting in settings],
        "transfer": [_gain("transfer", a, b) for a in settings for b in settings if a != b],
    }
    return tuple(target for kind in kinds for target in found[kind])


def _interaction(a: str, b: str) -> Target:
    return Target(
        "interaction",
        f"interaction {a} x {b}",
        (Cell(a, a), Cell(b, b)),
        (Cell(b, a), Cell(a, b)),
        f"the prompts searched at {a} and at {b} do better against each other where they were searched",
    )


def _gain(kind: Kind, prompt: str, setting: str) -> Target:
    return Target(
        kind,
        f"searched at {prompt}, judged at {setting}",
        (Cell(prompt, setting),),
        (Cell(SEED, setting),),
        f"the prompt searched at {prompt} is better than the seed at {setting}",
    )
