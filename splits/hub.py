"""Corpora from Hugging Face datasets, where the optional extra ``huggingface`` is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineage.errors import CorpusError
from splits.columns import Columns
from splits.corpus import Corpus
from splits.tables import Table, numbered, table_corpus


@dataclass(frozen=True, slots=True)
class HubDataset:
    """A Hugging Face dataset.

    Attributes:
        name: its name on the hub, or a directory that ``save_to_disk`` wrote.
        split: the upstream split whose rows become the corpus; a directory may hold one alone.
        subset: the configuration, where it has several.
        revision: commit or tag on the hub, so that the same rows are read tomorrow.
    """

    name: str
    split: str | None = None
    subset: str | None = None
    revision: str | None = None


def load_hub_dataset(dataset: HubDataset, *, columns: Columns | None = None, facts: Path | None = None) -> Corpus:
    """Make a corpus of a dataset, each row an example.

    Args:
        dataset: which one.
        columns: how columns become fields; by default each field takes the column of its name.
        facts: the ``facts.jsonl`` that goes with it.

    Raises:
        CorpusError: the extra is not installed, there is no such dataset or split, or a row breaks a rule.
    """
    found = _loaded(dataset)
    if isinstance(found, Mapping):  # by split
        if dataset.split not in found:
            given = "no split is named" if dataset.split is None else f"there is no split {dataset.split!r}"
            raise CorpusError(f"{given}; name one of {', '.join(map(str, found))}", file=dataset.name)
        found = found[dataset.split]
    table = Table([str(name) for name in found.column_names], numbered(found, dataset.name))
    return table_corpus(table, dataset.name, columns=columns, facts=facts)


def _loaded(dataset: HubDataset) -> Any:
    try:
        import datasets
    except ImportError as error:
        remedy = "install it (pip install 'holdgate[huggingface]'), or give the table as a file"
        raise CorpusError(f"Hugging Face datasets are an optional extra; {remedy}", file=dataset.name) from error
    local = Path(dataset.name).is_dir()
    if local and (dataset.subset or dataset.revision):
        raise CorpusError("a directory has no subset and no revision; leave them out", file=dataset.name)
    try:
        if local:
            return datasets.load_from_disk(dataset.name)
        return datasets.load_dataset(dataset.name, dataset.subset, revision=dataset.revision)
    except (OSError, ValueError) as error:  # the library's errors, and those of the hub, are one or the other
        raise CorpusError(f"cannot be read as a Hugging Face dataset: {error}", file=dataset.name) from error
