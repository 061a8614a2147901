"""The audit of an experiment: its chain and files, the order of its openings, every number, and its searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from lineage.audit import Finding, audit_ledger
from lineage.audit.chain import _guarded, _head
from lineage.audit.files import check_evaluations, check_examples
from lineage.audit.record import RunRecord
from lineage.canonical import digest, pretty_json
from lineage.errors import HoldgateError, LedgerError
from lineage.ledger import _read
from lineage.records import VOLATILE
from optimize.crossing.experiment import RESULT, SEARCHES
from optimize.crossing.recorded import RecordedExperiment, load_experiment
from optimize.crossing.targets import targets
from optimize.measured import measures_row
from optimize.recompute import audit_numbers
from optimize.recompute.comparing import compared


def audit_experiment(directory: Path) -> list[Finding]:
    """Check an experiment and each of its searches, and compute every number again; no corpus and no model is needed.

    Returns:
        Findings; without an ``error`` among them the directory is what its ledgers say.
    """
    path = directory / "ledger.jsonl"
    if not path.is_file():
        return [Finding("error", "ledger.jsonl", "there is no ledger", "give the directory of an experiment")]
    try:
        events, torn = _read(path)
        found = list(_head(RunRecord(directory, events), path, torn=torn))
        recorded = load_experiment(directory)
    except LedgerError as error:
        return [Finding("error", "ledger.jsonl", str(error))]
    record = RunRecord(directory, events)
    for check in (check_examples, check_evaluations):
        found += _guarded(check, record)
    checks: tuple[Callable[[RecordedExperiment], Iterator[Finding]], ...] = (
        _registered,
        _order,
        _measured,
        _searches,
        _crossed,
    )
    for each in checks:
        try:
            found += each(recorded)
        except (HoldgateError, LookupError, TypeError, ValueError, StopIteration) as error:
            found.append(
                Finding("error", "ledger.jsonl", f"{each.__name__.strip('_')} could not be checked: {error!r}")
            )
    return found


def _registered(recorded: RecordedExperiment) -> Iterator[Finding]:
    """Plan and lock are those of the first event."""
    body, directory = recorded.body, recorded.run.directory
    if digest(body["experiment"]) != body["plan_hash"]:
        yield Finding("error", "seq 0", "the plan's hash is not the hash of the plan")
    if (directory / "plan.json").read_text(encoding="utf-8") != pretty_json(body["experiment"]):
        yield Finding("error", "plan.json", "is not the plan that the ledger recorded (edited)")
    if recorded.run.lock.hash != body["lock_hash"]:
        yield Finding("error", "split.lock.json", "is not the split lock that the ledger recorded (edited)")
    if body["exploratory"] is not None:
        words = f"exploratory ({body['exploratory']}): its numbers confirm nothing"
        yield Finding("info", "seq 0", words, "confirm with an experiment that is not")
    if body["simulated"]:
        yield Finding("info", "seq 0", "the judge is a simulation: nothing here is about a model", "nothing to do")
    if not recorded.run.all("finished"):
        words = f"the experiment is not finished: {len(recorded.run.events)} events"
        yield Finding("warning", "ledger.jsonl", words, "resume it with the same plan and directory")


def _order(recorded: RecordedExperiment) -> Iterator[Finding]:
    """The seed is measured before the searches, the cells after them, and only inside planned openings, each once."""
    names = recorded.body["targets"]
    wanted = [target.name for target in targets(recorded.experiment["order"], recorded.experiment["compared"])]
    if names != wanted:
        yield Finding("error", "seq 0", "its comparisons are not those that its plan registers")
    searched = [event.seq for event in recorded.run.all("searched")]
    seen: set[tuple[str, str]] = set()
    for event in recorded.run.all("seal_opened"):
        body, place = event.body, f"seq {event.seq}"
        key = (body["opening"], body["target"])
        if key in seen or body["opening"] not in ("baseline", "confirm") or body["target"] not in names:
            yield Finding(
                "error", place, f"the {body['opening']} opening of {body['target']!r} is not a planned one, or a second"
            )
        seen.add(key)
        if body["opening"] == "baseline" and searched and event.seq > searched[0]:
            yield Finding("error", place, "the baseline opening comes after the first search")
        if body["opening"] == "confirm" and (len(searched) < len(recorded.settings) or event.seq < searched[-1]):
            yield Finding("error", place, "the confirm opening comes before the last search")
        if (body["lock"], body["exploratory"]) != (recorded.body["lock_hash"], recorded.body["exploratory"]):
            yield Finding("error", place, "its split lock or exploratory mark is not the experiment's")
        spent = body["comparison"]
        if spent is not None and spent["alpha"] != recorded.run.lock.spend:
            yield Finding("error", place, "it did not spend the share of alpha that the lock gives a comparison")
    for event in recorded.run.all("evaluation"):
        opening = {"baseline": "baseline", "confirm": "confirm"}.get(event.body["purpose"])
        opened = [e.seq for e in recorded.run.all("seal_opened") if e.body["opening"] == opening]
        if event.body["split"] == "heldout" and not (opened and opened[0] < event.seq):
            yield Finding("error", f"seq {event.seq}", "held-out examples are judged outside a planned opening")


def _measured(recorded: RecordedExperiment) -> Iterator[Finding]:
    """The measures of every cell."""
    evaluations = recorded.run.all("evaluation")
    for event in recorded.run.all("measured"):
        before = [e for e in evaluations if e.seq < event.seq and e.body["purpose"] == event.body["purpose"]][-1]
        found = next(e for e in recorded.run.evaluations(before) if e.candidate == event.body["candidate"])
        yield from compared(event, event.body["measures"], measures_row(found))


def _searches(recorded: RecordedExperiment) -> Iterator[Finding]:
    """Each search is sound by itself, ends at the choice that the experiment recorded, and was searched as planned."""
    for event in recorded.run.all("searched"):
        body = event.body
        directory = recorded.run.directory / SEARCHES / body["setting"]
        name = f"{SEARCHES}/{body['setting']}"
        of_it = audit_ledger(directory)
        if not any(finding.severity == "error" for finding in of_it):
            of_it += audit_numbers(directory)
        for finding in of_it:
            ended = finding.severity == "warning" and "not finished" in finding.words
            words = "the search ends at its choice, which the experiment confirms" if ended else finding.words
            yield replace(
                finding, severity="info" if ended else finding.severity, place=f"{name} {finding.place}", words=words
            )
        try:
            steps = RunRecord(directory, _read(directory / "ledger.jsonl")[0])
        except LedgerError:
            continue  # said above
        choice, plan = steps.first("choice"), steps.plan
        if choice is None or choice.body["winner"] != body["winner"] or choice.hash != body[VOLATILE]["choice"]:
            yield Finding("error", name, "its choice is not the one that the experiment recorded")
        if plan is None or plan.body["plan_hash"] != body["plan_hash"]:
            yield Finding("error", name, "it was searched by another plan than the experiment's")
        if recorded.settings[body["setting"]] != body["student"]:
            yield Finding("error", name, "its student is not the one that its winner is crossed with")


def _crossed(recorded: RecordedExperiment) -> Iterator[Finding]:
    """The result, and the file that says the same."""
    event = next(iter(recorded.run.all("crossed")), None)
    if event is None:
        return
    if digest(event.body["result"]) != event.body["result_hash"]:
        yield Finding("error", f"seq {event.seq}", "the result's hash is not the hash of the result")
    yield from compared(event, event.body["result"], recorded.result())
    finished = next(iter(recorded.run.all("finished")), None)
    path = recorded.run.directory / RESULT
    if finished is not None:
        head = {"count": finished.seq + 1, "hash": finished.hash}
        text = path.read_text(encoding="utf-8") if path.is_file() else None
        if text != pretty_json({**event.body["result"], "ledger_head": head}):
            yield Finding("error", RESULT, "is not the result and head that the ledger recorded (edited or missing)")
