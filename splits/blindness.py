"""Fact extraction never sees the document under judgement: a view without it, and a probe of what is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from lineage.errors import BlindnessError
from splits.corpus import Corpus
from splits.shingles import words_of

PROBE_WORDS: Final = 6
"""Length in words of a probe."""
LEAST_WORDS: Final = 3
"""Length of the shortest document that can be probed; two words may stand anywhere by chance."""
POSITIONS: Final = ("start", "middle", "end")


@dataclass(frozen=True, slots=True)
class SourceOnly:
    """All that fact extraction is given of a group: its name and its source. There is no document to be read."""

    group: str
    source: str


@dataclass(frozen=True, slots=True)
class Probing:
    """How many probes were looked for, and the documents that have none.

    A document of one or two words, or one whose every run of words also stands in the source, has no probe: that a
    request is blind to it is then not shown.
    """

    probes: int
    unprobed: tuple[str, ...]


def source_views(corpus: Corpus) -> tuple[SourceOnly, ...]:
    """The groups of a corpus with each of their sources, in order of the groups."""
    return tuple(
        SourceOnly(group, source)
        for group, examples in corpus.groups.items()
        for source in dict.fromkeys(example.source for example in examples)
    )


def check_blind(prompt_text: str, documents: Mapping[str, str], *, source: str) -> Probing:
    """Check that a request for the facts of a source holds no document.

    A probe is a run of words at the start, in the middle or at the end of a document, or the nearest run to it that
    does not stand in the source as well. Case, punctuation and white space do not matter.

    Args:
        prompt_text: all that is sent, in one text.
        documents: the documents that are judged against the source, by the ids of their examples.
        source: the source that facts are extracted from.

    Raises:
        BlindnessError: a probe stands in the request; it names the document and the position.
    """
    asked, known = (f" {' '.join(words_of(text))} " for text in (prompt_text, source))
    probes, unprobed = 0, []
    for name, document in documents.items():
        found = dict(_probes(document, known))
        for position, probe in found.items():
            if probe in asked:
                raise BlindnessError(
                    f"the request for facts holds the {position} of document {name!r}; facts are extracted from the "
                    "source alone: build the request from a SourceOnly view"
                )
        probes += len(found)
        if not found:
            unprobed.append(name)
    return Probing(probes, tuple(unprobed))


def _probes(document: str, known: str) -> Iterator[tuple[str, str]]:
    """Positions with the nearest probe each that does not stand in the source."""
    words = words_of(document)
    size = min(PROBE_WORDS, len(words))
    last = len(words) - size
    runs = [f" {' '.join(words[start : start + size])} " for start in range(last + 1 if size >= LEAST_WORDS else 0)]
    fresh = [start for start, run in enumerate(runs) if run not in known]
    for position, wanted in zip(POSITIONS, (0, last // 2, last), strict=True):
        if fresh:
            yield position, runs[min(fresh, key=lambda start: (abs(start - wanted), start))]
