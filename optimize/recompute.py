"""Every number of a finished or interrupted campaign, computed again from its run directory alone.

No corpus and no model are needed: judgements hold the scores, ``examples.jsonl`` holds the structure of the examples,
and the ledger holds the plan. What needs text (word overlap, the traces that a reflector read) cannot be computed here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np

from lineage._version import __version__
from lineage.audit import Finding, Severity
from lineage.canonical import digest
from lineage.errors import HoldgateError, LedgerError
from lineage.ledger import OPERATIONAL, Event, read_events
from lineage.records import VOLATILE, Candidate, Judgement
from lineage.segments import read_segment
from optimize.calibration import fact_threshold
from optimize.choice import Standing, choose, number, standing
from optimize.evaluation import Evaluation
from optimize.gate import Arm, Gate, Guardrails, LowerBound, Permutation, Point, Rule
from optimize.objectives import coverage
from optimize.plan import GatePlan
from optimize.search import PoolEntry, SearchResult
from optimize.verdict import measures_row, noise_floor, nothing_found_row, verdict_row
from splits.corpus import Example
from splits.lock import SplitLock
from splits.partition import Selection
from splits.register import Comparison as Place
from students import PerFactChecker, WholeNoteScorer
from students.parsing import Unread, parse_score

TOLERANCE: Final = 1e-9
"""Relative difference that is laid to another machine's last bit rather than to an edit."""

ROUNDED: Final = 0.5e-3 + 1e-6
"""Half a unit in the last place of a stored soft score, and of the six decimals it is computed again from."""

_SENTENCE: Final = re.compile(r"(\S+\.)?(words|reason)(\[\d+\])?: ")
REMEDY: Final = "restore the run directory from a copy, or run the version of Holdgate that wrote it"


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run directory read back: verified events, the examples without their texts, and the committed split lock."""

    directory: Path
    events: tuple[Event, ...]
    examples: Mapping[str, Example]
    lock: SplitLock

    @property
    def plan(self) -> Mapping[str, Any]:
        """The plan's JSON form, as registered."""
        found: Mapping[str, Any] = self.events[0].body["plan"]
        return found

    def all(self, kind: str) -> list[Event]:
        """The events of one type, in order."""
        return [event for event in self.events if event.type == kind]

    def evaluations(self, event: Event) -> tuple[Evaluation, ...]:
        """The evaluations of an ``evaluation`` event, one a candidate, in the event's order.

        Raises:
            LedgerError: the segment is not the recorded one, or judges an example that is not in the run's list.
        """
        judged = read_segment(self.directory / "judgements", event.body["segment"])
        ids = sorted({judgement.example for judgement in judged})
        if unknown := [example for example in ids if example not in self.examples]:
            raise LedgerError(f"seq {event.seq}: judges {unknown[0]!r}, which is not in examples.jsonl")
        examples = tuple(self.examples[example] for example in ids)
        return tuple(
            Evaluation(candidate, examples, tuple(j for j in judged if j.candidate == candidate))
            for candidate in event.body["candidates"]
        )


def load_run(directory: Path) -> RecordedRun:
    """Read a run directory.

    Raises:
        LedgerError: the ledger is damaged, or a file that it needs is missing or not in its format.
    """
    events = tuple(event for event in read_events(directory / "ledger.jsonl") if event.type not in OPERATIONAL)
    if not events or events[0].type != "plan":
        raise LedgerError(f"{directory}: the ledger does not begin with a plan")
    try:
        lines = (directory / "examples.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [{key: value for key, value in json.loads(line).items() if key != "split"} for line in lines]
        examples = {row["id"]: Example(source="", document="", **row) for row in rows}
        lock = _lock(json.loads((directory / "split.lock.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LedgerError(
            f"{directory}: examples.jsonl or split.lock.json is missing or damaged ({error!r})"
        ) from error
    return RecordedRun(directory, events, examples, lock)


def _lock(data: Mapping[str, Any]) -> SplitLock:
    return SplitLock(
        corpus_hash=data["corpus_hash"],
        seed=data["seed"],
        selection=Selection(**data["selection"]),
        splits={name: tuple(groups) for name, groups in data["splits"].items()},
        counts=data["counts"],
        exclusions={name: tuple(entry["groups"]) for name, entry in data["exclusions"].items()},
        alpha=data["alpha"],
        comparisons=data["comparisons"],
        created_at=data["created_at"],
    )


def audit_numbers(directory: Path) -> list[Finding]:
    """Compute every number of a run again and compare it with the recorded one.

    Returns:
        An ``error`` for each number that differs, naming where it stands; and one ``info`` with what was compared.
    """
    try:
        run = load_run(directory)
    except HoldgateError as error:
        return [Finding("error", "ledger.jsonl", f"the numbers were not computed again: {error}")]
    found: list[Finding] = []
    checks: tuple[Callable[[RecordedRun], Iterator[Finding]], ...] = (
        _scores,
        _calibration,
        _measured,
        _outcomes,
        _chosen,
        _decided,
    )
    for check in checks:
        try:
            found.extend(check(run))
        except (HoldgateError, KeyError, TypeError, ValueError, IndexError, StopIteration) as error:
            words = f"the numbers of {check.__name__.strip('_')} could not be computed again: {error!r}"
            found.append(Finding("error", "ledger.jsonl", words))
    kinds = ("evaluation", "calibration", "measured", "outcome", "choice", "verdict")
    counts = ", ".join(f"{len(run.all(kind))} {kind}" for kind in kinds)
    overlap = "; word overlap needs the documents and was not computed again" if run.all("word_overlap") else ""
    return [*found, Finding("info", "ledger.jsonl", f"computed again: {counts}{overlap}", "nothing to do")]


def differences(recorded: Any, computed: Any, *, path: str = "") -> Iterator[str]:
    """Where two JSON values differ, in words; numbers may differ in their last bits."""
    if isinstance(recorded, Mapping) and isinstance(computed, Mapping):
        for key in sorted({*recorded, *computed}):
            yield from differences(recorded.get(key), computed.get(key), path=f"{path}.{key}" if path else str(key))
    elif isinstance(recorded, list | tuple) and isinstance(computed, list | tuple):
        if len(recorded) != len(computed):
            yield f"{path}: {len(recorded)} recorded, {len(computed)} computed"
        for index, pair in enumerate(zip(recorded, computed, strict=False)):
            yield from differences(*pair, path=f"{path}[{index}]")
    elif type(recorded) is float and isinstance(computed, int | float) and not isinstance(computed, bool):
        if not math.isclose(recorded, computed, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{path}: recorded {recorded!r}, computed {computed!r}"
    elif recorded != computed:
        yield f"{path}: recorded {recorded!r}, computed {computed!r}"


def _compare(event: Event, recorded: Any, computed: Any, *, reworded: bool = False) -> Iterator[Finding]:
    """Findings of the differences; in sentences they are warnings if another version may word them otherwise."""
    for words in differences(recorded, computed):
        sentence = _SENTENCE.match(words) is not None
        severity: Severity = "warning" if reworded and sentence else "error"
        yield Finding(severity, f"seq {event.seq} {event.type}", words, REMEDY)


def _scores(run: RecordedRun) -> Iterator[Finding]:
    """Document scores from the per-fact verdicts, or from the answers."""
    student = run.plan["student"]
    scored = _per_fact_score if student["shape"] == "per-fact" else _whole_note_score
    for event in run.all("evaluation"):
        for judgement in read_segment(run.directory / "judgements", event.body["segment"]):
            if judgement.score is None:
                continue
            value = scored(judgement, student)
            if value is None or abs(value - judgement.score) > ROUNDED:
                place = f"judgements/{event.body['segment']['name']}.jsonl"
                words = f"score of {judgement.example}: recorded {judgement.score!r}, computed {value!r}"
                yield Finding("error", place, words, REMEDY)


def _per_fact_score(judgement: Judgement, student: Mapping[str, Any]) -> float | None:
    facts = judgement.facts
    if not facts:
        return None
    if student["aggregator"] == "share":
        return float(Fraction(sum(verdict.present for verdict in facts), len(facts)))
    if student["aggregator"] == "margin":
        return 1 / (1 + math.exp(-fmean(verdict.margin for verdict in facts)))
    values = [verdict.p_yes for verdict in facts]
    return min(values) if student["aggregator"] == "minimum" else fmean(values)


def _whole_note_score(judgement: Judgement, student: Mapping[str, Any]) -> float | None:
    if len(judgement.raw) != student["samples"]:
        return None
    read = [parse_score(text, scale=int(WholeNoteScorer.scale)) for text in judgement.raw]
    values = [value for value in read if not isinstance(value, Unread)]
    return float(sum(values, Fraction(0)) / len(values)) if len(values) == len(read) else None


def _calibration(run: RecordedRun) -> Iterator[Finding]:
    for event in run.all("calibration"):
        (raw,) = run.evaluations(_last(run, event, "calibrate"))
        threshold = fact_threshold(raw)
        computed = {
            "threshold": threshold.threshold,
            "balanced_accuracy": number(threshold.balanced_accuracy),
            "n_present": threshold.n_present,
            "n_absent": threshold.n_absent,
        }
        yield from _compare(event, dict(event.body), computed)
        for later in run.all("evaluation"):
            if later.seq < event.seq:
                continue
            for judgement in read_segment(run.directory / "judgements", later.body["segment"]):
                # P(yes) is stored with six decimals and was compared before it was rounded.
                wrong = [v for v in judgement.facts if v.present != (v.p_yes >= threshold.threshold)]
                if any(abs(verdict.p_yes - threshold.threshold) > 1e-6 for verdict in wrong):
                    place = f"judgements/{later.body['segment']['name']}.jsonl"
                    yield Finding(
                        "error", place, f"verdicts of {judgement.example} are not those at the threshold", REMEDY
                    )


def _measured(run: RecordedRun) -> Iterator[Finding]:
    for event in run.all("measured"):
        yield from _compare(event, event.body["measures"], measures_row(_heldout(run, event)))


def _heldout(run: RecordedRun, event: Event) -> Evaluation:
    """The evaluation that is measured: in ``confirm`` the baseline may stand by its first measurement."""
    for purpose in (event.body["purpose"], "baseline"):
        for evaluation in run.evaluations(_last(run, event, purpose)):
            if evaluation.candidate == event.body["candidate"]:
                return evaluation
    raise LedgerError(f"seq {event.seq}: measures a candidate that no held-out evaluation judged")


def _last(run: RecordedRun, before: Event, purpose: str, *, candidate: str | None = None) -> Event:
    """The nearest evaluation for a purpose, and of a candidate, before an event."""
    for event in reversed(run.all("evaluation")):
        body = event.body
        if event.seq < before.seq and body["purpose"] == purpose and candidate in (None, *body["candidates"]):
            return event
    raise LedgerError(f"seq {before.seq}: {before.type} without an evaluation for {purpose} before it")


def _rewards(run: RecordedRun, evaluation: Evaluation) -> dict[str, float]:
    scale = {"per-fact": PerFactChecker.scale, "whole-note": WholeNoteScorer.scale}[run.plan["student"]["shape"]]
    objective = run.plan["objective"]
    return evaluation.rewards(scale=scale, margin=objective["margin"], clean_weight=objective["clean_weight"])


def _outcomes(run: RecordedRun) -> Iterator[Finding]:
    """Rewards of parent and child on the minibatch, and what they decide."""
    for event in run.all("outcome"):
        body = event.body
        reflection = next(e for e in reversed(run.all("reflection")) if e.seq < event.seq)
        minibatch = [
            later
            for later in run.all("evaluation")
            if reflection.seq < later.seq < event.seq and later.body["purpose"] == "minibatch"
        ]
        if not minibatch:
            yield from _compare(
                event, [body["parent_rewards"], body["child_rewards"], body["outcome"]], [{}, {}, "invalid"]
            )
            continue
        (after,) = run.evaluations(minibatch[-1])
        (before,) = run.evaluations(_last(run, reflection, "minibatch", candidate=reflection.body["parent"]))
        child, parent = _rewards(run, after), _rewards(run, before)
        common = sorted(child.keys() & parent.keys())
        child, parent = {name: child[name] for name in common}, {name: parent[name] for name in common}
        yield from _compare(event, body["child_rewards"], child)
        yield from _compare(event, body["parent_rewards"], parent)
        # In order of ids, as the search sums them: the order decides ties in the last bit.
        gain = sum(child.values()) - sum(parent.values())
        said = f"minibatch reward {gain:+.4f}"
        if coverage(len(common), len(after.examples)) < run.plan["gate"]["coverage"]:
            yield from _compare(event, body["outcome"], "invalid")
        elif not sum(child.values()) > sum(parent.values()):
            yield from _compare(event, [body["outcome"], body["reason"]], ["rejected", said])
        elif body["outcome"] != "invalid":
            yield from _compare(event, [body["outcome"], body["reason"]], ["accepted", said])


def recorded_pool(run: RecordedRun) -> SearchResult:
    """The pool of a finished search, with its evaluations on accept, as the choice of the winner saw it."""
    texts = {event.body["candidate"]: event.body for event in reversed(run.all("candidate"))}
    outcomes = {event.body["candidate"]: event for event in run.all("outcome") if event.body["outcome"] == "accepted"}
    result = SearchResult()
    for name in ("rejected", "invalid"):
        setattr(result, name, sum(event.body["outcome"] == name for event in run.all("outcome")))
    for event in run.all("evaluation"):
        if event.body["purpose"] != "accept":
            continue
        (evaluation,) = run.evaluations(event)
        body = texts[evaluation.candidate]
        if body["kind"] != "seed" and evaluation.candidate not in outcomes:
            continue
        iteration = event.body["iteration"]
        candidate = Candidate(body["texts"], body["kind"], tuple(body["parents"]), iteration)
        name = "seed" if body["kind"] == "seed" else f"c{iteration:02d}"
        result.pool.append(PoolEntry(candidate, evaluation, _rewards(run, evaluation), name))
    return result


def _chosen(run: RecordedRun) -> Iterator[Finding]:
    for event in run.all("choice"):
        result = recorded_pool(run)
        winner, ranked = choose(result.pool)
        leads = {entry.candidate.id: 0 for entry in result.pool}
        for leader in (leader for leaders in result.frontier().values() for leader in leaders):
            leads[leader] += 1
        computed = {
            "winner": winner.entry.candidate.id,
            "ranking": [place.row() for place in ranked],
            "leads": leads,
            "accepted": len(result.pool) - 1,
            "rejected": result.rejected,
            "invalid": result.invalid,
        }
        yield from _compare(event, dict(event.body), computed)


def recompute_verdict(run: RecordedRun) -> dict[str, Any]:
    """The verdict of a run whose winner was chosen and confirmed, as the campaign computes it.

    Raises:
        HoldgateError: the run did not come that far.
    """
    choice = next(iter(run.all("choice")), None)
    if choice is None:
        raise LedgerError(f"{run.directory}: no winner has been chosen yet; resume the campaign")
    result = recorded_pool(run)
    winner, _ = choose(result.pool)
    baseline = standing(result.pool[0])
    first = _last(run, choice, "baseline")
    (before,) = run.evaluations(first)
    registered = run.events[0].body
    shared: dict[str, Any] = {
        "baseline": baseline,
        "lock": run.lock,
        "exploratory": registered["exploratory"],
        "simulated": registered["simulated"],
        "candidates": 1 + result.proposals,
        "accepted": len(result.pool) - 1,
        "noise": noise_floor(before),
        "hashes": {
            "plan": registered["plan_hash"],
            "lock": run.lock.hash,
            "corpus": registered["corpus_hash"],
            "student": first.body["student"],
        },
    }
    if winner.entry.candidate.id == baseline.entry.candidate.id:
        return nothing_found_row(**shared)
    confirmed = run.evaluations(_last(run, run.events[-1], "confirm"))
    arms = {evaluation.candidate: evaluation for evaluation in (before, *confirmed)}
    rng = np.random.default_rng(int(digest(["gate", registered["plan_hash"]])[:16], 16))
    sides = [_arm(place, arms[place.entry.candidate.id]) for place in (winner, baseline)]
    reading = recorded_gate(run).read(*sides, rng=rng)
    opened = next(event.body["comparison"] for event in run.all("seal_opened") if event.body["opening"] == "confirm")
    return verdict_row(reading, winner=winner, place=None if opened is None else Place(**opened), **shared)


def recorded_gate(run: RecordedRun) -> Gate:
    """The gate that the plan fixed, at the lock's alpha."""
    plan = GatePlan.model_validate(run.plan["gate"])
    rules: dict[str, Rule] = {
        "lower-bound": LowerBound(plan.margin),
        "permutation": Permutation(),
        "point": Point(plan.margin),
    }
    return Gate(rules[plan.rule], Guardrails(**run.plan["guardrails"]), plan.coverage, run.lock.spend)


def _arm(place: Standing, evaluation: Evaluation) -> Arm:
    words = sum(len(text.split()) for text in place.entry.candidate.texts.values())
    return Arm(evaluation, place.detection.threshold, words)


def _decided(run: RecordedRun) -> Iterator[Finding]:
    for event in run.all("verdict"):
        written_by = run.events[0].body.get(VOLATILE, {}).get("holdgate")
        computed = recompute_verdict(run)
        yield from _compare(event, event.body["verdict"], computed, reworded=written_by != __version__)
        for opening in (e for e in run.all("seal_opened") if e.body["comparison"] is not None):
            stated = {"of": opening.body["comparison"]["of"], "alpha": opening.body["comparison"]["alpha"]}
            yield from _compare(opening, stated, {"of": run.lock.comparisons, "alpha": run.lock.spend})
