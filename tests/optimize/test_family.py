"""Comparisons on one held-out split together: Holm over all that the lock allows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import InputError
from optimize.family import family_of
from optimize.recompute import RecordedRun, load_run
from optimize.stats import holm

Holdgate = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def run(finished_run: Path) -> RecordedRun:
    return load_run(finished_run)


def other(run: RecordedRun, name: str = "other", **omissions: Any) -> RecordedRun:
    """Another campaign on the same split, with other numbers in its verdict."""
    events = []
    for event in run.events:
        body = json.loads(json.dumps(dict(event.body)))
        if event.type == "verdict":
            body["verdict"]["heldout"]["omissions"] |= omissions
        events.append(replace(event, body=body, hash=name + event.hash))
    return replace(run, directory=run.directory.with_name(name), events=tuple(events))


def test_p_values_are_adjusted_over_all_comparisons_that_the_lock_allows(run: RecordedRun) -> None:
    first, second = other(run, "first", sign_flip_p=0.01), other(run, "second", sign_flip_p=0.02)
    assert run.lock.comparisons == 2
    both = family_of([second, first])
    assert [(member.run, member.adjusted) for member in both.members] == [("second", 0.02), ("first", 0.02)]
    assert [family_of([alone]).members[0].adjusted for alone in (first, second)] == [0.02, 0.04]
    assert both.gains(both.members[0])
    assert not family_of([second]).gains(family_of([second]).members[0]), "alone it has half of the alpha"


def test_the_p_is_of_the_test_that_the_rule_rests_on(run: RecordedRun) -> None:
    few, many = other(run, sign_flip_p=0.3, t_p=0.2), other(run, sign_flip_p=0.3, t_p=0.2, groups=40)
    assert [family_of([found]).members[0].p for found in (few, many)] == [0.3, 0.2]
    assert [family_of([found]).members[0].test.split()[0] for found in (few, many)] == ["sign-flip", "t"]
    undefined = family_of([other(run, sign_flip_p=None)]).members[0]
    assert (undefined.p, undefined.adjusted) == (1.0, holm([1.0, 1.0])[0])


def test_what_is_no_family_is_refused(run: RecordedRun) -> None:
    with pytest.raises(InputError, match="at least one run"):
        family_of([])
    with pytest.raises(InputError, match="name it once"):
        family_of([run, replace(run, directory=run.directory.with_name("copy"))])
    with pytest.raises(InputError, match="allows 2 confirmatory comparisons, got 3"):
        family_of([other(run, name) for name in ("a", "b", "c")])
    elsewhere = replace(run, lock=replace(run.lock, seed=9))
    with pytest.raises(InputError, match="is of another split lock"):
        family_of([other(run), elsewhere])
    unfinished = replace(run, events=run.events[:5])
    with pytest.raises(InputError, match="has no verdict yet"):
        family_of([unfinished])


@pytest.mark.parametrize(
    ("edit", "said"),
    [({"confirmatory": False}, "it is exploratory"), ({"decision": "nothing-found"}, "its decision is nothing-found")],
)
def test_a_run_that_confirmed_nothing_is_no_member(run: RecordedRun, edit: dict[str, Any], said: str) -> None:
    changed = other(run)
    verdict = next(event for event in changed.events if event.type == "verdict").body["verdict"]
    verdict |= edit
    if "decision" in edit:
        del verdict["heldout"]
    with pytest.raises(InputError, match=f"made no confirmatory comparison: {said}; leave it out"):
        family_of([changed])


def test_the_command_says_what_holm_makes_of_them(holdgate: Holdgate, finished_run: Path, tmp_path: Path) -> None:
    status, out, _ = holdgate("family", finished_run)
    text = " ".join(out.split())
    assert status == 0
    assert "Holm over the 2 comparisons that the split lock allows, 1 given and the others counted as p = 1" in text
    assert "SIMULATED judge" in text
    (row,) = json.loads(holdgate("family", finished_run, "--json")[1])["runs"]
    assert row["adjusted_p"] == pytest.approx(min(1.0, 2 * row["p"]))
    copied = shutil.copytree(finished_run, tmp_path / "copy")
    status, _, error = holdgate("family", finished_run, copied)
    assert status == 2
    assert "name it once" in error
    assert holdgate("family", tmp_path)[0] == 2
