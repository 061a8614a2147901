"""Controls of a plan: what a search is given on purpose so that it goes wrong, or has less to choose by."""

from __future__ import annotations

from pydantic import Field, model_validator

from optimize.model_plan import Section


class ControlsPlan(Section):
    """Controls, which show what a part of the protocol is for; a campaign with one confirms and emits nothing."""

    accept_is_reflect: bool = Field(
        False,
        description="Choose the winner on the reflect examples, which the reflector reads: the overfitting control.",
    )
    accept_groups: int | None = Field(
        None, ge=1, description="Only so many groups of accept; smaller sets lie within larger ones."
    )

    @model_validator(mode="after")
    def _one_control(self) -> ControlsPlan:
        if self.accept_is_reflect and self.accept_groups is not None:
            raise ValueError("accept_is_reflect leaves accept unread, so accept_groups has no effect; remove one")
        return self

    @property
    def reason(self) -> str | None:
        """Why a campaign with these controls confirms nothing, in words; None without any."""
        if self.accept_is_reflect:
            return (
                "CONTROL: the accept set is the reflect set, so the winner is chosen on what the reflector has read; "
                "this shows how far a search fits its own examples"
            )
        if self.accept_groups is not None:
            return f"CONTROL: only {self.accept_groups} groups of accept are used, to show what a small accept set does"
        return None
