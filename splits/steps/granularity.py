"""Granularity: which kinds of steps a note is cut into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from lineage.errors import InputError
from lineage.spelling import suggestion

StepKind = Literal["problem", "sentence", "problem-complete", "note-complete", "end"]
KINDS: Final[tuple[StepKind, ...]] = get_args(StepKind)
"""Kinds of steps, from the finest part of a problem to the end of the note."""
TEXT_KINDS: Final[tuple[StepKind, ...]] = ("problem", "sentence")
"""Kinds whose step is a piece of the note; the others are claims about what was written so far."""


@dataclass(frozen=True, slots=True)
class Granularity:
    """Which kinds of steps there are; the end of the note always is one.

    The text of a kind that is left out goes to the next coarser one: without ``sentence`` a problem is one step, and
    without both the whole note is the step at its end. Without ``problem`` a heading stands with the sentence after it.

    Args:
        kinds: some of :data:`KINDS`, ``end`` among them.
    """

    kinds: frozenset[StepKind]

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.kinds) - set(KINDS)):
            raise InputError(f"there is no kind of step {unknown[0]!r}; {suggestion(unknown[0], KINDS)}")
        if "end" not in self.kinds:
            raise InputError("granularity must hold 'end': the end of a note always is a step; add it")

    @classmethod
    def of(cls, name: str) -> Granularity:
        """A preset by its name, or kinds joined by ``+``, such as ``sentence+note-complete``.

        Raises:
            InputError: it names neither; suggests the near name.
        """
        if name in PRESETS:
            return PRESETS[name]
        kinds = [part.strip() for part in name.split("+")]
        for kind in kinds:
            if kind not in KINDS:
                raise InputError(
                    f"granularity must be one of {', '.join(PRESETS)}, or kinds of steps joined by +, got {name!r}; "
                    f"{suggestion(kind, [*PRESETS, *KINDS])}"
                )
        return cls(frozenset({*(kind for kind in KINDS if kind in kinds), "end"}))

    def __contains__(self, kind: object) -> bool:
        return kind in self.kinds

    def __str__(self) -> str:
        named = next((name for name, preset in PRESETS.items() if preset == self), None)
        return named or "+".join(kind for kind in KINDS if kind in self.kinds)


PRESETS: Final[Mapping[str, Granularity]] = {
    "fine": Granularity(frozenset(KINDS)),
    "sentence": Granularity(frozenset({"sentence", "note-complete", "end"})),
    "problem": Granularity(frozenset({"problem", "problem-complete", "note-complete", "end"})),
    "note": Granularity(frozenset({"end"})),
}
"""Granularities by name: every kind, sentences, whole problems, and the note as one step."""
FINE: Final = PRESETS["fine"]
