"""What earlier campaigns trained on, read from their ledgers and from files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage.canonical import digest, digest_bytes
from lineage.errors import SplitError
from lineage.ledger import Ledger
from splits.corpus import Corpus
from splits.draft import plan_lock
from splits.exclusions import Exclusion, read_exclusion
from splits.lock import SplitLock, split_structure
from splits.seal import Seal


@pytest.fixture
def trained(
    corpus: Corpus, lock: SplitLock, open_ledger: Callable[[str], Ledger], tmp_path: Path
) -> Callable[[bool], Path]:
    """The run directory of a campaign on the lock, its held-out split opened or not."""

    def made(opened: bool) -> Path:
        ledger = open_ledger("earlier")
        rows = "".join(json.dumps(row) + "\n" for row in split_structure(lock, corpus))
        (tmp_path / "earlier" / "examples.jsonl").write_text(rows, encoding="utf-8")
        ledger.perform("splits", {"examples": digest_bytes(rows.encode())}, dict)
        if opened:
            Seal(corpus, lock, ledger, target="instruction", caller="test").open("baseline", lambda _: None)
        return tmp_path / "earlier"

    return made


def test_a_campaign_stands_for_the_groups_it_trained_on(trained: Callable[[bool], Path], lock: SplitLock) -> None:
    found = read_exclusion(trained(False))
    assert found.groups == tuple(sorted([*lock.splits["reflect"], *lock.splits["accept"]]))
    assert found.pairs == ()


def test_held_out_groups_that_were_opened_count_too(trained: Callable[[bool], Path], corpus: Corpus) -> None:
    assert read_exclusion(trained(True)).groups == tuple(corpus.groups)


def test_a_campaign_can_stand_for_its_pairs_alone(trained: Callable[[bool], Path], lock: SplitLock) -> None:
    found = read_exclusion(trained(False), grain="pairs")
    groups = sorted([*lock.splits["reflect"], *lock.splits["accept"]])
    assert found.groups == ()
    assert found.pairs == tuple(f"{group}.{flaw}" for group in groups for flaw in ("add", "complete"))


def test_what_a_campaign_trained_on_never_appears_in_a_later_split(
    trained: Callable[[bool], Path], corpus: Corpus
) -> None:
    exclusion = read_exclusion(trained(False))
    sizes = {"reflect": 2, "accept": 2, "heldout": 2}
    later = plan_lock(corpus, sizes=sizes, seed=3, exclusions={"earlier": exclusion})
    assert not {group for groups in later.splits.values() for group in groups} & set(exclusion.groups)


def test_a_list_of_examples_that_the_ledger_does_not_vouch_for_is_refused(trained: Callable[[bool], Path]) -> None:
    directory = trained(False)
    path = directory / "examples.jsonl"
    path.write_text(path.read_text().replace('"heldout"', '"reflect"', 1))
    with pytest.raises(SplitError, match=r"earlier: .*examples\.jsonl is not the list that its ledger recorded"):
        read_exclusion(directory)
    path.unlink()
    with pytest.raises(SplitError, match="earlier: is no run directory that exclusions can be read from"):
        read_exclusion(directory)


def test_a_directory_without_a_ledger_is_no_campaign(tmp_path: Path) -> None:
    with pytest.raises(SplitError, match="it has no ledger that records splits"):
        read_exclusion(tmp_path)


def test_a_finished_run_directory_can_be_excluded(finished_run: Path, tmp_path: Path) -> None:
    run = shutil.copytree(finished_run, tmp_path / "run")
    lock = json.loads((run / "split.lock.json").read_text())
    assert set(read_exclusion(run).groups) == {group for groups in lock["splits"].values() for group in groups}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.json", '["g2", "g1", "g2"]', Exclusion(groups=("g1", "g2"))),
        ("a.json", '{"groups": ["g1"], "pairs": ["g2.add"]}', Exclusion(("g1",), ("g2.add",))),
        ("a.json", '{"pairs": ["g2.add"]}', Exclusion(pairs=("g2.add",))),
        ("a.yaml", "groups: [g1]\npairs:\n- g2.add\n", Exclusion(("g1",), ("g2.add",))),
        ("a.yml", "- g1\n- '7'\n", Exclusion(groups=("7", "g1"))),
        ("a.txt", "# seen in May\ng1\n\n  g 2  # twice\n", Exclusion(groups=("g 2", "g1"))),
        ("names", "g1\r\ng2", Exclusion(groups=("g1", "g2"))),
    ],
)
def test_a_file_names_groups_and_pairs(name: str, text: str, expected: Exclusion, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    assert read_exclusion(tmp_path / name) == expected


def test_the_names_of_a_plain_list_can_be_pairs(tmp_path: Path) -> None:
    (tmp_path / "seen").write_text("g1.add\n", encoding="utf-8")
    assert read_exclusion(tmp_path / "seen", grain="pairs") == Exclusion(pairs=("g1.add",))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "[", "is not a readable exclusions file"),
        ("a.yaml", "a: [", "is not a readable exclusions file"),
        ("a.json", "5", "must be a list of names, or a mapping"),
        (
            "a.json",
            '{"group": ["g1"]}',
            "must be a list of names, or a mapping with the lists groups and pairs and nothing else",
        ),
        ("a.json", "{}", "must be a list of names, or a mapping"),
        ("a.json", "[1]", "groups must be a list of names; quote a name that looks like a number"),
        ("a.yaml", "groups: g1", "groups must be a list of names"),
        ("a.yaml", "- 07", "quote a name that looks like a number"),
        ("a.json", "[]", "names nothing to exclude"),
        ("a.txt", "# none\n", "names nothing to exclude"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_by_its_name(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(SplitError, match=rf"{name}: .*{message}"):
        read_exclusion(tmp_path / name)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "seen").write_bytes(b"\xff\xfe")
    with pytest.raises(SplitError, match="seen: is not a readable exclusions file"):
        read_exclusion(tmp_path / "seen")


def test_a_path_with_nothing_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SplitError, match="there is no such exclusions file or run directory"):
        read_exclusion(tmp_path / "nowhere")


def test_an_exclusion_states_the_hash_of_its_lists() -> None:
    row = Exclusion(groups=("b", "a", "b")).row()
    assert row == {"groups": ["a", "b"], "pairs": [], "hash": digest({"groups": ["a", "b"], "pairs": []})}
