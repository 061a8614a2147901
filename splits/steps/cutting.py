"""Cutting a note into steps: problems, sentences, and the claims that a problem and the note are complete.

Every character of a note belongs to exactly one step, white space and headings included, so that the steps put side by
side are the note again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from splits.construct import sites
from splits.steps.granularity import FINE, TEXT_KINDS, Granularity, StepKind

_TITLE: Final = re.compile(
    r"\s*(?:#{1,6}\s+\S.*|\*\*[^*]+\*\*:?|(?:problem|issue)\s*#?\d+\b[^.!?]{0,60}:?|[^\W\d_][^.!?:;,]{0,60}:)\s*",
    re.IGNORECASE,
)
_TITLE_WORDS: Final = 8
_LISTED: Final = re.compile(r"\s*[-*\u2022]\s+\S")
_LETTER: Final = re.compile(r"[^\W_]{2}|[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a note.

    Attributes:
        number: place among all steps, from 1.
        kind: what it is.
        start: offset of its text in the note; where nothing of the note is its text, of what was written so far.
        end: offset after it.
        raw: ``note[start:end]``, white space and headings that go with it included; empty for a claim.
        problem: which problem it is of, from 1; None where it is about the whole note.
        sentence: which sentence of the problem, from 1; None for other kinds.
    """

    number: int
    kind: StepKind
    start: int
    end: int
    raw: str
    problem: int | None = None
    sentence: int | None = None

    @property
    def id(self) -> str:
        """Short name, unique in its note."""
        return f"s{self.number}"

    @property
    def text(self) -> str:
        """Its text without white space around it."""
        return self.raw.strip()

    @property
    def place(self) -> str:
        """Where it is, in words that hold nothing of the note."""
        return {
            "problem": f"problem {self.problem}",
            "sentence": f"sentence {self.sentence} of problem {self.problem}",
            "problem-complete": f"completeness of problem {self.problem}",
            "note-complete": "completeness of the note",
            "end": "end of the note",
        }[self.kind]


@dataclass(frozen=True, slots=True)
class SteppedNote:
    """A note and its steps in order; ``spans`` holds the span of each problem, in order."""

    document: str
    granularity: Granularity
    steps: tuple[Step, ...]
    spans: tuple[tuple[int, int], ...]

    @property
    def texts(self) -> tuple[Step, ...]:
        """The steps whose text is a piece of the note."""
        return tuple(step for step in self.steps if step.raw)

    def problem_at(self, offset: int) -> int | None:
        """The problem, from 1, that an offset lies in."""
        return next((place for place, (start, end) in enumerate(self.spans, 1) if start <= offset < end), None)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A heading or a sentence with the white space after it, and whether a new problem begins with it."""

    start: int
    end: int
    title: bool
    opens: bool


def reassembled(steps: tuple[Step, ...]) -> str:
    """The note that these steps make up."""
    return "".join(step.raw for step in steps)


def is_title(line: str, after: str = "") -> bool:
    """Whether a line is a heading.

    Headings are capitals, a mark-up heading, a numbered problem, a few words before a colon, and a few words over a
    list, such as the name of a problem.

    Args:
        line: the line.
        after: the line after it.
    """
    text = line.strip()
    if not text or _LISTED.match(text) or len(text.split()) > _TITLE_WORDS:
        return sites.is_heading(text)
    return sites.is_heading(text) or _TITLE.fullmatch(text) is not None or _LISTED.match(after) is not None


def cut(document: str, granularity: Granularity = FINE) -> SteppedNote:
    """Cut a note into steps.

    A problem begins at a heading (see :func:`is_title`), and in a part without headings at each paragraph. Lines are
    never joined; within a line sentences are told by ``sentencex``, and a line whose sentences it does not give back
    word for word is one sentence.

    Args:
        document: the note.
        granularity: which kinds of steps there are.
    """
    problems: list[list[_Piece]] = []
    for piece in _pieces(document):
        if piece.opens or not problems:
            problems.append([])
        problems[-1].append(piece)
    spans = tuple((pieces[0].start, pieces[-1].end) for pieces in problems)
    made: list[Step] = []

    def add(kind: StepKind, start: int, end: int, problem: int | None = None, sentence: int | None = None) -> None:
        raw = document[start:end] if kind in TEXT_KINDS or (kind == "end" and not made) else ""
        made.append(Step(len(made) + 1, kind, start, end, raw, problem, sentence))

    for number, pieces in enumerate(problems, start=1):
        for kind, start, end, sentence in _text_steps(pieces, granularity):
            add(kind, start, end, number, sentence)
        if "problem-complete" in granularity and made:
            add("problem-complete", spans[number - 1][1], spans[number - 1][1], number)
    whole = len(document)
    if "note-complete" in granularity and made:
        add("note-complete", whole, whole)
    add("end", whole if made else 0, whole)
    return SteppedNote(document, granularity, tuple(made), spans)


def _text_steps(pieces: list[_Piece], granularity: Granularity) -> Iterator[tuple[StepKind, int, int, int | None]]:
    """Kind, span and number of the steps that hold the text of one problem."""
    if "sentence" not in granularity:
        if "problem" in granularity:
            yield "problem", pieces[0].start, pieces[-1].end, None
        return
    titles, sentences = [p for p in pieces if p.title], [p for p in pieces if not p.title]
    at = pieces[0].start
    if titles and ("problem" in granularity or not sentences):
        yield "problem" if "problem" in granularity else "sentence", at, titles[-1].end, None
        at = titles[-1].end
    for number, piece in enumerate(sentences, start=1):
        yield "sentence", at, piece.end, number
        at = piece.end


def _pieces(document: str) -> Iterator[_Piece]:
    """Headings and sentences in order, which share all characters among them; none where no word is written."""
    starts = [*_starts(document)]
    ends = [*(start for start, _, _ in starts[1:]), len(document)][: len(starts)]
    for place, ((start, title, opens), end) in enumerate(zip(starts, ends, strict=True)):
        yield _Piece(start if place else 0, end, title, opens)


def _starts(document: str) -> Iterator[tuple[int, bool, bool]]:
    """Where each piece begins, whether it is a heading, and whether a problem begins with it."""
    at, headed, parted, after_title = 0, False, True, False
    lines = document.split("\n")
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if not line.strip():
            parted = True
        elif is_title(line, after):
            yield at, True, not after_title
            headed, parted, after_title = True, False, True
        else:
            for number, offset in enumerate(_sentence_starts(line)):
                yield at + offset, False, parted and not headed and not number
            parted = after_title = False
        at += len(line) + 1


@lru_cache(maxsize=8192)
def _sentence_starts(line: str) -> tuple[int, ...]:
    """Offsets at which the sentences of a line begin; a number or mark alone begins the sentence after it."""
    import sentencex  # reading a corpus does not need it

    found: list[int] = []
    at, held = 0, False
    for part in sentencex.segment("en", line):
        place = line.find(part, at)
        if place < 0:
            return (0,)
        at = place + len(part)
        if not part.strip():
            continue
        if not held:
            found.append(place if found else 0)
        held = _LETTER.search(part) is None
    return tuple(found) or (0,)
