"""What an experiment's directory begins with, and whether the held-out split can pay for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lineage.errors import LedgerError, PlanError, SealError
from lineage.ledger import Ledger
from lineage.records import VOLATILE
from optimize.crossing.plan import CrossedPlan
from optimize.crossing.targets import Target
from optimize.plan import Plan
from optimize.registering import environment, register_splits
from splits.corpus import Corpus
from splits.lock import SplitLock
from splits.register import confirming_campaigns


def register_experiment(
    ledger: Ledger,
    directory: Path,
    *,
    plan: CrossedPlan,
    base: Plan,
    corpus: Corpus,
    lock: SplitLock,
    baseline: str,
    exploratory: str | None,
    models_hash: str | None,
    compared: Sequence[Target],
) -> None:
    """Put plan and splits into the ledger, and beside it as files; the same again on resumption.

    Raises:
        PlanError: the directory holds something else.
    """
    row = plan.row(base)
    try:
        ledger.perform(
            "experiment",
            {
                "experiment": row,
                "plan_hash": plan.hash(base),
                "baseline": baseline,
                "simulated": base.simulated,
                "exploratory": exploratory,
                "corpus_hash": corpus.hash,
                "lock_hash": lock.hash,
                "models_hash": models_hash,
                "targets": [target.name for target in compared],
            },
            lambda: {VOLATILE: environment()},
        )
    except LedgerError as error:
        raise PlanError(
            f"{directory} holds another experiment, baseline, corpus or split lock ({error}); give another --out, or "
            "restore what was changed"
        ) from error
    register_splits(ledger, directory, plan=row, corpus=corpus, lock=lock)


def afford(lock: SplitLock, compared: Sequence[Target], *, campaign: str) -> None:
    """Refuse, before a search is paid for, what could not be confirmed after it.

    Args:
        lock: the split lock, whose register says what is spent.
        compared: the comparisons that the experiment registers.
        campaign: identity of the experiment; the places that it has taken itself are its own.

    Raises:
        SealError: the lock has fewer comparisons left.
    """
    others = [taken for taken in confirming_campaigns(lock) if taken != campaign]
    left = lock.comparisons - len(others)
    if left < len(compared):
        names = ", ".join(target.name for target in compared)
        raise SealError(
            f"the experiment registers {len(compared)} comparisons ({names}), and its split lock has {max(left, 0)} of "
            f"{lock.comparisons} left; commit a lock with --comparisons {len(compared)} or more on groups that no "
            "search was judged on, register fewer in compared, or give --exploratory REASON"
        )
