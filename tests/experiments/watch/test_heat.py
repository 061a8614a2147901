"""The heat map shows single accept examples in shades that need no colour."""

from __future__ import annotations

from typing import Any

from experiments.explore.frontier import frontier_of
from experiments.watch.heat import heat_map
from lineage.tree import TreeRow


def row(name: str) -> TreeRow:
    return TreeRow(0, name, name, (), (), "seed", None, 0, 5, "seed")


def lines(rewards: dict[str, dict[str, float]], width: int = 40, clean: tuple[str, ...] = (), **more: Any) -> list[str]:
    examples = sorted({example for found in rewards.values() for example in found})
    frontier = frontier_of(
        [row(name) for name in rewards],
        rewards,
        groups={example: example[0] for example in examples},
        most={example: 0.25 if example in clean else 1.0 for example in examples},
    )
    return [line.plain for line in heat_map(frontier, width=width, **more)]


def test_a_shade_is_the_share_of_the_most_there_can_be() -> None:
    found = lines({"s": {"a1": 0.0, "a2": 0.2, "a3": 0.5, "a4": 0.9, "a5": 1.0}})
    assert found[1] == "s ·░▒▓█"
    assert lines({"s": {"a1": 0.0, "a2": 0.2, "a3": 0.5, "a4": 0.9, "a5": 1.0}}, ascii_only=True)[1] == "s .:+%#"


def test_a_clean_example_is_full_at_the_weight_it_has() -> None:
    assert lines({"s": {"a1": 0.25, "a2": 0.25}}, clean=("a1",))[1] == "s █░"


def test_an_example_without_a_reward_is_no_zero() -> None:
    assert lines({"s": {"a1": 1.0}, "t": {"a1": 1.0, "a2": 1.0}})[1:] == ["t ██", "s █?"]


def test_wide_maps_go_on_in_bands_and_then_show_groups() -> None:
    rewards = {"s": {f"{letter}{number}": 1.0 for letter in "abc" for number in range(8)}}
    assert lines(rewards, width=14)[1:] == ["s ████████████"] * 2
    assert "a column each group (3)" in lines(rewards, width=9)[0] or len(lines(rewards, width=9)) == 4
    many = {"s": {f"{letter}{number}": 1.0 if number else 0.0 for letter in "abc" for number in range(40)}}
    found = lines(many, width=12)
    assert "a column each group (3)" in found[0]
    assert found[1] == "s ▓▓▓"


def test_nobody_leads_nowhere() -> None:
    assert lines({}) == []
