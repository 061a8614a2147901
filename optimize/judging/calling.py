"""What a judging run calls with: one cache, one spend over all judges, and one limiter an endpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optimize.calling import is_free
from optimize.judging.judges import Judge
from optimize.model_plan import ModelPlan
from optimize.models import Model
from optimize.plan import RoleLimitsPlan
from students import Bench, Progress
from students.judging import Lister
from students.transport import CallCache, Calls, Limiters, Limits, Rate, Spend

ROLE = "student"


@dataclass(frozen=True, slots=True)
class JudgingCalls:
    """The open call layer of a judging run.

    One bench judges for all, so that limits hold over the whole run; whose turn it is decides what it calls.
    """

    bench: Bench
    calls: Mapping[ModelPlan, Calls]
    models: Mapping[ModelPlan, Model]
    cache: CallCache
    limits: RoleLimitsPlan
    run: str

    def turn(self, judge: Judge) -> Bench:
        """The bench, calling what this judge calls."""
        if judge.model is not None:
            self.bench.calls = self.calls[judge.model]
        self.bench.lister = None if judge.lister is None else self._lister(judge, judge.lister)
        return self.bench

    @property
    def paid(self) -> int:
        """Calls that were paid for in this process."""
        return sum(calls.paid for calls in self.calls.values())

    @property
    def found(self) -> int:
        """Calls that were found in the cache."""
        return sum(calls.found for calls in self.calls.values())

    def record(self) -> dict[str, Any]:
        """What was paid for by judge, what may have been, and the limits, as JSON."""
        return {
            "paid": {phase: usage.row() for (_, phase), usage in self.cache.paid_by_phase(self.run).items()},
            "unanswered": self.cache.unanswered(self.run).row(),
            "limits": self.limits.model_dump(mode="json"),
        }

    def _lister(self, judge: Judge, lister: ModelPlan) -> Lister:
        """The lister's calls; its prompt cache is used as the checker's is, where a server of its own may have one."""
        mode = "unset" if lister.original.local is None else judge.student.prompt_cache
        return Lister(self.calls[lister], mode)


@contextmanager
def open_calls(
    models: Mapping[ModelPlan, Model],
    *,
    limits: RoleLimitsPlan,
    seed: int,
    cache: Path,
    run: str,
    progress: Callable[[Progress], None] | None = None,
) -> Iterator[JudgingCalls]:
    """Open the call cache and the ways to all models; connections and the file are released at the end.

    Args:
        models: every model that is called; what is at one endpoint shares its rate.
        limits: of the whole run; what its earlier processes paid for counts against them.
        seed: of the calls.
        cache: path of the call cache; a replay also finds the answers that it was recorded with.
        run: whom calls are charged to.
        progress: called after each judgement.
    """
    recorded = tuple(model.recorded for model in models.values() if model.recorded is not None)
    with CallCache(cache, recorded=recorded) as file:
        spent = {ROLE: file.paid(run) + file.unanswered(run)}
        spend = Spend(Limits(limits.calls, limits.tokens, limits.usd, limits.wall_s), spent=spent)
        limiters = Limiters()
        calls = {
            plan: Calls(
                model.transport,
                cache=file,
                spend=spend,
                limiter=limiters.of(model.identity, Rate(model.concurrency, **plan.limits.model_dump())),
                concurrency=model.concurrency,
                price=model.price,
                free=is_free(plan),
                deadline_s=plan.deadline_s,
            )
            for plan, model in models.items()
        }
        first = next(iter(calls.values()))
        bench = Bench(first, run_seed=seed, campaign=run, progress=progress)
        try:
            yield JudgingCalls(bench, calls, models, file, limits, run)
        finally:
            for each in calls.values():
                if each is not first:
                    bench.run(each.transport.aclose())
            bench.calls, bench.lister = first, None
            bench.close()
