"""Where a model file can come from. A source carries bytes; whether they are the model is for the hash to say."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lineage.errors import ModelError
from students.local.models import LocalModel
from students.local.verification import hash_file
from students.local.watch import Finished, Patience, Progress, directory_size, run_watched

# One quick attempt: a reachable hub answers in well under a second, and there is another source.
HUB_PATIENCE = Patience(start_s=8.0, stall_s=30.0)
# No credentials are sent: the repositories are public.
HUB_SCRIPT = """
import sys
from huggingface_hub import hf_hub_download
hf_hub_download(sys.argv[1], sys.argv[2], local_dir=sys.argv[3], etag_timeout=4, token=False)
"""


class SourceError(ModelError):
    """A source cannot give the file now; the next one is tried."""


@dataclass(frozen=True, slots=True)
class Obtained:
    """A file as a source gave it, not yet compared with the model.

    Args:
        path: the file, inside the work directory that was given to the source.
        size: bytes.
        sha256: SHA-256 of the content.
    """

    path: Path
    size: int
    sha256: str


class Source(Protocol):
    """A place that offers model files."""

    @property
    def label(self) -> str:
        """Short name, used in messages and as the name of the work directory."""

    def obtain(self, model: LocalModel, *, work: Path, progress: Progress) -> Obtained:
        """Bring the file into ``work``, which is this source's own and may hold what an earlier attempt left.

        Raises:
            SourceError: it cannot be had from here now.
            ModelError: there is no point in trying elsewhere, such as a full disk.
        """


@dataclass(frozen=True, slots=True)
class HubRepository:
    """The official repository on the model hub, through the hub's own library in a child process."""

    label: str = "hub"

    def obtain(self, model: LocalModel, *, work: Path, progress: Progress) -> Obtained:
        """See ``Source.obtain``. Honours ``HF_HUB_OFFLINE``."""
        if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
            raise SourceError(f"the hub repository {model.hub_repo} is not asked: HF_HUB_OFFLINE is set")
        target = work / "file"
        require_space(work, needed=model.size - directory_size(target))
        target.mkdir(exist_ok=True)

        def on_size(size: int) -> None:
            progress(min(size, model.size), model.size, f"downloading {model.hub_file} from the hub")

        finished = run_watched(
            [sys.executable, "-P", "-c", HUB_SCRIPT, model.hub_repo, model.hub_file, str(target)],
            directory=target,
            log=work / "hub.log",
            # The chunked transfer writes outside the directory that is watched; plain HTTP resumes as well.
            environment={"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"},
            on_size=on_size,
            patience=HUB_PATIENCE,
        )
        if finished.failed:
            raise SourceError(f"the hub repository {model.hub_repo} gave no file: {reason_of(finished)}")
        path = target / model.hub_file
        digest = hash_file(path, total=model.size, progress=progress)
        return Obtained(path=path, size=path.stat().st_size, sha256=digest)


def require_space(directory: Path, *, needed: int) -> None:
    """Check the free space before a long download rather than at its end.

    Raises:
        ModelError: the file system of ``directory`` has fewer than ``needed`` bytes free.
    """
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise ModelError(
            f"{directory} has {free / 1e6:.0f} MB free and the download needs {needed / 1e6:.0f} MB; "
            "make room, or set HOLDGATE_CACHE to a directory on a larger disk"
        )


def reason_of(finished: Finished) -> str:
    """Why a watched download failed, in one line: its last error line if it printed one."""
    if finished.gave_up:
        return finished.gave_up
    lines = finished.tail.splitlines()
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [f"exit status {finished.returncode} without a word"])[-1].strip()
