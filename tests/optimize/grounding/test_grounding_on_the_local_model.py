"""The nine with the embedded model as the judge of what is affirmed."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimize.grounding import GroundingSettings, load_cases, run_grounding
from optimize.model_plan import ModelPlan
from students.local import DEFAULT_MODEL, find_model

pytestmark = [pytest.mark.model, pytest.mark.integration]

BELOW_THE_MARK = {"clinic-letter-01", "clinic-letter-03", "clinic-letter-04"}
"""Right answers that this model rates below the pass mark, whatever wording was tried: it is too small for them."""


def test_denials_and_wrong_answers_of_the_nine_come_out_as_they_must(tmp_path: Path) -> None:
    if find_model(DEFAULT_MODEL) is None:
        pytest.skip("the small model is not on this machine; get it with: holdgate model fetch")
    nine = [case for case in load_cases() if case.family == "nine"]
    settings = GroundingSettings(ModelPlan(local=DEFAULT_MODEL.name, deadline_s=600))
    result = run_grounding(nine, (), settings, cache=tmp_path / "calls.sqlite")
    failed = {each.case.id for each in result.after if not each.handled}
    assert failed <= BELOW_THE_MARK, f"the model fails {sorted(failed - BELOW_THE_MARK)} as well"
    assert all(each.outcome != "undecided" for each in (*result.before, *result.after))
    assert {each.outcome for each in result.after if each.case.label == "wrong"} == {"rejected"}
