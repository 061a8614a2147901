"""What a report says, decision first."""

from __future__ import annotations

from experiments.report.blocks import (
    Block,
    Bullets,
    Difference,
    Document,
    Notice,
    Paragraph,
    Pictures,
    Section,
    Verbatim,
)
from experiments.report.comparison import comparison_section
from experiments.report.contamination import contamination_notices, contamination_section
from experiments.report.data import ReportData
from experiments.report.departures import departures
from experiments.report.gate import gate_section
from experiments.report.pictures import distribution_picture, leads_picture, optimism_picture
from experiments.report.record import family_section, record_section
from experiments.report.spending import spend_section
from experiments.report.wording import decision, findings, notices, winner_words, word_difference


def document(data: ReportData) -> Document:
    """The whole report."""
    name = data.plan["plan"]["name"]
    lead: list[Block] = [Notice(text) for text in (*notices(data), *contamination_notices(data))]
    lead += [Paragraph(f"Why: {data.verdict['reason']}."), Bullets(tuple(findings(data)))]
    sections = (
        comparison_section(data),
        _instructions(data),
        gate_section(data),
        _pictures(data),
        family_section(data),
        contamination_section(data),
        spend_section(data),
        record_section(data),
        departures(data),
    )
    return Document(name, decision(data), tuple(lead), sections)


def _instructions(data: ReportData) -> Section:
    winner, baseline = data.proposal(data.verdict["winner"]), data.proposal(data.verdict["baseline"])
    if not data.found:
        return Section(
            "instructions",
            "Instruction",
            (Paragraph("The baseline stays; there is no other winner."), Verbatim("Baseline", baseline.text)),
        )
    return Section(
        "instructions",
        "Instructions",
        (
            Verbatim(f"Winner ({winner.name})", winner.text),
            Verbatim("Baseline", baseline.text),
            Difference("From baseline to winner, word by word", word_difference(baseline.text, winner.text)),
        ),
    )


def _pictures(data: ReportData) -> Section:
    ours = data.accept[data.verdict["winner"]]
    judged = winner_words(data) if data.confirmed or not data.found else "baseline"
    return Section(
        "pictures",
        "Optimism, scores and frontier",
        (
            Pictures(
                (
                    optimism_picture(data),
                    distribution_picture(
                        f"Scores of the {winner_words(data)} on accept", ours, scale=data.scale, key="scores-a"
                    ),
                    distribution_picture(
                        f"Scores of the {judged} on held-out data",
                        data.winner,
                        scale=data.scale,
                        key="scores-h",
                    ),
                    leads_picture(data),
                )
            ),
        ),
    )
