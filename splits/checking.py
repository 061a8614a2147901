"""The check of a corpus: every defect with its place, also of a file that cannot be loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineage.errors import CorpusError
from splits.defects import Defect, RowFile, error_words
from splits.example_defects import (
    example_text_defects,
    identity_defects,
    near_duplicate_defects,
    shared_text_defects,
    twin_defects,
)
from splits.fact_defects import fact_defects
from splits.lenient import lenient_examples, lenient_facts
from splits.loaders import load_corpus
from splits.near_duplicates import THRESHOLD


@dataclass(frozen=True, slots=True)
class CheckedCorpus:
    """What a check found, in order of the lines, and how much it looked at.

    ``hash`` is the corpus hash, or None where the corpus cannot be loaded.
    """

    defects: tuple[Defect, ...]
    examples: int
    groups: int
    facts: int
    hash: str | None

    @property
    def errors(self) -> int:
        """Number of errors."""
        return sum(defect.severity == "error" for defect in self.defects)

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "examples": self.examples,
            "groups": self.groups,
            "facts": self.facts,
            "corpus_hash": self.hash,
            "errors": self.errors,
            "warnings": len(self.defects) - self.errors,
            "defects": [defect.row() for defect in self.defects],
        }


def check_corpus(path: Path, *, facts: Path | None = None, threshold: float | None = THRESHOLD) -> CheckedCorpus:
    """Look for every defect in a corpus and its facts.

    Args:
        path: a ``corpus.jsonl``.
        facts: its ``facts.jsonl``, if there is one.
        threshold: similarity from which texts of two groups are near-duplicates; None looks for none, which takes half
            of the time.

    Raises:
        CorpusError: a file does not exist.
        InputError: the threshold is outside (0, 1].
    """
    examples = RowFile(str(path), list(lenient_examples(path)))
    stated = RowFile(str(facts), list(lenient_facts(facts)) if facts is not None else [])
    found = [
        *examples.broken(),
        *identity_defects(examples),
        *twin_defects(examples),
        *example_text_defects(examples),
        *shared_text_defects(examples),
        *(() if threshold is None else near_duplicate_defects(examples, threshold=threshold)),
    ]
    if facts is not None:
        found += [*stated.broken(), *fact_defects(stated, examples)]
    known: str | None = None
    try:
        known = load_corpus(path, facts=facts).hash
    except CorpusError as error:
        if not any(defect.severity == "error" for defect in found):
            found.append(Defect("error", "format", error.file, error.line, error.field, None, error_words(error)))
    found.sort(key=lambda defect: (defect.file != examples.path, defect.line or 0))
    groups = len({example.group for example in examples.examples.values()})
    return CheckedCorpus(tuple(found), len(examples.rows), groups, len(stated.rows), known)
