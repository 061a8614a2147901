"""How many calls an experiment needs at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from experiments.crossing.loading import LoadedExperiment
from experiments.sizing import PlanSize, plan_size


@dataclass(frozen=True, slots=True)
class ExperimentSize:
    """Most calls of an experiment's searches, and of its crossed cells.

    Attributes:
        searches: by setting; a search that comes to its budget before its iterations needs fewer.
        crossed: every prompt under every setting on held-out groups, by setting.
        reflector: most calls of the reflector, in all searches.
    """

    searches: Mapping[str, PlanSize]
    crossed: Mapping[str, int]
    reflector: int

    @property
    def student(self) -> int:
        """Most calls of the student."""
        found = self.searches.values()
        return sum(size.calibrate + size.baseline + size.minibatches + size.accept for size in found) + sum(
            self.crossed.values()
        )

    def rows(self) -> tuple[tuple[str, int], ...]:
        """What and calls, in order."""
        rows = [
            row
            for name, size in self.searches.items()
            for row in (
                (f"{name}: seed on accept", size.calibrate),
                (f"{name}: seed on held-out", size.baseline),
                (
                    f"{name}: search, if every proposal is accepted and the budget allows it",
                    size.minibatches + size.accept,
                ),
            )
        ]
        return (*rows, *((f"{name}: winners and seed on held-out", calls) for name, calls in self.crossed.items()))


def experiment_size(loaded: LoadedExperiment) -> ExperimentSize:
    """The most calls that an experiment can need; what is found in the cache is not taken off."""
    searches = {
        setting: plan_size(replace(loaded.base, plan=loaded.plan.arm(loaded.base.plan, setting)))
        for setting in loaded.plan.settings
    }
    prompts = 1 + len(searches)
    crossed = {setting: size.baseline * prompts for setting, size in searches.items()}
    return ExperimentSize(searches, crossed, sum(size.reflector for size in searches.values()))
