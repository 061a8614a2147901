"""Capture, mentions, and rules over verdicts."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import PlanError
from lineage.records import FactVerdict
from students.answers import Reading
from students.pipeline import Capture, FactRule

SEVERITIES = ("critical", "supporting", "peripheral")
GRADES = ("full", "partial", "absent")


def verdict(grade: str, severity: str | None = None, **more: object) -> FactVerdict:
    present = grade != "absent"
    made = {"severity": severity, "grade": grade, **more}
    return FactVerdict("f1", float(present), None, present, **made)  # type: ignore[arg-type]


def test_capture_weighs_severities_four_two_one_and_credits_a_part_with_half() -> None:
    verdicts = [verdict("full", "critical"), verdict("partial", "supporting"), verdict("absent", "peripheral")]
    assert Capture().score(verdicts) == Fraction(4 + 1, 7)
    assert Capture().unweighted(verdicts) == Fraction(1, 2)


def test_weights_and_credits_can_be_set() -> None:
    capture = Capture({"critical": 1, "supporting": 0, "peripheral": 0}, {"full": 1, "partial": 0.1, "absent": 0})
    assert capture.score([verdict("partial", "critical"), verdict("full", "supporting")]) == Fraction(1, 10)


def test_capture_is_undefined_where_every_fact_has_weight_zero() -> None:
    capture = Capture({"critical": 1, "supporting": 0, "peripheral": 0})
    assert capture.score([verdict("full", "peripheral")]) is None


def test_without_grades_the_score_is_the_share_present() -> None:
    verdicts = [
        FactVerdict("a", 1.0, None, True),
        FactVerdict("b", 0.0, None, False),
        FactVerdict("c", 1.0, None, True),
    ]
    assert Capture(None).score(verdicts) == Fraction(2, 3)


@pytest.mark.parametrize(
    ("weights", "credited", "match"),
    [
        ({"critical": 1}, None, "exactly critical"),
        ({"critical": 0, "supporting": 0, "peripheral": 0}, None, "not all 0"),
        ({"critical": -1, "supporting": 0, "peripheral": 1}, None, "at least 0"),
        (None, {"full": 1, "partial": 2, "absent": 0}, "at least partial"),
        (None, {"full": 1, "absent": 0}, "exactly full"),
    ],
)
def test_weights_and_credits_out_of_range_are_refused(weights: object, credited: object, match: str) -> None:
    given_ = {name: value for name, value in (("weights", weights), ("credits", credited)) if value is not None}
    with pytest.raises(PlanError, match=match):
        Capture(**given_)  # type: ignore[arg-type]


cases = st.lists(st.tuples(st.sampled_from(GRADES), st.sampled_from(SEVERITIES)), min_size=1, max_size=12)


@given(cases)
def test_capture_lies_in_the_unit_interval_and_agrees_with_its_definition(pairs: list[tuple[str, str]]) -> None:
    weights, credited = {"critical": 4, "supporting": 2, "peripheral": 1}, {"full": 1, "partial": 0.5, "absent": 0}
    found = Capture().score([verdict(grade, severity) for grade, severity in pairs])
    assert found is not None
    assert 0 <= found <= 1
    total = sum(weights[severity] for _, severity in pairs)
    assert float(found) == pytest.approx(sum(weights[s] * credited[g] for g, s in pairs) / total)


@given(cases, st.integers(0, 11))
def test_losing_a_fact_never_raises_the_score(pairs: list[tuple[str, str]], place: int) -> None:
    place %= len(pairs)
    before = Capture().score([verdict(grade, severity) for grade, severity in pairs])
    after = Capture().score([verdict("absent" if n == place else g, s) for n, (g, s) in enumerate(pairs)])
    assert before is not None
    assert after is not None
    assert after <= before


def test_a_restated_fact_is_worth_more_than_one_said_once_and_less_when_a_mention_goes() -> None:
    once = verdict("full", mentions=("full", "absent", "absent"))
    twice = verdict("full", mentions=("full", "absent", "full"))
    assert Capture(None).mentions([once]) == Fraction(1, 2)
    assert Capture(None).mentions([twice]) == Fraction(3, 4)
    assert Capture(None).mentions([verdict("absent", mentions=("absent",))]) == 0
    rescued = verdict("full", mentions=("absent", "absent"), rescue="words of it")
    assert Capture(None).mentions([rescued]) == Fraction(1, 2)
    partly = Capture(None).mentions([verdict("partial", mentions=("partial", "absent"))])
    assert float(partly or 0) == pytest.approx(1 - 2**-0.5)


def reading(*verdicts: FactVerdict) -> Reading:
    return Reading("scored", 0.5, facts=verdicts)


def test_a_flag_names_fact_severity_and_quote() -> None:
    lost = verdict("absent", "critical", text="Allergic to penicillin.", quote="came out in a rash")
    assert FactRule("critical-absent").flags(reading(lost)) == (
        'absent (critical): Allergic to penicillin.; source: "came out in a rash"',
    )
    assert FactRule("any-absent").flags(reading(verdict("absent"))) == ("absent (no severity): f1; no quote",)


def test_only_absent_critical_facts_fire_the_critical_rule_and_partial_is_not_absent() -> None:
    rule = FactRule("critical-absent")
    assert rule.flags(reading(verdict("partial", "critical"), verdict("absent", "supporting"))) == ()
    assert len(rule.flags(reading(verdict("absent", "critical"), verdict("absent", "supporting")))) == 1


def test_the_count_rule_fires_at_its_count() -> None:
    rule = FactRule("count-absent", 2)
    assert rule.flags(reading(verdict("absent"), verdict("full"))) == ()
    assert len(rule.flags(reading(verdict("absent"), verdict("absent"), verdict("absent")))) == 3


def test_a_judgement_without_a_score_is_not_flagged() -> None:
    assert FactRule("any-absent").flags(Reading("failed", None, "empty: x", facts=(verdict("absent"),))) == ()


@pytest.mark.parametrize(
    ("name", "count"), [("any", None), ("count-absent", None), ("count-absent", 0), ("any-absent", 2)]
)
def test_a_rule_that_cannot_be_is_refused(name: str, count: int | None) -> None:
    with pytest.raises(PlanError, match="absent"):
        FactRule(name, count)  # type: ignore[arg-type]
