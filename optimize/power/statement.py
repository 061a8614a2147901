"""What a plan can see before anything is spent: effects by power and groups, false-alarm steps, margins, warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lineage.errors import InputError
from optimize.choice import number
from optimize.noise import CAP
from optimize.power.alarms import AlarmSteps, ShownMargin, alarm_steps, chance_beyond, flag_error, shown_margin
from optimize.power.discordance import PLAUSIBLE, Discordance
from optimize.power.effects import SIMULATIONS, Detected, detected
from optimize.power.planned import PlannedRule, closed_power, standard_error
from optimize.power.sizes import SplitSizes, resized
from optimize.power.wording import ENOUGH, cautions

COUNTS: Final = (10, 20, 30, 47, 60, 100, 200, 400)
"""Group counts of the table, beside the plan's own."""
FLAGS_DIFFER: Final = (0.05, 0.20)
"""Share of clean documents that one of two arms flags: the span over which the false-alarm margin is looked at."""
_MOST_GROUPS: Final = 2**17


@dataclass(frozen=True, slots=True)
class Power:
    """What a plan can see on its held-out groups.

    Nothing here is a result: it follows from the stated or measured discordance, and is as good as that.

    Attributes:
        rule: the plan's rule at the lock's level.
        heldout: sizes of the held-out split.
        span: the discordance, or the ends of the span that stands in for a pilot.
        own: what is detected on the plan's own groups, by discordance.
        table: what is detected by number of groups, ascending, by discordance.
        hope: the effect that the plan hopes for, in units of credit; None where it states none.
        needed: held-out groups for 80% power at the hope, by discordance; None where no hope is stated or none do.
        steps: false-alarm steps on accept and on held-out groups.
        beyond: chance that a threshold which just keeps the cap on accept breaks it on held-out documents.
        margins: what the plan's guardrails can show between equal arms, from little to much difference.
        warnings: what the plan cannot see, in words.
    """

    rule: PlannedRule
    heldout: SplitSizes
    span: tuple[Discordance, ...]
    own: tuple[Detected, ...]
    table: tuple[tuple[Detected, ...], ...]
    hope: float | None
    needed: tuple[int | None, ...]
    steps: Mapping[str, AlarmSteps]
    beyond: float
    margins: tuple[ShownMargin, ...]
    warnings: tuple[str, ...]

    def row(self) -> dict[str, Any]:
        """The JSON form; what is undefined is None."""
        return {
            "rule": self.rule.name,
            "margin": self.rule.margin,
            "alpha": self.rule.alpha,
            "replicates": self.rule.replicates,
            "groups": len(self.heldout.omissions),
            "pairs": sum(self.heldout.omissions),
            "range": len(self.span) > 1,
            "discordance": [found.row() for found in self.span],
            "own": [found.row() for found in self.own],
            "table": [[found.row() for found in line] for line in self.table],
            "hope": self.hope,
            "groups_needed": list(self.needed),
            "false_alarms": {
                **{name: steps.row() for name, steps in self.steps.items()},
                "called": self.heldout.counts.rate,
                "chance_beyond_cap": number(self.beyond),
            },
            "margins": [margin.row() for margin in self.margins],
            "warnings": list(self.warnings),
        }


def plan_power(
    rule: PlannedRule,
    sizes: Mapping[str, SplitSizes],
    *,
    discordance: Discordance | None = None,
    false_alarm_margin: float | None = None,
    commission_margin: float | None = None,
    false_alarm_cap: float | None = None,
    guardrail_alpha: float | None = None,
    hope: float | None = None,
    counts: Sequence[int] = COUNTS,
    simulations: int = SIMULATIONS,
    rng: np.random.Generator,
) -> Power:
    """What a plan's rule and guardrails can show on its held-out groups.

    Args:
        rule: the plan's rule at the lock's level.
        sizes: sizes of ``accept`` and ``heldout``.
        discordance: how the arms differ; None looks at the plausible span instead, and gives ranges.
        false_alarm_margin: of the plan's guardrail; None where it has none.
        commission_margin: of the plan's guardrail; None where it has none.
        false_alarm_cap: of the plan's guardrail on held-out documents; None looks at that of accept.
        guardrail_alpha: two-sided error rate at which guardrails are read; None takes the rule's.
        hope: the effect that the plan hopes for, in (0, 0.5].
        counts: group counts of the table, beside the plan's own.
        simulations: comparisons simulated for one number of groups.
        rng: source of all randomness.

    Raises:
        InputError: the hope is outside its range, or the held-out split has no omission pair.
    """
    if hope is not None and not 0.0 < hope <= 0.5:
        raise InputError(f"hope must be in (0, 0.5], as a share: 0.05 for 5 points; got {hope:g}")
    heldout = sizes["heldout"]
    if not heldout.omissions:
        raise InputError(
            "the held-out split has no omission with a twin, and the rule compares nothing else: it can see no effect; "
            "commit a split of a corpus that has some"
        )
    span = PLAUSIBLE if discordance is None else (discordance,)
    own_count = len(heldout.omissions)
    table = tuple(
        tuple(
            detected(rule, found, resized(heldout.omissions, count), hope=hope, simulations=simulations, rng=stream)
            for found, stream in zip(span, rng.spawn(len(span)), strict=True)
        )
        for count in sorted({*counts, own_count})
    )
    own = next(line for line in table if line[0].groups == own_count)
    alpha = rule.alpha if guardrail_alpha is None else guardrail_alpha
    cap = CAP if false_alarm_cap is None else false_alarm_cap
    steps = {
        "accept": alarm_steps(sum(sizes["accept"].clean), cap=CAP, level=1 - alpha),
        "heldout": alarm_steps(sum(heldout.clean), cap=cap, level=1 - alpha),
    }
    beyond = chance_beyond(steps["accept"], steps["heldout"])
    margins = tuple(_margins(rule, heldout, span, false_alarm_margin, commission_margin, alpha))
    needed = tuple(None if hope is None else _needed(rule, found, heldout.omissions, hope) for found in span)
    warnings = tuple(cautions(rule, span, own, hope, needed, margins))
    return Power(rule, heldout, span, own, table, hope, needed, steps, beyond, margins, warnings)


def _margins(
    rule: PlannedRule,
    heldout: SplitSizes,
    span: Sequence[Discordance],
    false_alarm_margin: float | None,
    commission_margin: float | None,
    alpha: float,
) -> list[ShownMargin]:
    found = []
    if false_alarm_margin is not None and heldout.clean:
        for differ in FLAGS_DIFFER:
            error = flag_error(heldout.clean, differ, correlation=span[0].correlation)
            found.append(
                shown_margin(
                    heldout.counts.flags,
                    false_alarm_margin,
                    differ=differ,
                    error=error,
                    n_groups=len(heldout.clean),
                    alpha=alpha,
                )
            )
    if commission_margin is not None and heldout.commissions:
        for discordance in span:
            error = standard_error(discordance, heldout.commissions, replicates=rule.replicates)
            found.append(
                shown_margin(
                    "commissions",
                    commission_margin,
                    differ=discordance.share,
                    error=error,
                    n_groups=len(heldout.commissions),
                    alpha=alpha,
                )
            )
    return found


def _needed(rule: PlannedRule, discordance: Discordance, sizes: Sequence[int], hope: float) -> int | None:
    """The least number of groups with enough power at the hope, in closed form; None if none has."""

    def enough(count: int) -> bool:
        return closed_power(rule, discordance, resized(sizes, count), hope) >= ENOUGH

    high = 2
    while not enough(high):
        if (high := 2 * high) > _MOST_GROUPS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
