from __future__ import annotations

from optimize.crossing.targets import SEED, Cell, targets


def test_two_settings_have_one_interaction_two_gains_and_two_transfers() -> None:
    found = targets(["none", "low"], ["interaction", "own", "transfer"])
    assert [target.name for target in found] == [
        "interaction none x low",
        "searched at none, judged at none",
        "searched at low, judged at low",
        "searched at none, judged at low",
        "searched at low, judged at none",
    ]
    interaction = found[0]
    assert interaction.plus == (Cell("none", "none"), Cell("low", "low"))
    assert interaction.minus == (Cell("low", "none"), Cell("none", "low"))
    assert found[1].minus == (Cell(SEED, "none"),)


def test_three_settings_have_an_interaction_for_each_pair() -> None:
    assert [target.name for target in targets(["a", "b", "c"], ["interaction"])] == [
        "interaction a x b",
        "interaction a x c",
        "interaction b x c",
    ]


def test_a_gain_is_void_where_the_seed_won_and_an_interaction_where_both_searches_found_one_prompt() -> None:
    interaction, none, low = targets(["none", "low"], ["interaction", "own"])
    seed_won = {SEED: "s", "none": "s", "low": "w"}
    assert none.void(seed_won)
    assert not low.void(seed_won)
    assert not interaction.void(seed_won)
    same = {SEED: "s", "none": "w", "low": "w"}
    assert interaction.void(same)
    assert not none.void(same)
