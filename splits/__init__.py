"""Splits: corpora, the grouped partition and its lock, and the seal before the held-out examples."""

from splits.adapters import Imported, import_corpus
from splits.blindness import SourceOnly, check_blind, source_views
from splits.bundled import bundled_directory, load_bundled
from splits.columns import Columns
from splits.contamination import NgramIndex
from splits.corpus import Corpus, Example, Fact, Residual
from splits.draft import plan_lock
from splits.exclusions import Exclusion, read_exclusion
from splits.hub import HubDataset, load_hub_dataset
from splits.loaders import load_corpus, save_corpus
from splits.lock import SplitLock, split_examples
from splits.lock_file import commit_lock, load_lock
from splits.near_duplicates import near_duplicate_groups
from splits.partition import SPLITS
from splits.register import Comparison
from splits.seal import Seal
from splits.selection import Selection
from splits.tables import corpus_from_frame, load_table
from splits.unions import Union

__all__ = [
    "SPLITS",
    "Columns",
    "Comparison",
    "Corpus",
    "Example",
    "Exclusion",
    "Fact",
    "HubDataset",
    "Imported",
    "NgramIndex",
    "Residual",
    "Seal",
    "Selection",
    "SourceOnly",
    "SplitLock",
    "Union",
    "bundled_directory",
    "check_blind",
    "commit_lock",
    "corpus_from_frame",
    "import_corpus",
    "load_bundled",
    "load_corpus",
    "load_hub_dataset",
    "load_lock",
    "load_table",
    "near_duplicate_groups",
    "plan_lock",
    "read_exclusion",
    "save_corpus",
    "source_views",
    "split_examples",
]
