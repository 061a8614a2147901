"""The register of openings, where it lies in the run directory: that of a campaign whose judge is a simulation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from lineage.audit.record import Finding, RunRecord
from lineage.canonical import canonical_json, digest
from lineage.openings import PLANNED

REGISTER: Final = "split.lock.register.jsonl"


def check_register(run: RunRecord) -> Iterator[Finding]:
    """Its rows follow one another, and name the openings of this campaign that the ledger has.

    The register of any other campaign lies beside the split lock that was committed, and is checked when that is read.
    """
    text = run.text(REGISTER)
    if text is None or not run.events:
        return
    rows = _rows(text)
    if rows is None:
        yield Finding("error", REGISTER, "its rows do not follow one another (edited)")
        return
    lock = None if run.plan is None else run.plan.body["lock_hash"]
    ours = [(row["opening"], row["k"]) for row in rows if (row["campaign"], row["lock"]) == (run.events[0].hash, lock)]
    opened = [
        (event.body["opening"], None if event.body["comparison"] is None else event.body["comparison"]["k"])
        for event in run.all("seal_opened")
        if event.body["opening"] in PLANNED and event.body["exploratory"] is None
    ]
    if extra := [opening for opening, k in ours if (opening, k) not in opened]:
        # A process that is killed between the two leaves the register one opening ahead.
        killed = not run.finished and len(extra) == 1
        words = f"has an opening ({extra[0]}) that the ledger has not"
        remedy = "resume the campaign" if killed else "restore the run directory from a copy"
        yield Finding("warning" if killed else "error", REGISTER, words, remedy)
    if missing := [opening for opening, k in opened if k is not None and (opening, k) not in ours]:
        yield Finding("error", REGISTER, f"lacks the opening {missing[0]}, which took a comparison")
    if len(ours) != len(rows):
        yield Finding("error", REGISTER, "has openings of another campaign or another split lock")


def _rows(text: str) -> list[dict[str, Any]] | None:
    """The rows of a register, or None where they are not as they were written."""
    rows: list[dict[str, Any]] = []
    try:
        for line in text.removesuffix("\n").split("\n"):
            row = json.loads(line)
            content = {key: value for key, value in row.items() if key != "hash"}
            follows = row["prev"] == (rows[-1]["hash"] if rows else "")
            if not follows or digest(content) != row["hash"] or canonical_json(row) != line:
                return None
            rows.append(row)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return rows if text.endswith("\n") else None
