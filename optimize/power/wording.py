"""What a power statement says in words: ranges, and what the plan cannot see."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from optimize.power.alarms import ShownMargin
from optimize.power.discordance import Discordance
from optimize.power.effects import Detected
from optimize.power.planned import PlannedRule

ENOUGH: Final = 0.80
"""Power from which a plan is said to see an effect."""


def between(values: Sequence[float], form: str, *, unit: str = "") -> str:
    """One number, or the range of several, in words; NaN is none."""
    shown = sorted({format(value, form) for value in values if not math.isnan(value)}, key=float)
    if not shown:
        return "none"
    ends = shown[0] if len(shown) == 1 else f"{shown[0]} to {shown[-1]}"
    return f"{ends}{unit}" + (" or none" if any(math.isnan(value) for value in values) else "")


def cautions(
    rule: PlannedRule,
    span: Sequence[Discordance],
    own: Sequence[Detected],
    hope: float | None,
    needed: Sequence[int | None],
    margins: Sequence[ShownMargin],
) -> list[str]:
    """What a plan cannot see, and what its numbers rest on, one sentence or two each.

    Args:
        rule: the plan's rule.
        span: the discordance, or the ends of a span.
        own: what is detected on the plan's own groups, by discordance.
        hope: the effect that the plan hopes for, or None.
        needed: held-out groups for enough power at the hope, by discordance.
        margins: what the plan's guardrails can show between equal arms.
    """
    found = [detected.reason for detected in own[:1] if detected.reason]
    groups = own[0].groups
    if hope is not None:
        powers = [detected.at_hope for detected in own]
        if not min(powers) >= ENOUGH:
            said = between([100 * power for power in powers], ".0f", unit="%")
            counts = [float(count) if count is not None else math.nan for count in needed]
            found.append(
                f"The plan hopes for {100 * hope:.1f} points, and would see that with a power of {said}: expect a "
                f"refusal even where the gain is real. For 80% it takes about {between(counts, '.0f')} held-out groups."
            )
    if rule.replicates > 1 and rule.name != "beyond-noise" and not any(one.noise for one in span):
        found.append(
            f"None of the variance is known to be noise of judging, so the plan's {rule.replicates} replicates are "
            "taken to gain nothing; a pilot with replicates, or --noise-share, says what they gain."
        )
    if own[0].reading == "sign-flip" and rule.name == "lower-bound":
        found.append(
            f"With {groups} held-out groups the default rule reads the sign-flip test, and not the interval; no "
            f"moderate gain shows there."
        )
    chance = [detected.by_chance for detected in own]
    if rule.name in ("point", "beyond-noise") and not all(math.isnan(value) for value in chance):
        said = between([100 * value for value in chance], ".0f", unit="%")
        found.append(f"Without any gain the rule {rule.name} passes {said} of the time: it is no test at alpha.")
    for name in dict.fromkeys(margin.name for margin in margins):
        holds = [margin.holds for margin in margins if margin.name == name]
        planned = next(margin.planned for margin in margins if margin.name == name)
        if min(holds) < ENOUGH:
            found.append(
                f"The guardrail on {name} (margin {planned:.2f}) would block a winner that is in truth equal "
                f"{between([100 * (1 - held) for held in holds], '.0f', unit='%')} of the time."
            )
    return found
