"""Simulated judges: formulas with a known ability, and the effect that a candidate's prompt has on them.

Everything is in steps of the score: one fact of a per-fact checker, one point of a whole-note scorer. A note has a
latent score; a judge reads it with deviations of its own and rounds to whole steps, which is what makes ties.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lineage.errors import InputError
from students.budget import EFFORTS


@dataclass(frozen=True, slots=True)
class SimulatedJudge:
    """A judge that is a formula. It shows how a protocol behaves, and says nothing of any model.

    Standard deviations are in steps of the score.

    Args:
        name: what it imitates.
        levels: the highest score, in steps; scores are the whole steps from 0.
        clean: mean latent score of a clean note.
        consultation: SD of what a consultation adds to all its notes. It cancels in pairs and moves flag rates.
        document: SD of what a flawed note has of its own, the same for every prompt.
        ability: steps that an omission lowers the score by, by trace: how well the judge sees it.
        severity: factor on the ability by severity of the omitted fact.
        commission: steps that a commission lowers the score by.
        visibility: SD of what a consultation adds to the ability on all its omissions: pairs of a group win together.
        prompt: SD of one prompt's deviation on one note. That of a clean note is shared by all pairs of its group.
        prompt_visibility: SD of one prompt's deviation on all omissions of one consultation.
        replicate_share: share of the variance of both prompt deviations that is drawn anew in each replicate, in
            [0, 1]; 0 is a deterministic judge, with 1 prompts differ by nothing but replicate noise and their effect.

    Raises:
        InputError: a standard deviation is negative, the levels are too few, or the share is outside [0, 1].
    """

    name: str
    levels: int
    clean: float
    consultation: float
    document: float
    ability: Mapping[str, float]
    severity: Mapping[str, float]
    commission: float
    visibility: float
    prompt: float
    prompt_visibility: float
    replicate_share: float

    def __post_init__(self) -> None:
        if not 1 <= self.levels <= 1000:
            raise InputError(f"levels must be in 1..1000, got {self.levels}; 10 is a score from 0 to 10")
        for name in ("consultation", "document", "visibility", "prompt", "prompt_visibility"):
            value: float = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(f"{name} must be finite and at least 0, got {value}; it is a standard deviation")
        if not 0.0 <= self.replicate_share <= 1.0:
            raise InputError(f"replicate_share must be in [0, 1], got {self.replicate_share}")
        if not self.ability or not self.severity:
            raise InputError("ability and severity must each name at least one kind of omission")


# Both are set so that pairs come out as in the published campaign of OmissionBench, accept and held-out together:
# paired discrimination, ties, the share of pairs on which two prompts differ, and the width of the grouped interval of
# their difference. Traces and severities follow the order that is published; how they spread is a choice.
PER_FACT: Final = SimulatedJudge(
    name="per-fact",
    levels=35,
    clean=33.3,
    consultation=1.5,
    document=0.6,
    ability={"complete": 1.25, "partial-weak": 1.0, "partial-strong": 0.4},
    severity={"critical": 1.2, "supporting": 1.0, "peripheral": 0.8},
    commission=0.35,
    visibility=0.45,
    prompt=0.2,
    prompt_visibility=0.2,
    replicate_share=0.3,
)
"""Shares of about 35 facts: paired discrimination near 0.79, ties near 30%, prompts differ on a fifth of the pairs."""

WHOLE_NOTE: Final = SimulatedJudge(
    name="whole-note",
    levels=10,
    clean=8.9,
    consultation=0.6,
    document=0.1,
    ability={"complete": 0.4, "partial-weak": 0.33, "partial-strong": 0.13},
    severity={"critical": 1.2, "supporting": 1.0, "peripheral": 0.8},
    commission=0.3,
    visibility=0.5,
    prompt=0.15,
    prompt_visibility=0.73,
    replicate_share=0.9,
)
"""Scores from 0 to 10: paired discrimination near 0.62, ties near 40%, prompts differ on half of the pairs."""

JUDGES: Final[Mapping[str, SimulatedJudge]] = {judge.name: judge for judge in (PER_FACT, WHOLE_NOTE)}


@dataclass(frozen=True, slots=True)
class PromptEffect:
    """What candidates really gain over the baseline, in paired discrimination on omissions (0.05 is 5 points).

    Args:
        gain: mean gain of a proposal; 0, with no spread, is the null.
        spread: SD of the gain between proposals.
        share: share of proposals that have any effect at all, in (0, 1].
        from_effort: the lowest reasoning effort at which the effect shows; below it every prompt is the baseline's
            equal. This is an interaction of prompt and reasoning budget.

    Raises:
        InputError: a number is out of range, or the effort has no such name.
    """

    gain: float = 0.0
    spread: float = 0.0
    share: float = 1.0
    from_effort: str = "none"

    def __post_init__(self) -> None:
        if not -1.0 < self.gain < 1.0:
            raise InputError(f"gain must be in (-1, 1), got {self.gain:g}; 0.05 is a gain of 5 points")
        if not (math.isfinite(self.spread) and 0.0 <= self.spread < 1.0):
            raise InputError(f"spread must be in [0, 1), got {self.spread:g}; it is a standard deviation")
        if not 0.0 < self.share <= 1.0:
            raise InputError(f"share must be in (0, 1], got {self.share:g}; use gain = 0 for no effect")
        check_effort(self.from_effort)

    @property
    def null(self) -> bool:
        """Whether no proposal differs from the baseline at any effort."""
        return self.gain == 0.0 and self.spread == 0.0

    def at(self, effort: str) -> PromptEffect:
        """The effect that shows at a reasoning effort: this one, or none."""
        check_effort(effort)
        return self if EFFORTS.index(effort) >= EFFORTS.index(self.from_effort) else PromptEffect()


def check_effort(effort: str) -> None:
    """Refuse a reasoning effort that no budget has.

    Raises:
        InputError: the name is unknown.
    """
    if effort not in EFFORTS:
        raise InputError(f"effort must be one of {', '.join(EFFORTS)}, got {effort!r}")
