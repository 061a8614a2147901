"""The gate in a report: its conditions and what was seen, noise, second readings, and judgements without a score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from experiments.report.blocks import Block, Bullets, Pairs, Paragraph, Section, Table
from experiments.report.data import ReportData
from experiments.report.wording import NONE, change, flags_label, multiple, points, share, split_words
from optimize.verdict_words import count_of


def gate_section(data: ReportData) -> Section:
    """Every condition that the plan fixed, and what was seen of it."""
    parts = [
        *(_read(data) if data.confirmed else _not_read(data)),
        *_noise(data),
        *_subgroups(data),
        *_unscored(data),
        *_calibration(data),
    ]
    return Section("gate", "Gate", tuple(parts))


def _read(data: ReportData) -> Iterator[Block]:
    verdict, plan = data.verdict, data.plan["plan"]
    conditions = [("rule", verdict["rule"]), *(("guardrail", row) for row in verdict["guardrails"])]
    if verdict["accept"]["rule"] is not None:
        conditions.insert(0, ("before opening", verdict["accept"]["rule"]))
    yield _conditions(conditions)
    held, worst = verdict["heldout"]["omissions"], verdict["heldout"]["omissions_worst_case"]
    said = [
        f"Held-out omissions: {count_of(held['wins'], 'pair')} better, {held['ties']} level, {held['losses']} worse, "
        f"over {held['pairs']} in {count_of(held['groups'], 'group')}; {change(held)} ({held['method']}). Beside it, "
        f"from resampled groups: {_resampled(held)}.",
        f"Coverage: {100 * verdict['coverage']:.1f}% of planned omission pairs are scored in both arms; the floor "
        f"is {100 * plan['gate']['coverage']:g}%.",
    ]
    if worst is not None:
        lowest = "" if worst["lowest_end"] is None else f", lowest end {points(worst['lowest_end'])}"
        said.append(
            f"With every failed pair counted against the winner: {change(worst)}; whatever they would have been"
            f"{lowest or ', an outcome without an interval is possible'}."
        )
    said.append(
        f"{flags_label(data)}: winner {_flagged(verdict, 'candidate')}, baseline {_flagged(verdict, 'baseline')}."
    )
    said += [_on_accept(verdict), _cost(verdict["cost"]), *_equal_budget(verdict)]
    yield Bullets(tuple(said))


def _not_read(data: ReportData) -> Iterator[Block]:
    rule = data.plan["plan"]["gate"]["rule"]
    if not data.found:
        yield Paragraph(f"The gate was not read: the winner is the baseline. Its rule would have been {rule}.")
        return
    yield _conditions([("before opening", data.verdict["accept"]["rule"])])
    yield Paragraph(f"The gate was not read: held-out data stayed shut. Its rule would have been {rule}.")
    yield Bullets((_on_accept(data.verdict),))


def _conditions(rows: list[tuple[str, Mapping[str, Any]]]) -> Table:
    return Table(
        "Conditions of the gate, fixed in the plan before the search. All must hold.",
        ("Condition", "Holds", "What was seen"),
        tuple((f"{kind}: {row['name']}", "yes" if row["holds"] else "NO", row["words"]) for kind, row in rows),
    )


def _resampled(held: Mapping[str, Any]) -> str:
    """Both bootstrap intervals of the difference, which the rule does not read."""
    parts = []
    for name, key in (("percentile", "bootstrap"), ("BCa", "bca")):
        ends = held.get(key)
        shown = "none" if ends is None or ends["low"] is None else f"[{points(ends['low'])}, {points(ends['high'])}]"
        parts.append(f"{name} {shown}")
    return ", ".join(parts)


def _flagged(verdict: Mapping[str, Any], arm: str) -> str:
    row = verdict["flags"][arm]
    if not row["of"]:
        return "none scored"
    low, high = share(row["low"]), share(row["high"])
    return f"{row['flagged']} of {row['of']} ({100 * row['level']:g}% Wilson interval [{low}, {high}])"


def _on_accept(verdict: Mapping[str, Any]) -> str:
    row, sign = verdict["accept"]["comparison"], verdict["accept"]["sign_test"]
    told = "told from noise" if verdict["accept"]["told_from_noise"] else "not told from noise"
    return (
        f"On accept, where the winner was chosen: {change(row, level=0)}, {count_of(sign['wins'], 'pair')} better and "
        f"{sign['losses']} worse, sign test p = {sign['p']:.3g}; {told} even there, and optimistic."
    )


def _cost(row: Mapping[str, Any]) -> str:
    times = NONE if row["ratio"] is None else f"{row['ratio']:.2f} times the baseline's"
    shown = "{:.6f} US dollars" if row["unit"] == "usd" else "{:.1f} tokens"
    ours, theirs = shown.format(row["candidate"]), shown.format(row["baseline"])
    return f"Cost a document: {times} ({ours} against {theirs}; a failed one counts as the winner's dearest)."


def _equal_budget(verdict: Mapping[str, Any]) -> Iterator[str]:
    row, found = verdict["equal_budget"], verdict["heldout"]["equal_budget"]
    if row is None:
        return
    if found is None:
        yield f"Baseline at equal budget: not judged, {row['words']}."
        return
    held = row["heldout_tokens"]
    yield (
        f"Winner against the baseline at equal budget ({row['samples']} samples, {held['arm']:.1f} completion tokens a "
        f"judgement against {held['winner']:.1f}): {change(found)}, over {found['pairs']} pairs, {found['failed']} "
        "failed. It decides nothing."
    )


def _noise(data: ReportData) -> Iterator[Block]:
    noise = data.verdict["noise_floor"]
    yield Paragraph(f"Noise floor (the baseline against itself, replicates: {noise['replicates']}): {noise['words']}.")
    if not data.confirmed:
        return
    held = data.verdict["heldout"]
    names = (
        ("Omissions", "omissions"),
        ("Commissions", "commissions"),
        (flags_label(data), "false_alarms"),
        ("Omissions, baseline at equal budget", "equal_budget"),
    )
    yield Table(
        "Held-out differences beside the noise floor: the SD of the measure's difference between two replicates of "
        "the baseline.",
        ("Measure", "Difference", "Beside the noise floor"),
        tuple((name, change(held[key]), multiple(held[key], noise)) for name, key in names if held[key] is not None),
    )


def _subgroups(data: ReportData) -> Iterator[Block]:
    if not data.confirmed:
        return
    found = data.verdict["subgroups"]
    if not found["tested"]:
        yield Paragraph(f"Sub-groups: {found['words']}.")
        return
    yield Table(
        f"Sub-groups, tested because the gate passed: one-sided sign-flip p with Holm's correction over "
        f"{len(found['rows'])}, simultaneous {100 * found['level']:.4g}% intervals.",
        ("Sub-group", "Pairs", "Difference", "p, adjusted"),
        tuple(
            (f"{row['field']}: {row['value']}", f"{row['pairs']}", change(row), f"{row['adjusted_p']:.3g}")
            for row in found["rows"]
        ),
    )


def _unscored(data: ReportData) -> Iterator[Block]:
    yield Table(
        "Judgements without a score. None of them is 0, and none is left out of sight.",
        ("Evaluation", "Split", "Failed", "Abstained", "Of"),
        tuple(
            (row.purpose, split_words(row.split), f"{row.failed}", f"{row.abstained}", f"{row.judgements}")
            for row in data.judged
        ),
    )
    if data.failures:
        yield Bullets(tuple(f"Reason: {reason}" for reason in data.failures))


def _calibration(data: ReportData) -> Iterator[Block]:
    if data.calibration is not None:
        row = data.calibration
        yield Pairs(
            (
                ("A fact counts as present from P(yes)", f"{row['threshold']:g}, set on accept and then fixed"),
                ("Balanced accuracy of that on accept", share(row["balanced_accuracy"])),
                ("Facts it was set on", f"{row['n_present']} present, {row['n_absent']} absent"),
            )
        )
