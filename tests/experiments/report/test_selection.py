"""What is shown of a search that made more than can be read."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from experiments.report.proposals import Proposal, family
from experiments.report.selection import shown
from experiments.report.tree import tree_picture


def proposal(number: int, parent: int | None, outcome: str = "accepted", paired: float = 0.5) -> Proposal:
    return Proposal(
        name=f"c{number}",
        candidate=f"id{number}",
        parents=() if parent is None else (f"c{parent}",),
        kind="seed" if parent is None else "mutation",
        operator=None,
        outcome="seed" if parent is None else outcome,
        reason="",
        why="",
        gain=None,
        scored=0,
        standing=None if outcome == "rejected" else {"paired": paired},
        leads=None,
        text="",
        answer=None,
    )


def search(count: int) -> tuple[Proposal, ...]:
    """A long line of accepted candidates with a rejected one beside each."""
    made = [proposal(0, None)]
    for number in range(1, count):
        outcome = "rejected" if number % 2 else "accepted"
        made.append(proposal(number, max(0, number - number % 2 - 2), outcome, paired=number / count))
    return tuple(made)


def test_a_small_search_is_shown_whole_and_without_a_word() -> None:
    found = shown(search(5), winner="id4", most=5)
    assert len(found.proposals) == 5
    assert found.words("candidates") == ""


@given(count=st.integers(2, 300), most=st.integers(4, 60), winner=st.integers(0, 299))
def test_the_baseline_and_the_winner_are_always_shown_with_the_counts(count: int, most: int, winner: int) -> None:
    made = search(count)
    best = made[min(winner, count - 1) // 2 * 2]
    found = shown(made, winner=best.candidate, most=most)
    names = [one.name for one in found.proposals]
    assert {"c0", best.name} <= set(names)
    assert names == sorted(names, key=lambda name: int(name[1:]))
    assert len(names) <= max(most, 4)
    if len(names) < count:
        assert found.words("candidates").startswith(f"{len(names)} of {count} candidates are shown")


def test_some_of_what_was_rejected_is_shown_as_well() -> None:
    made = (proposal(0, None), *(proposal(n, 0, "rejected" if n % 2 else "accepted", n / 100) for n in range(1, 100)))
    found = shown(made, winner="id98", most=20)
    assert len(found.proposals) == 20
    assert any(one.outcome == "rejected" for one in found.proposals)


def test_a_tree_of_many_is_drawn_in_part_and_says_so() -> None:
    made = search(10_000)
    picture = tree_picture(made, winner="id9998", paired={})
    assert "of 10,000 candidates are shown" in picture.svg
    assert len(picture.table.rows) <= 40
    assert len(picture.svg) < 30_000


def test_a_merge_hangs_below_its_first_parent_and_points_at_its_second() -> None:
    made = (proposal(0, None), proposal(1, 0), proposal(2, 0))
    merge = replace(proposal(3, 1), parents=("c1", "c2"), kind="merge")
    picture = tree_picture((*made, merge), winner=None, paired={"id3": 0.75})
    assert "c3 (merge) 0.750" in picture.svg
    assert picture.svg.count('class="branch second"') == 1
    drawn = [one.name for _, one in family((*made, merge))]
    assert drawn == ["c0", "c1", "c3", "c2"]
