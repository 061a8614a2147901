"""What the directory of a judging run begins with: plan, judges and examples, before anything is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from lineage.canonical import digest, digest_bytes, pretty_json, write_atomic
from lineage.errors import LedgerError, PlanError
from lineage.ledger import Ledger
from lineage.records import VOLATILE
from optimize.judging.costs import JudgePrices
from optimize.judging.judges import Judge
from optimize.judging.part import JudgedPart
from optimize.judging.plan import JudgingPlan
from optimize.registering import environment

KIND: Final = "judging"
"""What the first event of such a run says that it is."""


def register_judging(
    ledger: Ledger,
    directory: Path,
    *,
    plan: JudgingPlan,
    part: JudgedPart,
    judges: Sequence[Judge],
    prices: Mapping[str, JudgePrices],
    exploratory: str | None,
    models_hash: str | None,
) -> Mapping[str, JudgePrices]:
    """Put plan, judges and examples into the ledger, and beside it as files; the same again on resumption.

    Returns:
        The prices of each judge's models as they were first registered.

    Raises:
        PlanError: the directory holds something else.
    """
    simulated = [judge.name for judge in judges if judge.model is not None and judge.model.original.simulated]
    lock_hash = None if part.lock is None else part.lock.hash
    about = {
        "name": plan.name,
        "split": part.split,
        "simulated": simulated,
        "replayed": list(plan.replayed),
        "exploratory": exploratory,
        "no_baselines": f"{len(part.without_facts)} groups have no facts" if part.without_facts else "",
    }
    try:
        body = ledger.perform(
            "plan",
            {
                "kind": KIND,
                "plan": plan.row(),
                "plan_hash": plan.hash,
                "judges": [judge.row() for judge in judges],
                "about": about,
                "simulated": bool(simulated),
                "exploratory": exploratory,
                "corpus_hash": part.corpus_hash,
                "lock_hash": lock_hash,
                "models_hash": models_hash,
                "replayed": list(plan.replayed),
            },
            lambda: {VOLATILE: {**environment(), "prices": {name: one.row() for name, one in prices.items()}}},
        )
    except LedgerError as error:
        raise PlanError(
            f"{directory} holds another run: of another plan, text, corpus or split lock, or a campaign ({error}); "
            "give another --out, or restore what was changed"
        ) from error
    write_atomic(directory / "plan.json", pretty_json(plan.row()))
    if part.lock is not None:
        write_atomic(directory / "split.lock.json", pretty_json(part.lock.row()))
    write_atomic(directory / "examples.jsonl", part.structure)
    ledger.perform(
        "examples",
        {
            "split": part.split,
            "lock_hash": lock_hash,
            "groups": len(part.groups),
            "count": len(part.rows),
            "ids": digest(part.ids),
            "examples": digest_bytes(part.structure.encode("utf-8")),
        },
        dict,
    )
    return {name: JudgePrices.from_row(row) for name, row in body[VOLATILE]["prices"].items()}
