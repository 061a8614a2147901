"""What a report says, decision first."""

from __future__ import annotations

from experiments.report.blocks import (
    Block,
    Bullets,
    Difference,
    Document,
    Notice,
    Pairs,
    Paragraph,
    Pictures,
    Section,
    Table,
    Verbatim,
)
from experiments.report.comparison import comparison_section
from experiments.report.data import ReportData
from experiments.report.pictures import distribution_picture, leads_picture, optimism_picture
from experiments.report.record import departures, family_section, record_section
from experiments.report.spending import spend_section
from experiments.report.wording import (
    change,
    decision,
    findings,
    notices,
    share,
    split_words,
    winner_words,
    word_difference,
)


def document(data: ReportData) -> Document:
    """The whole report."""
    name = data.plan["plan"]["name"]
    lead: list[Block] = [Notice(text) for text in notices(data)]
    lead += [Paragraph(f"Why: {data.verdict['reason']}."), Bullets(tuple(findings(data)))]
    sections = (
        comparison_section(data),
        _instructions(data),
        _gate(data),
        _pictures(data),
        family_section(data),
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


def _gate(data: ReportData) -> Section:
    verdict, plan = data.verdict, data.plan["plan"]
    parts: list[Block] = []
    if "rule" in verdict:
        conditions = [("rule", verdict["rule"]), *(("guardrail", row) for row in verdict["guardrails"])]
        parts.append(
            Table(
                "Conditions of the gate, fixed in the plan before the search. All must hold.",
                ("Condition", "Holds", "What was seen"),
                tuple(
                    (f"{kind}: {row['name']}", "yes" if row["holds"] else "NO", row["words"])
                    for kind, row in conditions
                ),
            )
        )
        held, worst = verdict["heldout"]["omissions"], verdict["heldout"]["omissions_worst_case"]
        said = [
            f"Held-out omissions: {held['wins']} pairs better, {held['ties']} level, {held['losses']} worse, over "
            f"{held['pairs']} pairs in {held['groups']} groups; {change(held)} ({held['method']}).",
            f"Coverage: {100 * verdict['coverage']:.1f}% of planned omission pairs are scored in both arms; the floor "
            f"is {100 * plan['gate']['coverage']:g}%.",
        ]
        if worst is not None:
            said.append(f"With every failed pair counted against the winner: {change(worst)}.")
        parts.append(Bullets(tuple(said)))
    else:
        rule = plan["gate"]["rule"]
        parts.append(Paragraph(f"The gate was not read: the winner is the baseline. Its rule would have been {rule}."))
    noise = verdict["noise_floor"]
    spread = f" The measure spans {100 * noise['spread']:.1f} points." if noise.get("spread") is not None else ""
    parts.append(
        Paragraph(
            f"Noise floor (the baseline against itself, replicates: {noise['replicates']}): {noise['words']}.{spread}"
        )
    )
    parts.append(
        Table(
            "Judgements without a score. None of them is 0, and none is left out of sight.",
            ("Evaluation", "Split", "Failed", "Abstained", "Of"),
            tuple(
                (row.purpose, split_words(row.split), f"{row.failed}", f"{row.abstained}", f"{row.judgements}")
                for row in data.judged
            ),
        )
    )
    if data.failures:
        parts.append(Bullets(tuple(f"Reason: {reason}" for reason in data.failures)))
    if data.calibration is not None:
        row = data.calibration
        parts.append(
            Pairs(
                (
                    ("A fact counts as present from P(yes)", f"{row['threshold']:g}, set on accept and then fixed"),
                    ("Balanced accuracy of that on accept", share(row["balanced_accuracy"])),
                    ("Facts it was set on", f"{row['n_present']} present, {row['n_absent']} absent"),
                )
            )
        )
    return Section("gate", "Gate", tuple(parts))


def _pictures(data: ReportData) -> Section:
    ours = data.accept[data.verdict["winner"]]
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
                        f"Scores of the {winner_words(data)} on held-out data",
                        data.winner,
                        scale=data.scale,
                        key="scores-h",
                    ),
                    leads_picture(data),
                )
            ),
        ),
    )
