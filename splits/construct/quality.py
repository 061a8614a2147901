"""Quality rules of the bundled consultations: sizes, traces and restatements that the site map misses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lineage.errors import CorpusError
from splits.construct.edits import delete_sites
from splits.construct.pairs import build_group
from splits.construct.sites import is_heading
from splits.construct.source import ConsultationSource

TRANSCRIPT_WORDS: Final = (150, 300)
NOTE_WORDS: Final = (80, 150)
FACTS: Final = (6, 9)
CORE_FACTS: Final = 5
FLAWED: Final = (3, 5)
RESTATED: Final = 0.75
_FUNCTION_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        "the and for with has had was were been have her his she him they from that this not into about than over are "
        "is patient of to in on at by or an as no he it be will who after before since which when each per",
    )
)


def quality_defects(source: ConsultationSource) -> Iterator[str]:
    """Every broken rule of one consultation, in words; nothing if there is none."""
    for name, text, (low, high) in (
        ("transcript", source.transcript, TRANSCRIPT_WORDS),
        ("note", source.note, NOTE_WORDS),
    ):
        count = len(text.split())
        if not low <= count <= high:
            yield f"{name} has {count} words; the rule is {low} to {high}"
    if not FACTS[0] <= len(source.facts) <= FACTS[1]:
        yield f"{len(source.facts)} facts; the rule is {FACTS[0]} to {FACTS[1]}"
    core = [fact.core for fact in source.facts]
    if sum(core) != CORE_FACTS or not all(core[:CORE_FACTS]):
        yield f"the first {CORE_FACTS} facts, and no others, must be core"
    for fact in source.facts:
        try:
            edit = delete_sites(source.note, source.sites, source.sites_of(fact.id))
        except CorpusError as error:
            yield f"fact {fact.id} cannot be omitted: {error}"
            continue
        wanted = content_words(fact.fact)
        for sentence in sentences(edit.document):
            found = content_words(sentence)
            if wanted and len(wanted & found) / len(wanted) >= RESTATED:
                yield f"fact {fact.id} seems restated without a mark in {sentence!r}; mark it as a site or reword"
    try:
        flawed = [example for example in build_group(source) if example.twin]
    except CorpusError as error:
        yield str(error)
        return
    if not FLAWED[0] <= len(flawed) <= FLAWED[1]:
        yield f"{len(flawed)} flawed notes; the rule is {FLAWED[0]} to {FLAWED[1]}"
    if not any(example.label == "commission" for example in flawed):
        yield "no commission: give at least one addition or change"


def sentences(text: str) -> list[str]:
    """Sentences and list lines of a note, headings left out."""
    lines = [line for line in text.split("\n") if line.strip() and not is_heading(line)]
    return [part for line in lines for part in re.split(r"(?<=[.!?]) +", line)]


def content_words(text: str) -> frozenset[str]:
    """Lower-cased words and numbers of a text, without function words."""
    words = re.findall(r"[a-z]+|\d+(?:\.\d+)?", text.lower())
    return frozenset(word for word in words if word not in _FUNCTION_WORDS and (len(word) > 2 or word.isdigit()))
