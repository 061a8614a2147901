"""Campaigns that are compared as they are, side by side: run or resumed under one directory, each with its seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from experiments.crossing.readings import MemberReading, read_member
from experiments.loading import LoadedPlan
from lineage.errors import HoldgateError, PlanError
from optimize import Campaign
from optimize.models import open_model
from optimize.plan import Plan, parse_plan
from optimize.watching import Unwatched, Watcher

Watching = Callable[[str, LoadedPlan], Watcher]


@dataclass(frozen=True, slots=True)
class Member:
    """One plan of a set: its name in the table, and what it shows."""

    name: str
    shows: str
    loaded: LoadedPlan


@dataclass(frozen=True, slots=True)
class Skipped:
    """A member that was not run, and why."""

    member: Member
    why: str


@dataclass(frozen=True, slots=True)
class CampaignSet:
    """Campaigns under one directory with one call cache.

    Their held-out comparisons describe and confirm nothing, as so many looks at one held-out split are more than its
    lock pays for. Where the lock has a comparison for each of them, they can be registered as confirmatory ones.

    Attributes:
        what: the set in words, such as ``ablations``.
        members: the plans.
        directory: where their run directories lie, by member and seed.
        seeds: seeds of the search, each a campaign of its own.
        registered: whether each campaign takes a place in its lock's register.
        models: whether members that ask a local or a remote model are run too.
        watching: makes what follows a campaign; by default nothing does.
    """

    what: str
    members: tuple[Member, ...]
    directory: Path
    seeds: tuple[int, ...]
    registered: bool = False
    models: bool = True
    watching: Watching | None = None

    def run(self) -> tuple[list[MemberReading], list[Skipped]]:
        """Run, or resume, every member that can be run here.

        Raises:
            PlanError: the members are to be registered, and their lock has too few comparisons.
            HoldgateError: with what stopped a campaign; everything paid for is kept.
        """
        wanted = [member for member in self.members if self._why_not(member) is None]
        skipped = [Skipped(member, why) for member in self.members if (why := self._why_not(member)) is not None]
        self._check_register(wanted)
        found = []
        for member in wanted:
            directories = [self._campaign(member, seed) for seed in self.seeds]
            found.append(read_member(member.name, member.shows, directories))
        return found, skipped

    def _campaign(self, member: Member, seed: int) -> Path:
        loaded = replace(member.loaded, plan=with_search(member.loaded.plan, seed=seed))
        directory = self.directory / member.name / f"seed-{seed}"
        exploratory = None if self.registered else f"one of several campaigns of {self.what} on one held-out split"
        Campaign(
            loaded.plan,
            loaded.corpus,
            loaded.lock,
            directory,
            baseline=loaded.baseline,
            seeds=loaded.seeds,
            cache=self.directory / "calls.sqlite",
            exploratory=exploratory,
            watcher=Unwatched() if self.watching is None else self.watching(f"{member.name}, seed {seed}", loaded),
            models_hash=loaded.models_hash,
            wait=False,
        ).run()
        return directory

    def _why_not(self, member: Member) -> str | None:
        """Why a member cannot be run here, or None."""
        model = member.loaded.plan.reflector.model
        if model is None and member.loaded.plan.simulated:
            return None
        if not self.models:
            return "asks a model, which takes its time; give --models"
        try:
            for named in member.loaded.plan.roles.values():
                open_model(named).check()
        except HoldgateError as error:
            return str(error)
        return None

    def _check_register(self, wanted: Sequence[Member]) -> None:
        for member in wanted if self.registered else ():
            on_it = sum(other.loaded.lock.hash == member.loaded.lock.hash for other in wanted) * len(self.seeds)
            if member.loaded.lock.comparisons < on_it:
                raise PlanError(
                    f"{member.name}: {on_it} campaigns would be registered on a split lock that has "
                    f"{member.loaded.lock.comparisons} comparisons; commit one with --comparisons {on_it}, or leave "
                    "them exploratory"
                )


def with_search(plan: Plan, **changes: Any) -> Plan:
    """A plan with other settings of its search, checked again."""
    data = plan.model_dump(mode="json", exclude_unset=True)
    data["search"].update(changes)
    return parse_plan(data, where=plan.name)
