from __future__ import annotations

import pytest

from lineage.errors import PlanError
from optimize.engines import ENGINES, departures_of, rival
from optimize.plan import RIVAL_SETTINGS
from optimize.search_plan import SearchPlan


def test_every_engine_of_a_plan_has_a_name_and_every_rival_its_departures() -> None:
    assert set(ENGINES) == set(SearchPlan.model_json_schema()["properties"]["engine"]["enum"])
    assert departures_of("gepa") == ()
    for name in set(ENGINES) - {"gepa"}:
        assert callable(rival(name))
        assert any("Choice of winner: ours" in words for words in departures_of(name))
    assert any("without demonstrations in the prompt" in words for words in departures_of("mipro"))


def test_an_engine_that_there_is_not_is_refused() -> None:
    with pytest.raises(PlanError, match=r"search\.engine must be one of gepa, dspy-gepa, mipro, got 'random'"):
        rival("random")


def test_settings_of_rivals_are_settings_of_a_search() -> None:
    assert set(SearchPlan.model_fields) > RIVAL_SETTINGS
