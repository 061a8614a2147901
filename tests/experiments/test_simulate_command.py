"""``holdgate simulate``: tables and files marked simulated, and options that would change nothing refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Holdgate = Callable[..., tuple[int, str, str]]
FEW = ("--campaigns", "200", "--candidates", "3")


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        ("emission", FEW, ("accept-only", "lower-bound", "permutation", "point", "optimistic", "False emission")),
        ("power", (*FEW, "--effect", "0.05", "--groups", "20"), ("+5.0 points", "emits the better", "lower-bound")),
        ("optimism", FEW, ("accept shows a gain", "optimism")),
        ("coverage", ("--campaigns", "200", "--groups", "10"), ("linearised t", "percentile", "BCa", "covers")),
    ],
)
def test_every_question_has_a_table_that_says_it_is_simulated(
    holdgate: Holdgate, what: str, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    status, out, _ = holdgate("simulate", "--what", what, *options)
    assert status == 0
    assert out.startswith("SIMULATED: ")
    for word in (*words, "Wilson 95%", "nothing of any model"):
        assert word in " ".join(out.split())


def test_the_file_says_in_its_name_and_within_that_it_is_simulated(holdgate: Holdgate, tmp_path: Path) -> None:
    out = tmp_path / "simulated-emission.json"
    status, said, _ = holdgate("simulate", *FEW, "--out", out)
    assert status == 0
    assert str(out) in said
    data = json.loads(out.read_text(encoding="utf-8"))
    assert data["simulated"] is True
    assert data["simulated_judge"]["name"] == "per-fact"
    assert data["shape"]["heldout"] == 47
    assert {row["rule"] for row in data["rows"]} == {"accept-only", "lower-bound", "permutation", "point"}
    assert all("simulated_rate" in row["false"] for row in data["rows"])
    status, _, err = holdgate("simulate", *FEW, "--out", tmp_path / "emission.json")
    assert status == 2
    assert "the file's name must hold 'simulated'" in err
    assert not (tmp_path / "emission.json").exists()


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(holdgate: Holdgate) -> None:
    one, two, other = (holdgate("simulate", *FEW, "--json", "--seed", seed)[1] for seed in ("7", "7", "8"))
    assert one == two != other


def test_an_effect_below_its_effort_is_the_null(holdgate: Holdgate) -> None:
    effect = ("--effect", "0.1", "--effect-from", "high", "--rule", "lower-bound", "--json")
    asleep, awake = (
        json.loads(holdgate("simulate", *FEW, *effect, "--effort", effort)[1]) for effort in ("low", "high")
    )
    assert asleep["facts"]["true_gain"]["simulated_mean"] == 0.0
    assert awake["facts"]["true_gain"]["simulated_mean"] == pytest.approx(0.1, abs=0.005)


def test_beyond_noise_is_shown_with_replicates(holdgate: Holdgate) -> None:
    status, out, _ = holdgate("simulate", *FEW, "--replicates", "3")
    assert status == 0
    assert "beyond-noise" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--what", "coverage", "--candidates", "3"), "--candidates has no effect on --what coverage"),
        (("--what", "optimism", "--rule", "point"), "--rule has no effect on --what optimism"),
        (("--what", "coverage", "--groups", "45,20,47"), "compares on held-out alone"),
        (("--groups", "45,20"), "must be three numbers, such as 45,20,47"),
        (("--groups", "20", "--groups", "47"), "reads one --groups, got 2"),
        (("--share", "0.5"), "--share has no effect without --effect or --spread"),
        (("--effort", "high"), "--effort has no effect without --effect-from"),
        (("--what", "power", "--groups", "45,20,47", "--groups", "45,30,47"), "must agree in reflect and accept"),
        (("--rule", "beyond-noise"), "needs --replicates of at least 3"),
        (("--replicates", "2"), "replicates must be odd, as in a plan"),
        (("--what", "optimism", "--groups", "30"), "--what optimism opens no held-out data"),
        (("--groups", "2,20,47"), "must be at most the reflect groups, got 3 of 2; give more reflect groups"),
        (("--effect", "0.9"), "gain must be in"),
        (("--campaigns", "0"), "campaigns must be at least 1, got 0"),
        (("--alpha", "5"), "alpha must be in (0, 1), got 5"),
        (("--what", "hope"), "'hope' is not one of"),
    ],
)
def test_what_would_change_nothing_or_cannot_be_is_refused(
    holdgate: Holdgate, arguments: tuple[str, ...], message: str
) -> None:
    status, _, err = holdgate("simulate", *arguments)
    assert status == 2
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", [("simulate",), ("reproduce",), ("reproduce", "omissionbench")])
def test_the_commands_explain_themselves(holdgate: Holdgate, command: tuple[str, ...]) -> None:
    status, out, _ = holdgate(*command, "--help")
    assert status == 0
    assert "Usage:" in out
