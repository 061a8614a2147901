"""Splits: corpora, the grouped partition and its lock, and the seal before the held-out examples."""

from splits.bundled import bundled_directory, load_bundled
from splits.contamination import NgramIndex
from splits.corpus import Corpus, Example, Fact, Residual
from splits.loaders import load_corpus, save_corpus
from splits.lock import SplitLock, commit_lock, load_lock, plan_lock, split_examples
from splits.partition import SPLITS, Selection
from splits.register import Comparison
from splits.seal import Seal

__all__ = [
    "SPLITS",
    "Comparison",
    "Corpus",
    "Example",
    "Fact",
    "NgramIndex",
    "Residual",
    "Seal",
    "Selection",
    "SplitLock",
    "bundled_directory",
    "commit_lock",
    "load_bundled",
    "load_corpus",
    "load_lock",
    "plan_lock",
    "save_corpus",
    "split_examples",
]
