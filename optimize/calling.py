"""What the roles of a campaign call with: one cache, one spend, and one limiter an endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lineage.errors import PlanError
from optimize.model_plan import ModelPlan
from optimize.models import Model
from optimize.plan import Plan, RoleLimitsPlan
from students.transport import CallCache, Calls, Limiter, Limiters, Limits, Rate, Spend


class CallLayer:
    """The calls of one campaign, by role.

    Args:
        plan: the campaign's plan.
        models: the models that it calls, by role.
        cache: where answers are kept.
        campaign: whom calls are charged to; what its earlier processes paid for counts against the limits.
    """

    def __init__(self, plan: Plan, models: Mapping[str, Model], *, cache: CallCache, campaign: str) -> None:
        self._plan, self._models, self._cache, self._campaign = plan, dict(models), cache, campaign
        self._limiters = Limiters()
        self._spend = Spend(
            _limits(plan.limits),
            roles={role: _limits(getattr(plan.limits, role)) for role in models},
            spent={role: cache.paid(campaign, role=role) + cache.unanswered(campaign, role=role) for role in models},
        )
        for role in models:
            self._limiter(role)

    def calls(self, role: str, *, concurrency: int | None = None) -> Calls:
        """The calls of a role, at most so many chains at once, or as many as the plan says."""
        model, settings = self._models[role], self._plan.roles[role]
        return Calls(
            model.transport,
            cache=self._cache,
            spend=self._spend,
            limiter=self._limiter(role),
            concurrency=concurrency or model.concurrency,
            price=model.price,
            free=is_free(settings),
            deadline_s=settings.deadline_s,
        )

    def record(self) -> dict[str, Any]:
        """What was paid for by role and phase, and by candidate; what may have been; limits and prices, as JSON."""
        prices = {role: model.price for role, model in self._models.items()}
        return {
            "paid": {
                f"{role} {phase}": usage.row()
                for (role, phase), usage in self._cache.paid_by_phase(self._campaign).items()
            },
            "candidates": [
                {"role": role, "phase": phase, "candidate": candidate, "usage": usage.row()}
                for (role, phase, candidate), usage in self._cache.paid_by_candidate(self._campaign).items()
            ],
            "unanswered": self._cache.unanswered(self._campaign).row(),
            "limits": self._plan.limits.model_dump(mode="json"),
            "prices": {
                role: price
                and {"prompt_usd": price.prompt, "completion_usd": price.completion, "cached_usd": price.cached}
                for role, price in prices.items()
            },
        }

    def _limiter(self, role: str) -> Limiter:
        model, settings = self._models[role], self._plan.roles[role]
        return self._limiters.of(model.identity, Rate(model.concurrency, **settings.limits.model_dump()))


def check_limits(plan: Plan, models: Mapping[str, Model]) -> None:
    """Refuse a limit in US dollars where it could not be held, or would limit nothing.

    Raises:
        PlanError: a model that it limits has no price, and how to state one.
    """
    limited = [role for role in models if plan.limits.usd is not None or getattr(plan.limits, role).usd is not None]
    for role in limited:
        if models[role].price is None and not is_free(plan.roles[role]):
            raise PlanError(
                f"limits.usd needs the price of the {role}'s model, which is not known; state it in the plan: "
                f"{role}.model.price: {{prompt_usd_per_million: …, completion_usd_per_million: …}}"
            )
    for name, limits, roles in (
        ("limits", plan.limits, list(models)),
        *((f"limits.{role}", getattr(plan.limits, role), [role]) for role in models),
    ):
        if limits.usd is not None and all(is_free(plan.roles[role]) for role in roles):
            raise PlanError(
                f"{name}.usd has no effect on models without a price; limit calls, tokens or wall_s instead"
            )


def is_free(model: ModelPlan) -> bool:
    """Whether no price can apply: the model runs on this machine, or is a formula."""
    return model.original.local is not None or model.original.simulated is not None


def _limits(plan: RoleLimitsPlan) -> Limits:
    return Limits(plan.calls, plan.tokens, plan.usd, plan.wall_s)
