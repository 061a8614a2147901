"""What the campaigns of one member came to, over its seeds: gains on accept and held-out, optimism, and costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np

from lineage.canonical import digest
from lineage.records import VOLATILE, Usage
from lineage.segments import read_segment
from optimize.choice import number
from optimize.measured import comparison_row
from optimize.objectives import Comparison
from optimize.objectives.pairs import credits_of
from optimize.recompute import RecordedRun, load_run
from optimize.stats.comparison import compare_replicated

LEVEL: Final = 0.95
_MANY: Final = 1000
"""More replicates than a campaign has: pairs of one seed are told from those of another by multiples of it."""


@dataclass(frozen=True, slots=True)
class MemberReading:
    """A plan's campaigns together.

    Where a campaign found nothing, or nothing worth opening held-out data for, its baseline stays and its gain is 0.

    Attributes:
        name: of the member.
        engine: of its searches, as in its plan.
        shows: what it is there to show.
        decisions: how often each decision was made.
        found: campaigns whose winner was another prompt than the baseline.
        runs: campaigns.
        proposals: mean number of proposals.
        accept: mean gain in paired discrimination on accept of the winner that was chosen there.
        heldout: gain on held-out omissions, each pair's mean over the campaigns; the interval is over groups.
        searched: mean usage of the student in minibatches and on accept, the baseline's left out, cached or not.
        reflected: mean usage that the reflector paid for.
        budget: what each search might use of its student, by amount; null where that is not bounded.
        simulated: whether the judge is a formula.
        exploratory: why nothing is confirmed, or None.
        lock: hash of the split lock.
        credits: of each campaign's winner on each held-out omission that it scored, by omission and campaign.
        groups: of those omissions.
    """

    name: str
    engine: str
    shows: str
    decisions: Mapping[str, int]
    found: int
    runs: int
    proposals: float
    accept: float
    heldout: Comparison
    searched: Mapping[str, float | None]
    reflected: Mapping[str, float | None]
    budget: Mapping[str, float | None]
    simulated: bool
    exploratory: str | None
    lock: str
    credits: Mapping[tuple[str, int], float] = field(repr=False)
    groups: Mapping[str, str] = field(repr=False)

    @property
    def optimism(self) -> float:
        """Mean gain on accept less the gain on held-out data."""
        return self.accept - self.heldout.difference.value

    @property
    def cost_usd(self) -> float | None:
        """US dollars of the search, student and reflector; None where no price applies."""
        costs = [row["cost_usd"] for row in (self.searched, self.reflected) if row["cost_usd"] is not None]
        return math.fsum(costs) if costs else None

    @property
    def budget_used(self) -> float:
        """Share of its search budget that it used, of the amount that it came nearest to; NaN without a budget."""
        used = self.searched
        tokens = (used["prompt_tokens"] or 0.0) + (used["completion_tokens"] or 0.0)
        of = {"calls": used["calls"], "tokens": tokens, "usd": used["cost_usd"]}
        shares = [(of[name] or 0.0) / amount for name, amount in self.budget.items() if amount is not None]
        return max(shares, default=math.nan)

    @property
    def tokens(self) -> float:
        """Tokens of the search, of student and reflector."""
        names = ("prompt_tokens", "completion_tokens")
        return math.fsum(row[name] or 0.0 for row in (self.searched, self.reflected) for name in names)

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "name": self.name,
            "engine": self.engine,
            "shows": self.shows,
            "decisions": dict(self.decisions),
            "found": self.found,
            "runs": self.runs,
            "proposals": self.proposals,
            "accept_gain": number(self.accept),
            "heldout": comparison_row(self.heldout),
            "optimism": number(self.optimism),
            "searched": dict(self.searched),
            "reflected": dict(self.reflected),
            "budget": dict(self.budget),
            "budget_used": number(self.budget_used),
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
            "simulated": self.simulated,
            "exploratory": self.exploratory,
        }


def read_member(name: str, shows: str, directories: Sequence[Path]) -> MemberReading:
    """Read the finished campaigns of one member, from their run directories alone."""
    runs = [load_run(directory) for directory in directories]
    verdicts = [run.all("verdict")[0].body["verdict"] for run in runs]
    ours: dict[tuple[str, int], float] = {}
    theirs: dict[tuple[str, int], float] = {}
    groups: dict[str, str] = {}
    for place, (run, verdict) in enumerate(zip(runs, verdicts, strict=True)):
        for arm, found in zip((ours, theirs), _arms(run, verdict, groups), strict=True):
            arm.update({(example, place * _MANY + replicate): value for (example, replicate), value in found.items()})
    both = ours.keys() & theirs.keys()
    comparison = compare_replicated(
        {unit: ours[unit] for unit in both},
        {unit: theirs[unit] for unit in both},
        groups,
        level=LEVEL,
        rng=np.random.default_rng(int(digest([name, *(verdict["hashes"] for verdict in verdicts)])[:16], 16)),
    )
    return MemberReading(
        name=name,
        engine=str(runs[0].plan["search"]["engine"]),
        shows=shows,
        decisions=Counter(verdict["decision"] for verdict in verdicts),
        found=sum(verdict["winner"] != verdict["baseline"] for verdict in verdicts),
        runs=len(runs),
        proposals=fmean(verdict["accept"]["candidates"] - 1 for verdict in verdicts),
        accept=fmean(_gain(verdict) for verdict in verdicts),
        heldout=replace(comparison, n_failed=len(ours.keys() ^ theirs.keys())),
        searched=_mean([_searched(run) for run in runs]),
        reflected=_mean([_reflected(run) for run in runs]),
        budget=dict(runs[0].plan["search"]["budget"]),
        simulated=any(verdict["simulated"] for verdict in verdicts),
        exploratory=next((verdict["exploratory"] for verdict in verdicts if verdict["exploratory"]), None),
        lock=verdicts[0]["hashes"]["lock"],
        credits=_campaign_means(ours),
        groups=groups,
    )


def _campaign_means(scored: Mapping[tuple[str, int], float]) -> dict[tuple[str, int], float]:
    found: dict[tuple[str, int], list[float]] = {}
    for (example, replicate), credit in sorted(scored.items()):
        found.setdefault((example, replicate // _MANY), []).append(credit)
    return {unit: fmean(values) for unit, values in found.items()}


def _gain(verdict: Mapping[str, Any]) -> float:
    gain = verdict["accept"]["gain"]
    return math.nan if gain is None else float(gain)


def _arms(
    run: RecordedRun, verdict: Mapping[str, Any], groups: dict[str, str]
) -> tuple[dict[tuple[str, int], float], dict[tuple[str, int], float]]:
    """Credits of winner and baseline on held-out omissions; the same where they were not opened for a winner."""
    arms = {
        evaluation.candidate: evaluation
        for purpose in ("baseline", "confirm")
        for event in run.all("evaluation")
        if event.body["purpose"] == purpose
        for evaluation in run.evaluations(event)
    }
    baseline = arms[verdict["baseline"]]
    winner = arms.get(verdict["winner"], baseline)
    groups.update(baseline.planned_pairs("omission"))
    return credits_of(winner.pairs("omission")), credits_of(baseline.pairs("omission"))


def _searched(run: RecordedRun) -> Usage:
    used = Usage()
    for event in run.all("evaluation"):
        body = event.body
        if body["purpose"] == "minibatch" or (body["purpose"] == "accept" and body["iteration"]):
            judged = read_segment(run.directory / "judgements", body["segment"])
            used = sum((judgement.usage for judgement in judged), used)
    return used


def _reflected(run: RecordedRun) -> Usage:
    paid = run.all("spend")[0].body[VOLATILE]["paid"]
    return sum((Usage(**row) for name, row in paid.items() if name.startswith("reflector ")), Usage())


def _mean(usages: Sequence[Usage]) -> dict[str, float | None]:
    rows = [usage.row() for usage in usages]
    found: dict[str, float | None] = {}
    for name in rows[0]:
        values = [row[name] for row in rows if row[name] is not None]
        # A campaign that made no call has no price on record, and cost nothing.
        idle = sum(row[name] is None and not row["calls"] for row in rows)
        found[name] = fmean([*values, *[0.0] * idle]) if values else None
    return found
