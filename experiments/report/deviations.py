"""Where a campaign differs from its own plan, from its ledger alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from experiments.report.blocks import Block, Bullets, Paragraph, Section
from experiments.report.data import ReportData
from optimize.verdict_words import count_of

_LOOKED_FOR: Final = (
    "Looked for: an exploratory opening, an end before the plan's last iteration, stops and resumptions, judgements "
    "without a score, drift and several versions of the model, seeds that were not sent, calls that may be paid "
    "without an answer, contamination, and an arm that was not judged."
)


def deviations_section(data: ReportData) -> Section:
    """Each deviation in words, or that there is none."""
    found = tuple(deviations(data))
    first: Block = Bullets(found) if found else Paragraph("None on record: it was run as it was planned.")
    return Section("deviations", "Deviations from the plan", (first, Paragraph(_LOOKED_FOR)))


def deviations(data: ReportData) -> Iterator[str]:
    """Each deviation in words."""
    verdict, plan = data.verdict, data.plan["plan"]
    if not verdict["confirmatory"]:
        yield f"Exploratory: {verdict['exploratory']}. No number of held-out data confirms anything."
    search, made = plan["search"], len(data.proposals) - 1
    if search["engine"] == "gepa":
        planned = search["iterations"] * search.get("parallel", 1) + len(search.get("seeds", ()))
        if made < planned:
            yield f"Search: {made} of at most {planned} planned proposals were made."
    for reason in data.stops:
        yield f"Stopped on its way: {reason}"
    if data.resumptions:
        times = count_of(data.resumptions, "time")
        yield f"Resumed {times}; what was recorded before was read back, and not paid again."
    failed, abstained = sum(row.failed for row in data.judged), sum(row.abstained for row in data.judged)
    if failed or abstained:
        total = sum(row.judgements for row in data.judged)
        yield f"Without a score: {failed} failed and {abstained} abstained judgements of {total:,}."
    if data.drift is not None:
        yield "Drift: the baseline was measured again beside the winner, as planned for a model that may drift."
    versions, unseeded = _sent(data)
    if len(versions) > 1:
        yield f"Model versions: held-out judgements were answered by {', '.join(versions)}."
    if unseeded:
        yield f"Seeds: {unseeded:,} held-out judgements were asked for without a seed; repeating them may differ."
    lost = data.spend["unanswered"]["calls"]
    if lost:
        yield f"Calls: at most {count_of(lost, 'call')} may be paid without an answer; the spend section counts them."
    leaks = sum(len(body["findings"]) for body in data.contamination)
    if leaks:
        yield f"Contamination: {count_of(leaks, 'finding')}; the contamination section names them."
    budget = verdict.get("equal_budget")
    if budget is not None and data.equal is None:
        yield f"Baseline at equal budget: planned and not judged, {budget['words']}."


def _sent(data: ReportData) -> tuple[list[str], int]:
    """Versions that answered on held-out data, and judgements without a seed there."""
    arms = (data.baseline, data.winner) if data.confirmed else (data.baseline,)
    judgements = [judgement for arm in arms for judgement in arm.evaluation.judgements]
    versions = {str(judgement.sent["version"]) for judgement in judgements if judgement.sent.get("version")}
    return sorted(versions), sum(judgement.sent.get("seeded") is False for judgement in judgements)
