"""All examples of a group from its consultation source, and the invariants of every pair."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from lineage.canonical import digest
from lineage.errors import CorpusError
from splits.construct.edits import Edit, alter, delete_sites, insert
from splits.construct.sites import Site, heading_of
from splits.construct.source import ConsultationSource, FactSource
from splits.corpus import Corpus, Example, Fact, Residual

_STRONG: Final = ("explicit", "paraphrase")
_SEPARATOR_BEFORE: Final = re.compile(r"(?:(?:^|\n) *(?:- )?| +|(?:[,;]| -)?(?: and| with| but)?\s+)$")


def build_corpus(sources: Iterable[ConsultationSource]) -> Corpus:
    """Every group's examples and facts; equal sources give equal bytes."""
    examples: list[Example] = []
    facts: dict[str, tuple[Fact, ...]] = {}
    for source in sources:
        examples += build_group(source)
        facts[source.group] = tuple(
            Fact(fact.id, source.group, fact.fact, fact.evidence, fact.severity, fact.core) for fact in source.facts
        )
    return Corpus(tuple(examples), facts)


def build_group(source: ConsultationSource) -> tuple[Example, ...]:
    """The clean note and its flawed twins: one omission of each trace that the sites allow, additions, changes.

    Omissions take core facts only, so that a judge which checks the core facts can see each of them. Which fact is
    taken depends on a hash of group and trace, not on any judge; a fact is used for one trace if the sites allow.
    """
    clean = f"{source.group}.clean"
    examples = [_example(source, clean, source.note, label="clean", kind="clean")]
    for trace, fact, doomed in _omissions(source):
        edit = delete_sites(source.note, source.sites, doomed)
        kept = [site for site in source.sites_of(fact.id) if site not in doomed]
        examples.append(
            _example(
                source,
                f"{source.group}.{trace}.{fact.id}",
                edit.document,
                label="omission",
                kind="omit",
                severity=fact.severity,
                trace=trace,
                twin=clean,
                fact=fact.id,
                residual=tuple(_survivor(edit, site) for site in kept),
            )
        )
    for index, addition in enumerate(source.additions, start=1):
        edit = insert(source.note, addition.heading, addition.text)
        examples.append(
            _example(
                source,
                f"{source.group}.add.{index}",
                edit.document,
                label="commission",
                kind="add",
                severity=addition.severity,
                twin=clean,
            )
        )
    severity = {fact.id: fact.severity for fact in source.facts}
    for change in source.changes:
        edit = alter(source.note, source.sites_of(change.fact)[0], change.old, change.new)
        examples.append(
            _example(
                source,
                f"{source.group}.change.{change.fact}",
                edit.document,
                label="commission",
                kind="change",
                severity=severity[change.fact],
                twin=clean,
                fact=change.fact,
            )
        )
    for example in examples[1:]:
        check_pair(example, source)
    return tuple(examples)


def _omissions(source: ConsultationSource) -> Iterator[tuple[str, FactSource, tuple[Site, ...]]]:
    """Trace, fact and doomed sites of each omission: scarce traces choose their fact first."""
    used: set[str] = set()
    chosen: dict[str, tuple[FactSource, tuple[Site, ...]]] = {}
    for trace in ("partial-weak", "partial-strong", "complete"):
        options = [
            (fact, doomed)
            for fact in source.facts
            if fact.core and (doomed := _doomed(source.sites_of(fact.id), trace))
        ]
        fresh = [option for option in options if option[0].id not in used] or options
        if fresh:
            fact, doomed = min(fresh, key=lambda option: digest([source.group, trace, option[0].id]))
            used.add(fact.id)
            chosen[trace] = fact, doomed
    for trace in ("complete", "partial-weak", "partial-strong"):
        if trace in chosen:
            yield trace, *chosen[trace]


def _doomed(sites: tuple[Site, ...], trace: str) -> tuple[Site, ...]:
    """The sites to delete for a trace, or none where the fact's sites do not allow it."""
    strong = tuple(site for site in sites if site.strength in _STRONG)
    weak = tuple(site for site in sites if site.strength == "partial")
    if trace == "complete":
        return sites
    if trace == "partial-weak":
        return strong if strong and weak else ()
    return strong[:1] if len(strong) > 1 else ()


def _survivor(edit: Edit, site: Site) -> Residual:
    shift = sum(end - start for start, end in edit.cuts if end <= site.start)
    offset = site.start - shift
    return Residual(offset, heading_of(edit.document, offset), site.strength)


def _example(source: ConsultationSource, example_id: str, document: str, **fields: object) -> Example:
    return Example(
        id=example_id,
        group=source.group,
        stratum=source.stratum,
        source=source.transcript,
        document=document,
        meta={"title": source.title},
        **fields,  # type: ignore[arg-type]  # the callers above pass fields of Example
    )


def check_pair(example: Example, source: ConsultationSource) -> None:
    """Check a flawed example against its clean note, from the two texts alone.

    An omission is the clean note less mapped sites of one fact (and the separators beside them): characters are only
    deleted, every site of every other fact survives word for word, and the stated residual sites are there. An
    addition or change is one contiguous block.

    Raises:
        CorpusError: naming the example and the broken invariant.
    """
    note, document = source.note, example.document
    if example.label == "omission":
        if not is_subsequence(document, note) or len(document) >= len(note):
            raise CorpusError(f"{example.id}: an omission may only delete characters", file=source.group)
        for site in source.sites:
            if site.fact != example.fact and document.count(site.text) < note.count(site.text):
                raise CorpusError(f"{example.id}: touches {site.text!r} of fact {site.fact}", file=source.group)
        mine = source.sites_of(example.fact or "")
        mentions = sorted(example.residual, key=lambda mention: mention.offset)
        strengths = [mention.strength for mention in mentions]
        stated = [
            kept
            for kept in combinations(mine, len(mentions))
            if all(_stands_at(document, site, mention) for site, mention in zip(kept, mentions, strict=True))
        ]
        if not stated:
            raise CorpusError(f"{example.id}: a stated residual site is not at its offset", file=source.group)
        wanted = {
            "complete": not strengths,
            "partial-weak": bool(strengths) and set(strengths) == {"partial"},
            "partial-strong": any(strength in _STRONG for strength in strengths),
        }
        if not wanted.get(example.trace or ""):
            raise CorpusError(f"{example.id}: residual {strengths} is not trace {example.trace}", file=source.group)
        for kept in stated:
            gone = [site for site in mine if site not in kept]
            if gone and _without(note, gone).fullmatch(document):
                break
        else:
            raise CorpusError(
                f"{example.id}: is not the clean note less the sites of fact {example.fact} and their separators",
                file=source.group,
            )
    elif not is_one_block(note, document):
        raise CorpusError(f"{example.id}: a commission must be one contiguous block", file=source.group)


def _stands_at(document: str, site: Site, mention: Residual) -> bool:
    end = mention.offset + len(site.text)
    return (document[mention.offset : end], mention.strength, mention.heading) == (
        site.text,
        site.strength,
        heading_of(document, mention.offset),
    )


def _without(note: str, gone: Sequence[Site]) -> re.Pattern[str]:
    """What a note may read without some of its sites: the separators beside each may go or stay, nothing else."""
    pattern, at = "", 0
    for site in gone:
        between = note[at : site.start]
        separator = found.group() if (found := _SEPARATOR_BEFORE.search(between)) else ""
        pattern += f"{_after(between.removesuffix(separator))}(?:{re.escape(separator)})?"
        at = site.end
    return re.compile(pattern + _after(note[at:]))


def _after(text: str) -> str:
    kept = text.lstrip(" \n")
    return f"(?:{re.escape(text.removesuffix(kept))})?{re.escape(kept)}"


def is_subsequence(short: str, long: str) -> bool:
    """Whether ``short`` can be had from ``long`` by deleting characters."""
    letters = iter(long)
    return all(letter in letters for letter in short)


def is_one_block(old: str, new: str) -> bool:
    """Whether ``new`` differs from ``old`` in exactly one contiguous run of words."""
    left, right = re.split(r"(\s+)", old), re.split(r"(\s+)", new)
    head = 0
    while head < min(len(left), len(right)) and left[head] == right[head]:
        head += 1
    tail = 0
    while tail < min(len(left), len(right)) - head and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    changed = max(len(left), len(right)) - head - tail
    return 0 < changed < max(len(left), len(right)) // 2
