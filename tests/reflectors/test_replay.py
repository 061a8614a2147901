"""Replay: what was reflected before is given again, to the same request and to no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage import Candidate, Ledger
from lineage.canonical import digest
from lineage.errors import CampaignError, LedgerError, PlanError
from reflectors import Reflection, ReflectionRequest, ReplayReflector, Trace

TRACES = (Trace("a", None, "right"), Trace("b", "missed_omission", "wrong"))
SEED, OTHER = Candidate({"instruction": "Judge."}, "seed"), Candidate({"instruction": "Other."}, "mutation")
NEW = Reflection("Judge all of it.", "llm", "written by the reflector model", "asked", "<instruction>…", None)
NONE = Reflection("", "llm", "written by the reflector model", "asked", "no", "no marked instruction")


def request(**more: Any) -> ReflectionRequest:
    return ReflectionRequest(
        **{"parent": "Judge.", "traces": TRACES, "earlier": frozenset(), "seed": 0, "iteration": 1, "call": 1, **more}
    )


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """The run directory of a campaign with three reflections, the last of two parents."""
    directory = tmp_path / "run"
    told = digest([trace.text for trace in TRACES])
    with Ledger(directory / "ledger.jsonl") as ledger:
        for candidate in (SEED, OTHER):
            ledger.perform("candidate", {"candidate": candidate.id, "texts": dict(candidate.texts)}, dict)
        for iteration, reflection, more in (
            (1, NEW, {}),
            (2, NONE, {}),
            (3, NEW, {"component": "instruction", "others": [OTHER.id]}),
        ):
            key = {"iteration": iteration, "call": 1, "parent": SEED.id, "traces": told, **more}
            ledger.perform("reflection", key, lambda reflection=reflection: {"reflection": reflection.row()})
    return directory


def test_the_recorded_reflection_is_given_again_problems_too(recorded: Path) -> None:
    for path in (recorded, recorded / "ledger.jsonl"):
        reflector = ReplayReflector(path)
        assert reflector.reflect(request()) == NEW
        assert reflector.reflect(request(iteration=2)) == NONE
        assert reflector.reflect(request(iteration=3, others=("Other.",))) == NEW


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"iteration": 4}, r"holds no reflection of iteration 4, call 1, block 'instruction'; the recorded campaign"),
        ({"call": 2}, r"holds no reflection of iteration 1, call 2"),
        ({"component": "audit"}, r"holds no reflection of iteration 1, call 1, block 'audit'"),
        ({"parent": "Judge it."}, r"seq 2\) was of another parent: parent 1 is 'Judge it.' here and 'Judge.' there"),
        ({"others": ("More.",)}, r"parent 2 is 'More.' here and none there"),
        ({"iteration": 3}, r"parent 2 is none here and 'Other.' there"),
        (
            {"traces": TRACES[:1]},
            r"was told something else of its parent: the traces differ; .* reflector\.traces: false",
        ),
    ],
)
def test_a_request_that_differs_is_an_error_that_names_how(recorded: Path, more: dict[str, Any], said: str) -> None:
    with pytest.raises(CampaignError, match=said):
        ReplayReflector(recorded).reflect(request(**more))


def test_other_traces_are_accepted_only_when_asked(recorded: Path) -> None:
    assert ReplayReflector(recorded, traces=False).reflect(request(traces=())) == NEW
    with pytest.raises(CampaignError, match="of another parent"):
        ReplayReflector(recorded, traces=False).reflect(request(parent="Judge it."))


def test_settings_name_the_recording_by_the_head_of_its_ledger(recorded: Path, tmp_path: Path) -> None:
    row = ReplayReflector(recorded).settings()
    moved = tmp_path / "elsewhere"
    recorded.rename(moved)
    assert row == ReplayReflector(moved).settings()
    assert (row["reflector"], len(row["ledger"]), row["traces"]) == ("replay", 64, True)


def test_a_recording_that_is_missing_empty_or_damaged_is_refused(recorded: Path, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"reflector\.ledger: there is no ledger .*gone"):
        ReplayReflector(tmp_path / "gone")
    with Ledger(tmp_path / "empty" / "ledger.jsonl") as ledger:
        ledger.perform("plan", {}, dict)
    with pytest.raises(PlanError, match="holds no reflection that could be given again"):
        ReplayReflector(tmp_path / "empty")
    path = recorded / "ledger.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("Judge all of it", "Judge none of it"), encoding="utf-8")
    with pytest.raises(LedgerError, match="was edited"):
        ReplayReflector(recorded)
