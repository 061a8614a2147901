"""Named adapters: public corpora, each with its quirks, read into Holdgate's form."""

from splits.adapters.imported import NOT_RUN, Adapter, Imported, Notice
from splits.adapters.registry import ADAPTERS, find_adapter, import_corpus

__all__ = ["ADAPTERS", "NOT_RUN", "Adapter", "Imported", "Notice", "find_adapter", "import_corpus"]
