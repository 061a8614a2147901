"""Canonical JSON, digests, and writes that are whole or absent."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.canonical import canonical_json, digest, digest_bytes, pretty_json, write_atomic, write_once

ROOT = Path(__file__).resolve().parents[2]
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)


@given(value=values)
def test_canonical_json_reads_back_as_the_value_it_was_made_of(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value
    assert json.loads(pretty_json(value)) == value


@given(items=st.lists(st.tuples(st.text(), scalars), unique_by=lambda item: item[0], max_size=6), data=st.data())
def test_the_order_of_keys_changes_neither_text_nor_digest(items: list[tuple[str, Any]], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(items))
    assert canonical_json(dict(items)) == canonical_json(dict(shuffled))
    assert digest(dict(items)) == digest(dict(shuffled))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_json_does_not_have_is_refused_at_any_depth(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"scores": [1.0, {"deep": value}]})


def test_text_other_than_ascii_stands_as_itself_and_without_white_space() -> None:
    assert canonical_json({"b": "naïve 患者 😀", "a": [1, None]}) == '{"a":[1,null],"b":"naïve 患者 😀"}'


@given(text=st.text(alphabet="a\ud83d\ude00\udfff é", max_size=8))
def test_half_a_surrogate_pair_from_a_model_still_has_a_digest_and_utf8_bytes(text: str) -> None:
    canonical_json({"raw": text}).encode("utf-8")
    pretty_json({"raw": text}).encode("utf-8")
    assert len(digest({"raw": text})) == 64


def test_a_lone_surrogate_survives_canonical_json() -> None:
    assert json.loads(canonical_json("cut \ud83d off")) == "cut \ud83d off"


def test_a_digest_is_the_full_sha256_of_the_canonical_bytes() -> None:
    assert digest({"a": 1}) == hashlib.sha256(b'{"a":1}').hexdigest()
    assert digest_bytes(b"raw") == hashlib.sha256(b"raw").hexdigest()


@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=50))
def test_any_text_is_written_as_its_utf8_bytes(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    write_atomic(path, text)
    assert path.read_bytes() == text.encode("utf-8")


def test_files_are_utf8_with_lf_ends_whatever_the_locale(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    code = "import sys, pathlib; from lineage.canonical import write_atomic; " + (
        f"write_atomic(pathlib.Path({str(path)!r}), 'na\\u00efve\\n\\u60a3\\n')"
    )
    plain = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=plain, check=True)
    assert path.read_bytes() == "naïve\n患\n".encode()


def test_a_written_file_can_be_read_by_others_and_its_directory_is_made(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "file.json"
    write_atomic(path, "{}")
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "verdict.json"
    write_atomic(path, "old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["verdict.json"]


@pytest.mark.parametrize("step", ["fsync", "link"])
def test_a_name_is_given_once_and_a_failed_first_writing_gives_it_to_nothing(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "deep" / "lock.json"

    def fail(*_: object) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        if step == "link":
            patched.setattr(Path, "replace", fail)
        with pytest.raises(OSError, match="disk full"):
            write_once(path, "new")
    left = [path] if step == "link" else []
    assert [(file.name, file.read_bytes()) for file in path.parent.iterdir()] == [(file.name, b"") for file in left]
    for file in left:
        file.unlink()
    write_once(path, "new")
    with pytest.raises(FileExistsError):
        write_once(path, "newer")
    assert [file.read_text(encoding="utf-8") for file in path.parent.iterdir()] == ["new"]


def test_text_that_utf8_cannot_hold_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "prompt.md"
    write_atomic(path, "old")
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
        write_atomic(path, "fine, then \ud83d")
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["prompt.md"]


def test_a_reader_never_sees_a_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "head.json"
    texts = ["a" * 200_000, "b" * 100_000]
    write_atomic(path, texts[0])
    seen: list[str] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.append(path.read_text(encoding="utf-8"))

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(40):
        write_atomic(path, texts[turn % 2])
    stop.set()
    reader.join()
    assert seen
    assert set(seen) <= set(texts)
