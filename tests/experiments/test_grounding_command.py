"""``holdgate grounding``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_eval_reports_both_arms_by_type_the_nine_and_what_was_rejected(holdgate: Run) -> None:
    status, out, _ = holdgate("grounding", "eval", "--word-overlap", "--family", "nine", "--no-stress")
    assert status == 0
    assert "laterality (before)" in out
    assert "laterality (after)" in out
    assert "the nine: " in out
    assert "rejected by the gate: 4" in out
    assert "word overlap (no model): shared words stand in for a judge" in out


def test_eval_as_json_is_json_alone_and_is_written(holdgate: Run, tmp_path: Path) -> None:
    status, out, err = holdgate(
        "grounding", "eval", "--word-overlap", "--family", "nine", "--json", "--out", tmp_path / "out"
    )
    assert status == 0
    row = json.loads(out)
    assert row == json.loads((tmp_path / "out" / "grounding.json").read_text(encoding="utf-8"))
    assert row["judge"] == "word overlap (no model)"
    assert {part["name"] for part in row["measures"]["after"]["family"]} == {"nine"}
    assert set(row["stress"]) == {"before", "after"}
    assert "judged" in err


def test_check_delivers_restates_and_rejects(holdgate: Run, tmp_path: Path) -> None:
    source, answer = tmp_path / "source.txt", tmp_path / "answer.txt"
    source.write_text("He has a cough. No fever.", encoding="utf-8")
    for text, status, words in (
        ("He has no fever.", 0, "delivered (least support 1.00"),
        ("He has no rash.", 0, "Not documented either way: rash."),
        ("He has no cough.", 4, "the source affirms what it denies (cough)"),
    ):
        answer.write_text(text, encoding="utf-8")
        found, out, _ = holdgate("grounding", "check", "--source", source, "--answer", answer, "--word-overlap")
        assert found == status
        assert words in out


def test_stress_takes_a_design(holdgate: Run) -> None:
    status, out, _ = holdgate("grounding", "stress", "--shape", "grounding-whole", "--word-overlap", "--json")
    assert status == 0
    row = json.loads(out)
    assert row["shape"] == "grounding-whole"
    assert row["mean_fall"]["value"] > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--word-overlap", "--local", "x"], "name one judge, got --local, --word-overlap"),
        (["--role", "student"], "--models and --role go together"),
        (["--models", "models.lock.json", "--role", "student"], "there is no model lock"),
        (["--endpoint", "http://127.0.0.1:1/v1"], "endpoint and name go together"),
        (["--word-overlap", "--pass-mark", "7"], r"--pass-mark must be in \(0, 1\], got 7"),
        (["--word-overlap", "--usd", "1"], "has no effect on a model without a price"),
        (["--word-overlap", "--cases", "nowhere"], "there is no such notes file"),
    ],
)
def test_what_does_not_go_together_is_refused(options: list[str], words: str, holdgate: Run) -> None:
    status, _, err = holdgate("grounding", "eval", "--no-stress", *options)
    assert status == 2
    assert re.search(words, err)


def test_a_limit_stops_it_and_keeps_what_was_paid(holdgate: Run) -> None:
    status, _, err = holdgate("grounding", "eval", "--word-overlap", "--family", "nine", "--calls", "3")
    assert status == 3
    assert "limits.calls = 3 would be passed" in err
    status, out, _ = holdgate("grounding", "eval", "--word-overlap", "--family", "nine", "--no-stress")
    assert status == 0
    assert "; 6 paid in all" in out, "of nine calls on whole answers, which hold those on their sentences"


def test_an_endpoint_judges(holdgate: Run, judge_endpoint: object, tmp_path: Path) -> None:
    endpoint = judge_endpoint
    endpoint.before = lambda number: (200, _yes())  # type: ignore[attr-defined]  # what conftest gives
    status, out, err = holdgate(
        *("grounding", "eval", "--family", "nine", "--no-stress", "--json"),
        *("--endpoint", endpoint.url, "--name", "judge"),  # type: ignore[attr-defined]  # what conftest gives
    )
    assert status == 0, err
    row = json.loads(out)
    outcomes = {each["id"]: each["outcome"] for each in row["outcomes"]["after"]}
    assert [outcomes[f"clinic-letter-0{number}"] for number in range(1, 10)] == [
        *["delivered"] * 4,
        "restated",
        *["rejected"] * 4,
    ]
    assert not row["simulated"]
    pin = ("--role", "student", "--endpoint", endpoint.url, "--name", "judge")  # type: ignore[attr-defined]  # as above
    assert holdgate("models", "pin", *pin, "--lock", "models.lock.json")[0] == 0
    by_role = ("--models", "models.lock.json", "--role", "student")
    status, out, err = holdgate("grounding", "eval", "--family", "nine", "--no-stress", *by_role)
    assert status == 0, err
    assert "; 0 paid in all" in out, "the pinned model is the same one, and the cache has its answers"
    assert "every right answer is delivered or restated, and every wrong one rejected" in out


def _yes() -> str:
    top = [{"token": "Yes", "logprob": -0.01}, {"token": "No", "logprob": -4.6}]
    choice = {
        "finish_reason": "length",
        "message": {"role": "assistant", "content": "Yes"},
        "logprobs": {"content": [{**top[0], "top_logprobs": top}]},
    }
    return json.dumps({"model": "m", "choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 1}})
