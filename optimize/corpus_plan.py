"""The part of a plan that names the corpus."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, model_validator

from optimize.model_plan import Section

SOURCES: Final = ("bundled", "path", "adapter", "table", "huggingface")
"""Keys of a corpus of which exactly one is given; an adapter reads the folder that ``path`` names."""

_OF_TABLES: Final = ("columns", "values", "labels", "meta")


class HubPlan(Section):
    """A Hugging Face dataset; needs the optional extra huggingface."""

    name: str = Field(
        description="Its name on the hub, or a directory that save_to_disk wrote, from the plan's directory."
    )
    split: str | None = Field(None, description="Upstream split whose rows become the corpus.")
    subset: str | None = Field(None, description="Configuration, where the dataset has several.")
    revision: str | None = Field(None, description="Commit or tag, so that the same rows are read tomorrow.")


class CorpusPlan(Section):
    """Which corpus: one that comes with Holdgate, files in its form, a public corpus, a table, or a hub dataset."""

    bundled: str | None = Field(None, description="Name of a bundled corpus, such as consults.")
    path: str | None = Field(
        None, description="Path of a corpus.jsonl, or of the folder that an adapter reads, from the plan's directory."
    )
    facts: str | None = Field(None, description="Path of its facts.jsonl; needed by per-fact students.")
    adapter: str | None = Field(None, description="Name of the adapter that reads path (see holdgate corpus import).")
    table: str | None = Field(None, description="Path of a CSV, JSONL or Parquet file, each row an example.")
    format: Literal["csv", "jsonl", "parquet"] | None = Field(
        None, description="Format of the table; null: what its name ends in."
    )
    huggingface: HubPlan | None = None
    columns: dict[str, str] = Field(
        default_factory=dict, description="Column of each field of an example; a field left out takes that of its name."
    )
    values: dict[str, str] = Field(default_factory=dict, description="Fields with one value for all rows.")
    labels: dict[str | int | bool, str] = Field(
        default_factory=dict, description="Label (clean, omission, commission) of each value of the label's column."
    )
    meta: list[str] | Literal["all"] = Field(
        default_factory=list, description="Columns to keep in meta: a list, or all that fill no field."
    )

    @model_validator(mode="after")
    def _one_source(self) -> CorpusPlan:
        given = [name for name in SOURCES if getattr(self, name) is not None]
        if self.adapter is not None and self.path is not None:
            given.remove("path")
        if len(given) != 1:
            raise ValueError(f"give one of {', '.join(SOURCES)}, got {' and '.join(given) or 'none'}")
        (source,) = given
        if source == "adapter" and self.path is None:
            raise ValueError("an adapter needs path: the folder that it reads")
        if self.facts is not None and source in ("adapter", "bundled"):
            raise ValueError(f"facts has no effect with {source}, which brings its own; remove it")
        if self.format is not None and source != "table":
            raise ValueError(f"format has no effect with {source}; remove it")
        idle = [name for name in _OF_TABLES if getattr(self, name)]
        if idle and source not in ("table", "huggingface"):
            raise ValueError(f"{idle[0]} has no effect with {source}; remove it, or give a table")
        return self
