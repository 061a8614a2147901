"""The part of a plan that names the corpus."""

from __future__ import annotations

from pydantic import Field, model_validator

from optimize.model_plan import Section


class CorpusPlan(Section):
    """Which corpus: one that comes with Holdgate, or files of the user's."""

    bundled: str | None = Field(None, description="Name of a bundled corpus, such as consults.")
    path: str | None = Field(None, description="Path of a corpus.jsonl, from the plan's directory.")
    facts: str | None = Field(None, description="Path of its facts.jsonl; needed by per-fact students.")

    @model_validator(mode="after")
    def _one_source(self) -> CorpusPlan:
        if (self.bundled is None) == (self.path is None) or (self.bundled and self.facts):
            raise ValueError("give either bundled, or path and perhaps facts")
        return self
