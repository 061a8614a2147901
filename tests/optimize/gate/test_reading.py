from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage import Judgement
from optimize.evaluation import Evaluation
from optimize.gate import Arm, Gate, Guardrails, LowerBound, Permutation, Point
from splits import Example

NONE = Guardrails(false_alarm_margin=None, commission_margin=None, prompt_words=None)


def arm(
    scores: dict[str, tuple[float | None, float | None]],
    *,
    clean: float = 0.9,
    threshold: float = 0.5,
    words: int = 10,
    replicates: int = 1,
) -> Arm:
    """One group an entry: scores of an omission and a commission (None failed, absent if the tuple says nan)."""
    examples: list[Example] = []
    judgements: list[Judgement] = []
    for group, (omission, commission) in scores.items():
        rows = [("clean", "clean", clean), ("omission", "omit", omission), ("commission", "add", commission)]
        for label, kind, score in rows:
            name = f"{group}.{kind}"
            twin = None if label == "clean" else f"{group}.clean"
            examples.append(Example(name, group, "s", "", "", label, kind, twin=twin))
            for replicate in range(replicates):
                status, reason = ("failed", "transport") if score is None else ("scored", None)
                judgements.append(
                    Judgement(name, "c", "s", status, score, replicate=replicate, reason=reason)  # type: ignore[arg-type]
                )
    return Arm(Evaluation("c", tuple(examples), tuple(judgements)), threshold, words)


def groups(
    n: int, omission: float | None, commission: float | None = 0.1
) -> dict[str, tuple[float | None, float | None]]:
    return {f"g{index:02d}": (omission, commission) for index in range(n)}


def read(gate: Gate, candidate: Arm, baseline: Arm):  # type: ignore[no-untyped-def]  # the result is inspected below
    return gate.read(candidate, baseline, rng=np.random.default_rng(0))


def mixed(n: int, wins: int) -> dict[str, tuple[float | None, float | None]]:
    """``wins`` groups whose omission is scored below its twin, the rest level with it."""
    return {f"g{index:02d}": (0.1 if index < wins else 0.9, 0.1) for index in range(n)}


def test_the_lower_bound_rule_passes_a_clear_gain_and_refuses_none() -> None:
    gate = Gate(LowerBound(), NONE, 0.98, 0.05)
    assert read(gate, arm(mixed(30, 25)), arm(mixed(30, 5))).decision == "emit"
    refused = read(gate, arm(mixed(30, 6)), arm(mixed(30, 5)))
    assert refused.decision == "refuse"
    assert "low end" in refused.reason


def test_below_twenty_groups_the_default_rule_reads_the_sign_flip_test_and_says_so() -> None:
    gate = Gate(LowerBound(), NONE, 0.98, 0.05)
    found = read(gate, arm(mixed(10, 9)), arm(mixed(10, 1)))
    assert found.decision == "emit"
    assert "10 held-out groups (fewer than 20)" in found.rule.words
    few = read(gate, arm(mixed(4, 4)), arm(mixed(4, 0)))
    assert few.decision == "refuse", "four groups cannot reach p < 0.025 by sign flips"


def test_the_permutation_rule_reads_the_same_test_at_any_number_of_groups() -> None:
    gate = Gate(Permutation(), NONE, 0.98, 0.05)
    assert read(gate, arm(mixed(30, 25)), arm(mixed(30, 5))).rule.holds
    assert not read(gate, arm(mixed(30, 6)), arm(mixed(30, 5))).rule.holds


def test_the_point_rule_passes_any_gain() -> None:
    gate = Gate(Point(), NONE, 0.98, 0.05)
    assert read(gate, arm(mixed(30, 6)), arm(mixed(30, 5))).decision == "emit"
    assert read(gate, arm(mixed(30, 5)), arm(mixed(30, 5))).decision == "refuse"


def test_identical_arms_are_never_emitted_by_the_default_rule() -> None:
    gate = Gate(LowerBound(), Guardrails(), 0.98, 0.05)
    found = read(gate, arm(mixed(30, 20)), arm(mixed(30, 20)))
    assert found.decision == "refuse"
    assert all(finding.holds for finding in found.guardrails), "what is equal in every group breaks no guardrail"


def test_too_many_failed_judgements_leave_the_decision_open() -> None:
    candidate = mixed(30, 25) | {"g29": (None, 0.1)}
    found = read(Gate(LowerBound(), NONE, 0.98, 0.05), arm(candidate), arm(mixed(30, 5)))
    assert found.decision == "undecided"
    assert found.coverage == pytest.approx(29 / 30)
    assert "96.7%" in found.reason


def test_a_pass_must_survive_its_failed_pairs_counted_worst_case() -> None:
    candidate = dict(mixed(40, 8))
    for index in range(30, 40):
        candidate[f"g{index:02d}"] = (None, 0.1)
    gate = Gate(LowerBound(), NONE, 0.5, 0.05)
    found = read(gate, arm(candidate), arm(mixed(40, 0)))
    assert found.rule.holds
    assert found.worst is not None
    assert found.worst.against.n_failed == 10
    assert found.decision == "refuse"
    assert "worst-case" in found.reason


def test_each_guardrail_blocks_by_itself() -> None:
    better, worse = arm(mixed(40, 35)), arm(mixed(40, 5))
    gate = Gate(LowerBound(), Guardrails(0.1, 0.1, 50), 0.98, 0.05)
    assert read(gate, better, worse).decision == "emit"
    alarmed = Arm(better.evaluation, 0.95, 10)
    assert "false alarms" in read(gate, alarmed, worse).reason
    forgetful = arm({name: (score, 0.95) for name, (score, _) in mixed(40, 35).items()})
    assert "commissions" in read(gate, forgetful, worse).reason
    wordy = Arm(better.evaluation, better.threshold, 51)
    assert "prompt length" in read(gate, wordy, worse).reason


def test_unequal_replicates_are_refused() -> None:
    from lineage.errors import InputError

    with pytest.raises(InputError, match="replicates"):
        read(Gate(LowerBound(), NONE, 0.98, 0.05), arm(mixed(5, 2), replicates=3), arm(mixed(5, 1)))


@settings(max_examples=10, deadline=None)
@given(wins=st.integers(0, 30), base=st.integers(0, 30), shift=st.floats(0.001, 0.08))
def test_shifting_every_score_changes_nothing(wins: int, base: int, shift: float) -> None:
    gate = Gate(LowerBound(), NONE, 0.98, 0.05)
    plain = arm(mixed(30, wins))
    moved = {
        name: (None if o is None else o + shift, None if c is None else c + shift)
        for name, (o, c) in mixed(30, wins).items()
    }
    shifted = arm(moved, clean=0.9 + shift)
    one, two = (read(gate, candidate, arm(mixed(30, base))) for candidate in (plain, shifted))
    assert one.omissions.difference.value == two.omissions.difference.value
    assert one.decision == two.decision
