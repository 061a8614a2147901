"""Writing and reading the archive of a bundle.

Equal contents give equal bytes with the same compression library: names are in order, and times, owners and rights are
fixed. What is read was made by somebody else: names that leave the folder, links, files that are larger than stated or
than is allowed, and repeated names are refused before anything of them is used.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from lineage.bundle.manifest import MANIFEST, Member, read_manifest, sealed_manifest
from lineage.canonical import sync_directory
from lineage.errors import BundleError

LARGEST: Final = 8 * 2**30
"""Most bytes that the files of a bundle may have together."""
MOST_FILES: Final = 100_000
LARGEST_MANIFEST: Final = 64 * 2**20

_TIME: Final = (1980, 1, 1, 0, 0, 0)
_RIGHTS: Final = (stat.S_IFREG | 0o644) << 16
_CHUNK: Final = 1 << 20
_LARGE: Final = 1 << 30
"""Size from which a file is written in the form for large ones, which has room for a content that grows as it packs."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A file of a bundle that is not what its manifest says, and how."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """A bundle on disk: where its files are, what its manifest says, and which files are not as it says."""

    directory: Path
    manifest: Mapping[str, Any]
    members: Mapping[str, Member]
    damage: tuple[Damage, ...]

    @property
    def run(self) -> Path:
        """The run directory."""
        return self.directory / "run"


def is_bundle(path: Path) -> bool:
    """Whether a path is meant as that of a bundle: a file, and not a run directory."""
    return path.is_file()


def write_bundle(path: Path, content: Mapping[str, Any], files: Mapping[str, Path | bytes]) -> tuple[Member, ...]:
    """Write a bundle whole, or not at all.

    Args:
        path: the archive.
        content: what its manifest says of it.
        files: contents, or files to copy, by their names in the archive.

    Returns:
        The members, in order of their names.
    """
    members = tuple(_measured(name, files[name]) for name in sorted(files))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    whole = Path(name)
    try:
        with os.fdopen(handle, "w+b") as file:
            with zipfile.ZipFile(file, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
                manifest = sealed_manifest(content, members).encode("utf-8")
                _add(archive, MANIFEST, manifest, size=len(manifest))
                for member in members:
                    _add(archive, member.name, files[member.name], size=member.bytes)
            file.flush()
            os.fsync(file.fileno())
        whole.chmod(0o644)
        whole.replace(path)
    finally:
        whole.unlink(missing_ok=True)
    sync_directory(path.parent)
    return members


def extract_bundle(path: Path, directory: Path, *, largest: int = LARGEST) -> Extracted:
    """Extract a bundle into an empty directory, with every file checked against the manifest.

    Args:
        path: the archive.
        directory: where to; nothing outside of it is written.
        largest: most bytes that its files may have together.

    Raises:
        BundleError: it is no bundle, or nothing of it can be used safely; a file that is only damaged is in
            ``damage`` instead.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = {info.filename: info for info in _safe(archive, path, largest)}
            if MANIFEST not in infos:
                raise BundleError(f"{path}: holds no {MANIFEST}: it is not a bundle of a run; see holdgate bundle")
            if infos[MANIFEST].file_size > LARGEST_MANIFEST:
                raise BundleError(f"{path}: its {MANIFEST} has more than {LARGEST_MANIFEST:,} bytes; it is not opened")
            with archive.open(infos[MANIFEST]) as file:
                data = file.read(LARGEST_MANIFEST + 1)
            manifest, members, intact = read_manifest(data, where=str(path))
            damage = [] if intact else [Damage(MANIFEST, "was edited: its hash does not match its content")]
            for name in sorted(infos.keys() - members.keys() - {MANIFEST}):
                damage.append(Damage(name, "is in no line of the manifest; it was added, and is left where it is"))
            for name, member in sorted(members.items()):
                if (info := infos.get(name)) is None:
                    damage.append(Damage(name, "is missing from the archive"))
                elif words := _extracted(archive, info, member, directory / name):
                    damage.append(Damage(name, words))
            return Extracted(directory, manifest, members, tuple(damage))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError) as error:
        raise BundleError(f"{path}: is not a readable archive ({error}); get the bundle again") from error


def _measured(name: str, content: Path | bytes) -> Member:
    whole, size = hashlib.sha256(), 0
    with _opened(content) as file:
        while chunk := file.read(_CHUNK):
            whole.update(chunk)
            size += len(chunk)
    return Member(name, whole.hexdigest(), size)


def _opened(content: Path | bytes) -> IO[bytes]:
    return content.open("rb") if isinstance(content, Path) else io.BytesIO(content)


def _add(archive: zipfile.ZipFile, name: str, content: Path | bytes, *, size: int) -> None:
    info = zipfile.ZipInfo(name, date_time=_TIME)
    info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, _RIGHTS
    with _opened(content) as file, archive.open(info, "w", force_zip64=size >= _LARGE) as into:
        shutil.copyfileobj(file, into, _CHUNK)


def _safe(archive: zipfile.ZipFile, path: Path, largest: int) -> Iterator[zipfile.ZipInfo]:
    """The members, none of which leaves the folder, is a link or repeats another."""
    infos = archive.infolist()
    if len(infos) > MOST_FILES:
        raise BundleError(f"{path}: holds {len(infos):,} files, more than the {MOST_FILES:,} of any bundle")
    total, seen = 0, set[str]()
    for info in infos:
        name = info.filename
        parts = PurePosixPath(name).parts
        plain = name == "/".join(parts) and not {"..", ".", "/"} & set(parts)
        if not name or not plain or "\\" in name or ":" in name or "\0" in info.orig_filename or not name.isprintable():
            raise BundleError(f"{path}: the name {info.orig_filename!r} leads out of the folder, or may; it is refused")
        if info.is_dir() or stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            raise BundleError(f"{path}: {name} is a link or a folder, and a bundle holds files alone; it is refused")
        if info.flag_bits & 0x1:
            raise BundleError(f"{path}: {name} is encrypted, and a bundle is not; it is refused")
        if name.lower() in seen:
            raise BundleError(f"{path}: holds {name} twice, or only its letters' case differs; it is refused")
        seen.add(name.lower())
        total += info.file_size
        if total > largest:
            raise BundleError(
                f"{path}: its files have more than {largest:,} bytes together, the most that is opened; nothing of "
                "them was written"
            )
        yield info
    for name in seen:  # a file that is also the folder of another
        if any(str(parent) in seen for parent in PurePosixPath(name).parents):
            raise BundleError(f"{path}: {name} lies in a folder that is also a file; it is refused")


def _extracted(archive: zipfile.ZipFile, info: zipfile.ZipInfo, member: Member, to: Path) -> str | None:
    """Write one file; returns what is wrong with it."""
    to.parent.mkdir(parents=True, exist_ok=True)
    whole, size = hashlib.sha256(), 0
    try:
        with archive.open(info) as file, to.open("xb") as into:
            while chunk := file.read(_CHUNK):
                size += len(chunk)
                if size > member.bytes:
                    break
                whole.update(chunk)
                into.write(chunk)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        return f"cannot be read whole ({error})"
    if size != member.bytes:
        return f"has {'more' if size > member.bytes else size} bytes, and the manifest says {member.bytes}"
    if whole.hexdigest() != member.sha256:
        return f"does not have the checksum that the manifest says (SHA-256 {member.sha256[:12]}…)"
    return None
