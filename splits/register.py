"""The register beside a split lock: every confirmatory comparison on its held-out split, across campaigns."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lineage.canonical import canonical_json, digest, write_atomic
from lineage.errors import SealError
from splits.lock import SplitLock

_FIELDS: Final = frozenset({"caller", "campaign", "hash", "k", "lock", "opening", "prev", "purpose", "target"})


@dataclass(frozen=True, slots=True)
class Comparison:
    """The place of a campaign's target among the confirmatory comparisons on one held-out split (``k`` from 1)."""

    k: int
    of: int
    alpha: float

    def __str__(self) -> str:
        return f"comparison {self.k} of {self.of} on this held-out split, at two-sided alpha {self.alpha:g}"


def register_path(lock: SplitLock) -> Path:
    """Where the register of a lock stands: beside its file, by whatever links the file was reached.

    A copy of the file elsewhere has a register of its own, and so has the same split committed again: nothing in a file
    can tell how many copies of it there are.

    Raises:
        SealError: the lock was never written to a file.
    """
    if lock.path is None:
        raise SealError("a split lock must be committed to a file before its held-out split can be opened")
    path = lock.path.resolve()
    return path.with_name(path.name.removesuffix(".json") + ".register.jsonl")


def register_opening(
    lock: SplitLock, *, campaign: str, target: str, opening: str, purpose: str, caller: str
) -> Comparison | None:
    """Note a planned opening; a ``confirm`` takes the next comparison, or finds the one its campaign has.

    A new run directory is a new campaign. A ``baseline`` opening compares nothing and spends nothing, but is refused
    where nothing is left to confirm with, so that no search is paid for in vain.

    Args:
        lock: the committed lock.
        campaign: identity of the campaign.
        target: what is compared.
        opening: ``baseline`` or ``confirm``.
        purpose: what it is for, in words.
        caller: the command or module that opens.

    Raises:
        SealError: every comparison that the lock was committed with is spent, the register was edited, or the lock is
            the copy that another campaign keeps in its run directory.
    """
    path = register_path(lock)
    _refuse_kept_copy(lock, path, campaign)
    with _exclusive(path):
        rows = _rows(path, lock)
        confirms = [row for row in rows if row["opening"] == "confirm"]
        mine = [row for row in rows if row["campaign"] == campaign and row["target"] == target]
        for row in mine:
            if row["opening"] == opening:
                return Comparison(row["k"], lock.comparisons, lock.spend) if opening == "confirm" else None
        if len(confirms) >= lock.comparisons and not any(row in confirms for row in mine):
            raise SealError(
                f"{path}: all {lock.comparisons} confirmatory comparisons of this held-out split are spent "
                f"(by campaign {', '.join(row['campaign'][:12] for row in confirms)}). Resume that campaign in its own "
                "run directory; or go on with --exploratory REASON, whose numbers confirm nothing; or commit a lock on "
                "groups that no search has been judged on"
            )
        row = {
            "caller": caller,
            "campaign": campaign,
            "k": len(confirms) + 1 if opening == "confirm" else None,
            "lock": lock.hash,
            "opening": opening,
            "prev": rows[-1]["hash"] if rows else "",
            "purpose": purpose,
            "target": target,
        }
        row["hash"] = digest(row)
        write_atomic(path, "".join(canonical_json(line) + "\n" for line in [*rows, row]))
    return Comparison(len(confirms) + 1, lock.comparisons, lock.spend) if opening == "confirm" else None


def confirming_campaigns(lock: SplitLock) -> tuple[str, ...]:
    """The campaigns that have taken a confirmatory comparison on this held-out split, in order.

    Raises:
        SealError: the register was edited, or the lock was never written to a file.
    """
    path = register_path(lock)
    return tuple(row["campaign"] for row in _rows(path, lock) if row["opening"] == "confirm")


def _refuse_kept_copy(lock: SplitLock, register: Path, campaign: str) -> None:
    """Refuse the lock out of another campaign's run directory, whose register stands elsewhere."""
    ledger = register.with_name("ledger.jsonl")
    if register.exists() or not ledger.is_file():
        return
    with ledger.open("rb") as file:
        mine = campaign.encode() in file.readline()
    if not mine:
        raise SealError(
            f"{lock.path}: is a run directory's copy of its split lock, and not the file that was committed, beside "
            "which the register of its comparisons stands; name that file in the plan"
        )


def _rows(path: Path, lock: SplitLock) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    lines = path.read_bytes().removesuffix(b"\n").split(b"\n") if path.exists() else []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line.decode("utf-8"))
            sound = row["hash"] == digest({key: value for key, value in row.items() if key != "hash"})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SealError(f"{path}:{number}: is not a register row ({error})") from error
        follows = row.get("prev") == (rows[-1]["hash"] if rows else "")
        if not sound or set(row) != _FIELDS or not follows or row["lock"] != lock.hash:
            raise SealError(f"{path}:{number}: was edited, or belongs to another split lock; restore it")
        rows.append(row)
    return rows


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
