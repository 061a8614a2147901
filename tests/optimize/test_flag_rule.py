from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.flag_rule import clean_needed, set_flag_rule
from optimize.flag_share import flag_share
from optimize.flag_transfer import transfers
from optimize.score_table import ScoredDocument, ScoreTable
from optimize.stats import detection_at_fa, flag_rates, linearised_interval, wilson

steps = st.integers(0, 10).map(lambda step: step / 10)


def table(
    clean: list[float | None], flawed: list[float | None] | None = None, *, name: str = "set", candidate: bool = False
) -> ScoreTable:
    """One group a clean document; flawed ones, if any, are of the same groups in turn."""
    documents = [
        ScoredDocument(f"c{number:03d}", f"g{number:03d}", f"s{number % 2}", "clean", score, candidate)
        for number, score in enumerate(clean)
    ]
    documents += [
        ScoredDocument(f"f{number:03d}", f"g{number % len(clean):03d}", f"s{number % 2}", "omission", score)
        for number, score in enumerate(flawed or [])
    ]
    return ScoreTable(name, tuple(documents), "hash")


@given(clean=st.lists(steps, min_size=1, max_size=60), cap=st.floats(0.0, 0.999))
def test_the_rate_on_the_calibration_set_is_never_above_the_cap(clean: list[float], cap: float) -> None:
    rule = set_flag_rule(table([*clean]), cap=cap)
    assert rule.clean.rate <= cap
    assert rule.clean.flagged == sum(score < rule.threshold for score in clean)


@given(clean=st.lists(steps, min_size=1, max_size=60), cap=st.floats(0.0, 0.999), higher=st.floats(1e-6, 1.0))
def test_no_higher_threshold_is_within_the_cap(clean: list[float], cap: float, higher: float) -> None:
    rule = set_flag_rule(table([*clean]), cap=cap)
    assert sum(score < rule.threshold + higher for score in clean) / len(clean) > cap


@given(clean=st.lists(steps, min_size=1, max_size=40), flawed=st.lists(steps, min_size=1, max_size=40))
def test_it_detects_no_less_than_the_sweep_at_the_same_cap(clean: list[float], flawed: list[float]) -> None:
    swept = detection_at_fa(flawed, clean, cap=0.10)
    rule = set_flag_rule(table([*clean]), cap=0.10)
    assert flag_rates(flawed, clean, rule.threshold).detection >= swept.detection


@given(clean=st.lists(steps, min_size=1, max_size=40), shift=st.floats(-5, 5))
def test_shifting_every_score_shifts_the_threshold(clean: list[float], shift: float) -> None:
    whole = [round(10 * score) for score in clean]
    one = set_flag_rule(table([float(score) for score in whole]))
    other = set_flag_rule(table([score + round(shift) for score in whole]))
    assert other.threshold == one.threshold + round(shift)


def test_a_share_is_shown_with_wilson_and_grouped_intervals() -> None:
    documents = [ScoredDocument(f"n{n}", f"g{n // 3}", "", "clean", float(n % 4)) for n in range(30)]
    share = flag_share(documents, 1.0)
    flags = [float(n % 4 < 1) for n in range(30)]
    assert (share.flagged, share.n) == (8, 30)
    assert (share.interval.low, share.interval.high) == (wilson(8, 30).low, wilson(8, 30).high)
    by_group = linearised_interval(flags, [f"g{n // 3}" for n in range(30)])
    assert share.grouped.interval == by_group


def test_a_rule_is_read_on_another_set_as_a_whole_and_at_each_site() -> None:
    rule = set_flag_rule(table([float(n) for n in range(20)]))
    assert (rule.threshold, rule.clean.flagged) == (2.0, 2)
    whole, north, south = transfers(rule, table([0.0, 5.0, 1.0, 9.0], [0.0, 1.0, 7.0, 8.0], name="other"))
    assert [(found.by, found.part) for found in (whole, north, south)] == [(None, ""), ("site", "s0"), ("site", "s1")]
    assert (whole.clean.flagged, north.clean.flagged, south.clean.flagged) == (2, 2, 0)
    assert whole.flawed["omission"].flagged == 2
    assert north.clean.n + south.clean.n == whole.clean.n == 4


def test_sites_and_strata_are_told_apart_and_one_alone_is_the_whole() -> None:
    documents = tuple(
        ScoredDocument(f"c{n:02d}", f"g{n:02d}", "north", "clean", float(n), stratum=f"stratum {n % 3}")
        for n in range(12)
    )
    rule = set_flag_rule(table([float(n) for n in range(20)]))
    found = transfers(rule, ScoreTable("other", documents, "hash"))
    assert [transfer.by for transfer in found] == [None, "stratum", "stratum", "stratum"]
    assert sum(transfer.clean.flagged for transfer in found[1:]) == found[0].clean.flagged == 2
    rows = [transfer.row() for transfer in found]
    assert [(row["site"], row["stratum"]) for row in rows[:2]] == [(None, None), (None, "stratum 0")]


def test_what_a_set_can_say_of_the_cap_depends_on_how_many_it_holds() -> None:
    rule = set_flag_rule(table([float(n) for n in range(20)]))
    many, none, few = (
        transfers(rule, table(scores))[0] for scores in ([0.0] * 30 + [9.0] * 30, [9.0] * 200, [0.0, 9.0, 9.0])
    )
    assert [transfer.words for transfer in (many, none, few)] == ["above the cap", "within the cap", "too few to say"]


def test_without_clean_documents_the_rate_is_unknown_and_not_zero() -> None:
    rule = set_flag_rule(table([float(n) for n in range(20)]))
    flawed = ScoreTable("f", (ScoredDocument("a", "a", "", "omission", 1.0),), "hash")
    (found,) = transfers(rule, flawed)
    assert math.isnan(found.clean.rate)
    assert found.words == "no clean document: the rate is unknown"
    json.dumps(found.row(), allow_nan=False)


def test_failed_judgements_count_neither_way_and_are_shown() -> None:
    rule = set_flag_rule(table([1.0, 2.0, None, 3.0]), cap=0.4)
    assert (rule.clean.n, rule.clean.unscored) == (3, 1)
    assert any("clean documents of set without a score, left out: 1" in words for words in rule.warnings)


def test_few_clean_documents_are_warned_of_with_their_steps() -> None:
    rule = set_flag_rule(table([float(n) for n in range(8)]))
    assert rule.clean.flagged == 0
    assert any("steps of 12.5 points" in words and "allows no flag at all" in words for words in rule.warnings)
    assert not set_flag_rule(table([float(n) for n in range(clean_needed(0.10))])).warnings


@given(cap=st.floats(0.02, 0.5))
def test_the_documents_that_it_takes_give_the_half_width_that_was_asked_for(cap: float) -> None:
    n = clean_needed(cap)
    half = 1.96 * math.sqrt(cap * (1 - cap) / n)
    assert half <= 0.05001
    assert 1.96 * math.sqrt(cap * (1 - cap) / (n - 1)) > 0.0499


def test_a_rule_set_on_constructed_twins_is_said_not_to_carry_over() -> None:
    rule = set_flag_rule(table([float(n) for n in range(20)], [0.0] * 20))
    assert any("does not carry over" in words and "--deployment" in words for words in rule.warnings)


def test_flags_on_clean_candidates_are_not_called_false_alarms() -> None:
    rule = set_flag_rule(table([float(n) for n in range(20)], candidate=True))
    assert "flag rate on clean candidates" in rule.words
    assert "false" not in rule.words
    assert any("a flag on one may be right" in words for words in rule.warnings)
    assert rule.row()["rate_is"] == "flag rate on clean candidates (not verified clean)"


@pytest.mark.parametrize("cap", [-0.1, 1.0, 10])
def test_a_cap_outside_its_range_is_refused(cap: float) -> None:
    with pytest.raises(InputError, match=r"cap must be in \[0, 1\)"):
        set_flag_rule(table([1.0]), cap=cap)


def test_without_a_scored_clean_document_no_rule_is_set() -> None:
    with pytest.raises(InputError, match="no clean document has a score"):
        set_flag_rule(table([None, None]))
