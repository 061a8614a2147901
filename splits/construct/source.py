"""Consultation sources: one YAML file a group, from which all of its examples are constructed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from lineage.errors import CorpusError
from splits.construct.sites import Site, is_heading, parse_note

SEVERITIES: Final = ("critical", "supporting", "peripheral")
_GROUP = re.compile(r"[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class FactSource:
    """An atomic fact of the source, with verbatim evidence and a severity by the corpus's rubric."""

    id: str
    fact: str
    severity: str
    core: bool
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Addition:
    """A statement that the source does not support, to be put at the end of a section."""

    heading: str
    text: str
    severity: str


@dataclass(frozen=True, slots=True)
class Change:
    """A contiguous alteration inside the only site of a fact: ``old`` becomes ``new``."""

    fact: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class ConsultationSource:
    """Everything that one group's examples are made of."""

    group: str
    stratum: str
    title: str
    transcript: str
    facts: tuple[FactSource, ...]
    note: str
    sites: tuple[Site, ...]
    additions: tuple[Addition, ...]
    changes: tuple[Change, ...]

    def sites_of(self, fact: str) -> tuple[Site, ...]:
        """The sites of one fact, in order of their offsets."""
        return tuple(site for site in self.sites if site.fact == fact)


def read_source(path: Path) -> ConsultationSource:
    """Read and check one consultation file.

    Raises:
        CorpusError: naming the file, the field and the rule.
    """
    file = str(path)
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CorpusError(f"is not a readable YAML file: {error}", file=file) from error
    if not isinstance(data, dict):
        raise CorpusError("must hold one mapping with the keys of a consultation", file=file)
    keys = {"group", "stratum", "title", "transcript", "facts", "note", "additions", "changes"}
    if wrong := set(data) ^ keys:
        differs = sorted(str(key) for key in wrong)
        raise CorpusError(f"keys must be exactly {sorted(keys)}; differs in {differs}", file=file, field=differs[0])
    group = _text(data, "group", file)
    if not _GROUP.fullmatch(group) or group != path.stem:
        raise CorpusError(f"must be lower case and equal the file's name {path.stem!r}", file=file, field="group")
    transcript = _text(data, "transcript", file)
    facts = tuple(_fact(item, transcript, file, index) for index, item in enumerate(_list(data, "facts", file)))
    if len({fact.id for fact in facts}) != len(facts):
        raise CorpusError("fact ids must be unique within a consultation", file=file, field="facts")
    note, sites = parse_note(_text(data, "note", file), file=file)
    source = ConsultationSource(
        group=group,
        stratum=_text(data, "stratum", file),
        title=_text(data, "title", file),
        transcript=transcript,
        facts=facts,
        note=note,
        sites=sites,
        additions=tuple(
            Addition(_text(item, "heading", file), _text(item, "text", file), _severity(item, file))
            for item in _mappings(data, "additions", {"heading", "text", "severity"}, file)
        ),
        changes=tuple(
            Change(_text(item, "fact", file), _text(item, "from", file), _text(item, "to", file))
            for item in _mappings(data, "changes", {"fact", "from", "to"}, file)
        ),
    )
    _check(source, file)
    return source


def read_sources(directory: Path) -> tuple[ConsultationSource, ...]:
    """All consultations of a directory of ``*.yaml`` files, in order of their groups."""
    paths = sorted(directory.glob("*.yaml"))
    if not paths:
        raise CorpusError("holds no consultation (*.yaml); name a directory of sources", file=str(directory))
    return tuple(read_source(path) for path in paths)


def _fact(item: Any, transcript: str, file: str, index: int) -> FactSource:
    where = f"facts[{index}]"
    if not isinstance(item, dict) or set(item) != {"id", "fact", "severity", "core", "evidence"}:
        raise CorpusError("needs exactly id, fact, severity, core, evidence", file=file, field=where)
    if not isinstance(item["core"], bool) or not isinstance(item["evidence"], list) or not item["evidence"]:
        raise CorpusError("core is true or false, evidence a non-empty list", file=file, field=where)
    for quote in item["evidence"]:
        if not isinstance(quote, str) or not quote.strip() or quote not in transcript:
            raise CorpusError(f"evidence {quote!r} is not verbatim in the transcript", file=file, field=where)
    return FactSource(
        id=_text(item, "id", file),
        fact=_text(item, "fact", file),
        severity=_severity(item, file),
        core=item["core"],
        evidence=tuple(item["evidence"]),
    )


def _list(data: dict[str, Any], key: str, file: str) -> list[Any]:
    items = data[key]
    if not isinstance(items, list):
        raise CorpusError("must be a list; write [] for none", file=file, field=key)
    return items


def _mappings(data: dict[str, Any], key: str, names: set[str], file: str) -> list[dict[str, Any]]:
    items = _list(data, key, file)
    for index, item in enumerate(items):
        if not isinstance(item, dict) or set(item) != names:
            raise CorpusError(f"needs exactly {', '.join(sorted(names))}", file=file, field=f"{key}[{index}]")
    return items


def _text(item: dict[str, Any], key: str, file: str) -> str:
    value = item.get(key)
    if not isinstance(value, str) or not value.strip():
        raise CorpusError("must be a non-empty text", file=file, field=key)
    return value.strip("\n")


def _severity(item: dict[str, Any], file: str) -> str:
    severity = _text(item, "severity", file)
    if severity not in SEVERITIES:
        raise CorpusError(f"{severity!r} is not one of {', '.join(SEVERITIES)}", file=file, field="severity")
    return severity


def _check(source: ConsultationSource, file: str) -> None:
    """Rules that join several fields."""
    ids = {fact.id for fact in source.facts}
    for site in source.sites:
        if site.fact not in ids:
            raise CorpusError(f"a site names the unknown fact {site.fact!r}", file=file, field="note")
    for fact in source.facts:
        if not any(site.strength == "explicit" for site in source.sites_of(fact.id)):
            raise CorpusError(f"fact {fact.id} has no explicit site in the note", file=file, field="note")
    headings = {line for line in source.note.split("\n") if is_heading(line)}
    for addition in source.additions:
        if addition.heading not in headings:
            raise CorpusError(
                f"heading {addition.heading!r} is not in the note ({sorted(headings)})", file=file, field="additions"
            )
    if len({change.fact for change in source.changes}) != len(source.changes):
        raise CorpusError("a fact is changed twice; give at most one change of each", file=file, field="changes")
    for change in source.changes:
        sites = source.sites_of(change.fact)
        if len(sites) != 1 or sites[0].text.count(change.old) != 1:
            raise CorpusError(
                f"{change.old!r} must occur once in the only site of fact {change.fact!r} "
                f"(it has {len(sites)} sites): a change is one contiguous block and leaves no contradiction",
                file=file,
                field="changes",
            )
