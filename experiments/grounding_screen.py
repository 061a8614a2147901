"""The evaluation of the grounding gate on the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Console

from experiments.judging.screen import say, show_sheet
from experiments.judging.sheets import NOTHING, Sheet
from optimize.grounding import GroundingResult, Stress
from optimize.grounding.measures import MEASURES, Part, handled_difference, measures_by
from optimize.grounding.outcomes import CaseOutcome
from optimize.stats import Estimate, TypeAccuracy
from students.grounding import Gated

_ARMS: Final = (("before", "whole answer, one call"), ("after", "gate"))


def show_result(console: Console, result: GroundingResult, *, judge: str) -> None:
    """Print measures by type, kind, family and cohort, what was rejected, and the stress test."""
    for part, title in (
        ("type", "by question type"),
        ("kind", "by kind"),
        ("family", "by family"),
        ("cohort", "by cohort of cases"),
    ):
        show_sheet(console, measures_sheet(result, part, title))  # type: ignore[arg-type]  # one of the parts
    for name, words in MEASURES.items():
        say(console, f"{name}: {words}")
    say(
        console,
        "intervals are by note, and Wilson's after a semicolon, which takes the cases of one note as independent",
    )
    difference = handled_difference(result.before, result.after)
    say(console, f"right outcome, gate less whole answer: {_difference(difference)}")
    show_sheet(console, nine_sheet(result))
    say(console, nine_words(result))
    show_sheet(console, rejected_sheet(result.rejected))
    if result.stress:
        show_stress(console, result.stress)
    calls = ", ".join(f"{arm} {count}" for arm, count in result.calls.items())
    say(console, f"calls of the cases: {calls}; {result.paid} paid in all, {result.found} found in the cache")
    if result.simulated:
        say(console, f"{judge}: shared words stand in for a judge; nothing of it says anything about a model.")


def measures_sheet(result: GroundingResult, part: Part, title: str) -> Sheet:
    """Both arms' measures on each part."""
    rows = []
    for (arm, words), outcomes in zip(_ARMS, (result.before, result.after), strict=True):
        for found in measures_by(outcomes, part):
            undecided = sum(counts.get("undecided", 0) for counts in found.outcomes.values())
            restated = found.outcomes["right"].get("restated", 0)
            shares = [_share(found.shares[name]) for name in MEASURES]
            rows.append((f"{found.name} ({arm})", str(found.n), *shares, str(restated), str(undecided)))
        del words
    rows.sort(key=lambda row: (row[0].partition(" (")[0], "after" in row[0]))
    return Sheet(
        f"{title}: before is one call on the whole answer, after is the gate",
        ("", "cases", *MEASURES, "right, restated", "undecided"),
        tuple(rows),
    )


def nine_sheet(result: GroundingResult) -> Sheet:
    """The nine, one by one."""
    before = {outcome.case.id: outcome for outcome in result.before}
    rows = tuple(
        (
            each.case.answer,
            each.case.label,
            before[each.case.id].outcome,
            _score(before[each.case.id]),
            each.outcome,
            _score(each),
        )
        for each in result.after
        if each.case.family == "nine"
    )
    return Sheet("the nine", ("answer", "is", "before", "score", "after", "score"), rows)


def nine_words(result: GroundingResult) -> str:
    """Whether what must hold on the nine does, and which case fails it."""
    nine = [each for each in result.after if each.case.family == "nine"]
    if not nine:
        return "the nine are not among the cases"
    failed = [each for each in nine if (each.outcome == "rejected") != (each.case.label == "wrong") or not each.handled]
    if not failed:
        return "the nine: every right answer is delivered or restated, and every wrong one rejected"
    named = "; ".join(f"{each.case.id} ({each.case.label}, {each.outcome}): {each.case.answer}" for each in failed)
    return f"the nine: {len(failed)} of {len(nine)} fail: {named}"


def rejected_sheet(rejected: Sequence[CaseOutcome]) -> Sheet:
    """What the gate rejected, with why."""
    rows = tuple(
        (
            each.case.id,
            each.case.label,
            each.case.kind,
            each.case.answer,
            "; ".join(_why(reason) for reason in each.reasons),
        )
        for each in rejected
    )
    return Sheet(f"rejected by the gate: {len(rows)}", ("case", "is", "kind", "answer", "why"), rows)


def show_stress(console: Console, stress: Mapping[str, Stress]) -> None:
    """Print how far scores fall, by kind of equivalence."""
    rows = []
    for name, found in stress.items():
        for kind, estimate in (*found.kinds.items(), ("all kinds", found.overall)):
            rows.append((name, kind, _difference(estimate), str(estimate.n)))
    show_sheet(
        console,
        Sheet(
            "equivalent phrasings of true statements: how far the score falls, with intervals by statement",
            ("", "equivalence", "mean fall", "phrasings"),
            tuple(rows),
        ),
    )
    for name, found in stress.items():
        passing = sum(fall.base >= found.pass_mark for fall in found.falls)
        unscored = ", ".join(f"{count} {why}" for why, count in found.unscored.items()) or "none"
        say(
            console,
            f"{name}: of {passing} phrasings whose statement passes at {found.pass_mark:g}, {len(found.turned)} fail; "
            f"without a score: {unscored}",
        )


def show_gated(console: Console, gated: Gated, source: str) -> None:
    """Print what became of one answer, sentence by sentence."""
    score = "not scored" if gated.score is None else f"{gated.score:.2f}"
    say(console, f"{gated.outcome} (least support {score}, pass mark {gated.pass_mark:g})")
    for each in gated.sentences:
        rating = "" if each.rating is None else f", rated {each.rating:.2f}"
        say(console, f"- {each.standing} ({each.polarity}{rating}): {each.sentence.text}")
        for reason in each.reasons:
            say(console, f"    {reason}")
        for span in each.spans:
            say(console, f"    source {span.start} to {span.end}: {' '.join(span.of(source).split())}")
    if gated.text is not None:
        say(console, "")
        say(console, gated.text.strip())


def _share(share: TypeAccuracy) -> str:
    if share.reason:
        return NOTHING
    by_note = "" if share.interval.reason else f" [{share.interval.low:.2f}, {share.interval.high:.2f}]"
    wilson = f"; {share.wilson.low:.2f} to {share.wilson.high:.2f}"
    return f"{share.value:.2f} ({share.correct}/{share.n}){by_note}{wilson}"


def _difference(estimate: Estimate) -> str:
    if estimate.reason:
        return NOTHING
    interval = estimate.interval
    ends = f" ({interval.reason})" if interval.reason else f" [{interval.low:+.3f}, {interval.high:+.3f}]"
    return f"{estimate.value:+.3f}{ends}"


def _score(outcome: CaseOutcome) -> str:
    return NOTHING if outcome.score is None else f"{outcome.score:.2f}"


def _why(reason: str) -> str:
    return reason.partition(": ")[2] or reason
