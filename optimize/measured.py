"""What the ledger holds of measures and comparisons: rows of numbers, None for what is undefined."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lineage.ledger import Ledger
from optimize.choice import number
from optimize.evaluation import Evaluation
from optimize.objectives import Comparison, ScoredPair, by, paired_discrimination
from optimize.stats import Interval


def comparison_row(comparison: Comparison, *, noise_sd: float = math.nan) -> dict[str, Any]:
    """Numbers of a paired comparison.

    Args:
        comparison: candidate less baseline.
        noise_sd: standard deviation of the measure's difference between two replicates of the baseline, of which the
            difference is stated as a multiple; NaN or 0 where there is no such unit.
    """
    interval, difference = comparison.difference.interval, comparison.difference.value
    return {
        "candidate": number(comparison.candidate),
        "baseline": number(comparison.baseline),
        "difference": number(difference),
        "low": number(interval.low),
        "high": number(interval.high),
        "level": interval.level,
        "method": interval.method,
        "wins": comparison.wins,
        "ties": comparison.ties,
        "losses": comparison.losses,
        "pairs": comparison.n,
        "groups": comparison.n_groups,
        "failed": comparison.n_failed,
        "sign_flip_p": number(comparison.sign_flip.p),
        "t_p": number(comparison.t_test.p),
        "noise_multiple": number(difference / noise_sd) if noise_sd > 0.0 else None,
        "bootstrap": _ends(comparison.bootstrap),
        "bca": _ends(comparison.bca),
    }


def _ends(interval: Interval | None) -> dict[str, Any] | None:
    return None if interval is None else {"low": number(interval.low), "high": number(interval.high)}


def measures_row(evaluation: Evaluation, *, level: float = 0.95) -> dict[str, Any]:
    """Paired discrimination of one candidate on some examples: omissions, commissions, and omissions by trace."""

    def one(pairs: Sequence[ScoredPair], planned: int) -> dict[str, Any]:
        scored = paired_discrimination(pairs, level=level, n_failed=max(planned - len(pairs), 0))
        return {
            "value": number(scored.value),
            "low": number(scored.interval.low),
            "high": number(scored.interval.high),
            "wins": scored.wins,
            "ties": scored.ties,
            "losses": scored.losses,
            "pairs": scored.n,
            "groups": scored.n_groups,
            "failed": scored.n_failed,
        }

    repeats = max(len(evaluation.replicates), 1)
    omissions, commissions = evaluation.pairs("omission"), evaluation.pairs("commission")
    return {
        "omissions": one(omissions, repeats * len(evaluation.planned_pairs("omission"))),
        "commissions": one(commissions, repeats * len(evaluation.planned_pairs("commission"))),
        "by_trace": {trace: one(pairs, len(pairs)) for trace, pairs in by(omissions, "trace").items()},
    }


def record_measures(ledger: Ledger, purpose: str, evaluation: Evaluation) -> None:
    """Put a candidate's measures on accept or held-out into the ledger, where people and the audit look for them."""
    row = measures_row(evaluation)
    ledger.perform("measured", {"purpose": purpose, "candidate": evaluation.candidate, "measures": row}, dict)
