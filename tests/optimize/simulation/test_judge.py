"""Simulated judges and the effects of prompts on them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.errors import InputError
from optimize.simulation import PER_FACT, CampaignShape, PromptEffect


def test_an_effect_from_some_effort_on_is_an_interaction_with_the_budget() -> None:
    effect = PromptEffect(gain=0.05, from_effort="medium")
    assert effect.at("low").null
    assert effect.at("medium") == effect.at("xhigh") == effect
    assert not effect.null


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levels": 0}, r"levels must be in 1\.\.1000, got 0"),
        ({"prompt": -0.1}, "prompt must be finite and at least 0, got -0.1"),
        ({"replicate_share": 1.5}, r"replicate_share must be in \[0, 1\], got 1.5"),
        ({"ability": {}}, "must each name at least one kind"),
    ],
)
def test_a_judge_that_cannot_be_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(PER_FACT, **change)  # type: ignore[arg-type]  # is what is tested


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gain": 5.0}, r"gain must be in \(-1, 1\), got 5; 0.05 is a gain of 5 points"),
        ({"spread": -1.0}, "spread must be in"),
        ({"share": 0.0}, "use gain = 0 for no effect"),
        ({"from_effort": "huge"}, "effort must be one of none, minimal"),
    ],
)
def test_an_effect_that_cannot_be_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PromptEffect(**arguments)  # type: ignore[arg-type]  # is what is tested


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"heldout": 1}, "heldout must be at least 2, got 1"),
        ({"candidates": 0}, "candidates must be at least 1, got 0"),
        ({"reflect": 2}, "minibatch_groups must be at most the reflect groups, got 3 of 2"),
        ({"pairs": 6.0}, r"pairs must be in \[1, 4\], got 6"),
        ({"traces": {"complete": -1.0}}, "traces must hold shares of at least 0"),
        ({"effort": "huge"}, "effort must be one of none, minimal"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CampaignShape(**arguments)  # type: ignore[arg-type]  # is what is tested
