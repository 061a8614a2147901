"""Reading and writing ``corpus.jsonl`` and ``facts.jsonl``, with every violation named by file, line and field."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from lineage.canonical import canonical_json, write_atomic
from lineage.errors import CorpusError
from splits.corpus import Corpus, Fact, example_row, fact_row
from splits.json_lines import read_json_lines
from splits.rows import Row, read_examples, read_facts


def load_corpus(corpus: Path, *, facts: Path | None = None) -> Corpus:
    """Read a corpus and, if there is one, its facts file.

    Raises:
        CorpusError: naming file, line and field of the first violation, with the rule and the remedy.
    """
    examples = read_examples(_rows(corpus, "corpus"))
    if not examples:
        raise CorpusError("holds no example; a corpus needs at least one", file=str(corpus))
    return Corpus(examples, {} if facts is None else load_facts(facts, {example.group for example in examples}))


def load_facts(path: Path, groups: set[str]) -> dict[str, tuple[Fact, ...]]:
    """Read the facts of the given groups.

    Raises:
        CorpusError: naming file, line and field of the first violation.
    """
    return read_facts(_rows(path, "facts"), groups)


def save_corpus(corpus: Corpus, directory: Path) -> tuple[Path, Path]:
    """Write ``corpus.jsonl`` and ``facts.jsonl`` (atomically; equal corpora give equal bytes)."""
    examples, facts = directory / "corpus.jsonl", directory / "facts.jsonl"
    write_atomic(examples, "".join(canonical_json(example_row(example)) + "\n" for example in corpus.examples))
    rows = [fact_row(fact) for group in sorted(corpus.facts) for fact in corpus.facts[group]]
    write_atomic(facts, "".join(canonical_json(row) + "\n" for row in rows))
    return examples, facts


def _rows(path: Path, what: str) -> Iterator[Row]:
    for number, values in read_json_lines(path, what):
        yield Row(values, f"line {number}", partial(CorpusError, file=str(path), line=number))
