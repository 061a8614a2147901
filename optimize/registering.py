"""What a run directory begins with: plan, baseline and splits in the ledger, before anything is judged."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lineage._version import __version__
from lineage.canonical import canonical_json, digest_bytes, pretty_json, write_atomic
from lineage.errors import LedgerError, PlanError
from lineage.ledger import Ledger
from lineage.records import VOLATILE
from optimize.plan import Plan
from splits.corpus import Corpus
from splits.lock import SplitLock, split_structure


def register(
    ledger: Ledger,
    directory: Path,
    *,
    plan: Plan,
    corpus: Corpus,
    lock: SplitLock,
    baseline: str,
    seeds: Mapping[str, str],
    exploratory: str | None,
    models_hash: str | None,
) -> None:
    """Put plan and splits into the ledger, and beside it as files; the same again on resumption.

    Raises:
        PlanError: the directory holds something else.
    """
    try:
        ledger.perform(
            "plan",
            {
                "plan": plan.row(),
                "plan_hash": plan.hash,
                "baseline": baseline,
                "seeds": dict(seeds),
                "simulated": plan.simulated,
                "exploratory": exploratory,
                "corpus_hash": corpus.hash,
                "lock_hash": lock.hash,
                "models_hash": models_hash,
                "replayed": list(plan.replayed),
            },
            lambda: {VOLATILE: environment()},
        )
    except LedgerError as error:
        raise PlanError(
            f"{directory} holds a campaign of another plan, baseline, corpus or split lock ({error}); "
            "give another --out, or restore what was changed"
        ) from error
    register_splits(ledger, directory, plan=plan.row(), corpus=corpus, lock=lock)


def register_splits(
    ledger: Ledger, directory: Path, *, plan: Mapping[str, Any], corpus: Corpus, lock: SplitLock
) -> None:
    """Put a split lock into the ledger, and plan, lock and examples without their texts beside it as files.

    Args:
        ledger: the ledger, which holds the plan.
        directory: its run directory.
        plan: the plan's row.
        corpus: the corpus.
        lock: its split lock.
    """
    structure = "".join(canonical_json(row) + "\n" for row in split_structure(lock, corpus))
    write_atomic(directory / "plan.json", pretty_json(plan))
    write_atomic(directory / "split.lock.json", pretty_json(lock.row()))
    write_atomic(directory / "examples.jsonl", structure)
    ledger.perform(
        "splits",
        {
            "lock_hash": lock.hash,
            "groups": {name: len(groups) for name, groups in lock.splits.items()},
            "counts": lock.row()["counts"],
            "examples": digest_bytes(structure.encode("utf-8")),
        },
        dict,
    )


def environment() -> dict[str, Any]:
    """Versions and host, which may differ between a run and its resumption."""
    packages = ("dspy", "gepa", "litellm", "mlflow", "numpy", "scipy", "xllamacpp")
    return {
        "holdgate": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: version(name) for name in packages},
    }
