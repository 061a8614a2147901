"""``holdgate lineage``: one candidate whole, two word by word, frames and leaders."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lineage.canonical import pretty_json
from lineage.ledger import read_events
from lineage.tree import tree_rows
from optimize.recompute.recorded import load_run, recorded_pool

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def undecided(finished_run: Path, tmp_path: Path) -> Path:
    """A copy of the run that was killed in its search: held-out data are measured, nothing is decided."""
    copy = Path(shutil.copytree(finished_run, tmp_path / "undecided"))
    lines = (copy / "ledger.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    events = read_events(copy / "ledger.jsonl")
    end = next(event.seq for event in events if event.type == "choice")
    (copy / "ledger.jsonl").write_text("".join(lines[:end]), encoding="utf-8")
    (copy / "ledger.head.json").write_text(pretty_json({"count": end, "hash": events[end - 1].hash}), encoding="utf-8")
    return copy


def test_a_candidate_is_shown_whole(holdgate: Run, finished_run: Path) -> None:
    events = read_events(finished_run / "ledger.jsonl")
    winner = next(row for row in tree_rows(events) if row.winner)
    body = next(event.body for event in events if event.seq == winner.seq)
    status, said, _ = holdgate("lineage", "show", finished_run)
    assert status == 0
    assert winner.candidate in said
    assert "the winner" in said
    assert "accept (optimistic)" in said
    assert "held-out, less baseline" in said
    shown = json.loads(holdgate("lineage", "show", finished_run, winner.name, "--json")[1])
    assert shown["texts"] == body["texts"]
    assert shown["reflection"]["text"] == body["texts"]["instruction"]
    assert shown["row"]["parents"] == list(winner.parents)


def test_a_candidate_is_found_by_the_beginning_of_its_id(holdgate: Run, finished_run: Path) -> None:
    rows = tree_rows(read_events(finished_run / "ledger.jsonl"))
    for row in rows:
        if sum(other.candidate == row.candidate for other in rows) == 1:
            shown = json.loads(holdgate("lineage", "show", finished_run, row.candidate[:12], "--json")[1])
            assert shown["row"]["name"] == row.name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "c001"), "there is no candidate 'c001'; did you mean 'c01'"),
        (("show", "abc"), "there is no candidate 'abc'"),
        (("diff", "seed"), "seed is a seed and has no parent; name the candidate to compare it with"),
        (("frame", "--out", "x.xls"), "its ending is not .csv, .parquet or .json; give --format"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_line(
    holdgate: Run, finished_run: Path, arguments: tuple[str, ...], message: str
) -> None:
    status, _, err = holdgate("lineage", arguments[0], finished_run, *arguments[1:])
    assert status == 2
    assert message in err


def test_before_the_decision_no_heldout_result_of_a_candidate_is_shown(holdgate: Run, undecided: Path) -> None:
    status, _, err = holdgate("lineage", "show", undecided)
    assert (status, "no winner is chosen yet; name a candidate, such as seed" in err) == (2, True)
    shown = json.loads(holdgate("lineage", "show", undecided, "seed", "--json")[1])
    assert shown["heldout"] is None
    measured = next(
        event.body["measures"]["omissions"]["value"]
        for event in read_events(undecided / "ledger.jsonl")
        if event.type == "measured" and event.body["purpose"] == "baseline"
    )
    assert f"{measured:.3f}" not in holdgate("lineage", "show", undecided, "seed")[1]


def test_a_difference_is_against_the_parent_and_marks_words_without_colour(holdgate: Run, finished_run: Path) -> None:
    events = read_events(finished_run / "ledger.jsonl")
    child = next(row for row in tree_rows(events) if row.parents)
    texts = {event.seq: event.body["texts"]["instruction"] for event in events if event.type == "candidate"}
    status, said, _ = holdgate("lineage", "diff", finished_run, child.name)
    assert status == 0
    assert f"from {child.parents[0]} to {child.name}" in said
    assert "{+" in said or "[-" in said
    (found,) = json.loads(holdgate("lineage", "diff", finished_run, child.name, "--json")[1])
    parts = found["texts"]["instruction"]
    before = " ".join(words for kind, words in parts if kind != "added")
    after = " ".join(words for kind, words in parts if kind != "removed")
    assert before.split() == texts[child.parent_seqs[0]].split()
    assert after.split() == texts[child.seq].split()


def test_two_named_candidates_are_compared(holdgate: Run, finished_run: Path) -> None:
    status, said, _ = holdgate("lineage", "diff", finished_run, "seed", "seed")
    assert (status, "instruction: unchanged" in said) == (0, True)


@pytest.mark.parametrize(
    ("suffix", "read"), [("csv", pd.read_csv), ("parquet", pd.read_parquet), ("json", pd.read_json)]
)
def test_frames_are_written_and_read_back(
    holdgate: Run, finished_run: Path, tmp_path: Path, suffix: str, read: Callable[[Path], Any]
) -> None:
    events = read_events(finished_run / "ledger.jsonl")
    counted = sum(event.body["segment"]["judgements"] for event in events if event.type == "evaluation")
    for of, rows in (("candidates", len(tree_rows(events))), ("judgements", counted)):
        out = tmp_path / f"{of}.{suffix}"
        status, said, err = holdgate("lineage", "frame", finished_run, "--of", of, "--out", out)
        assert (status, err) == (0, "")
        assert f"{rows} rows" in said
        frame = read(out)
        assert len(frame) == rows
        assert frame["candidate"].str.len().eq(64).all()


def test_a_frame_is_shown_on_the_screen(holdgate: Run, finished_run: Path) -> None:
    status, said, _ = holdgate("lineage", "frame", finished_run, "--of", "judgements")
    assert status == 0
    assert "20 of " in said
    assert "write all of them with --out" in said


def test_heldout_judgements_are_left_out_of_a_frame_until_the_decision(
    holdgate: Run, undecided: Path, tmp_path: Path
) -> None:
    out = tmp_path / "frame.csv"
    status, _, err = holdgate("lineage", "frame", undecided, "--of", "judgements", "--out", out)
    assert status == 0
    assert "held-out judgements are left out: the campaign is not decided yet" in err
    assert set(pd.read_csv(out)["split"]) == {"accept", "reflect"}


def test_leaders_are_those_of_the_frontier(holdgate: Run, finished_run: Path) -> None:
    frontier = recorded_pool(load_run(finished_run)).frontier()
    status, said, _ = holdgate("lineage", "leaders", finished_run, "--json")
    assert status == 0
    (found,) = json.loads(said)
    assert found["examples"] == len(frontier)
    led = {leader["candidate"]: {*leader["alone"], *leader["shared"]} for leader in found["leaders"]}
    wanted = {
        candidate: {example for example, leading in frontier.items() if candidate in leading}
        for leading in frontier.values()
        for candidate in leading
    }
    assert led == wanted
    for leader in found["leaders"]:
        assert all(len(frontier[example]) == 1 for example in leader["alone"])
        assert all(len(frontier[example]) > 1 for example in leader["shared"])
    assert "in brackets: shared with others" in holdgate("lineage", "leaders", finished_run)[1]


def test_a_judging_run_has_no_leaders(holdgate: Run, finished_judging: Path) -> None:
    status, _, err = holdgate("lineage", "leaders", finished_judging)
    assert (status, "is no campaign, so that nothing was searched in it" in err) == (2, True)


def test_the_tree_is_shown_where_no_command_is_named(holdgate: Run, finished_run: Path) -> None:
    assert holdgate("lineage", finished_run)[1] == holdgate("lineage", "tree", finished_run)[1]
