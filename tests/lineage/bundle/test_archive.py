"""The archive of a bundle: equal contents give equal bytes, and what somebody else wrote is read with suspicion."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.bundle import MANIFEST, Member, extract_bundle, sealed_manifest, write_bundle
from lineage.canonical import digest_bytes
from lineage.errors import BundleError

FILES = {"run/a.json": b"{}\n", "run/judgements/0001.jsonl": b"", "calls.jsonl": b"x" * 5000}


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "a.zip"
    write_bundle(path, {"name": "a"}, FILES)
    return path


def forged(path: Path, members: Mapping[str, bytes], *, manifest: bool = True) -> Path:
    """An archive with any names, and a manifest that fits them."""
    listed = [Member(name, digest_bytes(data), len(data)) for name, data in members.items()]
    with zipfile.ZipFile(path, "w") as archive:
        if manifest:
            archive.writestr(MANIFEST, sealed_manifest({}, listed))
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return path


def altered(path: Path, name: str, data: bytes | None, *, also: Mapping[str, bytes] | None = None) -> Path:
    """A copy of an archive with one member replaced or left out, and others added."""
    out = path.with_name("altered.zip")
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(out, "w") as after:
        for info in before.infolist():
            content = data if info.filename == name else before.read(info)
            if content is not None:
                after.writestr(info, content)
        for more, content in (also or {}).items():
            after.writestr(zipfile.ZipInfo(more), content)
    return out


def test_equal_contents_give_equal_bytes_whatever_order_they_come_in_and_wherever_they_lie(tmp_path: Path) -> None:
    file = tmp_path / "elsewhere"
    file.write_bytes(FILES["calls.jsonl"])
    write_bundle(tmp_path / "a.zip", {"name": "a"}, FILES)
    write_bundle(tmp_path / "b.zip", {"name": "a"}, {**dict(reversed(FILES.items())), "calls.jsonl": file})
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_what_was_packed_comes_out_again_with_every_checksum(bundle: Path, tmp_path: Path) -> None:
    found = extract_bundle(bundle, tmp_path / "out")
    assert found.damage == ()
    assert found.manifest["name"] == "a"
    assert {name: (found.directory / name).read_bytes() for name in found.members} == FILES


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8}\.x)?", fullmatch=True), st.binary(max_size=50)))
def test_any_files_come_out_as_they_went_in(files: dict[str, bytes]) -> None:
    import tempfile

    folders = {name.partition("/")[0] for name in files if "/" in name}
    files = {name: data for name, data in files.items() if name not in folders}
    with tempfile.TemporaryDirectory() as place:
        write_bundle(Path(place) / "a.zip", {}, files)
        found = extract_bundle(Path(place) / "a.zip", Path(place) / "out")
        assert {name: (found.directory / name).read_bytes() for name in found.members} == files


@pytest.mark.parametrize(
    "name",
    ["../out", "run/../../out", "/etc/out", "run//x", "./run/x", "run\\..\\x", "C:x", "run/\nx", "run/x/"],
)
def test_a_name_that_leads_out_of_the_folder_is_refused_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    path = forged(tmp_path / "evil.zip", {"run/good": b"1", name: b"2"})
    with pytest.raises(BundleError, match=r"leads out of the folder|link or a folder"):
        extract_bundle(path, tmp_path / "deep" / "out")
    assert [file.name for file in tmp_path.rglob("*")] == ["evil.zip"]


def test_a_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("run/link")
        info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(BundleError, match="run/link is a link or a folder"):
        extract_bundle(path, tmp_path / "out")


def test_a_name_that_occurs_twice_is_refused_also_in_another_case(tmp_path: Path) -> None:
    path = forged(tmp_path / "evil.zip", {"run/ledger.jsonl": b"1", "run/Ledger.jsonl": b"2"})
    with pytest.raises(BundleError, match="twice, or only its letters' case differs"):
        extract_bundle(path, tmp_path / "out")


def test_a_file_that_is_also_a_folder_is_refused(tmp_path: Path) -> None:
    path = forged(tmp_path / "evil.zip", {"run": b"1", "run/x": b"2"})
    with pytest.raises(BundleError, match="in a folder that is also a file"):
        extract_bundle(path, tmp_path / "out")


def test_more_bytes_than_are_allowed_are_refused_before_any_is_written(bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="more than 4,000 bytes together"):
        extract_bundle(bundle, tmp_path / "out", largest=4000)
    assert not (tmp_path / "out").exists()


def test_a_file_that_unpacks_to_more_than_it_states_is_cut_off_and_named(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, sealed_manifest({}, [Member("run/x", digest_bytes(b"x"), 1)]))
        archive.writestr(zipfile.ZipInfo("run/x"), b"x" * 3_000_000)
    found = extract_bundle(path, tmp_path / "out")
    assert [(damage.name, damage.words) for damage in found.damage] == [
        ("run/x", "has more bytes, and the manifest says 1")
    ]
    assert (tmp_path / "out" / "run" / "x").stat().st_size <= 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"{ }\n", "has more bytes"),
        (b"{]\n", "does not have the checksum"),
        (None, "is missing from the archive"),
    ],
)
def test_a_file_that_is_not_as_the_manifest_says_is_named(
    bundle: Path, tmp_path: Path, data: bytes | None, words: str
) -> None:
    found = extract_bundle(altered(bundle, "run/a.json", data), tmp_path / "out")
    ((name, said),) = [(damage.name, damage.words) for damage in found.damage]
    assert name == "run/a.json"
    assert words in said


def test_a_file_that_was_added_is_named_and_not_written(bundle: Path, tmp_path: Path) -> None:
    found = extract_bundle(altered(bundle, "", b"", also={"run/more": b"1"}), tmp_path / "out")
    assert [damage.name for damage in found.damage] == ["run/more"]
    assert not (tmp_path / "out" / "run" / "more").exists()


def test_an_edited_manifest_is_named(bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        manifest = archive.read(MANIFEST)
    found = extract_bundle(
        altered(bundle, MANIFEST, manifest.replace(b'"name": "a"', b'"name": "b"')), tmp_path / "out"
    )
    assert [damage.name for damage in found.damage] == [MANIFEST]


@pytest.mark.parametrize("data", [b"", b"not an archive", b"PK\x03\x04" + b"\0" * 40])
def test_what_is_no_archive_is_said_to_be_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(BundleError, match="is not a readable archive"):
        extract_bundle(tmp_path / "a.zip", tmp_path / "out")


def test_an_archive_of_something_else_is_said_to_be_no_bundle(tmp_path: Path) -> None:
    path = forged(tmp_path / "a.zip", {"x": b"1"}, manifest=False)
    with pytest.raises(BundleError, match=r"holds no bundle\.json"):
        extract_bundle(path, tmp_path / "out")


def test_a_bundle_of_a_later_format_is_not_guessed_at(tmp_path: Path) -> None:
    later = json.loads(sealed_manifest({}, [])) | {"format": "holdgate bundle 9"}
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(MANIFEST, json.dumps(later))
    with pytest.raises(BundleError, match="holdgate bundle 9"):
        extract_bundle(tmp_path / "a.zip", tmp_path / "out")


@given(place=st.integers(min_value=0, max_value=10_000), byte=st.integers(min_value=1, max_value=255))
def test_no_changed_byte_gives_other_contents_unnoticed(place: int, byte: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a.zip"
        write_bundle(path, {"name": "a"}, FILES)
        data = bytearray(path.read_bytes())
        data[place % len(data)] ^= byte
        path.write_bytes(data)
        try:
            found = extract_bundle(path, Path(name) / "out")
        except BundleError:
            return
        if not found.damage:
            kept = {one: (found.directory / one).read_bytes() for one in found.members}
            assert (kept, found.manifest["name"]) == (FILES, "a")


def test_nothing_is_left_behind_where_writing_fails(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_bundle(tmp_path / "a.zip", {}, {"x": tmp_path / "absent"})
    assert list(tmp_path.iterdir()) == []
