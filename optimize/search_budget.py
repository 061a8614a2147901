"""How much a search may use before it ends: the amount at which searches of different students or engines are equal."""

from __future__ import annotations

from pydantic import Field

from lineage.records import Usage
from optimize.evaluation import Evaluation
from optimize.model_plan import Section


class SearchBudgetPlan(Section):
    """What a search may use of its student before it ends with what it has; null sets none.

    It is no limit: a search that comes to it is finished, and its winner is chosen. What is used is counted whether it
    was paid for or found in the cache, so that it is the same in every process. The seed's evaluation on accept,
    held-out evaluations and the reflector are not in it.
    """

    calls: int | None = Field(None, ge=1, description="Calls of the student in minibatches and on accept.")
    tokens: int | None = Field(None, ge=1, description="Tokens of its prompts and answers, reasoning among them.")
    usd: float | None = Field(None, gt=0, description="US dollars, at the model's price.")

    @property
    def unit(self) -> str | None:
        """The first of the amounts that is set, by name."""
        return next((name for name in ("calls", "tokens", "usd") if getattr(self, name) is not None), None)


class SearchUse:
    """What a search has used of its budget so far.

    It is looked at between proposals, so a search may end above its budget by what one proposal takes.

    Args:
        plan: the budget.
    """

    def __init__(self, plan: SearchBudgetPlan) -> None:
        self._plan = plan
        self._used = Usage()

    def add(self, evaluation: Evaluation) -> None:
        """Count an evaluation that the search made; one that it makes again is not to be counted again."""
        self._used = sum((judgement.usage for judgement in evaluation.judgements), self._used)

    @property
    def used(self) -> Usage:
        """Calls, tokens and money so far."""
        return self._used

    @property
    def spent(self) -> bool:
        """Whether one of the amounts is reached."""
        plan, used = self._plan, self._used
        return (
            (plan.calls is not None and used.calls >= plan.calls)
            or (plan.tokens is not None and used.prompt_tokens + used.completion_tokens >= plan.tokens)
            or (plan.usd is not None and (used.cost_usd or 0.0) >= plan.usd)
        )
