"""The numbers of a trial computed again from its judgements: of its search, of its choice, and what the study reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from lineage.audit import Finding
from lineage.canonical import json_lines
from lineage.errors import HoldgateError
from lineage.ledger import OPERATIONAL, Event
from lineage.records import Candidate
from optimize.evaluation import Evaluation
from optimize.recompute import RecordedRun
from optimize.recompute.comparing import compared
from optimize.recompute.judgements import check_calibration, check_scores
from optimize.recompute.numbers import check_chosen, check_measured
from optimize.recompute.outcomes import check_outcomes
from optimize.sweep.objectives import CostUnit, read
from optimize.sweep.plan import Measure
from splits.corpus import Example
from splits.lock import SplitLock

_CHECKS: Final[tuple[Callable[[RecordedRun], Iterator[Finding]], ...]] = (
    check_scores,
    check_calibration,
    check_measured,
    check_outcomes,
    check_chosen,
)


def check_trial(
    directory: Path, events: Sequence[Event], *, objectives: Sequence[Measure], unit: CostUnit, lock: SplitLock
) -> Iterator[Finding]:
    """Compute every number of a finished trial again, from its directory.

    Args:
        directory: of the trial.
        events: of its ledger, verified.
        objectives: of the study.
        unit: of its costs.
        lock: the split lock of the study.
    """
    try:
        rows = json_lines((directory / "examples.jsonl").read_text(encoding="utf-8"))
        kept = [{key: value for key, value in row.items() if key != "split"} for row in rows]
        examples = {row["id"]: Example(source="", document="", **row) for row in kept}
        run = RecordedRun(directory, tuple(e for e in events if e.type not in OPERATIONAL), examples, lock)
        for check in _CHECKS:
            yield from check(run)
        yield from _check_readings(run, objectives, unit)
    except (HoldgateError, OSError, LookupError, TypeError, ValueError, StopIteration) as error:
        yield Finding("error", "ledger.jsonl", f"its numbers could not be computed again: {error!r}")


def _check_readings(run: RecordedRun, objectives: Sequence[Measure], unit: CostUnit) -> Iterator[Finding]:
    """What the study reads of the trial: the value of each set of groups, and the measures of its outcome."""
    parts = [event for event in run.all("evaluation") if event.body["purpose"] == "part"]
    last = None
    for halving, event in zip(run.all("halving"), parts, strict=True):
        last = _reading(run, event, run.all("candidate")[0].body["candidate"], objectives, unit)
        yield from compared(halving, halving.body["halving"]["value"], last["values"][objectives[0]])
    (finished,) = run.all("finished")
    outcome = finished.body["outcome"]
    if outcome["state"] == "pruned":
        yield from compared(finished, outcome["reading"], last)
        return
    for name, candidate in (("baseline", run.all("candidate")[0].body["candidate"]), ("reading", outcome["winner"])):
        judged = next(
            event
            for event in run.all("evaluation")
            if event.body["purpose"] == "accept" and candidate in event.body["candidates"]
        )
        yield from compared(finished, outcome[name], _reading(run, judged, candidate, objectives, unit))


def _reading(
    run: RecordedRun, event: Event, candidate: str, objectives: Sequence[Measure], unit: CostUnit
) -> Mapping[str, Any]:
    evaluation: Evaluation = next(each for each in run.evaluations(event) if each.candidate == candidate)
    recorded = next(each.body for each in run.all("candidate") if each.body["candidate"] == candidate)
    return read(objectives, Candidate(recorded["texts"], recorded["kind"], (), 0), evaluation, unit=unit).row()
