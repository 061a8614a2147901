"""Published tests and intervals from small files of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.reproduce.figures import Figure
from experiments.reproduce.statistics import statistics_figures
from lineage.errors import InputError

ROWS: dict[str, list[dict[str, Any]]] = {
    "wilson95": [{"k": 5, "n": 10, "lo": 0.237, "hi": 0.763, "places": 3}],
    "exact_mcnemar_two_sided": [{"b": 5, "c": 0, "p": 0.0625}],
    "sign_test_two_sided": [{"wins": 1, "losses": 4, "p": 0.375}],
    "fisher_two_sided": [{"table": [[3, 1], [1, 3]], "p": 0.486}],
    "kappa": [
        {
            "matrix": [[5, 0], [0, 5]],
            "linear_weighted": 1.0,
            "unweighted": 1.0,
            "observed_weighted": 1.0,
            "expected_weighted": 0.5,
        }
    ],
    "two_proportion_z": [
        {"k1": 10, "n1": 20, "k2": 5, "n2": 20, "z": 1.633},
        {"k1": 20, "n1": 40, "k2": 10, "n2": 40, "z": 2.309},
    ],
    "holm": [{"family": 10, "smallest_p": 0.021, "adjusted": 0.212}],
    "tie_adjusted": [{"strict_win_rate": 0.25, "tie_rate": 0.51, "paired": 0.509}],
}


def figures(tmp_path: Path, rows: Any) -> list[Figure]:
    (tmp_path / "published_statistics.json").write_text(json.dumps(rows), encoding="utf-8")
    return list(statistics_figures(tmp_path))


def changed(section: str, key: str, value: Any) -> dict[str, Any]:
    rows: dict[str, Any] = json.loads(json.dumps(ROWS))
    rows[section][0][key] = value
    return rows


def test_every_test_and_interval_is_recomputed(tmp_path: Path) -> None:
    found = figures(tmp_path, ROWS)
    assert {figure.status for figure in found} == {"match"}
    assert len(found) == 13


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("wilson95", "lo", 0.238),
        ("wilson95", "hi", 0.762),
        ("exact_mcnemar_two_sided", "p", 0.0635),
        ("sign_test_two_sided", "p", 0.374),
        ("fisher_two_sided", "p", 0.485),
        ("kappa", "linear_weighted", 0.9),
        ("kappa", "unweighted", 0.9),
        ("kappa", "observed_weighted", 0.9),
        ("kappa", "expected_weighted", 0.6),
        ("two_proportion_z", "z", 1.634),
        ("holm", "adjusted", 0.216),
        ("tie_adjusted", "paired", 0.514),
    ],
)
def test_a_figure_that_is_not_what_its_inputs_give_differs(
    tmp_path: Path, section: str, key: str, value: float
) -> None:
    found = figures(tmp_path, changed(section, key, value))
    assert [figure.key for figure in found if figure.status == "differs"] == [f"{section}.0.{key}"]


def test_the_rounding_of_printed_inputs_is_allowed_and_no_more(tmp_path: Path) -> None:
    (low, high) = (figures(tmp_path, changed("holm", "smallest_p", p))[-2] for p in (0.019, 0.023))
    assert low.status == high.status == "differs"
    assert figures(tmp_path, ROWS)[-2].ours == "0.2050 to 0.2150"


def test_counts_that_pool_replicates_say_so(tmp_path: Path) -> None:
    once, twice = (figure for figure in figures(tmp_path, ROWS) if figure.key.startswith("two_proportion_z"))
    assert "pooled over 2 replicates: units are not independent" in twice.how
    assert "replicates" not in once.how


@pytest.mark.parametrize(
    ("section", "key", "value", "message"),
    [
        ("wilson95", "k", 11, r"key 'wilson95\.0\.k' must be at most n = 10"),
        ("kappa", "matrix", [[1, 2]], r"key 'kappa\.0': matrix must be of shape"),
        ("fisher_two_sided", "table", [[1, 2, 3]], r"key 'fisher_two_sided\.0': table must be of shape"),
        ("two_proportion_z", "k1", 21, r"key 'two_proportion_z\.0': k1 must be at most n1"),
        ("holm", "family", 0, r"key 'holm\.0\.family' must be a number of tests"),
        ("sign_test_two_sided", "wins", "one", r"key 'sign_test_two_sided\.0\.wins' must be a whole number"),
    ],
)
def test_counts_that_cannot_be_are_named(tmp_path: Path, section: str, key: str, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=rf"published_statistics\.json: {message}"):
        figures(tmp_path, changed(section, key, value))


def test_a_missing_and_an_unknown_section_are_named(tmp_path: Path) -> None:
    without = {section: rows for section, rows in ROWS.items() if section != "kappa"}
    with pytest.raises(InputError, match=r"published_statistics\.json: key 'kappa' is missing"):
        figures(tmp_path, without)
    with pytest.raises(InputError, match="key 'anova' names no test or interval known here; known: wilson95"):
        figures(tmp_path, {**ROWS, "anova": []})
