"""The family of confirmatory comparisons on one held-out split: their gate p values together, by Holm.

Each campaign is decided by itself, at an equal share of the lock's alpha, because it cannot wait for those that may
follow. Holm's correction over all of them is at least as powerful, and can be read when several have ended. It writes
no prompt: that is the gate's alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lineage.errors import InputError
from optimize.choice import number
from optimize.gate import SMALL
from optimize.recompute import RecordedRun
from optimize.stats import holm


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """One comparison of the family.

    Attributes:
        run: name of its run directory.
        decision: of its gate, at its share of alpha.
        difference: of paired discrimination on held-out omissions, winner less baseline; NaN where undefined.
        p: one-sided, of the test that the gate's rule rests on; 1 where it is undefined.
        test: which test that is.
        adjusted: after Holm.
    """

    run: str
    decision: str
    difference: float
    p: float
    test: str
    adjusted: float

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "run": self.run,
            "decision": self.decision,
            "difference": number(self.difference),
            "p": self.p,
            "test": self.test,
            "adjusted_p": self.adjusted,
        }


@dataclass(frozen=True, slots=True)
class Family:
    """Comparisons on one held-out split, adjusted together.

    Attributes:
        members: in the order given.
        comparisons: how many the lock allows; those that were not made, or are not given, count as p = 1.
        alpha: two-sided error rate of the family.
        simulated: whether the judge of any is a formula.
    """

    members: tuple[FamilyMember, ...]
    comparisons: int
    alpha: float
    simulated: bool

    def gains(self, member: FamilyMember) -> bool:
        """Whether a gain is shown for a member at the family's error rate; one-sided, so at half of it."""
        return member.adjusted < self.alpha / 2


def family_of(runs: Sequence[RecordedRun]) -> Family:
    """The confirmatory comparisons of some finished runs on one held-out split.

    Raises:
        InputError: there is no run, one confirmed nothing, one is given twice, or their split locks differ.
    """
    if not runs:
        raise InputError("a family has at least one run; name the run directories of one split lock")
    lock = runs[0].lock
    seen: dict[str, RecordedRun] = {}
    for run in runs:
        if run.lock.hash != lock.hash:
            raise InputError(f"{run.directory} is of another split lock than {runs[0].directory}; a family has one")
        if seen.setdefault(run.events[0].hash, run) is not run:
            raise InputError(
                f"{run.directory} holds the campaign of {seen[run.events[0].hash].directory}; name it once"
            )
    if len(runs) > lock.comparisons:
        raise InputError(f"the split lock allows {lock.comparisons} confirmatory comparisons, got {len(runs)}")
    verdicts = [_verdict(run) for run in runs]
    read = [_gate_p(verdict) for verdict in verdicts]
    # A comparison that was not made may be made later: leaving it out would shrink the family.
    adjusted = holm([*(p for p, _ in read), *[1.0] * (lock.comparisons - len(runs))])
    members = []
    for run, verdict, (p, test), value in zip(runs, verdicts, read, adjusted[: len(runs)], strict=True):
        difference = verdict["heldout"]["omissions"]["difference"]
        members.append(
            FamilyMember(
                run.directory.name,
                verdict["decision"],
                math.nan if difference is None else difference,
                p,
                test,
                value,
            )
        )
    return Family(tuple(members), lock.comparisons, lock.alpha, any(verdict["simulated"] for verdict in verdicts))


def _verdict(run: RecordedRun) -> Mapping[str, Any]:
    """The verdict of a run that confirmed something."""
    found = next((event.body["verdict"] for event in run.all("verdict")), None)
    if found is None:
        raise InputError(f"{run.directory} has no verdict yet; resume it")
    if not found["confirmatory"] or "heldout" not in found:
        why = "it is exploratory" if not found["confirmatory"] else f"its decision is {found['decision']}"
        raise InputError(f"{run.directory} made no confirmatory comparison: {why}; leave it out")
    verdict: Mapping[str, Any] = found
    return verdict


def _gate_p(verdict: Mapping[str, Any]) -> tuple[float, str]:
    """The one-sided p that goes with the rule, and its test."""
    row = verdict["heldout"]["omissions"]
    flips = verdict["rule"]["name"] == "permutation" or row["groups"] < SMALL
    p = row["sign_flip_p" if flips else "t_p"]
    return 1.0 if p is None else float(p), "sign-flip test by group" if flips else "t test by group"
