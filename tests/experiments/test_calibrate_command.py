from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage.canonical import digest_bytes
from optimize.recompute import load_run
from optimize.replicates import seed_of

Holdgate = Callable[..., tuple[int, str, str]]


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    rows = [f"c{n:02d},g{n:02d},{'north' if n % 2 else 'south'},clean,{n / 20}" for n in range(20)]
    rows += [f"o{n:02d},g{n:02d},{'north' if n % 2 else 'south'},omission,{n / 40}" for n in range(20)]
    path.write_text("id,group,site,label,score\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    path.write_text("".join(json.dumps({"id": f"n{n}", "score": 0.02 + n / 100}) + "\n" for n in range(40)))
    return path


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_rule_is_set_on_a_table_and_read_on_another(holdgate: Holdgate, scores: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(scores.read_text().replace(",clean,", ",clean,-"))
    status, out, _ = holdgate("calibrate", scores, "--to", other, "--json")
    row = json.loads(out)
    assert status == 0
    assert (row["threshold"], row["clean"]["flagged"], row["clean"]["n"]) == (0.1, 2, 20)
    assert [found["site"] for found in row["transfer"]] == [None, "north", "south"]
    assert row["transfer"][0]["clean"]["flagged"] == 20
    assert row["transfer"][0]["flawed"]["omission"]["flagged"] == 4
    assert row["inputs"][str(scores)] == digest_bytes(scores.read_bytes())


def test_the_screen_says_how_it_transfers_and_that_twins_do_not_carry_over(holdgate: Holdgate, scores: Path) -> None:
    status, out, _ = holdgate("calibrate", scores, "--to", scores)
    text = words(out)
    assert status == 0
    assert "flag a document if its score is below 0.1" in text
    assert "2 of 20 (10.0%, Wilson 2.8% to 30.1%)" in text
    assert "north" in text
    assert "does not carry over" in text
    assert "steps of 5.0 points" in text


def test_a_deployments_own_notes_set_the_rule_anew(
    holdgate: Holdgate, scores: Path, notes: Path, tmp_path: Path
) -> None:
    out = tmp_path / "rule"
    status, text, _ = holdgate("calibrate", scores, "--deployment", notes, "--out", out)
    assert status == 0
    assert "set anew" in text
    row = json.loads((out / "flag-rule.json").read_text())
    assert row["set_on"] == str(notes)
    assert row["clean"]["rate"] <= row["cap"] == 0.10
    assert row["carried_from"]["threshold"] == 0.1
    carried = next(found for found in row["transfer"] if found["on"] == str(notes))
    assert carried["clean"]["flagged"] == 8, "the old rule flags more of the deployment's clean notes than the cap"
    assert not any("carry over" in warning for warning in row["warnings"])


def test_another_rule_is_never_overwritten(holdgate: Holdgate, scores: Path, tmp_path: Path) -> None:
    out = tmp_path / "rule"
    assert holdgate("calibrate", scores, "--out", out)[0] == 0
    first = (out / "flag-rule.json").read_bytes()
    assert holdgate("calibrate", scores, "--out", out)[0] == 0, "the same rule again is no change"
    status, _, error = holdgate("calibrate", scores, "--cap", "0.2", "--out", out)
    assert status == 2
    assert "holds another flag rule" in error
    assert (out / "flag-rule.json").read_bytes() == first


def test_a_run_sets_its_rule_on_accept_and_reads_it_on_held_out(holdgate: Holdgate, finished_run: Path) -> None:
    status, out, _ = holdgate("calibrate", finished_run, "--json")
    row = json.loads(out)
    run = load_run(finished_run)
    assert status == 0
    assert row["candidate"] == next(iter(run.all("choice"))).body["winner"]
    assert (row["set_on"], row["transfer"][0]["on"]) == ("run accept", "run heldout")
    assert row["clean"]["n"] == len(run.lock.splits["accept"])
    assert row["transfer"][0]["clean"]["n"] == len(run.lock.splits["heldout"])
    assert {found["stratum"] for found in row["transfer"]} == {None, "telephone", "uk-surgery", "us-clinic"}
    assert row["simulated"] is True
    assert "SIMULATED judge" in holdgate("calibrate", finished_run)[1]
    status, out, _ = holdgate("calibrate", finished_run, "--arm", "baseline", "--json")
    assert json.loads(out)["candidate"] == seed_of(run)


def test_an_unfinished_run_keeps_its_held_out_scores_shut(
    holdgate: Holdgate, finished_run: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(finished_run, tmp_path / "run"))
    lines = (run / "ledger.jsonl").read_text().splitlines(keepends=True)
    (run / "ledger.jsonl").write_text("".join(lines[:-1]))
    status, out, _ = holdgate("calibrate", run)
    assert status == 0
    assert "no other set is given: how the rule transfers is not known" in words(out)
    assert "heldout" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.csv",), "there is no such file"),
        (("SCORES", "--arm", "winner"), "--arm has no effect on a table"),
        (("SCORES", "--cap", "1.5"), "cap must be in [0, 1)"),
        (("SCORES", "--to", "nowhere.csv"), "there is no such file"),
        (("PLACE",), "holds no campaign"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    holdgate: Holdgate, scores: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "empty").mkdir()
    known = {"SCORES": scores, "PLACE": tmp_path / "empty"}
    status, _, error = holdgate("calibrate", *(known.get(argument, argument) for argument in arguments))
    assert status == 2
    assert message in error
