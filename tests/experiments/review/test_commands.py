"""``holdgate review pack`` and ``holdgate review score``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from experiments.review import read_key
from tests.experiments.review.conftest import truth_of

Run = Callable[..., tuple[int, str, str]]


def test_a_pack_is_made_answered_and_scored(holdgate: Run, reviewed_directory: Path, tmp_path: Path) -> None:
    out = tmp_path / "pack"
    status, said, _ = holdgate(
        "review", "pack", reviewed_directory, "--out", out, "--documents", 6, "--severity", 5, "--flags", 4
    )
    assert status == 0
    assert "documents: 6 items, drawn as" in said
    assert "documents was blinded; hidden were:" in said
    assert f"for you, and never for the reader: {out / 'key.json'}" in said
    key = read_key(out / "key.json")
    files = []
    for reviewer in ("Ada", "Ben"):
        given = {name: {"answer": truth_of(item), "note": ""} for name, item in key.items.items()}
        row = {"pack": key.pack, "key": key.commitment, "reviewer": reviewer, "answers": given}
        path = tmp_path / f"{reviewer}.json"
        path.write_text(json.dumps({"format": "holdgate review answers 1", **row}), encoding="utf-8")
        files.append(path)
    status, said, _ = holdgate("review", "score", out / "key.json", *files)
    assert status == 0
    for words in ("Ada, documents", "Ben, flags", "Ada and Ben", "SIMULATED", "read as it was made", "cannot tell"):
        assert words in said
    status, said, _ = holdgate("review", "score", out / "key.json", files[0], "--json")
    found = json.loads(said)
    assert [section["section"] for section in found["reviewers"]["Ada"]] == ["documents", "severity", "flags"]
    rate = found["reviewers"]["Ada"][0]["rates"][0]
    assert (rate["k"], rate["n"], rate["method"]) == (6, 6, "Wilson interval")
    status, _, err = holdgate("review", "score", out / "key.json", files[0], files[0])
    assert (status, "are both answers of 'Ada'" in err) == (2, True)


def test_the_draw_repeats_and_the_key_cannot_be_guessed(
    holdgate: Run, reviewed_directory: Path, tmp_path: Path
) -> None:
    keys = []
    for number in range(2):
        out = tmp_path / f"{number}"
        assert holdgate("review", "pack", reviewed_directory, "--seed", 3, "--out", out)[0] == 0
        keys.append(read_key(out / "key.json"))
    assert keys[0].items == keys[1].items
    assert keys[0].commitment != keys[1].commitment


def test_what_is_no_run_is_refused(holdgate: Run, tmp_path: Path) -> None:
    status, _, err = holdgate("review", "pack", tmp_path)
    assert (status, "holds no campaign" in err) == (2, True)
