"""The plan of a crossed experiment: one campaign, searched under several reasoning budgets, its winners crossed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from lineage.canonical import digest
from lineage.errors import PlanError
from optimize.model_plan import Section
from optimize.plan import Plan, _got, _unknown_keys, parse_plan
from optimize.search_budget import SearchBudgetPlan
from optimize.student_plan import BudgetPlan

Kind = Literal["interaction", "own", "transfer"]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=40)]


class CrossedPlan(Section):
    """Searches of one campaign under several reasoning budgets of its student, and what is compared of the winners."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
    campaign: str = Field(
        description="The base campaign: a plan file, from this plan's directory, or a bundled name. Its limits hold "
        "for each search by itself, and for the crossing."
    )
    settings: dict[Name, BudgetPlan] = Field(
        min_length=2, description="Reasoning budgets of the student by name; the base campaign's own is not used."
    )
    budget: SearchBudgetPlan = Field(
        description="What each search may use of its student, the same under all settings."
    )
    compared: tuple[Kind, ...] = Field(
        ("interaction", "own"),
        min_length=1,
        description="Registered comparisons. interaction: whether winners are better where they were searched. own: "
        "each winner against the seed where it was searched. transfer: the same where it was not.",
    )

    @model_validator(mode="after")
    def _an_experiment(self) -> CrossedPlan:
        budgets = [budget.model_dump_json() for budget in self.settings.values()]
        if len(set(budgets)) != len(budgets):
            raise ValueError("settings: two of them are the same budget; there is nothing to cross")
        if self.budget.unit is None:
            raise ValueError("budget: say what each search may use, in calls, tokens or usd; equal arms are the point")
        if len(set(self.compared)) != len(self.compared):
            raise ValueError(f"compared: name each once; got {', '.join(self.compared)}")
        return self

    def arm(self, base: Plan, setting: str) -> Plan:
        """The campaign plan of the search under one setting.

        Raises:
            PlanError: the setting does not go with the base campaign.
        """
        data = base.model_dump(mode="json", exclude_unset=True)
        data["name"] = f"{self.name}-{setting}"
        data["student"]["budget"] = self.settings[setting].model_dump(mode="json", exclude_unset=True)
        data["search"]["budget"] = self.budget.model_dump(mode="json", exclude_unset=True)
        return parse_plan(data, where=f"{self.name}, setting {setting}")

    def row(self, base: Plan) -> dict[str, Any]:
        """The JSON form, with the base campaign's own in the place of its name."""
        return {**self.model_dump(mode="json"), "order": list(self.settings), "campaign": base.row()}

    def hash(self, base: Plan) -> str:
        """SHA-256 of the JSON form."""
        return digest(self.row(base))


def parse_crossed_plan(data: Any, *, where: str) -> CrossedPlan:
    """Check an experiment's plan read from a file.

    Raises:
        PlanError: naming the place, the rule, and the near name of a misspelt key.
    """
    if not isinstance(data, Mapping):
        raise PlanError(f"{where}: an experiment's plan is one mapping; see holdgate experiment --schema")
    for path, key, near in _unknown_keys(data, CrossedPlan):
        place, hint = ".".join((*path, key)), f"did you mean {near!r}?" if near else "see holdgate experiment --schema"
        raise PlanError(f"{where}: unknown key {place!r}; {hint}")
    try:
        return CrossedPlan.model_validate(dict(data))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in issue['loc']) or 'plan'}: "
            f"{issue['msg'].removeprefix('Value error, ')}" + _got(issue.get("input"))
            for issue in error.errors()
        )
        raise PlanError(f"{where}: {problems}") from error
