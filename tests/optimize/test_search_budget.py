from __future__ import annotations

import pytest
from pydantic import ValidationError

from lineage.records import Judgement, Usage
from optimize.evaluation import Evaluation
from optimize.search_budget import SearchBudgetPlan, SearchUse


def evaluation(count: int = 2, cost: float | None = 0.25) -> Evaluation:
    usage = Usage(3, 100, 10, 4, 20, cost)
    judged = (Judgement(f"e{n}", "c", "student", "scored", 1.0, usage=usage) for n in range(count))
    return Evaluation("c", (), tuple(judged))


@pytest.mark.parametrize(
    ("budget", "evaluations"),
    [({"calls": 12}, 2), ({"tokens": 441}, 3), ({"usd": 0.5}, 1), ({"calls": 99, "usd": 1.0}, 2)],
)
def test_a_search_is_spent_when_the_first_of_its_amounts_is_reached(budget: dict[str, float], evaluations: int) -> None:
    use = SearchUse(SearchBudgetPlan(**budget))  # type: ignore[arg-type]
    for _ in range(evaluations - 1):
        use.add(evaluation())
        assert not use.spent
    use.add(evaluation())
    assert use.spent


def test_what_the_cache_answered_counts_as_what_was_paid_for() -> None:
    use = SearchUse(SearchBudgetPlan(calls=6))
    use.add(evaluation())  # nothing of it was paid for in this process
    assert use.used.calls == 6
    assert use.spent


def test_without_a_budget_nothing_is_ever_spent_and_without_a_price_no_money() -> None:
    free, priced = SearchUse(SearchBudgetPlan()), SearchUse(SearchBudgetPlan(usd=0.01))
    for use in (free, priced):
        use.add(evaluation(cost=None))
        assert not use.spent
    assert SearchBudgetPlan().unit is None
    assert SearchBudgetPlan(tokens=5).unit == "tokens"


def test_an_amount_of_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        SearchBudgetPlan(calls=0)
