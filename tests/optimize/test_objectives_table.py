"""The measure table: each row equals the measure computed alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lineage.errors import InputError
from optimize.objectives import (
    ScoredExamples,
    Threshold,
    auc,
    detection,
    discrimination_measure,
    false_alarms,
    measure_table,
    sweep,
)
from optimize.objectives.scored import Attribute


def scored(*, replicates: int = 1, seed: int = 0, clean: bool = True) -> ScoredExamples:
    """Twelve groups of a clean document, two omissions and a commission."""
    rng = np.random.default_rng(seed)
    rows = [(group, place) for group in range(12) for place in range(4) if place or clean]
    return ScoredExamples.of_columns(
        ids=[f"{group}-{place}" for group, place in rows],
        groups=[f"g{group}" for group, _ in rows],
        labels=[("clean", "omission", "omission", "commission")[place] for _, place in rows],
        scores=rng.integers(0, 10, size=(len(rows), replicates)) / 10,
        twins=[f"{group}-0" if place else None for group, place in rows],
        attributes={
            "kind": [("clean", "omit", "omit", "add")[place] for _, place in rows],
            "trace": [(None, "complete", "partial-weak", None)[place] for _, place in rows],
            "severity": [(None, "critical", "supporting", "peripheral")[place] for _, place in rows],
            "stratum": [f"s{group % 2}" for group, _ in rows],
        },
    )


def test_every_part_has_its_row_and_equals_the_measure_alone() -> None:
    arm = scored()
    table = measure_table(arm)
    assert table.swept == sweep(arm)
    assert table.threshold is not None
    parts = {(entry.by, entry.part) for entry in table.entries}
    assert parts == {
        ("overall", ""),
        ("label", "commission"),
        ("label", "omission"),
        ("kind", "add"),
        ("kind", "omit"),
        ("trace", "complete"),
        ("trace", "partial-weak"),
        ("severity", "critical"),
        ("severity", "supporting"),
        ("severity", "peripheral"),
        ("stratum", "s0"),
        ("stratum", "s1"),
    }
    complete = arm.where(arm.attributes["trace"].equal_to("complete") | arm.clean)
    site = arm.where(arm.attributes["stratum"].equal_to("s1"))
    for by, part, rows in (("trace", "complete", complete), ("stratum", "s1", site), ("overall", "", arm)):
        for alone in (
            discrimination_measure(rows),
            auc(rows),
            detection(rows, threshold=table.threshold),
            false_alarms(rows, threshold=table.threshold),
        ):
            row = table.of(alone.name, by=by, part=part)
            assert (row.value, row.interval, row.n, row.counted) == (
                alone.value,
                alone.interval,
                alone.n,
                alone.counted,
            )


def test_a_cohort_is_compared_with_the_clean_documents_of_its_groups_where_they_have_none() -> None:
    arm = scored()
    cohort = ["second" if code % 2 else "first" for code in arm.groups.codes]
    with_cohort = replace(
        arm,
        attributes={
            **arm.attributes,
            "cohort": Attribute.of(None if clean else name for name, clean in zip(cohort, arm.clean, strict=True)),
        },
    )
    measure = measure_table(with_cohort).of("AUC", by="cohort", part="first")
    assert measure.counted == (("flawed", 18), ("clean", 6))


def test_a_trace_is_of_omissions_alone() -> None:
    table = measure_table(scored())
    assert all(entry.part != "unknown" for entry in table.entries)
    assert table.of("paired discrimination", by="trace", part="complete").n == 12


def test_the_rows_are_text_in_the_columns_of_the_header() -> None:
    table = measure_table(scored(), level=0.9)
    rows = table.rows()
    assert table.header == ("documents", "measure", "value", "90% interval", "counted", "n", "groups", "failed")
    assert {len(row) for row in rows} == {len(table.header)}
    assert rows[0][:2] == ("overall", "paired discrimination")
    assert any(row[0] == "severity: critical" for row in rows)
    assert str(table).splitlines()[-1] == f"flag rule: {table.threshold}"
    # Every pair is scored, so coverage does not vary between groups.
    assert next(row[3] for row in rows if row[1] == "coverage") == "none: groups agree"


def test_a_rule_fixed_beforehand_replaces_the_sweep() -> None:
    rule = Threshold(0.7, inclusive=True)
    table = measure_table(scored(), threshold=rule)
    assert table.swept is None
    assert table.of("detection").method == "score <= 0.7, fixed beforehand"


def test_yes_no_designs_and_even_replicates_have_no_detection_and_say_why() -> None:
    unswept = measure_table(scored(), cap=None)
    assert unswept.unavailable == "no rule was given, and none was to be swept"
    even = measure_table(scored(replicates=2))
    assert even.unavailable.startswith("2 replicates have no strict majority")
    for table in (unswept, even):
        assert {entry.measure.name for entry in table.entries} == {"paired discrimination", "AUC", "coverage"}
        assert str(table).splitlines()[-1] == f"no detection: {table.unavailable}"


def test_without_clean_documents_paired_measures_remain_undefined_with_reasons() -> None:
    table = measure_table(scored(clean=False))
    assert table.threshold is None
    assert "no clean document" in table.unavailable
    assert table.of("AUC").reason
    assert table.of("paired discrimination").reason
    assert ("overall", "AUC", "undefined") in [row[:3] for row in table.rows()]


def test_no_example_at_all_is_a_table_of_reasons() -> None:
    nothing = ScoredExamples.of_columns(ids=[], groups=[], labels=[], scores=np.empty((0, 1)))
    table = measure_table(nothing)
    assert all(entry.measure.reason for entry in table.entries)
    assert table.compression.reason


def test_a_row_that_is_not_there_is_refused_with_the_names_that_are() -> None:
    with pytest.raises(InputError, match="the table has no row 'kappa' for overall; its measures are"):
        measure_table(scored()).of("kappa")
