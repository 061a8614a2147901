"""The benchmark of the statistics, at small sizes: it finds the same interval as scipy, and prints its ratios."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.benchmarks import stats


def test_the_benchmark_compares_with_scipy_in_one_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stats, "RESAMPLES", 400)
    monkeypatch.setattr(stats, "EXAMPLES", 200)
    stats.main(["--repeats", "1"])
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("the same interval") == 2
    assert "scipy, pairs gathered" in said
    assert "measure table of 200 examples in 1 replicate: " in said


def test_the_invented_pairs_are_of_the_stated_size() -> None:
    data = stats.pairs(np.random.default_rng(0))
    assert len(data.differences) == stats.PAIRS
    assert len(data.by_group) == stats.GROUPS
    assert min(map(len, data.by_group)) >= 1
