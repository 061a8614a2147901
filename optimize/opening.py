"""What judging needs, opened together: the call cache, the call layer by role, and the bench of the student."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from optimize.calling import CallLayer
from optimize.models import Model
from optimize.plan import Plan
from students import Bench, Progress
from students.transport import CallCache, Calls


@dataclass(frozen=True, slots=True)
class Opened:
    """The open call layer of one campaign, the student's calls, and the bench on which it judges."""

    layer: CallLayer
    calls: Calls
    bench: Bench


@contextmanager
def open_bench(
    plan: Plan,
    models: Mapping[str, Model],
    *,
    cache: Path,
    campaign: str,
    progress: Callable[[Progress], None] | None = None,
) -> Iterator[Opened]:
    """Open the call cache and what calls through it; connections and the file are released at the end.

    Args:
        plan: whose limits hold.
        models: the models that are called, by role; one of them is the ``student``.
        cache: path of the call cache; a replay also finds the answers that it was recorded with.
        campaign: whom calls are charged to.
        progress: called after each judgement.
    """
    recorded = tuple(model.recorded for model in models.values() if model.recorded is not None)
    with CallCache(cache, recorded=recorded) as file:
        layer = CallLayer(plan, models, cache=file, campaign=campaign)
        calls = layer.calls("student")
        bench = Bench(calls, run_seed=plan.search.seed, campaign=campaign, progress=progress)
        try:
            yield Opened(layer, calls, bench)
        finally:
            bench.close()
