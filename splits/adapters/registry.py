"""The adapters by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from lineage.canonical import digest_bytes
from lineage.errors import CorpusError
from lineage.spelling import suggestion
from splits.adapters import aci_bench, llmbar, medec, mts_dialog, omissionbench, primock57, summedits
from splits.adapters.imported import Adapter, Imported, Notice
from splits.adapters.upstream import find_file

ADAPTERS: Final[Mapping[str, Adapter]] = {
    adapter.name: adapter
    for adapter in (
        omissionbench.ADAPTER,
        primock57.ADAPTER,
        aci_bench.ADAPTER,
        aci_bench.VARIANTS_ADAPTER,
        medec.ADAPTER,
        mts_dialog.ADAPTER,
        summedits.ADAPTER,
        llmbar.ADAPTER,
    )
}
"""Every adapter that comes with Holdgate."""


def find_adapter(name: str) -> Adapter:
    """The adapter of that name.

    Raises:
        CorpusError: there is none; suggests the near name.
    """
    if name not in ADAPTERS:
        raise CorpusError(f"there is no adapter {name!r}; {suggestion(name, ADAPTERS)}")
    return ADAPTERS[name]


def import_corpus(name: str, path: Path) -> Imported:
    """Read a public corpus through its adapter.

    Args:
        name: name of the adapter.
        path: the folder of the upstream files, or the first of them.

    Raises:
        CorpusError: there is no such adapter, or a file is missing, cut off or not what it should be; with its place.
    """
    adapter = find_adapter(name)
    imported = adapter.read(path)
    return replace(imported, notices=(*imported.notices, *_strangers(adapter, path)))


def _strangers(adapter: Adapter, path: Path) -> list[Notice]:
    """Files that are not those on which the adapter was checked; a file cut off between two records shows only here."""
    strangers = [
        name
        for place, (name, checked) in enumerate(adapter.files.items())
        if checked is not None and digest_bytes(find_file(path, name, beside=place > 0).read_bytes()) != checked
    ]
    what = "file that is not byte for byte the one that this adapter was checked on; compare the counts"
    return [Notice("noted", what, len(strangers), tuple(strangers))] if strangers else []
