"""The commit of the repository that a file lies in, for whoever wants to find its state again."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

TIMEOUT_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Provenance:
    """A git commit, and whether the working tree differed from it, in changed files or in new ones."""

    commit: str
    dirty: bool

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"commit": self.commit, "dirty": self.dirty}


def provenance_of(directory: Path) -> Provenance | None:
    """Commit and dirtiness of the repository that a directory lies in.

    Returns:
        None where there is no repository, no commit or no git, or where git does not answer: what cannot be told is
        not stated, and is no reason to fail.
    """
    existing = next(place for place in (directory.absolute(), *directory.absolute().parents) if place.is_dir())
    commit = _git(existing, "rev-parse", "--verify", "HEAD")
    changed = _git(existing, "status", "--porcelain", "--untracked-files=normal")
    return None if commit is None or changed is None else Provenance(commit.strip(), bool(changed.strip()))


def _git(directory: Path, *arguments: str) -> str | None:
    program = shutil.which("git")
    if program is None:
        return None
    # A variable such as GIT_DIR, which hooks have set, would name another repository than the directory's.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            [program, "-C", str(directory), *arguments],
            env={**kept, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout
