"""The shape of a simulated campaign: how many groups, pairs and candidates, and how they are judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lineage.errors import InputError
from optimize.simulation.judge import check_effort

MOST_OMISSIONS = 4


@dataclass(frozen=True, slots=True)
class CampaignShape:
    """Sizes of a simulated campaign. The defaults are those of the published one.

    Args:
        reflect: groups from which minibatches are drawn.
        accept: groups on which the winner is chosen.
        heldout: groups on which the gate compares.
        candidates: candidates that a search adds to the pool, beside the baseline.
        pairs: mean omissions a group, in [1, 4]; each group has 1 to 4.
        commissions: commissions a group.
        minibatch_groups: reflect groups on which a proposal must beat the baseline to enter the pool.
        replicates: held-out repetitions in both arms, an odd number as in a plan.
        effort: the reasoning effort of the student, at which an effect shows or does not.
        traces: share of omissions by trace; scaled to sum to 1.
        severities: share of omissions by severity; scaled to sum to 1.

    Raises:
        InputError: a count is too small, the replicates are even, the minibatch does not fit, or a mix is empty.
    """

    reflect: int = 45
    accept: int = 20
    heldout: int = 47
    candidates: int = 20
    pairs: float = 2.8
    commissions: int = 2
    minibatch_groups: int = 3
    replicates: int = 1
    effort: str = "none"
    traces: Mapping[str, float] = field(
        default_factory=lambda: {"complete": 0.4, "partial-weak": 0.35, "partial-strong": 0.25}
    )
    severities: Mapping[str, float] = field(
        default_factory=lambda: {"critical": 1.0, "supporting": 1.0, "peripheral": 1.0}
    )

    def __post_init__(self) -> None:
        for name, least in (
            ("reflect", 1),
            ("accept", 2),
            ("heldout", 2),
            ("candidates", 1),
            ("commissions", 0),
            ("minibatch_groups", 1),
            ("replicates", 1),
        ):
            value: int = getattr(self, name)
            if value < least:
                raise InputError(f"{name} must be at least {least}, got {value}")
        if self.minibatch_groups > self.reflect:
            raise InputError(
                f"minibatch_groups must be at most the reflect groups, got {self.minibatch_groups} of {self.reflect}; "
                "give more reflect groups"
            )
        if self.replicates % 2 == 0:
            raise InputError(f"replicates must be odd, as in a plan, got {self.replicates}: flags are by majority")
        if not 1.0 <= self.pairs <= MOST_OMISSIONS:
            raise InputError(f"pairs must be in [1, {MOST_OMISSIONS}], got {self.pairs:g}; it is a mean a group")
        check_effort(self.effort)
        for name in ("traces", "severities"):
            mix: Mapping[str, float] = getattr(self, name)
            if not mix or any(not share >= 0.0 for share in mix.values()) or not sum(mix.values()) > 0.0:
                raise InputError(f"{name} must hold shares of at least 0, not all 0, got {dict(mix)}")
