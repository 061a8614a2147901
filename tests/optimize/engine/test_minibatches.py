from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimize.engine.minibatches import Minibatches, RareDeal, draw_groups, rarer_groups
from splits import Corpus

MakeNotes = Callable[..., Corpus]


def names(n: int) -> list[str]:
    return [f"g{index:02d}" for index in range(n)]


@settings(max_examples=100, deadline=None)
@given(n=st.integers(1, 12), size=st.integers(1, 14), seed=st.integers(0, 50))
def test_every_group_is_drawn_once_before_any_is_drawn_again(n: int, size: int, seed: int) -> None:
    groups = names(n)
    batches = [draw_groups(groups, size, seed=seed, number=number) for number in range(1, 2 * n + 1)]
    assert all(len(set(batch)) == min(size, n) for batch in batches)
    if n % min(size, n) == 0:
        epoch = batches[: n // min(size, n)]
        assert sorted(group for batch in epoch for group in batch) == groups


def test_a_minibatch_depends_on_seed_and_number_alone() -> None:
    groups = names(9)
    again = [draw_groups(groups, 2, seed=4, number=number) for number in (5, 1, 5)]
    assert again[0] == again[2]
    assert len({tuple(draw_groups(groups, 2, seed=seed, number=1)) for seed in range(20)}) > 1


def test_the_draws_of_plans_that_ask_for_no_rare_traces_are_what_they_were() -> None:
    groups = names(7)
    assert [draw_groups(groups, 2, seed=1, number=number) for number in range(1, 8)] == [
        ["g00", "g05"],
        ["g01", "g04"],
        ["g02", "g06"],
        ["g03", "g06"],
        ["g01", "g04"],
        ["g00", "g03"],
        ["g02", "g05"],
    ]


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 14),
    size=st.integers(1, 16),
    marked=st.sets(st.integers(0, 13)),
    seed=st.integers(0, 30),
)
def test_a_deal_never_sees_a_group_twice_more_than_another(n: int, size: int, marked: set[int], seed: int) -> None:
    groups = names(n)
    deal = RareDeal(groups, {groups[index] for index in marked if index < n}, size, seed=seed)
    seen = Counter(dict.fromkeys(groups, 0))
    for number in range(1, 3 * n + 2):
        batch = deal.minibatch(number)
        assert len(set(batch)) == len(batch) == min(size, n)
        assert set(batch) <= set(groups)
        seen.update(batch)
        assert max(seen.values()) - min(seen.values()) <= 1


@settings(max_examples=60, deadline=None)
@given(data=st.data(), n=st.integers(2, 14), size=st.integers(1, 6), seed=st.integers(0, 30))
def test_a_deal_gives_every_minibatch_a_marked_group_where_there_are_enough(
    data: st.DataObject, n: int, size: int, seed: int
) -> None:
    groups = names(n)
    enough = min(n, -(-n // min(size, n)) + 1)
    marked = data.draw(st.sets(st.sampled_from(groups), min_size=enough))
    deal = RareDeal(groups, marked, size, seed=seed)
    assert all(marked & set(deal.minibatch(number)) for number in range(1, 4 * n))


def test_too_few_marked_groups_are_spread_over_an_epoch_by_chance() -> None:
    groups = names(12)
    places = Counter[int]()
    for seed in range(120):
        deal = RareDeal(groups, {"g00"}, 2, seed=seed)
        places.update(number for number in range(1, 7) if "g00" in deal.minibatch(number))
    assert sum(places.values()) == 120
    assert all(8 <= places[number] <= 36 for number in range(1, 7))


def test_equal_arguments_deal_equal_minibatches_in_any_order() -> None:
    first, second = (RareDeal(names(9), {"g01", "g04"}, 2, seed=3) for _ in range(2))
    ahead = second.minibatch(12)
    assert [first.minibatch(number) for number in range(1, 13)] == [second.minibatch(n) for n in range(1, 13)]
    assert first.minibatch(12) == ahead
    other = RareDeal(names(9), {"g01", "g04"}, 2, seed=4)
    assert [first.minibatch(n) for n in range(1, 13)] != [other.minibatch(n) for n in range(1, 13)]


def test_the_rarest_trace_is_preferred_and_the_next_joins_it_while_there_are_too_few(make_notes: MakeNotes) -> None:
    traces = ["complete"] * 4 + ["partial-weak"] * 3 + ["partial-strong"]
    groups = make_notes("r", 8, traces=traces).groups
    assert rarer_groups(groups, 8) == {"r04", "r05", "r06", "r07"}
    assert rarer_groups(groups, 4) == {"r04", "r05", "r06", "r07"}
    assert rarer_groups(groups, 2) == set(groups)
    assert rarer_groups(make_notes("r", 4, traces=[None]).groups, 2) == set()


@pytest.mark.parametrize("rare", [False, True])
def test_a_minibatch_holds_whole_groups_with_their_twins(make_notes: MakeNotes, rare: bool) -> None:
    reflect = make_notes("r", 5, omissions=2)
    minibatches = Minibatches(reflect, size=2, seed=1, rare=rare)
    for number in range(1, 8):
        found = minibatches.examples(number)
        groups = {example.group for example in found}
        assert len(groups) == 2
        assert sorted(example.id for example in found) == [
            e.id for group in sorted(groups) for e in reflect.groups[group]
        ]


def test_a_group_without_a_pair_is_never_drawn(make_notes: MakeNotes) -> None:
    reflect = make_notes("r", 3)
    alone = Corpus(tuple(example for example in reflect.examples if example.id != "r01.omit0"), {})
    assert Minibatches(alone, size=1, seed=0, rare=False).groups == ["r00", "r02"]
