"""The split lock: drawn, committed once, and checked again at every load."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from lineage.canonical import digest, pretty_json
from lineage.errors import SplitError
from splits.corpus import Corpus
from splits.draft import plan_lock
from splits.exclusions import Exclusion
from splits.lock import SplitLock, _selected, split_examples, split_structure, without_text
from splits.lock_file import commit_lock, load_lock
from splits.partition import SPLITS
from splits.selection import Selection
from splits.unions import Union
from splits.verification import verify_lock

SIZES = {"reflect": 3, "accept": 3, "heldout": 6}
EXCLUDED = {"groups": ["g001"], "pairs": [], "hash": "0"}


def rewrite(path: Path, edit: Callable[[dict[str, Any]], object], *, rehash: bool = False) -> None:
    """Edit the fields of a lock file; with ``rehash`` as someone would who knows the format."""
    data = json.loads(path.read_text(encoding="utf-8"))
    edit(data)
    if rehash:
        fields = {key: value for key, value in data.items() if key not in ("field_hashes", "lock_hash")}
        data["field_hashes"] = {key: digest(value) for key, value in fields.items()}
        data["lock_hash"] = digest({key: value for key, value in data.items() if key != "lock_hash"})
    path.write_text(pretty_json(data), encoding="utf-8")


def swap(data: dict[str, Any]) -> None:
    """Swap a group of reflect for one of the held-out split of the same stratum."""
    reflect, heldout = data["splits"]["reflect"], data["splits"]["heldout"]
    mine = reflect[0]
    other = next(group for group in heldout if int(group[1:]) // 4 == int(mine[1:]) // 4)
    reflect.remove(mine)
    heldout.remove(other)
    reflect.append(other)
    heldout.append(mine)
    reflect.sort()
    heldout.sort()


def move(data: dict[str, Any]) -> None:
    """Move one group from the reflect split into the held-out split."""
    data["splits"]["heldout"] = sorted([*data["splits"]["heldout"], data["splits"]["reflect"].pop(0)])


@given(
    strata=st.lists(st.integers(1, 9), min_size=1, max_size=5).filter(lambda sizes: sum(sizes) >= 3),
    stratify=st.lists(st.sampled_from(["stratum", "kinds", "rare-traces"]), unique=True),
    seed=st.integers(0, 2**40),
    data=st.data(),
)
@settings(max_examples=20, deadline=None)
def test_a_lock_is_the_same_for_the_same_corpus_whatever_the_row_order(
    strata: list[int], stratify: list[str], seed: int, data: st.DataObject, grow: Callable[..., Corpus]
) -> None:
    kinds = data.draw(st.lists(st.sampled_from([("complete",), ("complete", "add"), ("complete", "partial-weak")])))
    corpus = grow(strata, lambda index: kinds[index] if index < len(kinds) else ("omit", "change"))
    total = sum(strata)
    one, two = sorted(data.draw(st.lists(st.integers(1, total - 1), min_size=2, max_size=2, unique=True)))
    sizes = {"reflect": one, "accept": two - one, "heldout": total - two}
    lock = plan_lock(corpus, sizes=sizes, seed=seed, stratify=stratify)
    shuffled = Corpus(tuple(data.draw(st.permutations(corpus.examples))), corpus.facts)
    again = plan_lock(shuffled, sizes=sizes, seed=seed, stratify=stratify[::-1])
    assert replace(again, created_at=lock.created_at).hash == lock.hash
    verify_lock(lock, shuffled)
    placed = [group for groups in lock.splits.values() for group in groups]
    assert sorted(placed) == sorted(corpus.groups)
    examples = [ex.id for name in ("reflect", "accept") for ex in split_examples(lock, shuffled, name)]
    assert len(set(examples)) == len(examples)
    assert {corpus.by_id[name].group for name in examples} == {*lock.splits["reflect"], *lock.splits["accept"]}


@given(data=st.data(), seed=st.integers(0, 2**40))
@settings(max_examples=20, deadline=None)
def test_what_is_excluded_never_appears_and_united_groups_stay_together(
    data: st.DataObject, seed: int, grow: Callable[..., Corpus]
) -> None:
    plain = grow([6, 5, 7])
    cohorts = data.draw(st.lists(st.integers(0, 12), min_size=18, max_size=18))
    examples = [
        replace(ex, cohort=None if cohorts[int(ex.group[1:])] > 3 else f"c{cohorts[int(ex.group[1:])]}")
        for ex in plain.examples
    ]
    corpus = Corpus(tuple(data.draw(st.permutations(examples))), plain.facts)
    groups = data.draw(st.lists(st.sampled_from(sorted(corpus.groups)), max_size=3, unique=True))
    pairs = data.draw(st.lists(st.sampled_from([ex.id for ex in plain.examples if ex.twin]), max_size=3))
    exclusions = {"seen": Exclusion(tuple(groups)), "pairs": Exclusion(pairs=tuple(pairs))}
    try:
        lock = plan_lock(
            corpus,
            sizes={"reflect": 0.3, "accept": 0.3, "heldout": 0.4},
            seed=seed,
            union=Union(fields=("cohort",)),
            exclusions=exclusions,
            needs=(),
        )
    except SplitError:  # sets so large that no sizes hold them
        reject()
    verify_lock(lock, corpus)
    selected = _selected(lock, corpus)
    placed = {group: split for split in SPLITS for group in lock.splits[split]}
    assert set(placed) == set(selected)
    assert not set(groups) & set(placed)
    assert not set(pairs) & {example.id for found in selected.values() for example in found}
    for cohort in {example.cohort for example in examples} - {None}:
        members = {example.group for example in examples if example.cohort == cohort}
        assert len({placed[group] for group in members if group in placed}) <= 1
        if members & set(groups):
            assert not members & set(placed)


def test_a_committed_lock_comes_back_as_it_was_planned(corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "split.lock.json"
    plan = plan_lock(
        corpus,
        sizes={"reflect": 2, "accept": 2, "heldout": 4},
        seed=0,
        selection=Selection(groups=8, flawed_per_group=1, seed=3),
        alpha=0.1,
        comparisons=4,
        stratify=("stratum", "kinds", "rare-traces"),
        union=Union(fields=("cohort",)),
        exclusions={"seen before": Exclusion(groups=("g001",), pairs=("g002.add",))},
    )
    assert commit_lock(plan, path) == replace(plan, path=path)
    lock = load_lock(path, corpus)
    assert lock == replace(plan, path=path)
    assert lock.hash == plan.hash
    assert lock.spend == pytest.approx(0.025)
    assert "g001" not in {group for groups in lock.splits.values() for group in groups}
    assert lock.describe() == "reflect 2 groups / 4 notes, accept 2 groups / 4 notes, heldout 4 groups / 8 notes"


def test_a_lock_file_states_what_the_design_promises(lock: SplitLock, corpus: Corpus) -> None:
    assert lock.path is not None
    data = json.loads(lock.path.read_text(encoding="utf-8"))
    assert data["corpus_hash"] == corpus.hash
    assert data["fractions"] == {"reflect": 0.25, "accept": 0.25, "heldout": 0.5}
    assert data["strata"]["heldout"] == {"s0": 6, "s1": 6, "s2": 6}
    assert data["counts"]["heldout"]["kind"] == {"add": 6, "clean": 6, "omit": 6}
    assert data["lock_hash"] == lock.hash
    assert len(data["assertions"]) == 7
    assert data["sizes"] == SIZES
    assert data["git"] is None
    assert data["union"] == {"near_duplicates": None, "fields": [], "united": []}
    assert set(data["fingerprints"]) == set(corpus.groups)
    assert set(data["field_hashes"]) == set(data) - {"field_hashes", "lock_hash"}


def test_a_committed_lock_is_never_overwritten(lock: SplitLock, corpus: Corpus) -> None:
    assert lock.path is not None
    before = lock.path.read_bytes()
    with pytest.raises(SplitError, match="a committed split lock is never overwritten"):
        commit_lock(plan_lock(corpus, sizes=SIZES, seed=8), lock.path)
    assert lock.path.read_bytes() == before


@pytest.mark.parametrize("split", ["heldout", "train", ""])
def test_held_out_examples_come_from_the_seal_only(split: str, lock: SplitLock, corpus: Corpus) -> None:
    with pytest.raises(SplitError, match="held-out examples come from the seal only"):
        split_examples(lock, corpus, split)


def test_examples_of_a_split_are_those_of_its_groups_in_order_of_ids(lock: SplitLock, corpus: Corpus) -> None:
    examples = split_examples(lock, corpus, "accept")
    assert [example.id for example in examples] == sorted(example.id for example in examples)
    assert {example.group for example in examples} == set(lock.splits["accept"])


@pytest.mark.parametrize("rehash", [False, True])
@pytest.mark.parametrize("edit", [swap, move])
def test_one_moved_group_is_named_and_no_other(
    edit: Callable[[dict[str, Any]], None], rehash: bool, lock: SplitLock, corpus: Corpus
) -> None:
    assert lock.path is not None
    rewrite(lock.path, edit, rehash=rehash)
    mine = lock.splits["reflect"][0]
    others = rf"{mine} was" if edit is move else rf"({mine}, g\d+|g\d+, {mine}) was"
    with pytest.raises(SplitError, match=rf"group {others} moved: seed 7 does not draw it .*; restore the lock"):
        load_lock(lock.path, corpus)


def test_groups_out_of_order_are_found_even_with_new_hashes(lock: SplitLock, corpus: Corpus) -> None:
    assert lock.path is not None
    rewrite(lock.path, lambda data: data["splits"]["heldout"].reverse(), rehash=True)
    with pytest.raises(SplitError, match="the groups of a split are not in their order"):
        load_lock(lock.path, corpus)


def test_a_group_in_two_splits_or_in_none_is_named(lock: SplitLock, corpus: Corpus) -> None:
    assert lock.path is not None
    mine = lock.splits["reflect"][0]
    rewrite(lock.path, lambda data: data["splits"]["heldout"].append(mine), rehash=True)
    with pytest.raises(SplitError, match=f"group {mine} is in more than one split"):
        load_lock(lock.path, corpus)
    rewrite(lock.path, lambda data: [data["splits"][name].remove(mine) for name in ("reflect", "heldout")], rehash=True)
    with pytest.raises(SplitError, match=f"group {mine} is in the lock or the selection, but not in both"):
        load_lock(lock.path, corpus)


@pytest.mark.parametrize("field", ["document", "source", "trace"])
@pytest.mark.parametrize("split", SPLITS)
def test_one_edited_note_is_found(field: str, split: str, lock: SplitLock, corpus: Corpus) -> None:
    assert lock.path is not None
    name = f"{lock.splits[split][0]}.complete"
    edited = tuple(
        replace(example, **{field: "partial-weak"}) if example.id == name else example for example in corpus.examples
    )
    said = (
        rf"the corpus has hash .* \({name} of group {lock.splits[split][0]} was edited\); restore the corpus or commit"
    )
    with pytest.raises(SplitError, match=said):
        load_lock(lock.path, Corpus(edited, corpus.facts))


def test_what_was_added_or_removed_or_lies_outside_the_lock_is_named_too(
    corpus: Corpus, grow: Callable[..., Corpus], tmp_path: Path
) -> None:
    path = tmp_path / "split.lock.json"
    sizes = {"reflect": 2, "accept": 2, "heldout": 2}
    commit_lock(plan_lock(corpus, sizes=sizes, seed=1, selection=Selection(groups=6, seed=1)), path)
    lock = load_lock(path, corpus)
    mine = lock.splits["heldout"][0]
    unused = next(group for group in corpus.groups if group not in lock.fingerprints)

    def without(test: Callable[[Any], bool]) -> Corpus:
        return Corpus(tuple(example for example in corpus.examples if not test(example)), corpus.facts)

    edits = {
        f"group {mine} has 2 examples, and had 3": without(lambda ex: ex.id == f"{mine}.add"),
        f"group {mine} is gone": without(lambda ex: ex.group == mine),
        f"the facts of group {mine} were edited": Corpus(corpus.examples, {**corpus.facts, mine: ()}),
        "not in a group that is split here, but in one that is left out": without(lambda ex: ex.group == unused),
    }
    for said, changed in edits.items():
        with pytest.raises(SplitError, match=rf"\({said}\); restore the corpus or commit a new lock"):
            load_lock(path, changed)


def test_one_edited_or_lost_fact_is_found(lock: SplitLock, corpus: Corpus) -> None:
    assert lock.path is not None
    with pytest.raises(SplitError, match="an example or a fact was edited, added or removed"):
        load_lock(lock.path, Corpus(corpus.examples, {}))


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda data: data.update(seed=8), r"the lock was edited \(differs in seed\)"),
        (lambda data: data.update(alpha=0.5), r"the lock was edited \(differs in alpha\)"),
        (lambda data: data.update(comparisons=9), r"the lock was edited \(differs in comparisons\)"),
        (lambda data: data.update(created_at="2020-01-01T00:00:00+00:00"), r"edited \(differs in created_at\)"),
        (lambda data: data.update(git={"commit": "0" * 40, "dirty": False}), r"edited \(differs in git\)"),
        (lambda data: data.update(lock_hash="0" * 64), r"the lock was edited \(differs in lock_hash\)"),
        (lambda data: data["field_hashes"].update(alpha="0" * 64), r"edited \(differs in field_hashes\)"),
        (lambda data: data["field_hashes"].pop("alpha"), r"edited \(differs in field_hashes\)"),
        (lambda data: data.update(corpus_hash="0" * 64), r"edited \(differs in corpus_hash\)"),
        (lambda data: data.update(stratify=[]), r"edited \(differs in stratify\)"),
        (lambda data: data.update(needs=["clean"]), r"edited \(differs in needs\)"),
        (lambda data: data["union"]["fields"].append("cohort"), r"edited \(differs in union\)"),
        (lambda data: data["sizes"].update(reflect=4), r"edited \(differs in sizes\)"),
        (lambda data: data["fingerprints"].update(g001="0 1 2 3 4"), "fingerprint of group g001 was edited"),
        (lambda data: data.update(method="by hand"), "the lock was edited .*method"),
        (lambda data: data.update(format="other"), "the lock was edited .*format"),
        (lambda data: data["fractions"].update(heldout=0.4), "the lock was edited .*fractions"),
        (lambda data: data["strata"]["heldout"].update(s0=5), "the lock was edited .*strata"),
        (lambda data: data["counts"]["heldout"]["kind"].update(omit=5), r"edited \(differs in counts\)"),
        (lambda data: data["assertions"].pop(), "the lock was edited .*assertions"),
        (lambda data: data["selection"].update(groups=12), r"edited \(differs in selection\)"),
        (lambda data: data["exclusions"].update(x=EXCLUDED), r"edited \(differs in exclusions\)"),
        (lambda data: data.update(note="x"), "the lock was edited .*note"),
        (lambda data: data.pop("alpha"), "is not a split lock .*alpha"),
        (lambda data: data.pop("strata"), "the lock was edited .*strata"),
        (lambda data: data["splits"].pop("accept"), "is not a split lock .*accept"),
        (lambda data: data["splits"].update(test=[]), "the lock was edited .*splits"),
    ],
)
def test_any_edited_field_is_caught_and_named(
    edit: Callable[[dict[str, Any]], object], named: str, lock: SplitLock, corpus: Corpus
) -> None:
    assert lock.path is not None
    rewrite(lock.path, edit)
    with pytest.raises(SplitError, match=rf"split\.lock\.json: .*({named})"):
        load_lock(lock.path, corpus)


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda data: data.update(alpha=5), r"alpha must be in \(0, 1\)"),
        (lambda data: data.update(alpha="0.05"), "is not a split lock"),
        (lambda data: data.update(seed=8), "was moved: seed 8 does not draw it"),
        (lambda data: data.update(corpus_hash="0" * 64), "the lock was committed on 000000000000"),
        (lambda data: data.update(needs=["clean", "commission"]), "edited .*assertions"),
        (lambda data: data.update(needs=["cleen"]), "needs must name some of clean, omission, commission"),
        (lambda data: data.update(stratify=["cohort"]), "stratify must name some of"),
        (lambda data: data["union"].update(fields=["cohrt"]), "did you mean 'cohort'"),
        (lambda data: data["union"].update(fields=["stratum"]), "united groups are not those that the corpus gives"),
        (lambda data: data["union"].update(united=[["g000", "g011"]]), "united groups are not those that the corpus"),
        (lambda data: data["sizes"].update(reflect=4, heldout=5), "was moved"),
        (lambda data: data["sizes"].update(reflect=4), "need 13 groups, there are 12"),
        (lambda data: data["sizes"].update(reflect="3"), "is not a split lock|all numbers of groups"),
        (lambda data: data["fingerprints"].pop("g001"), "group g001 is in a split or has a fingerprint, but not both"),
        (lambda data: data["fingerprints"].update(g001=5), "is not a split lock"),
        (lambda data: data.update(git={"commit": "0"}), "is not a split lock"),
        (lambda data: data["counts"]["heldout"]["kind"].update(omit=5), "the counts of heldout do not match"),
        (lambda data: data["selection"].update(groups=11), "is in the lock or the selection, but not in both"),
        (lambda data: data["selection"].update(flawed_per_group=1), "the counts of reflect do not match"),
        (lambda data: data["exclusions"].update(x=EXCLUDED), "group g001 is in the lock or the selection"),
        (lambda data: data["exclusions"].update(x={**EXCLUDED, "groups": []}), "the lock was edited .*exclusions"),
        (lambda data: data.update(comparisons=0), "comparisons at least 1"),
        (lambda data: data.update(comparisons=1.5), "comparisons at least 1"),
        (lambda data: data["selection"].update(groups=0), "groups must be a whole number"),
        (lambda data: data["selection"].update(flawed_per_group="2"), "flawed_per_group must be a whole number"),
        (lambda data: data["selection"].update(more=1), "is not a split lock"),
        (lambda data: data["splits"].update(reflect="g000"), "must be a list of names"),
        (lambda data: data["splits"].update(reflect=[["g000"]]), "must be a list of names"),
        (lambda data: data["splits"].update(reflect=[0, "g000"]), "must be a list of names"),
        (lambda data: data["splits"].update(reflect=[], accept=[], heldout=[]), "but not in both"),
        (lambda data: data["splits"].update(reflect=[]), "is in the lock or the selection, but not in both"),
        (lambda data: data["exclusions"].update(x={**EXCLUDED, "groups": [1]}), "must be a list of names"),
        (lambda data: data["exclusions"].update(x={**EXCLUDED, "groups": ["zz"]}), "excluded group zz is not in"),
        (lambda data: data["exclusions"].update(x={"groups": []}), "is not a split lock .*pairs"),
        (lambda data: data.update(exclusions=[]), "is not a split lock"),
        (lambda data: data.update(counts=None), "is not a split lock"),
        (lambda data: data["counts"].update(heldout=3), "is not a split lock"),
        (lambda data: data.update(seed=None), "was moved: seed None does not draw it"),
    ],
)
def test_nonsense_in_a_lock_is_an_error_of_ours_even_with_its_hash_made_new(
    edit: Callable[[dict[str, Any]], object], named: str, lock: SplitLock, corpus: Corpus
) -> None:
    assert lock.path is not None
    rewrite(lock.path, edit, rehash=True)
    with pytest.raises(SplitError, match=named):
        load_lock(lock.path, corpus)


@given(position=st.integers(0), byte=st.integers(0, 255))
@settings(max_examples=250, deadline=None)
def test_one_changed_byte_anywhere_in_a_lock_is_caught_and_its_field_or_group_named(
    position: int, byte: int, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "mutated.lock.json"
    if not path.exists():
        commit_lock(plan_lock(corpus, sizes=SIZES, seed=123, exclusions={"none": Exclusion()}), path)
    whole = path.read_bytes()
    data = bytearray(whole)
    position %= len(data)
    data[position] = byte if data[position] != byte else byte ^ 1
    path.write_bytes(data)
    # The last field that begins at the first level before the byte; its own line is a part of it.
    before = whole[: whole.index(b"\n", position - 1) if position else 0].split(b"\n")
    field = next((line.split(b'"')[1].decode() for line in reversed(before) if line.startswith(b'  "')), "its layout")
    named = rf"\b{field}\b|is not a split lock|its layout"
    if field in ("splits", "fingerprints"):
        named += "|group "
    try:
        with pytest.raises(SplitError, match=rf"mutated\.lock\.json: .*({named})"):
            load_lock(path, corpus)
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"\n", b"\r", 1),
        lambda data: data + b"\n",
        lambda data: data.replace(b"  ", b"    "),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b'"seed": 7', b'"seed": 8, "seed": 7'),
    ],
)
def test_an_edit_of_layout_alone_is_caught(edit: Callable[[bytes], bytes], lock: SplitLock, corpus: Corpus) -> None:
    assert lock.path is not None
    lock.path.write_bytes(edit(lock.path.read_bytes()))
    with pytest.raises(SplitError, match=r"split\.lock\.json: (the lock was edited .*its layout|is not a split lock)"):
        load_lock(lock.path, corpus)


@pytest.mark.parametrize("data", [b"", b"[]", b"5", b"{}", b"null", b"\xff", b'{"splits": 3}'])
def test_a_file_that_is_no_lock_is_refused(data: bytes, corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "split.lock.json"
    path.write_bytes(data)
    with pytest.raises(SplitError, match=r"split\.lock\.json: is not a split lock"):
        load_lock(path, corpus)


def test_a_missing_lock_names_the_command_that_writes_one(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(SplitError, match="there is no split lock; write one with: holdgate split commit"):
        load_lock(tmp_path / "split.lock.json", corpus)


@pytest.mark.parametrize(
    "sizes", [{"reflect": 3, "accept": 3, "heldout": 3}, {"reflect": 6, "accept": 6, "heldout": 6}]
)
def test_sizes_that_do_not_add_up_are_refused(sizes: Mapping[str, int], corpus: Corpus) -> None:
    with pytest.raises(SplitError, match="there are 12; change the sizes or the selection so that they agree"):
        plan_lock(corpus, sizes=sizes, seed=0)


@pytest.mark.parametrize(("alpha", "comparisons"), [(0, 1), (1, 1), (5, 1), (-0.1, 1), (0.05, 0), (float("nan"), 1)])
def test_an_error_rate_outside_its_range_is_refused(alpha: float, comparisons: int, corpus: Corpus) -> None:
    with pytest.raises(SplitError, match=r"alpha must be in \(0, 1\) and comparisons at least 1"):
        plan_lock(corpus, sizes=SIZES, seed=0, alpha=alpha, comparisons=comparisons)


# -- the file ----------------------------------------------------------------------------------------------------------


def test_two_commits_at_once_write_one_lock_and_refuse_the_other(corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "split.lock.json"
    plans = [plan_lock(corpus, sizes=SIZES, seed=seed) for seed in range(8)]
    start = threading.Barrier(len(plans))
    said: list[str] = []

    def commit(plan: SplitLock) -> None:
        start.wait()
        try:
            said.append(commit_lock(plan, path).hash)
        except SplitError as error:
            said.append(str(error))

    threads = [threading.Thread(target=commit, args=(plan,)) for plan in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    hashes = [words for words in said if "never overwritten" not in words]
    assert hashes == [load_lock(path, corpus).hash]
    assert [file.name for file in tmp_path.iterdir()] == ["split.lock.json"]


def test_a_lock_that_appears_while_another_is_written_is_not_overwritten(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "split.lock.json"
    link = os.link

    def late(source: str, target: Path) -> None:
        path.write_text("the other's")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(SplitError, match="a committed split lock is never overwritten"):
        commit_lock(plan_lock(corpus, sizes=SIZES, seed=1), path)
    assert path.read_text() == "the other's"
    assert [file.name for file in tmp_path.iterdir()] == ["split.lock.json"]


def test_a_file_system_without_links_still_takes_one_lock_only(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refused)
    path = tmp_path / "split.lock.json"
    written = commit_lock(plan_lock(corpus, sizes=SIZES, seed=1), path)
    assert load_lock(path, corpus) == written
    monkeypatch.setattr(Path, "exists", lambda _: False)
    with pytest.raises(SplitError, match="never overwritten"):
        commit_lock(plan_lock(corpus, sizes=SIZES, seed=2), path)


def test_a_lock_of_another_format_is_refused_and_one_of_the_first_with_the_way_to_the_second(
    lock: SplitLock, corpus: Corpus
) -> None:
    assert lock.path is not None
    for number, said in ((1, "or commit the split anew .*--stratify stratum draws the same groups"), (3, "wrote it$")):
        rewrite(lock.path, lambda data, number=number: data.update(format=f"holdgate split lock {number}"))
        with pytest.raises(SplitError, match=rf"'holdgate split lock {number}', this version reads .*{said}"):
            load_lock(lock.path, corpus)


def test_a_lock_stays_small_whatever_its_texts_are(lock: SplitLock, corpus: Corpus) -> None:
    grown = tuple(replace(example, source=example.source * 400) for example in corpus.examples)
    long = plan_lock(Corpus(grown, corpus.facts), sizes=SIZES, seed=7)
    assert len(pretty_json(long.row())) == len(pretty_json(lock.row()))
    assert all(len(str(found)) < 120 for found in long.fingerprints.values())


def test_structure_and_examples_without_text_hold_none(lock: SplitLock, corpus: Corpus) -> None:
    rows = split_structure(lock, corpus)
    assert [row["id"] for row in rows] == sorted(example.id for example in corpus.examples)
    assert {row["split"] for row in rows} == set(SPLITS)
    marked = [replace(example, meta={"clean": "candidate", "text": "zq"}) for example in corpus.examples]
    bare = [without_text(example, corpus) for example in marked]
    assert not any("zq" in json.dumps(row) for row in rows)
    assert {(example.source, example.document) for example in bare} == {("", "")}
    assert all(example.candidate == (example.label == "clean") for example in bare)
    assert not any("text" in example.meta for example in bare)
    assert {example.fact for example in bare} == {"f1", None}
    stated = [without_text(replace(example, fact="a statement of zq"), corpus) for example in corpus.examples]
    assert {example.fact for example in stated} == {None}


def test_an_excluded_group_that_does_not_exist_is_named(corpus: Corpus) -> None:
    with pytest.raises(SplitError, match="excluded group zz is not in the corpus"):
        plan_lock(corpus, sizes=SIZES, seed=0, exclusions={"seen": Exclusion(groups=("zz",))})
