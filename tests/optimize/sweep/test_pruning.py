from __future__ import annotations

import math

import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import PlanError
from optimize.sweep.plan import PruningPlan
from optimize.sweep.pruning import halve, nested_groups
from splits import Corpus

optuna.logging.set_verbosity(optuna.logging.WARNING)
RUNGS = 3


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.tuples(*[st.integers(0, 6).map(lambda tenth: tenth / 10)] * RUNGS), min_size=1, max_size=14),
    reduction=st.integers(2, 4),
    greatest=st.booleans(),
)
def test_the_rule_is_that_of_optunas_successive_halving(
    values: list[tuple[float, ...]], reduction: int, greatest: bool
) -> None:
    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=reduction)
    study = optuna.create_study(direction="maximize" if greatest else "minimize", pruner=pruner)
    judged: list[list[float]] = [[] for _ in range(RUNGS)]
    for of_trial in values:
        trial = study.ask()
        for rung, value in enumerate(of_trial):
            trial.report(value, reduction**rung)
            ours = halve(value, judged[rung], groups=rung + 1, reduction=reduction, greatest=greatest)
            judged[rung].append(value)
            assert ours.keeps is not trial.should_prune()
            if not ours.keeps:
                break
        study.tell(trial, of_trial[-1])


def test_the_first_trial_goes_on_and_an_undefined_value_does_not() -> None:
    assert halve(0.1, [], groups=3, reduction=4, greatest=True).keeps
    assert not halve(math.nan, [], groups=3, reduction=4, greatest=True).keeps
    found = halve(0.6, [0.7, 0.6, 0.5], groups=3, reduction=2, greatest=True)
    assert (found.judged, found.above, found.keeps) == (4, 1, True)
    assert halve(0.6, [0.7, 0.6, 0.5], groups=3, reduction=2, greatest=False).above == 1


def test_sets_of_groups_lie_within_each_other_and_are_the_same_for_every_trial(consults: Corpus) -> None:
    groups = sorted(consults.groups)[:12]
    accept = consults.part(ex for group in groups for ex in consults.groups[group])
    plan = PruningPlan(groups=(2, 5, 9))
    sets = nested_groups(accept, plan, seed=3)
    assert [len(found) for found in sets] == [2, 5, 9]
    assert set(sets[0]) < set(sets[1]) < set(sets[2]) < set(groups)
    assert sets == nested_groups(accept, plan, seed=3)
    assert sets != nested_groups(accept, plan, seed=4)


def test_a_set_that_is_all_of_accept_is_refused(consults: Corpus) -> None:
    groups = sorted(consults.groups)[:4]
    accept = consults.part(ex for group in groups for ex in consults.groups[group])
    with pytest.raises(PlanError, match="4 of 4 accept groups with pairs is no part of them"):
        nested_groups(accept, PruningPlan(groups=(2, 4)), seed=1)
