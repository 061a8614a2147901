"""Two judges compared on identical examples: paired tests by group, the overlap of what they flag, and running both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from optimize.choice import number
from optimize.evaluation import Evaluation
from optimize.gate import clean_counts
from optimize.judging.alignment import Aligned, Side, aligned
from optimize.judging.costs import JudgePrices, judging_cost
from optimize.judging.flags import Flagging, Source, flag_row, own_flagging, swept_flagging
from optimize.judging.table import LEVEL, measure_row
from optimize.measured import comparison_row
from optimize.objectives import ScoredExamples, compare, scored_evaluation
from optimize.objectives.pairs import credits_of, groups_of
from optimize.objectives.scored import Bools
from optimize.stats import compare_values, exact_mcnemar, mid_p_mcnemar, sign_flip_test
from optimize.stats.groups import Floats

SEED = 0
"""Seed of the Monte-Carlo sign-flip test, which is exact up to 16 groups that differ."""


def compare_judges(
    first: Side, second: Side, *, common: bool = False, flags_by: Source = "own", union: bool = False, seed: int = SEED
) -> dict[str, Any]:
    """The comparison as JSON; undefined numbers are None with a reason.

    Args:
        first: A.
        second: B; differences are A less B.
        common: whether to compare the common part where they did not judge the same examples.
        flags_by: the judges' own rules, or thresholds swept on these documents.
        union: whether to evaluate running both, where a document is flagged if either flags it.
        seed: of the sign-flip tests.

    Raises:
        InputError: they did not judge the same examples, or flags have no majority.
    """
    found = aligned(first, second, common=common)
    flaggings = [
        _flagging(side, evaluation, flags_by) for side, evaluation in ((first, found.first), (second, found.second))
    ]
    scored = scored_evaluation(found.first)
    row: dict[str, Any] = {
        "a": first.row(),
        "b": second.row(),
        "level": LEVEL,
        "seed": seed,
        "examples": {**found.row(), "clean": clean_counts(found.first.examples).row()},
        "paired": {label: paired_row(found, label, seed=seed) for label in ("omission", "commission")},
        "flags": flags_row(scored, flaggings, by=flags_by, seed=seed),
        "union": union_row(found, scored, flaggings, (first.judged.prices, second.judged.prices)) if union else None,
    }
    return {**row, "words": list(comparison_words(row))}


def paired_row(found: Aligned, label: str, *, seed: int) -> dict[str, Any]:
    """Difference in paired discrimination on the pairs that both scored, A less B, with its tests by group."""
    ours, theirs = found.first.pairs(label), found.second.pairs(label)
    # The numbers of samples may differ: designs are compared as they are, and the words say so.
    comparison = compare(ours, theirs, level=LEVEL, samples_may_differ=True, rng=np.random.default_rng(seed))
    credit, other = credits_of(ours), credits_of(theirs)
    by_pair: dict[str, list[float]] = {}
    for unit in sorted(credit.keys() & other.keys()):
        by_pair.setdefault(unit[0], []).append(credit[unit] - other[unit])
    groups = groups_of([*ours, *theirs])
    values = [sum(each) / len(each) for each in by_pair.values()]
    test = sign_flip_test(
        values, [groups[name] for name in by_pair], alternative="two-sided", rng=np.random.default_rng(seed)
    )
    row = comparison_row(comparison)
    return {
        "a": row["candidate"],
        "b": row["baseline"],
        **{key: row[key] for key in ("difference", "low", "high", "pairs", "groups", "failed")},
        "planned": len(found.first.planned_pairs(label)) * len(found.first.replicates),
        "a_better": comparison.wins,
        "level_pairs": comparison.ties,
        "b_better": comparison.losses,
        "sign_flip_p": number(test.p),
        "sign_flip": test.method,
        "reason": comparison.difference.reason,
    }


def flags_row(scored: ScoredExamples, flaggings: Sequence[Flagging], *, by: Source, seed: int) -> dict[str, Any]:
    """Overlap of what both flag, and tests of the difference, among flawed and among clean documents."""
    first, second = flaggings
    reason = first.reason or second.reason
    row = {"by": by, "a_rule": first.rule, "b_rule": second.rule, "reason": reason}
    if reason:
        return row
    parts: dict[str, Bools] = {"flawed": scored.flawed, "clean": scored.clean}
    return {
        **row,
        **{
            name: {**overlap_row(first, second, rows), **_tests(scored, first, second, rows, seed=seed)}
            for name, rows in parts.items()
        },
        "overlap": {name: overlap_row(first, second, rows) for name, rows in _parts(scored)},
    }


def overlap_row(first: Flagging, second: Flagging, rows: Bools) -> dict[str, int]:
    """How many of some documents both flag, only one, or neither; undecided where either has no flag."""
    decided = rows & first.known & second.known
    ours, theirs = first.flags[decided] == 1.0, second.flags[decided] == 1.0
    return {
        "documents": int(rows.sum()),
        "both": int((ours & theirs).sum()),
        "only_a": int((ours & ~theirs).sum()),
        "only_b": int((~ours & theirs).sum()),
        "neither": int((~ours & ~theirs).sum()),
        "undecided": int((rows & ~decided).sum()),
    }


def union_row(
    found: Aligned, scored: ScoredExamples, flaggings: Sequence[Flagging], prices: Sequence[JudgePrices]
) -> dict[str, Any]:
    """Running both: a document is flagged if either flags it; on the documents that both decide, and costs added."""
    first, second = flaggings
    costs = [
        judging_cost(evaluation, price).row()
        for evaluation, price in zip((found.first, found.second), prices, strict=True)
    ]
    row = {
        "reason": first.reason or second.reason,
        "cost": {"a": costs[0], "b": costs[1], **{way: _added(costs, way) for way in ("alone", "amortised")}},
    }
    if row["reason"]:
        return row
    decided = first.known & second.known

    def rates(rule: str, flags: Floats) -> dict[str, Any]:
        flagging = Flagging(rule, first.source, np.where(decided, flags, np.nan))
        return flag_row(scored, flagging, measure_row, level=LEVEL)

    return {
        **row,
        "a": rates(first.rule, first.flags),
        "b": rates(second.rule, second.flags),
        "either": rates(f"{first.rule}, or {second.rule}", np.maximum(first.flags, second.flags)),
    }


def comparison_words(row: Mapping[str, Any]) -> Iterator[str]:
    """Sentences about a comparison."""
    a, b, examples = row["a"], row["b"], row["examples"]
    yield (
        f"Both judged identical examples: {examples['count']} documents of {examples['groups']} groups in "
        f"{examples['replicates']} replicate(s), sha256 of their ids {examples['hash']}."
    )
    if any(examples["left_out"]):
        only = examples["left_out"]
        yield f"Only the common part is compared: {only[0]} documents of A and {only[1]} of B are left out."
    yield "Intervals and sign-flip tests are by group; McNemar's tests take documents as independent."
    if a["samples"] != b["samples"]:
        yield (
            f"A combines {a['samples']} answer(s) and B {b['samples']}: more answers leave fewer ties, which is part "
            "of the difference."
        )
    if row["flags"]["by"] == "swept" and not row["flags"]["reason"]:
        yield "Flags are by thresholds swept on these documents, which favours whichever judge they fit better."
    if row["flags"]["reason"]:
        hint = "; give --swept for thresholds swept on these documents" if row["flags"]["by"] == "own" else ""
        yield f"What they flag is not compared: {row['flags']['reason']}{hint}."
    clean = examples["clean"]
    if clean["candidates"]:
        yield f"{clean['candidates']} of the clean documents are candidates, not verified: a flag on one may be right."
    for name, side in (("A", a), ("B", b)):
        if side["simulated"]:
            yield f"SIMULATED: {name} answered from a formula; that says nothing about any model."
        if side["exploratory"]:
            yield f"EXPLORATORY ({side['exploratory']}): held-out documents were looked at; nothing here is confirmed."


def _flagging(side: Side, evaluation: Evaluation, by: Source) -> Flagging:
    judge = side.judged.judge
    if by == "swept":
        found = swept_flagging(scored_evaluation(evaluation), swept=judge["swept"])
    else:
        found = own_flagging(evaluation, None if judge["rule"] is None else judge["rule"]["rule"])
    return replace(found, reason=f"{judge['name']} has {found.reason}") if found.reason else found


def _tests(scored: ScoredExamples, first: Flagging, second: Flagging, rows: Bools, *, seed: int) -> dict[str, Any]:
    decided = rows & first.known & second.known
    ours, theirs = first.flags[decided], second.flags[decided]
    groups = scored.groups.codes[decided]
    comparison = compare_values(ours, theirs, groups, level=LEVEL, rng=np.random.default_rng(seed))
    test = sign_flip_test(ours - theirs, groups, alternative="two-sided", rng=np.random.default_rng(seed))
    interval = comparison.difference.interval
    return {
        "a": number(comparison.candidate),
        "b": number(comparison.baseline),
        "difference": number(comparison.difference.value),
        "low": number(interval.low),
        "high": number(interval.high),
        "groups": comparison.n_groups,
        "mcnemar_p": number(exact_mcnemar(comparison.wins, comparison.losses).p) if comparison.n else None,
        "mid_p": number(mid_p_mcnemar(comparison.wins, comparison.losses).p) if comparison.n else None,
        "sign_flip_p": number(test.p),
        "sign_flip": test.method,
        "reason": comparison.difference.reason,
    }


def _parts(scored: ScoredExamples) -> Iterator[tuple[str, Bools]]:
    """Flawed documents by kind, omissions by trace where it is known, and clean ones."""
    kinds, traces = scored.attributes["kind"], scored.attributes["trace"]
    omissions = scored.attributes["label"].equal_to("omission")
    for attribute, of in ((kinds, scored.flawed), (traces, omissions)):
        for name in attribute.names:
            if (rows := attribute.equal_to(name) & of).any():
                yield (f"omit, trace {name}" if attribute is traces else name), rows
    if scored.clean.any():
        yield "clean", scored.clean


def _added(costs: Sequence[Mapping[str, Any]], way: str) -> dict[str, float | None]:
    """Tokens and US dollars of running both; the money only where both have a price."""
    usd = [cost[way]["usd"] for cost in costs]
    return {
        "tokens": sum(cost[way]["tokens"] for cost in costs),
        "usd": None if any(value is None for value in usd) else sum(usd),
    }
