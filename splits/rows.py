"""Examples and facts from rows, whatever file or table they come from, with every broken rule named by its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, Final, NamedTuple

from lineage.spelling import suggestion
from splits.corpus import KINDS, LABELS, SEVERITIES, STRENGTHS, TRACES, Example, Fact, Residual
from splits.json_lines import Refuse

EXAMPLE_FIELDS: Final = tuple(field.name for field in fields(Example))
"""Fields of an example, in the order in which they are documented."""

REQUIRED: Final = ("id", "group", "stratum", "source", "document", "label")
"""Fields that every example has; the others may be left out or null."""

_KNOWN: Final = frozenset(EXAMPLE_FIELDS)
_FACT_FIELDS: Final = frozenset(field.name for field in fields(Fact))
_RESIDUAL_FIELDS: Final = frozenset(field.name for field in fields(Residual))


class Row(NamedTuple):
    """One row of a file or a table: its values by field, how its place is called, and how it is refused."""

    values: Mapping[str, Any]
    place: str
    refuse: Refuse


def read_examples(rows: Iterable[Row]) -> tuple[Example, ...]:
    """Examples in order of their rows; ids are unique, each group lies in one stratum and holds its twins.

    Raises:
        CorpusError: naming the place of the first violation, with the rule and the remedy.
    """
    examples: list[Example] = []
    places: dict[str, tuple[str, Refuse]] = {}
    shared: dict[str, str] = {}
    for row in rows:
        example = read_example(row.values, row.refuse, shared)
        if example.id in places:
            message = f"id {example.id!r} also stands on {places[example.id][0]}; ids must be unique"
            raise row.refuse(message, field="id")
        places[example.id] = row.place, row.refuse
        examples.append(example)
    _check_groups(examples, places)
    return tuple(examples)


def read_example(row: Mapping[str, Any], refuse: Refuse, shared: dict[str, str] | None = None) -> Example:
    """One example.

    Args:
        row: values by field.
        refuse: makes the error for this row's place.
        shared: texts met before. Sources repeat within a group, and each is held once.

    Raises:
        CorpusError: naming place, field and rule.
    """
    if not row.keys() <= _KNOWN:
        first = min(set(row) - _KNOWN)
        hint = suggestion(first, EXAMPLE_FIELDS)
        raise refuse(f"is not a field of an example: rename it ({hint}), or put it into meta", field=first)
    for field in REQUIRED:
        value = row.get(field)
        if not isinstance(value, str) or (field != "source" and (not value or value.isspace())):
            raise refuse("must be a non-empty text" if field != "source" else "must be a text", field=field)
    if "/" in row["id"]:
        raise refuse(f"{row['id']!r} holds a slash, which example ids must not; use a dot or a dash", field="id")
    label = row["label"]
    if label not in LABELS:
        raise refuse(f"{label!r} is not one of {', '.join(LABELS)}", field="label")
    kind = KINDS[label][0] if row.get("kind") is None else row["kind"]
    if kind not in KINDS[label]:
        raise refuse(f"{kind!r} is not a kind of {label} ({', '.join(KINDS[label])})", field="kind")
    for field, allowed in (("severity", SEVERITIES), ("trace", TRACES)):
        if row.get(field) is not None and row[field] not in allowed:
            raise refuse(f"{row[field]!r} is not one of {', '.join(allowed)}, or null", field=field)
    if row.get("trace") is not None and label != "omission":
        raise refuse(f"only an omission has a trace, this example is {label}", field="trace")
    if label == "clean" and row.get("twin") is not None:
        raise refuse("a clean example has no twin", field="twin")
    for field in ("twin", "fact", "cohort"):
        if row.get(field) is not None and not isinstance(row[field], str):
            raise refuse("must be a text or null", field=field)
    meta = {} if row.get("meta") is None else row["meta"]
    if not isinstance(meta, dict):
        raise refuse("must be an object", field="meta")
    kept = {} if shared is None else shared
    return Example(
        id=row["id"],
        group=kept.setdefault(row["group"], row["group"]),
        stratum=kept.setdefault(row["stratum"], row["stratum"]),
        source=kept.setdefault(row["source"], row["source"]),
        document=row["document"],
        label=label,
        kind=kind,
        severity=row.get("severity"),
        trace=row.get("trace"),
        twin=row.get("twin"),
        fact=row.get("fact"),
        residual=_residual(row, refuse),
        cohort=row.get("cohort"),
        meta=meta,
    )


def read_facts(rows: Iterable[Row], groups: Iterable[str]) -> dict[str, tuple[Fact, ...]]:
    """Facts of each group in order of their rows.

    Args:
        rows: one fact each.
        groups: groups of the corpus; a fact belongs to one of them.

    Raises:
        CorpusError: naming place, field and rule.
    """
    known = frozenset(groups)
    found: dict[str, dict[str, Fact]] = {}
    for row in rows:
        fact = _fact(row.values, row.refuse)
        if fact.group not in known:
            raise row.refuse(f"group {fact.group!r} has no example in the corpus", field="group")
        facts = found.setdefault(fact.group, {})
        if fact.id in facts:
            raise row.refuse(f"fact {fact.id!r} occurs twice in group {fact.group!r}", field="id")
        facts[fact.id] = fact
    return {group: tuple(facts.values()) for group, facts in found.items()}


def _fact(row: Mapping[str, Any], refuse: Refuse) -> Fact:
    if row.keys() != _FACT_FIELDS:
        wrong = sorted(set(row) ^ _FACT_FIELDS)
        raise refuse(f"a fact has exactly the fields {sorted(_FACT_FIELDS)}", field=wrong[0])
    for field in ("id", "group", "fact"):
        if not isinstance(row[field], str) or not row[field].strip():
            raise refuse("must be a non-empty text", field=field)
    if row["severity"] not in SEVERITIES:
        raise refuse(f"{row['severity']!r} is not one of {', '.join(SEVERITIES)}", field="severity")
    if not isinstance(row["core"], bool):
        raise refuse("must be true or false", field="core")
    evidence = row["evidence"]
    if not isinstance(evidence, list) or not all(isinstance(quote, str) for quote in evidence):
        raise refuse("must be a list of texts", field="evidence")
    return Fact(row["id"], row["group"], row["fact"], tuple(evidence), row["severity"], row["core"])


def _residual(row: Mapping[str, Any], refuse: Refuse) -> tuple[Residual, ...]:
    mentions = row.get("residual")
    if mentions is None:
        return ()
    if not isinstance(mentions, list) or not all(
        isinstance(item, dict)
        and set(item) == _RESIDUAL_FIELDS
        and type(item["offset"]) is int
        and isinstance(item["heading"], str)
        for item in mentions
    ):
        raise refuse("must be a list of {offset, heading, strength}: a whole number and two texts", field="residual")
    found = tuple(Residual(item["offset"], item["heading"], item["strength"]) for item in mentions)
    for mention in found:
        if mention.strength not in STRENGTHS:
            raise refuse(f"strength {mention.strength!r} is not one of {', '.join(STRENGTHS)}", field="residual")
        if not 0 <= mention.offset < len(row["document"]):
            raise refuse(f"offset {mention.offset} lies outside the document", field="residual")
    return found


def _check_groups(examples: list[Example], places: Mapping[str, tuple[str, Refuse]]) -> None:
    """A group lies in one stratum and holds the twins of its flawed examples."""
    by_id = {example.id: example for example in examples}
    strata: dict[str, str] = {}
    for example in examples:
        if (stratum := strata.setdefault(example.group, example.stratum)) != example.stratum:
            raise places[example.id][1](
                f"group {example.group!r} is in stratum {stratum!r} above, here in {example.stratum!r}; "
                "a group lies in one stratum",
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
        raise places[example.id][1](problem, field="twin")
