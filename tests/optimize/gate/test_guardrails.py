from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lineage.errors import InputError
from lineage.records import Usage
from optimize.gate import Arm, Finding, Gate, GateReading, Guardrails, LowerBound, Point, compare_flags, count_flags
from optimize.stats import wilson

MakeArm = Callable[..., Arm]
Groups = dict[str, dict[str, Any]]
NONE = Guardrails(None, None, None, None, None)


def read(guardrails: Guardrails, candidate: Arm, baseline: Arm, *, coverage: float = 0.5, **more: Any) -> GateReading:
    gate = Gate(Point(-1.0), guardrails, coverage, 0.05, **more)
    return gate.read(candidate, baseline, rng=np.random.default_rng(0))


def finding(reading: GateReading, name: str) -> Finding:
    return next(found for found in reading.guardrails if found.name == name)


def groups(n: int, *, flagged: int = 0, lost: int = 0) -> Groups:
    """``flagged`` clean documents below the threshold, ``lost`` commissions above their twin, in different groups."""
    return {
        f"g{index:02d}": {
            "clean": 0.3 if index < flagged else 0.9,
            "omit": 0.1,
            "add": 0.95 if n - lost <= index else 0.1,
        }
        for index in range(n)
    }


def test_guardrails_that_are_left_out_are_not_read(make_arm: MakeArm) -> None:
    found = read(NONE, make_arm(groups(25, flagged=25, lost=25)), make_arm(groups(25)))
    assert [guard.name for guard in found.guardrails] == ["pair coverage"]
    assert found.decision == "emit"


def test_the_false_alarm_margin_holds_up_to_the_upper_end_of_the_interval(make_arm: MakeArm) -> None:
    candidate, baseline = make_arm(groups(25, flagged=3)), make_arm(groups(25, flagged=1))
    high = read(NONE, candidate, baseline).false_alarms.difference.interval.high
    assert read(Guardrails(high, None, None, None, None), candidate, baseline).decision == "emit"
    below = read(Guardrails(math.nextafter(high, 0), None, None, None, None), candidate, baseline)
    assert below.decision == "refuse"
    assert "guardrail false alarms: rise of the false-alarm rate +0.0800" in below.reason


def test_the_commission_margin_holds_down_to_the_lower_end_of_the_interval(make_arm: MakeArm) -> None:
    candidate, baseline = make_arm(groups(25, lost=3)), make_arm(groups(25, lost=1))
    low = read(NONE, candidate, baseline).commissions.difference.interval.low
    assert read(Guardrails(None, -low, None, None, None), candidate, baseline).decision == "emit"
    below = read(Guardrails(None, math.nextafter(-low, 0), None, None, None), candidate, baseline)
    assert below.decision == "refuse"
    assert "guardrail commissions" in below.reason


def test_guardrails_are_not_corrected_for_the_number_of_comparisons(make_arm: MakeArm) -> None:
    candidate, baseline = make_arm(groups(25, flagged=3, lost=2)), make_arm(groups(25, flagged=1))
    alone = read(NONE, candidate, baseline)
    gate = Gate(Point(-1.0), NONE, 0.5, 0.0125, 0.05)
    shared = gate.read(candidate, baseline, rng=np.random.default_rng(0))
    assert shared.omissions.difference.interval.level == pytest.approx(0.9875)
    assert shared.false_alarms.difference.interval == alone.false_alarms.difference.interval
    assert shared.commissions.difference.interval == alone.commissions.difference.interval


def test_the_cap_blocks_only_where_the_low_end_exceeds_it(make_arm: MakeArm) -> None:
    n = 47
    least = next(k for k in range(n) if wilson(k, n).low > 0.10)
    guardrails = Guardrails(None, None, None, 0.10, None)
    baseline = make_arm(groups(n))
    above = read(guardrails, make_arm(groups(n, flagged=least - 1)), baseline)
    assert (least - 1) / n > 0.10
    assert above.decision == "emit"
    assert "above the cap; it blocks only where the low end exceeds 0.1" in finding(above, "cap on false alarms").words
    blocked = read(guardrails, make_arm(groups(n, flagged=least)), baseline)
    assert blocked.decision == "refuse"
    assert f"{least} of {n} ({least / n:.3f}, 95% Wilson interval [{wilson(least, n).low:.3f}, " in blocked.reason


def test_a_good_judge_at_two_of_twenty_is_not_blocked(make_arm: MakeArm) -> None:
    found = read(Guardrails(None, None, None, 0.10, None), make_arm(groups(20, flagged=3)), make_arm(groups(20)))
    assert found.decision == "emit"


def test_a_prompt_may_be_as_long_as_the_plan_says(make_arm: MakeArm) -> None:
    guardrails = Guardrails(None, None, 50, None, None)
    assert read(guardrails, make_arm(groups(25), words=50), make_arm(groups(25))).decision == "emit"
    assert "51 words; at most 50" in read(guardrails, make_arm(groups(25), words=51), make_arm(groups(25))).reason


def test_a_document_may_cost_so_many_times_what_the_baseline_costs(make_arm: MakeArm) -> None:
    guardrails = Guardrails(None, None, None, None, 2.0)
    baseline = make_arm(groups(25), usage=Usage(1, 100, 10))
    twice = read(guardrails, make_arm(groups(25), usage=Usage(1, 180, 40)), baseline)
    assert twice.decision == "emit"
    assert twice.cost.row() == {"unit": "tokens", "candidate": 220.0, "baseline": 110.0, "ratio": 2.0}
    more = read(guardrails, make_arm(groups(25), usage=Usage(1, 180, 41)), baseline)
    assert "cost a document: 2.01 times the baseline's (221.0 tokens a document against 110.0)" in more.reason


def test_costs_are_in_dollars_where_every_judgement_has_a_price(make_arm: MakeArm) -> None:
    dear, cheap = Usage(1, 100, 10, cost_usd=0.03), Usage(1, 900, 90, cost_usd=0.01)
    guardrails = Guardrails(None, None, None, None, 2.0)
    found = read(guardrails, make_arm(groups(25), usage=dear), make_arm(groups(25), usage=cheap))
    assert (found.cost.unit, found.decision) == ("usd", "refuse")
    unpriced = read(guardrails, make_arm(groups(25), usage=dear), make_arm(groups(25), usage=Usage(1, 900, 90)))
    assert (unpriced.cost.unit, unpriced.decision) == ("tokens", "emit")


def test_a_failed_judgement_does_not_make_its_arm_look_cheap(make_arm: MakeArm) -> None:
    some = groups(25)
    some["g00"]["add"] = None
    candidate, baseline = make_arm(some, usage=Usage(1, 100, 10)), make_arm(groups(25), usage=Usage(1, 50, 5))
    assert read(NONE, candidate, baseline).cost.ratio == pytest.approx(2.0)
    assert read(NONE, baseline, candidate).cost.ratio == pytest.approx(0.5)


def test_a_cost_of_which_nothing_is_recorded_is_said_to_be_unknown(make_arm: MakeArm) -> None:
    found = read(Guardrails(), make_arm(groups(25)), make_arm(groups(25)))
    assert "no usage is recorded in either arm" in finding(found, "cost a document").words
    some = read(Guardrails(), make_arm(groups(25), usage=Usage(1, 5, 5)), make_arm(groups(25)))
    assert math.isnan(some.cost.ratio)
    assert not finding(some, "cost a document").holds


def test_below_the_floor_of_pair_coverage_no_decision_is_made(make_arm: MakeArm) -> None:
    some = groups(50)
    some["g00"]["omit"] = None
    at, below = (read(NONE, make_arm(some), make_arm(groups(50)), coverage=floor) for floor in (0.98, 0.981))
    assert (at.decision, finding(at, "pair coverage").holds) == ("emit", True)
    assert (below.decision, finding(below, "pair coverage").holds) == ("undecided", False)


def test_a_failed_clean_judgement_counts_as_a_false_alarm_of_the_candidate(make_arm: MakeArm) -> None:
    some = groups(50)
    for name in ("g01", "g02", "g03", "g04", "g05", "g06"):
        some[name]["clean"] = None
    found = read(Guardrails(0.10, None, None, 0.05, None), make_arm(some), make_arm(groups(50)))
    assert found.false_alarms.difference.value == 0.0
    alarms, cap = finding(found, "false alarms"), finding(found, "cap on false alarms")
    assert not alarms.holds
    assert "with failed judgements counted worst-case +0.21" in alarms.words
    assert not cap.holds
    assert "(with 6 unscored counted as flagged, 0.056)" in cap.words


def test_a_failed_commission_counts_against_the_candidate(make_arm: MakeArm) -> None:
    some = groups(50)
    for name in ("g01", "g02", "g03", "g04"):
        some[name]["add"] = None
    found = read(Guardrails(None, 0.10, None, None, None), make_arm(some), make_arm(groups(50)))
    assert found.commissions.difference.value == 0.0
    assert not finding(found, "commissions").holds
    assert "counted worst-case -0.1" in finding(found, "commissions").words


def test_a_failed_judgement_of_the_baseline_counts_against_the_candidate_too(make_arm: MakeArm) -> None:
    some = groups(50)
    for name in ("g01", "g02", "g03", "g04"):
        some[name]["add"] = None
    found = read(Guardrails(None, 0.05, None, None, None), make_arm(groups(50, lost=4)), make_arm(some))
    assert not finding(found, "commissions").holds


def test_without_a_threshold_false_alarms_are_not_shown(make_arm: MakeArm) -> None:
    found = read(Guardrails(), make_arm(groups(25), threshold=math.nan), make_arm(groups(25)))
    assert found.decision == "refuse"
    for name in ("false alarms", "cap on false alarms"):
        assert "no threshold of the candidate could be set on accept: not shown" in finding(found, name).words


def test_a_split_without_a_commission_has_nothing_to_hold_to_and_one_without_a_scored_one_shows_nothing(
    make_arm: MakeArm,
) -> None:
    without = {name: {kind: documents[kind] for kind in ("clean", "omit")} for name, documents in groups(25).items()}
    found = read(Guardrails(), make_arm(without), make_arm(without))
    assert finding(found, "commissions") == Finding(
        "commissions", True, "the held-out split has no commission: nothing to hold to"
    )
    unscored = {name: {**documents, "add": None} for name, documents in groups(25).items()}
    lost = read(Guardrails(), make_arm(unscored), make_arm(groups(25)))
    assert not finding(lost, "commissions").holds
    assert "not shown" in finding(lost, "commissions").words


def test_flags_on_clean_candidates_are_never_called_a_false_alarm_rate(make_arm: MakeArm) -> None:
    names = list(groups(25))
    all_of_them = make_arm(groups(25, flagged=2), candidates=names)
    found = read(Guardrails(), all_of_them, make_arm(groups(25), candidates=names))
    assert (found.clean.verified, found.clean.candidates) == (0, 25)
    words = " ".join(guard.name + guard.words for guard in found.guardrails)
    assert "false" not in words
    assert "rise of the flag rate on clean candidates (not verified clean) +0.0800" in words
    some = make_arm(groups(25, flagged=2), candidates=names[:3])
    mixed = read(Guardrails(), some, make_arm(groups(25), candidates=names[:3]))
    assert mixed.clean.rate == "flag rate on clean documents (3 of 25 are candidates, not verified clean)"
    assert mixed.clean.row()["candidates"] == 3


def test_flags_need_a_majority_of_an_odd_number_of_replicates(make_arm: MakeArm) -> None:
    three = make_arm(
        {"g": {"clean": (0.3, 0.3, 0.9)}, "h": {"clean": (0.3, 0.9, 0.9)}, "i": {"clean": (0.3, 0.3, None)}}
    )
    count = count_flags(three, level=0.95)
    assert (count.flagged, count.of, count.perhaps, count.documents) == (1, 2, 2, 3)
    even = make_arm({"g": {"clean": (0.3, 0.9)}})
    with pytest.raises(InputError, match="replicates must be odd"):
        compare_flags(even, even, level=0.95, rng=np.random.default_rng(0))


def test_arms_of_other_settings_are_refused(make_arm: MakeArm) -> None:
    with pytest.raises(InputError, match="one student with the same settings, samples and budget among them"):
        read(NONE, make_arm(groups(25), student="eight samples"), make_arm(groups(25)))


def test_a_pass_of_the_default_rule_with_every_guardrail_is_emitted(make_arm: MakeArm) -> None:
    ours, theirs = groups(25, flagged=1), groups(25, flagged=1)
    for name in list(theirs)[:9]:
        theirs[name]["omit"] = 0.95
    used = Usage(1, 100, 1)
    gate = Gate(LowerBound(), Guardrails(), 0.98, 0.05)
    found = gate.read(make_arm(ours, usage=used), make_arm(theirs, usage=used), rng=np.random.default_rng(0))
    assert found.decision == "emit"
    assert [guard.name for guard in found.guardrails] == [
        "pair coverage",
        "false alarms",
        "cap on false alarms",
        "commissions",
        "prompt length",
        "cost a document",
    ]
