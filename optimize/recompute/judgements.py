"""The numbers of single judgements: document scores from verdicts or answers, and verdicts at the threshold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from statistics import fmean
from typing import Any, Final

from lineage.audit import Finding
from lineage.ledger import Event
from lineage.records import Judgement
from lineage.segments import read_segment
from optimize.calibration import fact_threshold
from optimize.recompute.columns import chunks
from optimize.recompute.comparing import REMEDY, compared
from optimize.recompute.doubtful import ROUNDED, UNROUNDED, doubtful_scores, doubtful_verdicts
from optimize.recompute.recorded import RecordedRun, nearest
from students import WholeNoteScorer
from students.grounding.student import NAMES as GROUNDING
from students.parsing import parse_score
from students.pipeline import Capture
from students.rereading import score_again
from students.steps import aggregated, stored_read

DOUBTED: Final = "doubted verdicts"


def check_scores(run: RecordedRun) -> Iterator[Finding]:
    """Document scores from the per-fact verdicts, or from the answers.

    Scores that are made of verdicts are computed of many segments together, and those that might differ, one by one.
    """
    student = run.plan["student"]
    events = run.all("evaluation")
    if student["shape"] not in ("per-fact", "per-fact-keyed"):
        for event in events:
            yield from _scores(run, event)
        return
    aggregator = student["aggregator"] if student["shape"] == "per-fact" else "share"
    thresholds = [event.body.get("threshold") for event in run.all("calibration")]
    doubted: dict[float, list[Event]] = {one: [] for one in thresholds if isinstance(one, float)}
    for chunk in chunks(run.directory / "judgements", events, facts=True):
        run.hold(chunk)
        for threshold, found in doubted.items():
            found += doubtful_verdicts(chunk, threshold)
        for event in doubtful_scores(chunk, aggregator):
            yield from _scores(run, event)
    run.once(DOUBTED, lambda: doubted)  # of all verdicts, which are read here anyway


def _scores(run: RecordedRun, event: Event) -> Iterator[Finding]:
    for judgement in read_segment(run.directory / "judgements", event.body["segment"]):
        if judgement.score is None:
            continue
        value = recomputed_score(judgement, run.plan["student"])
        if value is None or abs(value - judgement.score) > ROUNDED:
            place = f"judgements/{event.body['segment']['name']}.jsonl"
            words = f"score of {judgement.example}: recorded {judgement.score!r}, computed {value!r}"
            yield Finding("error", place, words, REMEDY)


def recomputed_score(judgement: Judgement, student: Mapping[str, Any]) -> float | None:
    """The score of a scored judgement from its verdicts or its answers, or None where they amount to none.

    Args:
        judgement: the judgement.
        student: the student's part of the plan, as a row.
    """
    known: Mapping[str, Callable[[Judgement, Mapping[str, Any]], float | None]] = {
        "per-fact": _per_fact_score,
        "per-fact-keyed": lambda judgement, _: _share(judgement),
        "whole-note": _whole_note_score,
        "fact-list": _whole_note_score,
        "two-stage": _captured,
        "three-stage": _captured,
        "step-verifier": _of_steps,
        **dict.fromkeys(GROUNDING, _least_support),
    }
    return known.get(student["shape"], score_again)(judgement, student)


def check_calibration(run: RecordedRun) -> Iterator[Finding]:
    """The threshold set on accept, and the verdicts that were read at it."""
    for event in run.all("calibration"):
        (raw,) = run.evaluations(nearest(run, event, "calibrate"))
        threshold = fact_threshold(raw)
        yield from compared(event, dict(event.body), threshold.row())
        for doubted in _doubted(run, threshold.threshold):
            if doubted.seq > event.seq:
                yield from _verdicts(run, doubted, threshold.threshold)


def _doubted(run: RecordedRun, threshold: float) -> Sequence[Event]:
    """Evaluations with verdicts that may not be those at a threshold."""
    known: dict[float, list[Event]] = run.once(DOUBTED, dict)
    if threshold not in known:
        found = (
            doubtful_verdicts(chunk, threshold)
            for chunk in chunks(run.directory / "judgements", run.all("evaluation"), facts=True)
        )
        known[threshold] = [event for part in found for event in part]
    return known[threshold]


def _verdicts(run: RecordedRun, event: Event, threshold: float) -> Iterator[Finding]:
    for judgement in read_segment(run.directory / "judgements", event.body["segment"]):
        # P(yes) is stored with six decimals and was compared before it was rounded.
        wrong = [v for v in judgement.facts if v.present != (v.p_yes >= threshold)]
        if any(abs(verdict.p_yes - threshold) > UNROUNDED for verdict in wrong):
            place = f"judgements/{event.body['segment']['name']}.jsonl"
            yield Finding("error", place, f"verdicts of {judgement.example} are not those at the threshold", REMEDY)


def _per_fact_score(judgement: Judgement, student: Mapping[str, Any]) -> float | None:
    facts = judgement.facts
    if not facts:
        return None
    if student["aggregator"] == "share":
        return _share(judgement)
    if student["aggregator"] == "margin":
        return 1 / (1 + math.exp(-fmean(verdict.margin for verdict in facts if verdict.margin is not None)))
    values = [verdict.p_yes for verdict in facts]
    return min(values) if student["aggregator"] == "minimum" else fmean(values)


def _share(judgement: Judgement) -> float | None:
    facts = judgement.facts
    return float(Fraction(sum(verdict.present for verdict in facts), len(facts))) if facts else None


def _captured(judgement: Judgement, student: Mapping[str, Any]) -> float | None:
    """From the verdicts after the second look, as they were weighed."""
    if not judgement.facts:
        return None
    capture = Capture(student["weights"] if student["shape"] == "three-stage" else None, student["credits"])
    score = capture.mentions(judgement.facts) if student["sections"] else capture.score(judgement.facts)
    return None if score is None else float(score)


def _of_steps(judgement: Judgement, student: Mapping[str, Any]) -> float | None:
    reads = [stored_read(verdict) for verdict in judgement.facts]
    return aggregated(reads, student["step_aggregation"]) if reads else None


def _least_support(judgement: Judgement, student: Mapping[str, Any]) -> float | None:
    del student  # its pass mark decides on a flag, and on no score
    return min((verdict.p_yes for verdict in judgement.facts), default=None)


def _whole_note_score(judgement: Judgement, student: Mapping[str, Any]) -> float | None:
    texts = judgement.raw if judgement.sent["scratchpad"] is None else judgement.raw[1::2]
    if len(texts) != judgement.sent.get("samples", student["samples"]):
        return None
    read = [parse_score(text, scale=int(WholeNoteScorer.scale)) for text in texts]
    values = [value for value in read if isinstance(value, Fraction)]
    return float(sum(values, Fraction(0)) / len(values)) if len(values) == len(read) else None
