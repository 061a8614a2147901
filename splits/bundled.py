"""Corpora that come with Holdgate."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lineage.errors import CorpusError
from lineage.spelling import suggestion
from splits.corpus import Corpus
from splits.loaders import load_corpus

CORPORA: Final = Path(__file__).parent / "corpora"
"""Directory of the bundled corpora."""


def bundled_directory(name: str) -> Path:
    """Directory of a bundled corpus.

    Raises:
        CorpusError: there is none of that name.
    """
    names = sorted(path.name for path in CORPORA.iterdir() if (path / "sources").is_dir())
    if name not in names:
        raise CorpusError(f"no bundled corpus {name!r}; {suggestion(name, names)}")
    return CORPORA / name


def load_bundled(name: str) -> Corpus:
    """A bundled corpus with its facts."""
    directory = bundled_directory(name)
    return load_corpus(directory / "corpus.jsonl", facts=directory / "facts.jsonl")
