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
from experiments.report.compression import compression_section
from experiments.report.contamination import contamination_notices, contamination_section
from experiments.report.data import ReportData
from experiments.report.denominators import denominators_section
from experiments.report.departures import departures
from experiments.report.deviations import deviations_section
from experiments.report.gate import gate_section
from experiments.report.ladders import ladders_section
from experiments.report.operating import operating_section
from experiments.report.parts import parts_section
from experiments.report.pictures import distribution_picture, leads_picture, optimism_picture
from experiments.report.questions import questions_section
from experiments.report.record import family_section, record_section
from experiments.report.rejected import rejected_section
from experiments.report.spending import spend_section
from experiments.report.wording import decision, findings, notices, sides, word_difference


def document(data: ReportData) -> Document:
    """The whole report."""
    name = data.plan["plan"]["name"]
    lead: list[Block] = [Notice(text) for text in (*notices(data), *contamination_notices(data))]
    lead += [Paragraph(f"Why: {data.verdict['reason']}."), Bullets(tuple(findings(data)))]
    sections = (
        comparison_section(data),
        _optimism(data),
        gate_section(data),
        rejected_section(data),
        operating_section(data),
        parts_section(data),
        _scores(data),
        compression_section(data),
        ladders_section(data),
        questions_section(data),
        _instructions(data),
        family_section(data),
        contamination_section(data),
        spend_section(data),
        denominators_section(data),
        record_section(data),
        deviations_section(data),
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


def _optimism(data: ReportData) -> Section:
    opened = "the baseline and the winner were" if data.confirmed else "the baseline was"
    said = (
        f"Accept is read for every candidate of the pool, and the winner is chosen by it; held-out data are opened in "
        f"two planned openings and no more, so that only {opened} measured there. How far the winner falls from accept "
        "to held-out data is the optimism of the choice."
    )
    pictures = (optimism_picture(data), leads_picture(data))
    return Section("optimism", "Optimism and frontier", (Paragraph(said), Pictures(pictures)))


def _scores(data: ReportData) -> Section:
    pictures = tuple(
        distribution_picture(
            f"Scores of the {name} on {split if split == 'accept' else 'held-out data'}",
            arm.clean,
            arm.flawed,
            scale=data.scale,
            key=f"scores-{split}-{place}",
            threshold=arm.threshold,
        )
        for split, arms in sides(data)
        for place, (name, arm) in enumerate(arms)
    )
    return Section("scores", "Scores of clean and flawed documents", (Pictures(pictures),))
