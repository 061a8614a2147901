"""The recorded answers that a campaign used, found by running it again on nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from lineage.canonical import canonical_json
from students.transport import CallResult, RecordedAnswers
from students.transport.cache_file import readable_database
from students.transport.replay import open_readonly


class UsedAnswers(RecordedAnswers):
    """Recorded answers that know which of them were used. They stay open until :meth:`release`."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.used: set[str] = set()

    def find(self, key: str) -> CallResult | None:
        """The answer recorded under a key, which is noted as used."""
        found = super().find(key)
        if found is not None:
            self.used.add(key)
        return found

    def close(self) -> None:
        """Nothing yet: several roles may read the same recording."""

    def release(self) -> None:
        """Close the file."""
        super().close()


def answer_lines(path: Path, keys: Iterable[str]) -> str:
    """Recorded calls in the form of an export, ordered by key, without who paid for them and when."""
    lines = []
    with closing(open_readonly(path)) as db, readable_database(path):
        for key in sorted(keys):
            identity, request, result = db.execute(
                "SELECT identity, request, result FROM calls WHERE key = ?", (key,)
            ).fetchone()
            row = {
                "key": key,
                "identity": json.loads(identity),
                "request": json.loads(request),
                "result": json.loads(result),
                "texts": True,
            }
            lines.append(canonical_json(row) + "\n")
    return "".join(lines)
