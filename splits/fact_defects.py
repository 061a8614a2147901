"""Defects of facts beside the format of a row: ids, groups, texts, and evidence that is not in the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from splits.defects import Defect, RowFile, Severity
from splits.shingles import words_of
from splits.text_defects import text_defects


def fact_defects(file: RowFile, examples: RowFile) -> Iterator[Defect]:
    """Facts belong to a group, their evidence stands in its source, and every flaw concerns one of them."""
    sources: dict[str, dict[str, None]] = {}
    for example in examples.examples.values():
        sources.setdefault(example.group, {})[example.source] = None
    first: dict[tuple[str, str], int] = {}
    strangers = Counter(row.fact.group for row in file.rows if row.fact is not None and "group" not in row.guessed)
    told: set[str] = set()
    quoting = any(row.fact is not None and row.fact.evidence for row in file.rows)
    if file.rows and not quoting:
        words = f"none of the {len(file.rows)} facts quotes evidence from its source; quote what states each"
        yield Defect("warning", "no evidence", file.path, None, "evidence", None, words)
    for row in file.rows:
        if row.fact is None:
            continue
        group, key = row.fact.group, row.fact.id
        if (above := first.setdefault((group, key), row.line)) != row.line:
            words = f"fact {key!r} of group {group!r} also stands on line {above}; ids are unique within a group"
            yield file.defect("error", "duplicate id", row.line, "id", words)
        if group not in sources and "group" not in row.guessed and group not in told:
            told.add(group)
            words = f"group {group!r} has no example in the corpus, and {strangers[group]} fact(s) here"
            yield file.defect("error", "unknown group", row.line, "group", words)
        for found in text_defects(row.fact.fact):
            yield file.defect("warning", found.kind, row.line, "fact", found.words)
        if quoting and "evidence" not in row.guessed and group in sources:
            yield from _evidence(file, row.line, row.fact.evidence, list(sources[group]))
    yield from _unknown(examples, first, file.path)


def _evidence(file: RowFile, line: int, quotes: Sequence[str], sources: Sequence[str]) -> Iterator[Defect]:
    if not quotes:
        words = "nothing is quoted from the source as evidence; quote what states the fact"
        yield file.defect("warning", "no evidence", line, "evidence", words)
    for quote in quotes:
        severity = _distance(quote, sources)
        if severity is not None:
            how = "does not stand" if severity == "error" else "stands only with other case, spaces or punctuation"
            yield file.defect(severity, "no evidence", line, "evidence", f"{quote!r} {how} in the group's source")


def _distance(quote: str, sources: Sequence[str]) -> Severity | None:
    """How bad it is that a quotation does not stand in any source; None where it does."""
    if any(quote in source for source in sources) and quote.strip():
        return None
    said = words_of(quote)
    loosely = any(f" {' '.join(said)} " in f" {' '.join(words_of(source))} " for source in sources)
    return "warning" if said and loosely else "error"


def _unknown(examples: RowFile, facts: Mapping[tuple[str, str], int], path: str) -> Iterator[Defect]:
    for line, example in examples.examples.items():
        if example.fact is not None and (example.group, example.fact) not in facts:
            words = f"{example.fact!r} is no fact of group {example.group!r} in {path}"
            yield examples.defect("error", "unknown fact", line, "fact", words)
