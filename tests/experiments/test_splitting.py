"""``holdgate split``: plan, commit, verify, show."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.canonical import canonical_json
from splits import load_bundled
from splits.corpus import example_row

Holdgate = Callable[..., tuple[int, str, str]]
SMALL = ("--corpus", "consults", "--groups", "24", "--flawed-per-group", "2", "--seed", "1")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are not cut off."""
    monkeypatch.setenv("COLUMNS", "160")


def committed(holdgate: Holdgate, path: Path, *options: str | Path) -> dict[str, Any]:
    status, _, err = holdgate("split", "commit", path, *options)
    assert status == 0, err
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_a_plan_says_what_commit_would_write_and_writes_nothing(
    holdgate: Holdgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = (*SMALL, "--sizes", "8,6,10")
    status, planned, err = holdgate("split", "plan", *options)
    assert status == 0, err
    assert list(tmp_path.iterdir()) == []
    lock = committed(holdgate, tmp_path / "split.lock.json", *options)
    for split, groups in lock["splits"].items():
        assert f"{split}: {' '.join(groups)}" in planned
    for row in (
        "kind omit",
        "trace partial-strong",
        "severity critical",
        "stratum uk-surgery",
        "holds add",
        "most off",
    ):
        assert row in planned
    assert lock["stratify"] == ["stratum", "kinds", "rare-traces"]


@pytest.mark.parametrize(
    ("sizes", "groups"), [("0.4,0.2,0.4", [10, 5, 9]), ("1/3,1/3,1/3", [8, 8, 8]), ("0.25,1/4,0.5", [6, 6, 12])]
)
def test_fractions_come_to_whole_groups(sizes: str, groups: list[int], holdgate: Holdgate, tmp_path: Path) -> None:
    lock = committed(holdgate, tmp_path / "a.json", *SMALL, "--sizes", sizes)
    assert [lock["sizes"][name] for name in ("reflect", "accept", "heldout")] == groups


@pytest.mark.parametrize("sizes", ["8,6", "8,6,x", "a", "1,2,3,4", "0.4,0.2,0.4,0.1", "1/0,1/2,1/2", ""])
def test_sizes_that_are_not_three_numbers_are_refused(sizes: str, holdgate: Holdgate) -> None:
    status, _, err = holdgate("split", "plan", *SMALL, "--sizes", sizes)
    assert status == 2
    assert "--sizes must be three whole numbers such as 8,6,10, or three fractions such as 0.4,0.2,0.4" in err


def test_a_committed_lock_is_not_overwritten_and_says_what_it_asserts(holdgate: Holdgate, tmp_path: Path) -> None:
    path = tmp_path / "split.lock.json"
    committed(holdgate, path, *SMALL, "--sizes", "8,6,10")
    before = path.read_bytes()
    status, _, err = holdgate("split", "commit", path, *SMALL, "--sizes", "8,6,10")
    assert (status, path.read_bytes()) == (2, before)
    assert "a committed split lock is never overwritten" in err
    status, out, _ = holdgate("split", "verify", path, "--corpus", "consults")
    assert status == 0
    assert "holds: reflect 8 groups / 24 notes" in out
    assert "every flawed example is in the split of its twin" in out


def test_an_edited_note_is_named_by_verify(holdgate: Holdgate, tmp_path: Path) -> None:
    corpus = load_bundled("consults")
    rows = [example_row(example) for example in corpus.examples]
    file = tmp_path / "corpus.jsonl"
    file.write_text("".join(canonical_json(row) + "\n" for row in rows), encoding="utf-8")
    lock = committed(holdgate, tmp_path / "a.json", "--corpus", file, "--sizes", "20,15,25")
    group = lock["splits"]["heldout"][0]
    edited = next(row for row in rows if row["group"] == group and row["label"] != "clean")
    edited["document"] += " "
    file.write_text("".join(canonical_json(row) + "\n" for row in rows), encoding="utf-8")
    status, _, err = holdgate("split", "verify", tmp_path / "a.json", "--corpus", file)
    assert status == 2
    assert f"({edited['id']} of group {group} was edited); restore the corpus or commit a new lock" in err


def test_show_prints_a_lock_as_it_stands(holdgate: Holdgate, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    lock = committed(holdgate, path, *SMALL, "--sizes", "8,6,10", "--stratify", "stratum")
    status, out, _ = holdgate("split", "show", path)
    assert status == 0
    assert out.index("reflect") < out.index("accept") < out.index("heldout")
    assert f"accept: {' '.join(lock['splits']['accept'])}" in out
    assert "whole groups, strata by controlled rounding; seed 1; alpha 0.05 over 1 comparison" in out
    path.write_text("{}")
    status, _, err = holdgate("split", "show", path)
    assert status == 2
    assert "is not a split lock" in err


def test_what_earlier_campaigns_trained_on_is_left_out(holdgate: Holdgate, finished_run: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(finished_run, tmp_path / "run"))
    earlier = json.loads((run / "split.lock.json").read_text())["splits"]
    seen = {group for groups in earlier.values() for group in groups}
    (tmp_path / "seen").write_text("us-01\n" if "us-01" not in seen else "uk-01\n")
    options = ("--corpus", "consults", "--exclude", run, "--exclude", tmp_path / "seen")
    lock = committed(holdgate, tmp_path / "a.json", *options, "--sizes", "0.4,0.2,0.4")
    placed = {group for groups in lock["splits"].values() for group in groups}
    assert len(placed) == 60 - len(seen) - 1
    assert not placed & seen
    status, out, _ = holdgate("split", "show", tmp_path / "a.json")
    assert status == 0
    assert f"excluded by {run}: {len(seen)} groups, 0 pairs" in out


def test_pairs_alone_can_be_left_out(holdgate: Holdgate, tmp_path: Path) -> None:
    corpus = load_bundled("consults")
    pair = next(example.id for example in corpus.examples if example.twin)
    (tmp_path / "seen").write_text(f"{pair}\n")
    lock = committed(
        holdgate,
        tmp_path / "a.json",
        "--corpus",
        "consults",
        "--sizes",
        "20,15,25",
        "--exclude-pairs",
        tmp_path / "seen",
    )
    (row,) = lock["exclusions"].values()
    assert row["pairs"] == [pair]
    total = sum(sum(counts["kind"].values()) for counts in lock["counts"].values())
    assert total == len(corpus.examples) - 1


def test_groups_that_share_a_field_stay_together(holdgate: Holdgate, tmp_path: Path) -> None:
    corpus = load_bundled("consults")
    file = tmp_path / "corpus.jsonl"
    rows = [
        {**example_row(example), "meta": {"practice": example.group[-1]} if example.group[-1] in "123" else {}}
        for example in corpus.examples
    ]
    file.write_text("".join(canonical_json(row) + "\n" for row in rows), encoding="utf-8")
    lock = committed(
        holdgate, tmp_path / "a.json", "--corpus", file, "--sizes", "0.3,0.3,0.4", "--unite", "meta.practice"
    )
    splits = lock["splits"]
    for digit in "123":
        holders = [name for name, groups in splits.items() if any(g[-1] == digit for g in groups)]
        assert len(holders) == 1
    status, out, _ = holdgate("split", "show", tmp_path / "a.json")
    assert status == 0
    assert "18 groups are united in 3 sets" in out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--unite", "near-duplicates:much"),
            "--unite near-duplicates:SIMILARITY needs a number in (0, 1], got 'much'",
        ),
        (("--unite", "near-duplicates", "--unite", "near-duplicates:0.5"), "is given twice"),
        (("--unite", "cohrt"), "did you mean 'cohort'"),
        (("--stratify", "cohort"), "stratify must name some of stratum, kinds, rare-traces"),
        (("--needs", "omit"), "needs must name some of clean, omission, commission"),
        (("--exclude", "nowhere"), "nowhere: there is no such exclusions file or run directory"),
        (("--alpha", "5"), "alpha must be in (0, 1)"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(options: tuple[str, ...], said: str, holdgate: Holdgate) -> None:
    status, _, err = holdgate("split", "plan", *SMALL, "--sizes", "8,6,10", *options)
    assert status == 2
    assert said in err


def test_near_duplicate_groups_are_united_on_the_command_line(holdgate: Holdgate) -> None:
    status, out, err = holdgate("split", "plan", *SMALL, "--sizes", "8,6,10", "--unite", "near-duplicates:0.9")
    assert status == 0, err
    assert "united groups first" in out
