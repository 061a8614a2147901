"""The benchmark of the mirror, at a small size: what it compares is the same content."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.benchmarks import mirroring
from lineage.mirror import MlflowMirror

pytestmark = pytest.mark.integration


def test_every_way_of_logging_is_measured_and_the_campaign_waits_for_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found: list[mirroring.MirrorCost] = []
    measure = mirroring.measure

    def kept(*arguments: int, directory: Path | None) -> mirroring.MirrorCost:
        found.append(measure(*arguments, directory=directory))
        return found[-1]

    monkeypatch.setattr(mirroring, "measure", kept)
    mirroring.main(["--candidates", "4", "--accept", "8", "--repeats", "1", "--directory", str(tmp_path)])
    (one,) = found
    assert one.mirror_s > one.told_s > 0
    assert one.ratio == one.mirror_s / one.plain_s
    said = " ".join(capsys.readouterr().out.split())
    assert "4 candidates, 8 accept judgements: milliseconds a candidate" in said
    assert "wanted: under 100 ms a candidate on a local store" in said


def test_plain_logging_has_what_the_mirror_stored(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    mirror = MlflowMirror(uri, experiment=mirroring.EXPERIMENT, directory=tmp_path / "run")
    mirror.events(mirroring.campaign(tmp_path / "run", 3, 8))
    mirror.send()
    runs = list(mirroring._stored(uri))
    assert len(runs) == 3
    tags = {run.info.run_name: run.data.tags["holdgate.outcome"] for run, _ in runs}
    assert tags == {"seed": "seed", "c01": "rejected", "c02": "accepted"}
    files = {run.info.run_name: set(kept) for run, kept in runs}
    assert {"instruction.md", "reflection/prompt.md", "diff/seed.txt", "scores/accept.json"} <= files["c02"]
