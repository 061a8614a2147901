"""The part of a plan that says which study its settings were chosen by."""

from __future__ import annotations

from pydantic import Field

from optimize.model_plan import Section


class StudiedPlan(Section):
    """The study that chose the settings of a campaign on the same accept split, as its result states it."""

    study: str = Field(min_length=1, description="Name of the study.")
    trials: int = Field(ge=1, description="Trials that it began, those that were pruned or failed among them.")
    candidates: int = Field(ge=1, description="Prompts that it looked at on accept, over all trials.")
    result: str | None = Field(None, description="SHA-256 of its result, where that was written by holdgate sweep.")

    @property
    def words(self) -> str:
        """What a verdict says of it."""
        return (
            f"The settings of this campaign were themselves chosen on accept, by the study {self.study}: it looked at "
            f"{self.candidates} candidates in {self.trials} trials there, before this campaign looked at its own. "
            "Accept is optimistic by all of them; the gate's correction counts held-out comparisons alone."
        )
