"""The table: every measure of every judge on the same examples, as rows of numbers that a ledger can hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Final

from lineage.canonical import digest
from lineage.records import VOLATILE
from optimize.choice import number
from optimize.evaluation import Evaluation
from optimize.gate import clean_counts
from optimize.judging.costs import JudgePrices, judging_cost, latency_row, parts_row
from optimize.judging.flags import CAP, flag_rate, flag_row, own_flagging, swept_flagging
from optimize.judging.judges import NO_MODEL
from optimize.judging.wording import table_words
from optimize.objectives import Measure, ScoredExamples, auc, compression, discrimination_measure, scored_evaluation
from optimize.objectives.scored import UNKNOWN, Bools

LEVEL: Final = 0.95
PARTS: Final = ("trace", "severity", "kind")
"""What the flawed examples are broken down by; trace is of omissions alone."""

Row = Mapping[str, Any]
Scored = tuple[str, int]
"""An example in a replicate."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One judge's evaluation, with what was registered of the judge and the prices of its models."""

    judge: Row
    evaluation: Evaluation
    prices: JudgePrices


def table_row(judged: Sequence[Judged], *, about: Row) -> dict[str, Any]:
    """The whole table as JSON; undefined numbers are None with a reason.

    Args:
        judged: every judge's evaluation, all of the same examples.
        about: what the run says of itself: its name, split, marks and what was left out.

    Raises:
        AssertionError: the examples of two judges differ, which the run does not let happen.
    """
    examples = judged[0].evaluation.examples
    names = [example.id for example in examples]
    assert all([e.id for e in one.evaluation.examples] == names for one in judged), "all judge the same examples"
    replicates = judged[0].evaluation.replicates
    scored = {one.judge["name"]: _scored(one.evaluation) for one in judged if one.judge["family"] != NO_MODEL}
    silent = [name for name, units in scored.items() if not units]
    told = [units for units in scored.values() if units]
    common = frozenset[Scored]().union(*told[:1]).intersection(*told)
    row = {
        **about,
        "kind": "judging",
        "level": LEVEL,
        "cap": CAP,
        "replicates": len(replicates),
        "examples": {
            "count": len(names),
            "hash": digest(names),
            "groups": len({example.group for example in examples}),
            "by_label": dict(sorted(Counter(example.label for example in examples).items())),
            "by_kind": dict(sorted(Counter(example.kind for example in examples).items())),
            "clean": clean_counts(examples).row(),
            "scored_by_all": len(common),
            "of": len(names) * len(replicates),
            "silent": silent,
        },
        "judges": [judge_row(one, common) for one in judged],
    }
    return {**row, "words": list(table_words(row))}


def judge_row(judged: Judged, common: Set[Scored]) -> dict[str, Any]:
    """One judge's part of the table.

    Args:
        judged: the judge and its evaluation.
        common: what every judge that scored anything has scored.
    """
    judge, evaluation = judged.judge, judged.evaluation
    scored = scored_evaluation(evaluation)
    in_common = [j for j in evaluation.judgements if (j.example, j.replicate) in common]
    own = own_flagging(evaluation, None if judge["rule"] is None else judge["rule"]["rule"])
    swept = swept_flagging(scored, swept=judge["swept"])
    found = compression(scored, level=LEVEL)
    ties = found.tie_mass
    return {
        "name": judge["name"],
        "design": judge["design"],
        "family": judge["family"],
        "budget": judge["budget"],
        "samples": judge["samples"],
        "candidate": judge["candidate"],
        "scored": sum(judgement.score is not None for judgement in evaluation.judgements),
        "judgements": len(evaluation.judgements),
        "unscored": dict(sorted(Counter(_why(j.reason) for j in evaluation.unscored).items())),
        "paired": _by_label(scored),
        "paired_in_common": _by_label(scored_evaluation(replace(evaluation, judgements=tuple(in_common)))),
        "auc": {
            "all": measure_row(auc(scored, level=LEVEL)),
            **{name: measure_row(auc(part, level=LEVEL)) for name, part in _labels(scored, with_clean=True)},
        },
        "ties": {
            "value": number(ties.value),
            "low": number(ties.interval.low),
            "high": number(ties.interval.high),
            "ties": found.ties,
            "pairs": found.n_pairs,
            "reason": ties.reason,
            "distinct_scores": found.n_distinct,
        },
        "own": flag_row(scored, own, measure_row, level=LEVEL),
        "swept": flag_row(scored, swept, measure_row, level=LEVEL),
        "parts": {
            by: {
                name: {
                    "paired": measure_row(discrimination_measure(scored.where(rows), level=LEVEL)),
                    **{
                        flagging.source: measure_row(flag_rate(scored, flagging, rows, level=LEVEL))
                        for flagging in (own, swept)
                        if not flagging.reason
                    },
                }
                for name, rows in _breakdown(scored, by)
            }
            for by in PARTS
        },
        "beside": parts_row(evaluation.judgements),
        "cost": judging_cost(evaluation, judged.prices).row(),
        VOLATILE: {"latency": latency_row(evaluation.judgements)},
    }


def measure_row(measure: Measure) -> dict[str, Any]:
    """A measure as JSON; what is undefined is None, with the reason."""
    interval = measure.interval
    return {
        "value": number(measure.value),
        "low": number(interval.low),
        "high": number(interval.high),
        **dict(measure.counted),
        "n": measure.n,
        "groups": measure.n_groups,
        "failed": measure.n_failed,
        "reason": measure.reason,
        "no_interval": "" if interval.defined or measure.reason else interval.reason,
    }


def _by_label(scored: ScoredExamples) -> dict[str, Any]:
    return {name: measure_row(discrimination_measure(part, level=LEVEL)) for name, part in _labels(scored)}


def _labels(scored: ScoredExamples, *, with_clean: bool = False) -> Iterator[tuple[str, ScoredExamples]]:
    for name in ("omission", "commission"):
        rows = scored.attributes["label"].equal_to(name)
        yield name, scored.where(rows | scored.clean if with_clean else rows)


def _breakdown(scored: ScoredExamples, by: Any) -> Iterator[tuple[str, Bools]]:
    """Flawed documents by one attribute; nothing where it is unknown of all."""
    of = scored.attributes["label"].equal_to("omission") if by == "trace" else scored.flawed
    attribute = scored.attributes[by]
    found = [(name, attribute.equal_to(name) & of) for name in attribute.names]
    present = [(name, rows) for name, rows in found if rows.any()]
    if [name for name, _ in present] != [UNKNOWN]:
        yield from present


def _scored(evaluation: Evaluation) -> frozenset[Scored]:
    return frozenset((j.example, j.replicate) for j in evaluation.judgements if j.score is not None)


def _why(reason: str | None) -> str:
    """The first word of the reason of a judgement without a score."""
    return (reason or "").partition(":")[0]
