"""What the gate, the search and the judges turned down, with examples named by their ids and never by their text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from experiments.report.arms import Arm
from experiments.report.blocks import Block, Bullets, Folded, Paragraph, Section, Table
from experiments.report.data import ReportData
from experiments.report.wording import sides, winner_words
from lineage.records import FactVerdict
from optimize.verdict_words import count_of
from splits.corpus import Example

EXAMPLES: Final = 5
"""Examples of each kind that are shown."""
_NUMBER: Final = re.compile(r"[-+]?\d[\d.,]*%?")


def rejected_section(data: ReportData) -> Section:
    """Refusals with their reasons: of the gate, of proposals, and of documents."""
    parts = [*_gate(data), *_proposals(data)]
    (split, arms) = sides(data)[-1]
    parts += [*_losses(data), *judged_blocks(dict(arms), split), *_unscored(data)]
    return Section("rejected", "What the gate, the search and the judges rejected", tuple(parts))


def _gate(data: ReportData) -> Iterator[Block]:
    verdict = data.verdict
    if not data.confirmed:
        yield Paragraph(f"The gate: not read, because {verdict['reason']}.")
        return
    broken = [row for row in (verdict["rule"], *verdict["guardrails"]) if not row["holds"]]
    if not broken:
        yield Paragraph("The gate: none of its conditions was broken.")
        return
    yield Paragraph(f"The gate refused {winner_words(data)} on {count_of(len(broken), 'condition')}:")
    yield Bullets(tuple(f"{row['name']}: {row['words']}" for row in broken))


def _losses(data: ReportData) -> Iterator[Block]:
    """Held-out pairs on which the winner did worse than the baseline."""
    if not data.confirmed:
        return
    before = {(pair.example, pair.replicate): pair for pair in data.baseline.evaluation.pairs()}
    worse = []
    for pair in data.winner.evaluation.pairs():
        other = before.get((pair.example, pair.replicate))
        if other is not None and pair.credit < other.credit:
            worse.append((pair, other))
    compared = len(before)
    if not worse:
        yield Paragraph(f"Pairs: on none of {compared} held-out pairs did the winner do worse than the baseline.")
        return
    worse.sort(key=lambda both: (both[0].credit - both[1].credit, both[0].twin_score - both[0].score, both[0].example))
    shown = worse[: 2 * EXAMPLES]
    table = Table(
        f"Held-out pairs on which the winner did worse than the baseline, the worst first: {len(shown)} of "
        f"{len(worse)} among {compared}. Scores are the flawed document's beside its clean twin's.",
        ("Flawed document", "Flaw", "Trace", "Severity", "Winner", "Baseline"),
        tuple(
            (
                pair.example,
                pair.label,
                _trace(pair.label, pair.trace),
                pair.severity or "unknown",
                f"{pair.score:g} beside {pair.twin_score:g}",
                f"{other.score:g} beside {other.twin_score:g}",
            )
            for pair, other in shown
        ),
    )
    yield Folded(f"Pairs: worse than the baseline on {len(worse)} of {compared} held-out pairs", (table,))


def _proposals(data: ReportData) -> Iterator[Block]:
    """Rejected and invalid proposals by reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for proposal in data.proposals:
        if proposal.outcome in ("rejected", "invalid"):
            kind = _NUMBER.sub("#", proposal.reason.partition(":")[0]).strip() or "no reason on record"
            found.setdefault((proposal.outcome, kind), []).append(proposal.name)
    if not found:
        yield Paragraph(f"The search: none of {count_of(len(data.proposals) - 1, 'proposal')} was rejected or invalid.")
        return
    rows = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    yield Table(
        f"Proposals that the search turned down, by reason, of {len(data.proposals) - 1:,}; # stands for a number.",
        ("Outcome", "Reason", "Proposals", "Such as"),
        tuple((outcome, kind, f"{len(names):,}", ", ".join(names[:EXAMPLES])) for (outcome, kind), names in rows),
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """A document with the score that decides its flag."""

    example: Example
    score: float
    flagged: bool
    missing: str


def judged_blocks(arms: dict[str, Arm], split: str) -> Iterator[Block]:
    """What each judge flagged and what it let pass, in counts and examples.

    Args:
        arms: judges on the same documents, by name.
        split: where, in words.
    """
    for name, arm in arms.items():
        if arm.threshold is None:
            yield Paragraph(f"Documents, {name}: it has no threshold, so that it flags nothing.")
            continue
        seen = _seen(arm)
        rows: list[tuple[str, ...]] = []
        told: list[str] = []
        for words, kept in (
            ("flawed, flagged", [one for one in seen if one.example.label != "clean" and one.flagged]),
            ("flawed, let pass", [one for one in seen if one.example.label != "clean" and not one.flagged]),
            ("clean, flagged", [one for one in seen if one.example.label == "clean" and one.flagged]),
        ):
            # The plainest cases: what was flagged with the lowest scores, and let pass with the highest.
            kept.sort(key=lambda one: (one.score if one.flagged else -one.score, one.example.id))
            told.append(f"{len(kept)} {words}")
            rows += [_row(words, one) for one in kept[:EXAMPLES]]
        if not rows:
            yield Paragraph(f"Documents, {name}, {split}: none flagged and no flaw let pass.")
            continue
        table = Table(
            f"Documents, {name}, {split}: the plainest {EXAMPLES} of each case, flagged below {arm.threshold:g}.",
            ("Case", "Document", "Flaw", "Trace", "Severity", "Score", "Facts found missing"),
            tuple(rows),
        )
        yield Folded(f"Documents, {name}, {split}: {'; '.join(told)}; of {len(seen)} scored", (table,))


def _row(words: str, one: _Seen) -> tuple[str, ...]:
    example = one.example
    if example.label == "clean":
        return (words, example.id, "none", "none", "none", f"{one.score:g}", one.missing)
    trace, severity = _trace(example.label, example.trace), example.severity or "unknown"
    return (words, example.id, example.label, trace, severity, f"{one.score:g}", one.missing)


def _trace(label: str, trace: str | None) -> str:
    """Trace of an omission; no other flaw has one."""
    return (trace or "unknown") if label == "omission" else "none"


def _seen(arm: Arm) -> list[_Seen]:
    """Documents scored in every replicate, each with the score that a strict majority turns on."""
    assert arm.threshold is not None
    scores: dict[str, list[float | None]] = {}
    missing: dict[str, str] = {}
    for judgement in arm.evaluation.judgements:
        scores.setdefault(judgement.example, []).append(judgement.score)
        missing.setdefault(judgement.example, _missing(judgement.facts))
    found = []
    for example in arm.evaluation.examples:
        values = scores.get(example.id, [None])
        if None not in values:
            decides = sorted(value for value in values if value is not None)[len(values) // 2]
            found.append(_Seen(example, decides, decides < arm.threshold, missing[example.id]))
    return found


def _missing(facts: Sequence[FactVerdict]) -> str:
    """Facts that the first judgement found missing, by the names that the corpus gives them.

    A fact that the judge listed itself would quote the source.
    """
    if not facts:
        return "not asked"
    absent = [fact for fact in facts if not fact.present]
    if any(fact.text is not None for fact in facts):
        return f"{len(absent)} of {len(facts)}"
    return ", ".join(fact.fact for fact in absent) or "none"


def _unscored(data: ReportData) -> Iterator[Block]:
    total = sum(row.judgements for row in data.judged)
    failed, abstained = sum(row.failed for row in data.judged), sum(row.abstained for row in data.judged)
    if not failed + abstained:
        yield Paragraph(f"Judgements: each of {total:,} has a score.")
        return
    yield Paragraph(
        f"Judgements: {failed:,} failed and {abstained:,} abstained, of {total:,}. They have no score, and none counts "
        "as 0; the gate section has them by evaluation, with reasons."
    )
