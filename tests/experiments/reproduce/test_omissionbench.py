"""The published campaign: what its records determine is reproduced, and what was altered shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.reproduce import Reproduction, reproduce_omissionbench
from lineage.errors import InputError

RESULTS, STATISTICS = "v3_published_results.json", "published_statistics.json"
Alter = Callable[[str, Callable[[Any], None]], None]
Holdgate = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def found(bench: Path) -> Reproduction:
    return reproduce_omissionbench(bench)


def by_key(found: Reproduction, file: str = RESULTS) -> dict[str, Any]:
    """The first figure of each key; a few are recomputed in two ways."""
    return {figure.key: figure for figure in reversed(found.figures) if figure.file == file}


def test_everything_that_the_records_determine_is_as_printed(found: Reproduction) -> None:
    assert found.differing == ()
    assert found.counts["match"] >= 130
    statistics = [figure for figure in found.figures if figure.file == STATISTICS]
    assert {figure.status for figure in statistics} == {"match"}
    assert len(statistics) == 2 * 14 + 7 + 5 + 1 + 4 + 6 + 1 + 2


def test_every_number_of_the_published_results_is_listed(found: Reproduction, bench: Path) -> None:
    def leaves(value: Any, path: str) -> list[str]:
        if isinstance(value, dict):
            return [leaf for key, inner in value.items() for leaf in leaves(inner, f"{path}.{key}".lstrip("."))]
        words = isinstance(value, str) or (isinstance(value, list) and isinstance(value[0], str))
        return [] if words else [path]

    published = json.loads((bench / RESULTS).read_text(encoding="utf-8"))
    assert set(leaves(published, "")) <= by_key(found).keys()


def test_the_accept_figures_come_from_the_scores(found: Reproduction) -> None:
    figures = by_key(found)
    expected = {
        "baseline.paired": "0.79167",
        "winner.paired": "0.84375",
        "baseline.det10": "0.33333",
        "winner.fa10": "0.05000",
        "baseline.threshold": "0.9090910",
        "sign_test.p": "0.226562500",
        "winner.name": "v3p-01",
        "mcnemar_flags.winner_only": "0",
    }
    assert {key: figures[f"pipeline.accept.{key}"].ours for key in expected} == expected
    low, high = json.loads(figures["pipeline.accept.cluster_bootstrap95"].ours)
    assert (low, high) == pytest.approx((-0.042, 0.162), abs=0.01)
    stated = {figure.key: figure.ours for figure in found.figures if figure.file == "README.md"}
    assert stated == {"commissions.seed_check_binary": "0.5811", "commissions.v3p-01": "0.6486"}


def test_what_the_records_do_not_determine_is_listed_with_the_reason(found: Reproduction) -> None:
    figures = by_key(found)
    for key in (
        "mono.accept.winner.wins",
        "mono.accept.cluster_bootstrap95",
        "pipeline.heldout.cluster_bootstrap95",
        "mono.heldout.cluster_bootstrap95",
        "pipeline.heldout.baseline.wins",
    ):
        assert figures[key].status == "not determined"
        assert "not in the data" in figures[key].how
    assert figures["mono.emitted"].how == (
        "it depends on the rule: lower-bound refuses, point passes, beyond-noise refuses"
    )
    assert figures["pipeline.emitted"].status == "match"
    assert any("Holm" in figure.key and figure.status == "not determined" for figure in found.figures)


def test_held_out_figures_that_follow_from_printed_counts_are_recomputed(found: Reproduction) -> None:
    figures = by_key(found)
    for target in ("pipeline", "mono"):
        for key in ("baseline.paired", "winner.paired", "winner.det10", "baseline.fa10", "sign_test.p", "delta_paired"):
            assert figures[f"{target}.heldout.{key}"].status == "match"
    assert figures["pipeline.heldout.winner.wilson95"].status == "match"
    assert figures["pipeline.heldout.baseline.det_vs_fa_z"].ours == "1.2729"
    assert figures["mono.heldout.mcnemar_flags.p"].status == "match"
    # The printed difference is that of the printed values; the counts alone would print 0.0038.
    delta = figures["mono.heldout.delta_paired"]
    assert (delta.published, delta.status) == ("0.0039", "match")
    assert "the counts give +0.003817" in delta.how


def test_the_rules_of_the_gate_on_the_published_numbers(found: Reproduction) -> None:
    read = {(reading.target, reading.rule): reading for reading in found.readings}
    assert [read[target, "lower-bound"].holds for target in ("pipeline", "mono")] == [False, False]
    assert read["pipeline", "point"].holds is False
    assert read["mono", "point"].holds is True
    assert "+0.0039" in read["mono", "point"].words
    assert read["mono", "beyond-noise"].holds is False
    assert read["pipeline", "permutation"].holds is None
    assert not any(reading.emitted for reading in found.readings)


def nudged(value: Any) -> Any:
    """A number one unit further in its last place, where it is determined to that place."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    text = repr(value)
    return float(f"{value + (2 if value < 0.5 else -2) * 10.0 ** -len(text.split('.')[1]):.9g}")


@pytest.mark.parametrize(
    "key",
    [
        "pipeline.accept.n_clean",
        "pipeline.accept.n_consultations",
        "pipeline.accept.baseline.paired",
        "pipeline.accept.winner.ties",
        "pipeline.accept.winner.det10",
        "pipeline.accept.winner.threshold",
        "pipeline.accept.winner.det_vs_fa_z",
        "pipeline.accept.delta_paired",
        "pipeline.accept.sign_test.wins",
        "pipeline.accept.mcnemar_flags.winner_only",
        "mono.accept.baseline.losses",
        "mono.accept.baseline.det10",
        "mono.accept.winner.paired",
        "mono.accept.sign_test.p",
        "mono.accept.mcnemar_flags.winner_only",
        "mono.accept.confirm_rule.passed",
        "pipeline.heldout.winner.paired",
        "pipeline.heldout.baseline.det10",
        "pipeline.heldout.winner.fa10",
        "pipeline.heldout.winner.det_vs_fa_z",
        "pipeline.heldout.delta_paired",
        "pipeline.heldout.sign_test.p",
        "pipeline.emitted",
        "mono.heldout.baseline.paired",
        "mono.heldout.delta_paired",
        "mono.heldout.mcnemar_flags.p",
    ],
)
def test_an_altered_figure_no_longer_matches(alter: Alter, copied: Path, key: str) -> None:
    *path, last = key.split(".")

    def edit(data: Any) -> None:
        for part in path:
            data = data[part]
        data[last] = nudged(data[last])

    alter(RESULTS, edit)
    assert key.rpartition(".")[0] in " ".join(figure.key for figure in reproduce_omissionbench(copied).differing)


def test_an_altered_score_no_longer_matches(copied: Path) -> None:
    file = copied / "v3_accept_scores.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    place = next(i for i, line in enumerate(lines) if ",omission," in line)
    lines[place] = ",".join([*lines[place].split(",")[:-3], "0.1", "0.1", "1"])
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    differing = {figure.key for figure in reproduce_omissionbench(copied).differing}
    assert {"pipeline.accept.baseline.paired", "mono.accept.baseline.det10"} & differing


@pytest.mark.parametrize("name", [RESULTS, STATISTICS, "v3_accept_scores.csv", "v3_trajectory.jsonl"])
def test_a_missing_file_is_named(copied: Path, name: str) -> None:
    (copied / name).unlink()
    with pytest.raises(InputError, match=f"{name}: there is no such file"):
        reproduce_omissionbench(copied)


def test_a_missing_key_and_counts_that_do_not_add_up_are_named(alter: Alter, copied: Path) -> None:
    alter(RESULTS, lambda data: data["mono"]["heldout"]["winner"].update(wins=60))
    with pytest.raises(InputError, match=r"key 'mono\.heldout\.winner' has 60 wins, .* not the 131 omissions"):
        reproduce_omissionbench(copied)
    alter(RESULTS, lambda data: data["mono"]["heldout"]["winner"].pop("wins"))
    with pytest.raises(InputError, match=rf"{RESULTS}: key 'mono\.heldout\.winner\.wins' is missing"):
        reproduce_omissionbench(copied)


def test_a_new_number_is_listed_and_not_passed_over(alter: Alter, copied: Path) -> None:
    alter(RESULTS, lambda data: data["mono"].update(kappa=0.5))
    figure = by_key(reproduce_omissionbench(copied))["mono.kappa"]
    assert (figure.status, figure.how) == ("not determined", "nothing here recomputes a figure of this name")


def test_a_column_of_a_baseline_that_is_missing_is_named(copied: Path) -> None:
    file = copied / "v3_accept_scores.csv"
    file.write_text(file.read_text(encoding="utf-8").replace("seed_fc_score", "other", 1), encoding="utf-8")
    with pytest.raises(InputError, match="column 'seed_fc_score', the baseline of mono, is missing"):
        reproduce_omissionbench(copied)


def test_the_command_prints_published_ours_and_match(holdgate: Holdgate, bench: Path) -> None:
    status, out, _ = holdgate("reproduce", "omissionbench", "--data", bench)
    assert status == 0
    for words in ("published", "ours", "match", "0 differ", "not determined", "mono", "point", "passes", "+0.0039"):
        assert words in out


def test_the_command_ends_with_status_one_and_names_what_differs(
    holdgate: Holdgate, alter: Alter, copied: Path
) -> None:
    alter(STATISTICS, lambda data: data["fisher_two_sided"][0].update(p=0.42))
    status, out, _ = holdgate("reproduce", "omissionbench", "--data", copied)
    assert status == 1
    assert f"differs: {STATISTICS}, fisher_two_sided.0.p: published 0.42, ours 0.32" in out
    status, out, _ = holdgate("reproduce", "omissionbench", "--data", copied, "--json")
    assert status == 1
    rows = json.loads(out)
    assert rows["reproduced"] is False
    assert rows["counts"]["differs"] == 1
    assert {row["rule"] for row in rows["rules_on_published_numbers"]} >= {"lower-bound", "point"}


def test_the_command_ends_with_status_two_where_a_record_is_missing(
    holdgate: Holdgate, bench: Path, copied: Path
) -> None:
    (copied / STATISTICS).unlink()
    status, _, err = holdgate("reproduce", "omissionbench", "--data", copied)
    assert status == 2
    assert f"{STATISTICS}: there is no such file" in err
    assert "Traceback" not in err
    status, _, err = holdgate("reproduce", "omissionbench", "--data", bench / "nowhere")
    assert status == 2
