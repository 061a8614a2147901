"""One member of a set against the one that all are set against, on the same held-out pairs.

Two gains over a baseline, each with an interval of its own, do not say whether one winner is better than the other:
that is the difference of the two, pair by pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np

from experiments.crossing.readings import LEVEL, MemberReading
from lineage.canonical import digest
from optimize.objectives import Comparison
from optimize.stats.comparison import compare_replicated

What = Literal["ablations", "accept sizes", "optimisers"]

REFERENCES: Final = ("reference", "gepa")
"""Names of members that the others of their set are set against."""


def reference_of(what: What, found: Sequence[MemberReading]) -> MemberReading | None:
    """The member that the others are set against: the one that is named so, or the largest accept set.

    Returns:
        None where there is none, so that nothing is compared.
    """
    if what == "accept sizes":
        return found[-1] if found else None
    return next((reading for name in REFERENCES for reading in found if reading.name == name), None)


def against(reading: MemberReading, reference: MemberReading) -> Comparison | None:
    """Held-out credit of one member's winners less that of the reference's, pair by pair, each the mean over its seeds.

    A pair that one of the two has not scored with a seed is compared on the other seeds, and counted.

    Returns:
        None for the reference itself, and where the two have no pair in common or were split differently.
    """
    shared = reading.credits.keys() & reference.credits.keys()
    if reading.name == reference.name or not shared or reading.lock != reference.lock:
        return None
    found = compare_replicated(
        {unit: reading.credits[unit] for unit in shared},
        {unit: reference.credits[unit] for unit in shared},
        reading.groups,
        level=LEVEL,
        rng=np.random.default_rng(int(digest(["against", reading.name, reference.name, reading.lock])[:16], 16)),
    )
    return replace(found, n_failed=len(reading.credits.keys() ^ reference.credits.keys()))
