"""The register beside a lock: the alpha of one held-out split is spent once, across campaigns."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lineage.canonical import canonical_json, digest
from lineage.errors import SealError
from lineage.ledger import Ledger
from splits.corpus import Corpus
from splits.draft import plan_lock
from splits.loaders import save_corpus
from splits.lock import SplitLock
from splits.lock_file import commit_lock, load_lock
from splits.register import Comparison, register_opening, register_path

ROOT = Path(__file__).resolve().parents[2]


def committed(corpus: Corpus, path: Path, *, comparisons: int) -> SplitLock:
    plan = plan_lock(corpus, sizes={"reflect": 3, "accept": 3, "heldout": 6}, seed=1, comparisons=comparisons)
    commit_lock(plan, path)
    return load_lock(path, corpus)


@pytest.fixture
def two(corpus: Corpus, tmp_path: Path) -> SplitLock:
    """A lock with two comparisons."""
    return committed(corpus, tmp_path / "two.lock.json", comparisons=2)


def opening(lock: SplitLock, campaign: str, name: str, target: str = "instruction") -> Comparison | None:
    return register_opening(lock, campaign=campaign, target=target, opening=name, purpose="to test", caller="a test")


def test_confirmations_count_up_and_each_spends_its_share(two: SplitLock) -> None:
    assert opening(two, "one", "confirm") == Comparison(1, 2, 0.025)
    assert opening(two, "two", "confirm") == Comparison(2, 2, 0.025)
    assert str(Comparison(2, 2, 0.025)) == "comparison 2 of 2 on this held-out split, at two-sided alpha 0.025"


def test_a_resumed_campaign_keeps_its_place(two: SplitLock) -> None:
    first = opening(two, "one", "confirm")
    opening(two, "two", "confirm")
    before = register_path(two).read_bytes()
    assert opening(two, "one", "confirm") == first
    assert opening(two, "one", "baseline") is None
    assert opening(two, "two", "confirm") == Comparison(2, 2, 0.025)
    assert register_path(two).read_bytes().startswith(before)


def test_a_baseline_spends_nothing(two: SplitLock) -> None:
    for campaign in ("a", "b", "c", "d"):
        assert opening(two, campaign, "baseline") is None
    assert opening(two, "d", "confirm") == Comparison(1, 2, 0.025)


def test_each_row_says_what_was_opened_for_what_and_by_whom(two: SplitLock) -> None:
    opening(two, "one", "baseline")
    (row,) = register_path(two).read_text(encoding="utf-8").splitlines()
    named = {name: json.loads(row)[name] for name in ("opening", "purpose", "target", "caller")}
    assert named == {"opening": "baseline", "purpose": "to test", "target": "instruction", "caller": "a test"}


def test_repeating_an_opening_writes_nothing(two: SplitLock) -> None:
    for name in ("baseline", "confirm"):
        opening(two, "one", name)
        before = register_path(two).read_bytes()
        opening(two, "one", name)
        assert register_path(two).read_bytes() == before


@pytest.mark.parametrize("name", ["baseline", "confirm"])
def test_when_alpha_is_spent_a_new_campaign_is_refused_with_the_remedy(name: str, lock: SplitLock) -> None:
    opening(lock, "first-campaign", "confirm")
    with pytest.raises(SealError, match=r"all 1 .* are spent \(by campaign first-campai\).* --exploratory REASON"):
        opening(lock, "second", name)
    assert opening(lock, "first-campaign", "confirm") == Comparison(1, 1, 0.05)


def test_a_campaign_that_opened_its_baseline_early_can_still_come_too_late(lock: SplitLock) -> None:
    opening(lock, "slow", "baseline")
    opening(lock, "fast", "confirm")
    with pytest.raises(SealError, match="are spent"):
        opening(lock, "slow", "confirm")


def test_each_target_of_a_campaign_takes_a_place_of_its_own(two: SplitLock) -> None:
    assert opening(two, "one", "confirm", "a") == Comparison(1, 2, 0.025)
    assert opening(two, "one", "confirm", "b") == Comparison(2, 2, 0.025)
    with pytest.raises(SealError, match="all 2 confirmatory comparisons"):
        opening(two, "one", "confirm", "c")


def test_a_lock_that_is_reached_by_a_link_has_the_register_of_its_file(
    lock: SplitLock, corpus: Corpus, tmp_path: Path
) -> None:
    assert lock.path is not None
    opening(lock, "one", "confirm")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "other.json").symlink_to(lock.path)
    (tmp_path / "folder").symlink_to(lock.path.parent, target_is_directory=True)
    for path in (tmp_path / "elsewhere" / "other.json", tmp_path / "folder" / lock.path.name):
        with pytest.raises(SealError, match="all 1 confirmatory comparisons"):
            opening(load_lock(path, corpus), "two", "confirm")


def test_the_copy_in_a_run_directory_is_refused_to_another_campaign(
    lock: SplitLock, corpus: Corpus, tmp_path: Path, open_ledger: Callable[[str], Ledger]
) -> None:
    assert lock.path is not None
    own = open_ledger("run").campaign
    copied = load_lock(Path(shutil.copy(lock.path, tmp_path / "run" / "split.lock.json")), corpus)
    with pytest.raises(SealError, match=r"is a run directory's copy of its split lock.*; name that file in the plan"):
        opening(copied, "other", "baseline")
    assert not register_path(copied).exists()
    assert opening(copied, own, "confirm") == Comparison(1, 1, 0.05)
    with pytest.raises(SealError, match="are spent"):
        opening(copied, "other", "baseline")


def test_a_lock_that_was_never_committed_has_no_register(two: SplitLock) -> None:
    with pytest.raises(SealError, match="must be committed to a file before its held-out split can be opened"):
        opening(replace(two, path=None), "one", "baseline")


def test_another_lock_cannot_take_over_a_register(two: SplitLock, corpus: Corpus) -> None:
    opening(two, "one", "confirm")
    assert two.path is not None
    two.path.unlink()
    other = committed(corpus, two.path, comparisons=3)
    with pytest.raises(SealError, match=r"two\.lock\.register\.jsonl:1: was edited, or belongs to another split lock"):
        opening(other, "two", "confirm")


def rehash(row: dict[str, Any], **changes: Any) -> bytes:
    row = {key: value for key, value in {**row, **changes}.items() if key != "hash"}
    return canonical_json({**row, "hash": digest(row)}).encode()


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        (lambda rows: [rows[0].replace(b"baseline", b"baselinf"), *rows[1:]], 1),
        (lambda rows: [rows[0], rows[1].replace(b'"k":1', b'"k":9'), rows[2]], 2),
        (lambda rows: rows[1:], 1),
        (lambda rows: [rows[0], rows[2]], 2),
        (lambda rows: [rows[1], rows[0], rows[2]], 1),
        (lambda rows: [rows[0], rows[0], *rows[1:]], 2),
        (lambda rows: [rows[0], rehash(json.loads(rows[1]), campaign="me"), rows[2]], 3),
        (lambda rows: [rehash({"lock": "x"}), *rows[1:]], 1),
        (lambda rows: [rehash({**json.loads(rows[0]), "more": 1}), *rows[1:]], 1),
        (lambda rows: [*rows[:2], rows[2][:-4]], 3),
        (lambda rows: [b"[]", *rows], 1),
        (lambda rows: [b"", *rows], 1),
        (lambda rows: [b"\xff", *rows], 1),
        (lambda _: [b""], 1),
    ],
)
def test_an_edited_register_is_found_and_the_row_named(edit: Any, line: int, two: SplitLock) -> None:
    for campaign, name in (("one", "baseline"), ("one", "confirm"), ("two", "baseline")):
        opening(two, campaign, name)
    path = register_path(two)
    path.write_bytes(b"\n".join(edit(path.read_bytes().splitlines())) + b"\n")
    with pytest.raises(SealError, match=rf"two\.lock\.register\.jsonl:{line}: (was edited|is not a register row)"):
        opening(two, "three", "baseline")


def test_a_register_without_its_last_line_end_goes_on_whole(two: SplitLock) -> None:
    opening(two, "one", "confirm")
    path = register_path(two)
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    assert opening(two, "two", "confirm") == Comparison(2, 2, 0.025)
    assert opening(two, "one", "confirm") == Comparison(1, 2, 0.025)


REGISTER = """
import sys
from pathlib import Path
from splits.loaders import load_corpus
from splits.lock_file import load_lock
from splits.register import register_opening
home = Path(sys.argv[1])
lock = load_lock(home / "split.lock.json", load_corpus(home / "corpus.jsonl", facts=home / "facts.jsonl"))
print("ready", flush=True)
sys.stdin.readline()
for turn in range(8):
    names = {"campaign": f"{sys.argv[2]}-{turn}", "target": "instruction", "purpose": "to test", "caller": "a test"}
    print(register_opening(lock, opening="confirm", **names).k)
"""


@pytest.mark.integration
def test_processes_that_register_at_once_get_places_of_their_own(corpus: Corpus, tmp_path: Path) -> None:
    lock = committed(corpus, tmp_path / "split.lock.json", comparisons=16)
    save_corpus(corpus, tmp_path)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", REGISTER, str(tmp_path), name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b")
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    places = sorted(int(line) for child in children for line in child.communicate()[0].split())
    assert [child.returncode for child in children] == [0, 0]
    assert places == list(range(1, 17))
    with pytest.raises(SealError, match="all 16 confirmatory comparisons"):
        opening(lock, "late", "confirm")
