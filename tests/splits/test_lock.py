"""The split lock: drawn, committed once, and checked again at every load."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.canonical import digest, pretty_json
from lineage.errors import SplitError
from splits.corpus import Corpus
from splits.lock import SplitLock, commit_lock, load_lock, plan_lock, split_examples, verify_lock
from splits.partition import SPLITS, Selection

SIZES = {"reflect": 3, "accept": 3, "heldout": 6}


def rewrite(path: Path, edit: Callable[[dict[str, Any]], object], *, rehash: bool = False) -> None:
    """Edit the fields of a lock file; with ``rehash`` as someone would who knows the format."""
    data = json.loads(path.read_text(encoding="utf-8"))
    edit(data)
    if rehash:
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


@given(
    strata=st.lists(st.integers(1, 9), min_size=1, max_size=5).filter(lambda sizes: sum(sizes) >= 3),
    seed=st.integers(0, 2**40),
    data=st.data(),
)
@settings(max_examples=50, deadline=None)
def test_a_lock_is_the_same_for_the_same_corpus_whatever_the_row_order(
    strata: list[int], seed: int, data: st.DataObject, grow: Callable[..., Corpus]
) -> None:
    corpus = grow(strata)
    total = sum(strata)
    one, two = sorted(data.draw(st.lists(st.integers(1, total - 1), min_size=2, max_size=2, unique=True)))
    sizes = {"reflect": one, "accept": two - one, "heldout": total - two}
    lock = plan_lock(corpus, sizes=sizes, seed=seed)
    shuffled = Corpus(tuple(data.draw(st.permutations(corpus.examples))), corpus.facts)
    again = plan_lock(shuffled, sizes=sizes, seed=seed)
    assert replace(again, created_at=lock.created_at).hash == lock.hash
    verify_lock(lock, shuffled)
    placed = [group for groups in lock.splits.values() for group in groups]
    assert sorted(placed) == sorted(corpus.groups)
    examples = [ex.id for name in ("reflect", "accept") for ex in split_examples(lock, shuffled, name)]
    assert len(set(examples)) == len(examples) == 3 * (total - sizes["heldout"])


def test_a_committed_lock_comes_back_as_it_was_planned(corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "split.lock.json"
    plan = plan_lock(
        corpus,
        sizes={"reflect": 2, "accept": 2, "heldout": 4},
        seed=0,
        selection=Selection(groups=8, flawed_per_group=1, seed=3),
        alpha=0.1,
        comparisons=4,
        exclusions={"seen before": ("g001",)},
    )
    commit_lock(plan, path)
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
    assert len(data["assertions"]) == 4


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
def test_one_moved_group_is_named(rehash: bool, lock: SplitLock, corpus: Corpus) -> None:
    assert lock.path is not None
    rewrite(lock.path, swap, rehash=rehash)
    mine = lock.splits["reflect"][0]
    with pytest.raises(SplitError, match=rf"group .*{mine}.* was moved: seed 7 does not draw it where it stands"):
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
    with pytest.raises(SplitError, match=r"the corpus has hash .* restore the corpus or commit a new lock"):
        load_lock(lock.path, Corpus(edited, corpus.facts))


def test_one_edited_or_lost_fact_is_found(lock: SplitLock, corpus: Corpus) -> None:
    assert lock.path is not None
    with pytest.raises(SplitError, match="an example or a fact was edited, added or removed"):
        load_lock(lock.path, Corpus(corpus.examples, {}))


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda data: data.update(seed=8), "was moved|lock_hash"),
        (lambda data: data.update(alpha=0.5), "the lock was edited .*lock_hash"),
        (lambda data: data.update(comparisons=9), "the lock was edited .*lock_hash"),
        (lambda data: data.update(created_at="2020-01-01T00:00:00+00:00"), "the lock was edited .*lock_hash"),
        (lambda data: data.update(lock_hash="0" * 64), "the lock was edited .*lock_hash"),
        (lambda data: data.update(corpus_hash="0" * 64), "the lock was committed on 000000000000"),
        (lambda data: data.update(method="by hand"), "the lock was edited .*method"),
        (lambda data: data.update(format="other"), "the lock was edited .*format"),
        (lambda data: data["fractions"].update(heldout=0.4), "the lock was edited .*fractions"),
        (lambda data: data["strata"]["heldout"].update(s0=5), "the lock was edited .*strata"),
        (lambda data: data["counts"]["heldout"]["kind"].update(omit=5), "the counts of heldout do not match"),
        (lambda data: data["assertions"].pop(), "the lock was edited .*assertions"),
        (lambda data: data["selection"].update(groups=12), "the lock was edited .*lock_hash"),
        (lambda data: data["selection"].update(groups=11), "is in the lock or the selection, but not in both"),
        (lambda data: data["selection"].update(flawed_per_group=1), "the counts of reflect do not match"),
        (lambda data: data["exclusions"].update(x={"groups": ["g001"], "hash": "0"}), "group g001 is in the lock or"),
        (lambda data: data["exclusions"].update(x={"groups": [], "hash": "0"}), "the lock was edited .*exclusions"),
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
        (lambda data: data.update(comparisons=0), "comparisons at least 1"),
        (lambda data: data.update(comparisons=1.5), "comparisons at least 1"),
        (lambda data: data["selection"].update(groups=0), "groups must be a whole number"),
        (lambda data: data["selection"].update(flawed_per_group="2"), "flawed_per_group must be a whole number"),
        (lambda data: data["selection"].update(more=1), "is not a split lock"),
        (lambda data: data["splits"].update(reflect="g000"), "groups must be a list of names"),
        (lambda data: data["splits"].update(reflect=[["g000"]]), "groups must be a list of names"),
        (lambda data: data["splits"].update(reflect=[0, "g000"]), "groups must be a list of names"),
        (lambda data: data["splits"].update(reflect=[], accept=[], heldout=[]), "is not a split lock"),
        (lambda data: data["splits"].update(reflect=[]), "is in the lock or the selection, but not in both"),
        (lambda data: data["exclusions"].update(x={"groups": [1], "hash": ""}), "groups must be a list of names"),
        (lambda data: data["exclusions"].update(x={"groups": ["zz"], "hash": ""}), "excluded group zz is not in"),
        (lambda data: data.update(exclusions=[]), "is not a split lock"),
        (lambda data: data.update(counts=None), "is not a split lock"),
        (lambda data: data["counts"].update(heldout=3), "is not a split lock"),
        (lambda data: data.update(seed=None), "was moved"),
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
def test_one_changed_byte_anywhere_in_a_lock_is_caught(
    position: int, byte: int, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "mutated.lock.json"
    if not path.exists():
        commit_lock(plan_lock(corpus, sizes=SIZES, seed=123, exclusions={"none": ()}), path)
    whole = path.read_bytes()
    data = bytearray(whole)
    position %= len(data)
    data[position] = byte if data[position] != byte else byte ^ 1
    path.write_bytes(data)
    try:
        with pytest.raises(SplitError, match=r"mutated\.lock\.json: "):
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


@pytest.mark.parametrize("with_omission", [0, 1, 2])
def test_a_split_without_an_omission_is_refused_and_says_how_many_groups_have_one(
    with_omission: int, grow: Callable[..., Corpus]
) -> None:
    corpus = grow([6], lambda index: ("complete", "add") if index < with_omission else ("add",))
    message = rf"(reflect|accept|heldout): lacks an omission .* \({with_omission} groups of the selection have one\)"
    with pytest.raises(SplitError, match=message):
        plan_lock(corpus, sizes={"reflect": 2, "accept": 2, "heldout": 2}, seed=0)


def test_an_excluded_group_that_does_not_exist_is_named(corpus: Corpus) -> None:
    with pytest.raises(SplitError, match="excluded group zz is not in the corpus"):
        plan_lock(corpus, sizes=SIZES, seed=0, exclusions={"seen": ("zz",)})
