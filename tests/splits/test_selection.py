"""Selections, exclusions, unions and profiles: which groups come into a partition, and what it is balanced over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import SplitError
from splits.corpus import Corpus
from splits.exclusions import Exclusion
from splits.partition import some_of
from splits.profiles import STRATIFY, Balance, balance, features_of
from splits.selection import Selection, remaining
from splits.unions import Union, connected

Grow = Callable[..., Corpus]
seeds = st.integers(0, 2**63)


@given(strata=st.lists(st.integers(1, 8), min_size=1, max_size=5), ask=st.integers(1, 40), seed=seeds, data=st.data())
@settings(max_examples=30, deadline=None)
def test_a_selection_takes_whole_groups_in_proportion_whatever_the_row_order(
    strata: list[int], ask: int, seed: int, data: st.DataObject, grow: Grow
) -> None:
    corpus = grow(strata)
    ask = 1 + ask % sum(strata)
    selected = Selection(groups=ask, seed=seed).apply(corpus)
    assert len(selected) == ask
    assert all(selected[group] == corpus.groups[group] for group in selected)
    found = Counter(examples[0].stratum for examples in selected.values())
    for stratum, size in enumerate(strata):
        share = Fraction(size * ask, sum(strata))
        assert floor(share) <= found[f"s{stratum}"] <= ceil(share)
    shuffled = Corpus(tuple(data.draw(st.permutations(corpus.examples))), corpus.facts)
    assert Selection(groups=ask, seed=seed).apply(shuffled) == selected


@pytest.mark.parametrize("keep", [1, 2, 3, 9])
def test_a_thinned_group_keeps_its_clean_note_one_omission_and_other_flaws_in_rotation(keep: int, grow: Grow) -> None:
    corpus = grow([6], lambda _: ("add", "partial-strong", "complete", "change"))
    selected = Selection(flawed_per_group=keep).apply(corpus)
    for examples in selected.values():
        assert [example.label for example in examples].count("clean") == 1
        flawed = [example for example in examples if example.twin]
        assert len(flawed) == min(keep, 4)
        assert any(example.trace == "complete" for example in flawed)
    if keep == 2:
        others = Counter(ex.flaw for examples in selected.values() for ex in examples if ex.twin)
        assert others == {"complete": 6, "add": 2, "partial-strong": 2, "change": 2}


def test_a_selection_of_more_groups_than_there_are_is_refused(corpus: Corpus) -> None:
    with pytest.raises(SplitError, match="selection asks for 13 groups, the corpus has 12; ask for fewer"):
        Selection(groups=13).apply(corpus)


@pytest.mark.parametrize("name", ["groups", "flawed_per_group"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True])
def test_a_selection_of_no_whole_number_is_refused(name: str, value: object) -> None:
    with pytest.raises(SplitError, match=f"{name} must be a whole number of at least 1, or null, got {value!r}"):
        Selection(**{name: value})  # type: ignore[arg-type]  # the wrong type is what is tested


# -- exclusions --------------------------------------------------------------------------------------------------------


def test_with_nothing_excluded_the_corpus_stays_the_one_it_is(corpus: Corpus) -> None:
    assert remaining(corpus, {"nothing": Exclusion()}) is corpus


def test_excluded_groups_and_pairs_never_remain(corpus: Corpus) -> None:
    exclusions = {"one": Exclusion(groups=("g001",)), "two": Exclusion(pairs=("g002.complete", "g003.add"))}
    left = remaining(corpus, exclusions)
    assert "g001" not in left.groups
    assert [example.id for example in left.groups["g002"]] == ["g002.add", "g002.clean"]
    assert [example.id for example in left.groups["g003"]] == ["g003.clean", "g003.complete"]
    assert len(left.examples) == len(corpus.examples) - 3 - 2


def test_an_excluded_clean_example_takes_everything_with_it_that_it_is_the_twin_of(corpus: Corpus) -> None:
    assert "g004" not in remaining(corpus, {"seen": Exclusion(pairs=("g004.clean",))}).groups


def test_an_excluded_group_takes_the_groups_that_it_is_united_with(corpus: Corpus) -> None:
    left = remaining(corpus, {"seen": Exclusion(groups=("g001",))}, [("g001", "g005", "g009"), ("g002", "g003")])
    assert sorted(set(corpus.groups) - set(left.groups)) == ["g001", "g005", "g009"]


@pytest.mark.parametrize(
    ("exclusion", "message"),
    [
        (Exclusion(groups=("zz", "g001")), "seen.json: excluded group zz is not in the corpus; exclude only what is"),
        (Exclusion(pairs=("g001.nothing",)), "seen.json: excluded example g001.nothing is not in the corpus"),
    ],
)
def test_what_is_excluded_and_does_not_exist_is_named(exclusion: Exclusion, message: str, corpus: Corpus) -> None:
    with pytest.raises(SplitError, match=message):
        remaining(corpus, {"none.txt": Exclusion(groups=("g001",)), "seen.json": exclusion})


def test_exclusions_that_leave_nothing_are_refused_and_named(corpus: Corpus) -> None:
    first, *others = corpus.groups
    exclusions = {"runs/a": Exclusion(groups=(first,)), "runs/b": Exclusion(groups=tuple(others))}
    with pytest.raises(SplitError, match="nothing of the corpus is left: runs/a, runs/b exclude it all"):
        remaining(corpus, exclusions)


# -- unions ------------------------------------------------------------------------------------------------------------


def grouped(corpus: Corpus, **fields: Callable[[int], object]) -> Corpus:
    """The corpus with fields made from the number of each group."""
    examples = tuple(
        replace(example, **{name: make(int(example.group[1:])) for name, make in fields.items()})
        for example in corpus.examples
    )
    return Corpus(examples, corpus.facts)


def test_groups_that_share_a_field_or_a_key_of_meta_are_united(corpus: Corpus) -> None:
    made = grouped(
        corpus,
        cohort=lambda number: "even" if number in (2, 4) else None,
        meta=lambda number: {"practice": ["north", 1]} if number in (4, 7) else {"practice": ""},
    )
    assert Union(fields=("cohort",)).blocks(made) == (("g002", "g004"),)
    assert Union(fields=("meta.practice",)).blocks(made) == (("g004", "g007"),)
    assert Union(fields=("cohort", "meta.practice")).blocks(made) == (("g002", "g004", "g007"),)
    assert Union().blocks(made) == ()


def test_groups_with_near_duplicate_texts_are_united(corpus: Corpus) -> None:
    said = "The patient has had a dry cough for three weeks and sleeps badly because of it, as she told the nurse. "
    texts = {0: said + "It is worse at night.", 9: said + "It is worse in the evening.", 5: "Knee pain after a fall."}
    made = grouped(corpus, source=lambda number: texts.get(number, f"Nothing alike, number {number} of all of them."))
    made = grouped(made, document=lambda number: f"Note {number}")
    assert Union(near_duplicates=0.6).blocks(made) == (("g000", "g009"),)


@pytest.mark.parametrize(
    ("union", "message"),
    [
        ({"near_duplicates": 0.0}, r"a similarity in \(0, 1\], got 0.0"),
        ({"near_duplicates": 1.5}, r"a similarity in \(0, 1\], got 1.5"),
        ({"fields": ("cohrt",)}, "united by 'cohrt', which is no field that they may share; did you mean 'cohort'"),
        ({"fields": ("id",)}, "united by 'id'"),
        ({"fields": ("meta.",)}, "united by 'meta.'"),
    ],
)
def test_a_union_by_nothing_that_groups_share_is_refused(union: dict[str, object], message: str) -> None:
    with pytest.raises(SplitError, match=message):
        Union(**union)  # type: ignore[arg-type]  # wrong values are what is tested


def test_a_union_by_a_key_that_no_example_has_is_refused(corpus: Corpus) -> None:
    with pytest.raises(SplitError, match=r"united by 'meta\.practice': no example of the corpus has it"):
        Union(fields=("meta.practice",)).blocks(corpus)


@given(st.lists(st.frozensets(st.sampled_from("abcdefgh"), max_size=4), max_size=8))
def test_connected_names_are_those_that_a_chain_of_links_joins(links: list[frozenset[str]]) -> None:
    blocks = connected(links)
    known = [set(link) for link in links if link]
    while merged := next(((a, b) for a in known for b in known if a is not b and a & b), None):
        known = [other for other in known if other not in merged] + [merged[0] | merged[1]]
    assert blocks == tuple(sorted(tuple(sorted(names)) for names in known if len(names) > 1))


# -- profiles ----------------------------------------------------------------------------------------------------------


def test_groups_are_labelled_by_kinds_and_by_traces_that_few_of_them_hold(grow: Grow) -> None:
    flaws = [("complete", "add"), ("complete", "change"), ("complete", "partial-weak"), ("complete",), ("complete",)]
    corpus = grow([5], lambda number: flaws[number])
    features = features_of(corpus.groups, ("kinds", "rare-traces"))
    assert features.strata == dict.fromkeys(corpus.groups, "")
    assert features.labels == {
        "g000": {"add"},
        "g001": {"change"},
        "g002": {"partial-weak"},
    }
    assert features_of(corpus.groups, ("stratum",)).labels == {}
    assert set(features_of(corpus.groups, ("stratum",)).strata.values()) == {"s0"}


def test_a_kind_that_most_groups_hold_labels_those_without_it(grow: Grow) -> None:
    corpus = grow([5], lambda number: ("complete",) if number == 3 else ("complete", "add"))
    assert features_of(corpus.groups, ("kinds",)).labels == {"g003": {"no add"}}


def test_what_splits_cannot_be_balanced_over_is_refused() -> None:
    assert some_of(["kinds", "stratum", "kinds"], STRATIFY, what="stratify") == ("stratum", "kinds")
    with pytest.raises(SplitError, match="stratify must name some of stratum, kinds, rare-traces, got 'cohort'"):
        some_of(["stratum", "cohort"], STRATIFY, what="stratify")


def test_balance_says_how_far_each_feature_is_off_its_proportional_number(grow: Grow) -> None:
    corpus = grow([4, 4], lambda number: ("complete", "add") if number < 2 else ("complete",))
    splits = {"reflect": ("g000", "g001"), "accept": ("g002", "g004"), "heldout": ("g003", "g005", "g006", "g007")}
    rows = balance(splits, features_of(corpus.groups, ("stratum", "kinds")))
    assert [row.feature for row in rows] == ["stratum s0", "stratum s1", "holds add"]
    assert rows[2] == Balance(
        "holds add",
        2,
        {"reflect": 2, "accept": 0, "heldout": 0},
        {"reflect": 0.5, "accept": 0.5, "heldout": 1.0},
    )
    assert rows[2].off == 1.5
    assert rows[0].off == 1.0
