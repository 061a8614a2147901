"""The audit of every number: measures, outcomes, choice and verdict, beside the judgements' own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lineage._version import __version__
from lineage.audit import Finding
from lineage.errors import HoldgateError, LedgerError
from lineage.imported import is_imported_run
from lineage.ledger import Event
from lineage.records import VOLATILE
from optimize.choice import choice_row
from optimize.evaluation import Evaluation
from optimize.measured import measures_row
from optimize.recompute.comparing import compared
from optimize.recompute.judgements import check_calibration, check_scores
from optimize.recompute.outcomes import check_outcomes
from optimize.recompute.recorded import RecordedRun, load_run, nearest, recorded_choice, recorded_pool
from optimize.recompute.verdict import recompute_verdict


def audit_numbers(directory: Path, *, verified: Sequence[Event] | None = None) -> list[Finding]:
    """Compute every number of a run again and compare it with the recorded one.

    Args:
        directory: the run directory.
        verified: the events of its ledger, where they have been read and verified.

    Returns:
        An ``error`` for each number that differs, naming where it stands; and one ``info`` with what was compared.
    """
    # On use: they compare by the parts of this package.
    from optimize.importing import audit_imported
    from optimize.judging.recompute import audit_judging
    from optimize.judging.recorded import is_judging

    if is_imported_run(directory):
        return audit_imported(directory)
    if is_judging(directory):
        return audit_judging(directory)
    try:
        run = load_run(directory, verified=verified)
    except HoldgateError as error:
        return [Finding("error", "ledger.jsonl", f"the numbers were not computed again: {error}")]
    found: list[Finding] = []
    checks: tuple[Callable[[RecordedRun], Iterator[Finding]], ...] = (
        check_scores,
        check_calibration,
        check_measured,
        check_outcomes,
        check_chosen,
        check_decided,
    )
    for check in checks:
        try:
            found.extend(check(run))
        except (HoldgateError, KeyError, TypeError, ValueError, IndexError, StopIteration) as error:
            checked = check.__name__.removeprefix("check_")
            words = f"the numbers of {checked} could not be computed again: {error!r}"
            found.append(Finding("error", "ledger.jsonl", words))
    kinds = ("evaluation", "calibration", "measured", "outcome", "choice", "verdict")
    counts = ", ".join(f"{len(run.all(kind))} {kind}" for kind in kinds)
    overlap = "; word overlap needs the documents and was not computed again" if run.all("word_overlap") else ""
    return [*found, Finding("info", "ledger.jsonl", f"computed again: {counts}{overlap}", "nothing to do")]


def check_measured(run: RecordedRun) -> Iterator[Finding]:
    """Measures of a candidate on accept or held-out examples."""
    for event in run.all("measured"):
        yield from compared(event, event.body["measures"], measures_row(_heldout(run, event)))


def check_chosen(run: RecordedRun) -> Iterator[Finding]:
    """The ranking of the pool, its winner, and the counts beside it."""
    for event in run.all("choice"):
        result = recorded_pool(run)
        winner, ranked = recorded_choice(run)
        computed = choice_row(result, winner, ranked)
        yield from compared(event, dict(event.body), computed)


def check_decided(run: RecordedRun) -> Iterator[Finding]:
    """The whole verdict, and the share of alpha that its opening took."""
    for event in run.all("verdict"):
        written_by = run.events[0].body.get(VOLATILE, {}).get("holdgate")
        computed = recompute_verdict(run)
        yield from compared(event, event.body["verdict"], computed, reworded=written_by != __version__)
        for opening in (e for e in run.all("seal_opened") if e.body["comparison"] is not None):
            stated = {"of": opening.body["comparison"]["of"], "alpha": opening.body["comparison"]["alpha"]}
            yield from compared(opening, stated, {"of": run.lock.comparisons, "alpha": run.lock.spend})


def _heldout(run: RecordedRun, event: Event) -> Evaluation:
    """The evaluation that is measured: in ``confirm`` the baseline may stand by its first measurement."""
    for purpose in (event.body["purpose"], "baseline"):
        for evaluation in run.evaluations(nearest(run, event, purpose)):
            if evaluation.candidate == event.body["candidate"]:
                return evaluation
    raise LedgerError(f"seq {event.seq}: measures a candidate that no held-out evaluation judged")
