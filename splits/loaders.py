"""Reading and writing ``corpus.jsonl`` and ``facts.jsonl``, with every violation named by file, line and field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, Final

from lineage.canonical import canonical_json, write_atomic
from lineage.errors import CorpusError
from splits.corpus import (
    KINDS,
    LABELS,
    SEVERITIES,
    STRENGTHS,
    TRACES,
    Corpus,
    Example,
    Fact,
    Residual,
    example_row,
    fact_row,
)

_EXAMPLE_FIELDS: Final = frozenset(field.name for field in fields(Example))
_REQUIRED: Final = ("id", "group", "stratum", "source", "document", "label")
_FACT_FIELDS: Final = frozenset(field.name for field in fields(Fact))
_RESIDUAL_FIELDS: Final = frozenset(field.name for field in fields(Residual))


def load_corpus(corpus: Path, *, facts: Path | None = None) -> Corpus:
    """Read a corpus and, if there is one, its facts file.

    Raises:
        CorpusError: naming file, line and field of the first violation, with the rule and the remedy.
    """
    examples: list[Example] = []
    lines: dict[str, int] = {}
    for number, row in _rows(corpus, "corpus"):
        example = _example(row, str(corpus), number)
        if example.id in lines:
            raise CorpusError(
                f"id {example.id!r} also stands on line {lines[example.id]}; ids must be unique",
                file=str(corpus),
                line=number,
                field="id",
            )
        lines[example.id] = number
        examples.append(example)
    if not examples:
        raise CorpusError("holds no example; a corpus needs at least one", file=str(corpus))
    _check_groups(examples, lines, str(corpus))
    groups = {example.group for example in examples}
    return Corpus(tuple(examples), _load_facts(facts, groups) if facts is not None else {})


def save_corpus(corpus: Corpus, directory: Path) -> tuple[Path, Path]:
    """Write ``corpus.jsonl`` and ``facts.jsonl`` (atomically; equal corpora give equal bytes)."""
    examples, facts = directory / "corpus.jsonl", directory / "facts.jsonl"
    write_atomic(examples, "".join(canonical_json(example_row(example)) + "\n" for example in corpus.examples))
    rows = [fact_row(fact) for group in sorted(corpus.facts) for fact in corpus.facts[group]]
    write_atomic(facts, "".join(canonical_json(row) + "\n" for row in rows))
    return examples, facts


def _rows(path: Path, what: str) -> Iterator[tuple[int, dict[str, Any]]]:
    if not path.is_file():
        raise CorpusError(f"there is no such {what} file; give the path of a JSONL file", file=str(path))
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        fail = partial(CorpusError, file=str(path), line=number)
        try:
            row = json.loads(line.decode("utf-8"), object_pairs_hook=partial(_object, fail))
        except UnicodeDecodeError as error:
            raise fail(f"is not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8") from error
        except json.JSONDecodeError as error:
            raise fail(f"is not JSON ({error.msg}, column {error.colno})") from error
        if not isinstance(row, dict):
            raise fail("must be one JSON object")
        for field, value in row.items():
            try:
                json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
            except ValueError as error:  # NaN, an infinity or half a surrogate pair, which json.loads lets through
                raise fail(f"holds what JSON or UTF-8 cannot: {error}", field=field) from error
        yield number, row


def _object(fail: partial[CorpusError], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose names differ; plain ``json`` silently keeps the last of two."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise fail("stands twice in one object; keep one", field=name)
        found[name] = value
    return found


def _example(row: Mapping[str, Any], file: str, line: int) -> Example:
    def fail(field: str, message: str) -> CorpusError:
        return CorpusError(message, file=file, line=line, field=field)

    if unknown := sorted(set(row) - _EXAMPLE_FIELDS):
        known = ", ".join(sorted(_EXAMPLE_FIELDS))
        raise fail(unknown[0], f"is not a field of an example ({known}); use meta for more")
    for field in _REQUIRED:
        if not isinstance(row.get(field), str) or (not row[field].strip() and field != "source"):
            raise fail(field, "must be a non-empty text")
    if "/" in row["id"]:
        raise fail("id", f"{row['id']!r} holds a slash, which example ids must not; use a dot or a dash")
    label = row["label"]
    if label not in LABELS:
        raise fail("label", f"{label!r} is not one of {', '.join(LABELS)}")
    kind = KINDS[label][0] if row.get("kind") is None else row["kind"]
    if kind not in KINDS[label]:
        raise fail("kind", f"{kind!r} is not a kind of {label} ({', '.join(KINDS[label])})")
    for field, allowed in (("severity", SEVERITIES), ("trace", TRACES)):
        if row.get(field) is not None and row[field] not in allowed:
            raise fail(field, f"{row[field]!r} is not one of {', '.join(allowed)}, or null")
    if row.get("trace") is not None and label != "omission":
        raise fail("trace", f"only an omission has a trace, this example is {label}")
    if label == "clean" and row.get("twin") is not None:
        raise fail("twin", "a clean example has no twin")
    for field in ("twin", "fact", "cohort"):
        if row.get(field) is not None and not isinstance(row[field], str):
            raise fail(field, "must be a text or null")
    meta = {} if row.get("meta") is None else row["meta"]
    if not isinstance(meta, dict):
        raise fail("meta", "must be an object")
    return Example(
        id=row["id"],
        group=row["group"],
        stratum=row["stratum"],
        source=row["source"],
        document=row["document"],
        label=label,
        kind=kind,
        severity=row.get("severity"),
        trace=row.get("trace"),
        twin=row.get("twin"),
        fact=row.get("fact"),
        residual=_residual(row, fail),
        cohort=row.get("cohort"),
        meta=meta,
    )


def _residual(row: Mapping[str, Any], fail: Any) -> tuple[Residual, ...]:
    mentions = [] if row.get("residual") is None else row["residual"]
    if not isinstance(mentions, list) or not all(
        isinstance(item, dict)
        and set(item) == _RESIDUAL_FIELDS
        and type(item["offset"]) is int
        and isinstance(item["heading"], str)
        for item in mentions
    ):
        raise fail("residual", "must be a list of {offset, heading, strength}: a whole number and two texts")
    found = tuple(Residual(item["offset"], item["heading"], item["strength"]) for item in mentions)
    for mention in found:
        if mention.strength not in STRENGTHS:
            raise fail("residual", f"strength {mention.strength!r} is not one of {', '.join(STRENGTHS)}")
        if not 0 <= mention.offset < len(row["document"]):
            raise fail("residual", f"offset {mention.offset} lies outside the document")
    return found


def _check_groups(examples: list[Example], lines: Mapping[str, int], file: str) -> None:
    """A group lies in one stratum and holds the twins of its flawed examples."""
    by_id = {example.id: example for example in examples}
    strata: dict[str, str] = {}
    for example in examples:
        if (stratum := strata.setdefault(example.group, example.stratum)) != example.stratum:
            raise CorpusError(
                f"group {example.group!r} is in stratum {stratum!r} above, here in {example.stratum!r}; "
                "a group lies in one stratum",
                file=file,
                line=lines[example.id],
                field="stratum",
            )
        if example.twin is None:
            continue
        twin = by_id.get(example.twin)
        if twin is None:
            problem = f"twin {example.twin!r} is not in the corpus"
        elif twin.label != "clean":
            problem = f"twin {example.twin!r} is {twin.label}; a twin is a clean example"
        elif twin.group != example.group:
            problem = f"twin {example.twin!r} is in group {twin.group!r}, this example in {example.group!r}"
        else:
            continue
        raise CorpusError(problem, file=file, line=lines[example.id], field="twin")


def _load_facts(path: Path, groups: set[str]) -> dict[str, tuple[Fact, ...]]:
    found: dict[str, list[Fact]] = {}
    for number, row in _rows(path, "facts"):
        fail = partial(CorpusError, file=str(path), line=number)
        if set(row) != _FACT_FIELDS:
            wrong = sorted(set(row) ^ _FACT_FIELDS)
            raise fail(f"a fact has exactly the fields {sorted(_FACT_FIELDS)}", field=wrong[0])
        for field in ("id", "group", "fact"):
            if not isinstance(row[field], str) or not row[field].strip():
                raise fail("must be a non-empty text", field=field)
        if row["group"] not in groups:
            raise fail(f"group {row['group']!r} has no example in the corpus", field="group")
        if row["severity"] not in SEVERITIES:
            raise fail(f"{row['severity']!r} is not one of {', '.join(SEVERITIES)}", field="severity")
        if not isinstance(row["core"], bool):
            raise fail("must be true or false", field="core")
        evidence = row["evidence"]
        if not isinstance(evidence, list) or not all(isinstance(quote, str) for quote in evidence):
            raise fail("must be a list of texts", field="evidence")
        facts = found.setdefault(row["group"], [])
        if any(fact.id == row["id"] for fact in facts):
            raise fail(f"fact {row['id']!r} occurs twice in group {row['group']!r}", field="id")
        facts.append(Fact(row["id"], row["group"], row["fact"], tuple(evidence), row["severity"], row["core"]))
    return {group: tuple(facts) for group, facts in found.items()}
