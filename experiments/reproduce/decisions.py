"""The gate's rules on the published held-out numbers, and what they say of the two decisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from experiments.reproduce.figures import Figure, compare_exactly, undetermined
from experiments.reproduce.printed import Record
from experiments.reproduce.results import TARGETS, Results
from optimize.gate import BeyondNoise, LowerBound, Point, Rule
from optimize.noise import OMISSIONS, NoiseFloor, Spread
from optimize.stats import Comparison, Estimate, Interval, TestResult

ALPHA: Final = 0.05
NO_PAIRS: Final = "the pairs by consultation are not in the data"


@dataclass(frozen=True, slots=True)
class RuleReading:
    """What one rule of the gate makes of the published held-out numbers of one target.

    Attributes:
        target: whose.
        rule: its name.
        holds: whether it would pass; None where the published numbers do not say.
        words: what it saw, or why it cannot be read.
        emitted: what was published.
    """

    target: str
    rule: str
    holds: bool | None
    words: str
    emitted: bool

    @property
    def decision(self) -> str:
        """In a word."""
        return "cannot be read" if self.holds is None else "passes" if self.holds else "refuses"

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "target": self.target,
            "rule": self.rule,
            "holds": self.holds,
            "decision": self.decision,
            "words": self.words,
            "published_emitted": self.emitted,
        }


def rule_readings(results: Results) -> list[RuleReading]:
    """Every rule of the gate on the published held-out numbers of both targets.

    Raises:
        InputError: a key is missing or is not what it should be.
    """
    found = []
    for target in TARGETS:
        emitted = results.record[target]["emitted"].truth
        seen = published_comparison(results, target)
        rules: list[Rule] = [LowerBound(), Point()]
        if (floor := _floor(results, target)) is not None:
            rules.append(BeyondNoise(floor))
        for rule in rules:
            finding = rule.read(seen, ALPHA)
            found.append(RuleReading(target, finding.name, finding.holds, finding.words, emitted))
        if floor is None:
            why = "no replicates of the baseline are published"
            found.append(RuleReading(target, "beyond-noise", None, why, emitted))
        found.append(RuleReading(target, "permutation", None, f"needs the sign-flip p: {NO_PAIRS}", emitted))
    return found


def published_comparison(results: Results, target: str) -> Comparison:
    """The held-out comparison as it was printed; what was not printed is undefined, with the reason."""
    place = results.record[target]["heldout"]
    n = results.record["pipeline"]["heldout"]["n_omissions"].count
    groups = results.record["pipeline"]["heldout"]["n_consultations"].count
    low, high = place["cluster_bootstrap95"].pair
    interval = Interval(float(low), float(high), 1 - ALPHA, "published bootstrap by consultation", groups)
    wins, losses = place["sign_test"]["wins"].count, place["sign_test"]["losses"].count
    tests = (
        TestResult.undefined(NO_PAIRS, alternative="greater", method=method, n_groups=groups)
        for method in ("sign-flip test by group", "t test by group, linearised")
    )
    sign_flip, t_test = tests
    return Comparison(
        difference=Estimate(float(place["delta_paired"].number), interval, n, groups),
        candidate=float(place["winner"]["paired"].number),
        baseline=float(place["baseline"]["paired"].number),
        wins=wins,
        ties=n - wins - losses,
        losses=losses,
        sign_flip=sign_flip,
        t_test=t_test,
        bootstrap=interval,
        n=n,
        n_groups=groups,
    )


def _floor(results: Results, target: str) -> NoiseFloor | None:
    """The noise floor of the published baseline replicates, if there are any."""
    place = results.record[target]["heldout"]
    if "baseline_replicates_paired" not in place:
        return None
    values = tuple(float(item.number) for item in place["baseline_replicates_paired"].items)
    pairs = results.record["pipeline"]["heldout"]["n_omissions"].count
    return NoiseFloor(replicates=len(values), pairs=pairs, measures={OMISSIONS: Spread(values, pairs)})


def emitted_figures(results: Results, readings: list[RuleReading]) -> Iterator[Figure]:
    """The published decisions: determined where every rule that can be read agrees."""
    for target in TARGETS:
        record: Record = results.record[target]["emitted"]
        read = {reading.rule: reading for reading in readings if reading.target == target and reading.holds is not None}
        decisions = {reading.holds for reading in read.values()}
        words = ", ".join(f"{rule} {reading.decision}" for rule, reading in read.items())
        if len(decisions) == 1:
            yield compare_exactly(record, decisions == {True}, f"every rule agrees: {words}")
        else:
            yield undetermined(record, f"it depends on the rule: {words}")


def correction_figure() -> Figure:
    """Holm over the two targets, which the published numbers do not determine."""
    return Figure(
        "",
        "Holm over the two targets",
        "",
        "",
        "not determined",
        f"needs the one-sided gate p of both: {NO_PAIRS}",
    )
