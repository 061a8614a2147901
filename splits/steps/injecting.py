"""Injecting one error of a kind into a clean note, so that the note differs from it at the labelled step alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from splits.construct.quality import RESTATED, content_words
from splits.steps.alterations import alterations
from splits.steps.comparing import step_difference
from splits.steps.cutting import Step, SteppedNote, cut
from splits.steps.flaws import ErrorKind, Flaw

EMPTY: Final = (
    "Symptoms were talked about.",
    "The patient was seen and spoken to.",
    "Management will be as is appropriate.",
    "Everything relevant was gone through.",
    "The usual questions were asked.",
    "Further details are as above.",
    "The situation was considered from several sides.",
    "Things will be kept under review in the usual manner.",
    "An examination was done where one was needed.",
    "The plan will be followed as planned.",
    "Advice was given about the matter.",
    "The course so far is as it has been described.",
)
"""Sentences that are true of any consultation and tell the next clinician nothing."""
DONOR_OVERLAP: Final = 0.34
"""Largest share of a foreign sentence's content words that source or note may have."""
DONOR_WORDS: Final = (4, 25)
LEAST_SUPPORT: Final = 0.5
"""Least share of a sentence's content words that the source must have for its removal to leave something out."""
_ENDED: Final = re.compile(r"[.!?][\"')\]]*\Z")
_BULLET: Final = re.compile(r"\s*(?:[-*\u2022]|\d{1,2}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Injection:
    """A flawed note.

    Attributes:
        document: the note.
        flaw: what is wrong with it, and where.
        rule: how it was made.
    """

    document: str
    flaw: Flaw
    rule: str


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A document, and how it was made."""

    document: str
    rule: str


def inject(
    note: SteppedNote, error: ErrorKind, *, source: str, donors: Sequence[str] = (), rng: np.random.Generator
) -> Injection | None:
    """One error of a kind in a clean note; None where no rule makes one that can be told from the texts alone.

    Whatever a rule proposes is cut again and compared with the clean note: it counts only if the two differ in exactly
    one step, or by exactly one step that is gone.

    Args:
        note: the clean note, cut finely.
        error: what is to be wrong.
        source: what the note was written from; may be empty.
        donors: sentences of other notes, for hallucinations.
        rng: source of all randomness.
    """
    proposals = [*_PROPOSALS[error](note, source, donors)]
    by_rule: dict[str, list[_Proposal]] = {}
    for proposal in proposals:
        by_rule.setdefault(proposal.rule, []).append(proposal)
    # A rule is drawn first, so that one with many places does not crowd out the others.
    while by_rule:
        rule = sorted(by_rule)[int(rng.integers(len(by_rule)))]
        drawn = by_rule[rule].pop(int(rng.integers(len(by_rule[rule]))))
        if not by_rule[rule]:
            del by_rule[rule]
        if (found := _checked(drawn, note, error)) is not None:
            return found
    return None


def _checked(proposal: _Proposal, note: SteppedNote, error: ErrorKind) -> Injection | None:
    """The proposal with its flaw, if it differs from the clean note at one step."""
    made = cut(proposal.document)
    difference = step_difference(made, note)
    if error == "incompleteness":
        if difference.altered or difference.inserted or not difference.removed:
            return None
        gone = {step.problem for step in difference.removed}
        if len(difference.removed) > 1 and proposal.rule != "problem removed":
            return None
        first = difference.removed[0]
        left = [step for step in note.texts if step.problem in gone and step not in difference.removed][:1]
        shift = first.end - first.start
        lacking = tuple(step.start - (shift if step.start > first.start else 0) for step in left)
        return Injection(proposal.document, Flaw(error, lacking=lacking, complete=False), proposal.rule)
    if difference.removed or difference.count != 1:
        return None
    (step,) = (*(mine for mine, _ in difference.altered), *difference.inserted)
    if bool(difference.altered) != (error == "factual-inaccuracy"):
        return None
    return Injection(proposal.document, Flaw(error, wrong=((step.start, step.end),)), proposal.rule)


def _altered(note: SteppedNote, source: str, donors: Sequence[str]) -> Iterator[_Proposal]:
    del source, donors
    for step in note.texts:
        if step.kind == "sentence":
            bullet = _BULLET.match(step.raw)
            for alteration in alterations(step.raw):
                if bullet is None or alteration.start >= bullet.end():
                    document = note.document[: step.start] + alteration.of(step.raw) + note.document[step.end :]
                    yield _Proposal(document, f"{alteration.rule} altered")


def _foreign(note: SteppedNote, source: str, donors: Sequence[str]) -> Iterator[_Proposal]:
    known = content_words(f"{source}\n{note.document}")
    for text in donors:
        said = content_words(text)
        if len(said) < 3 or not DONOR_WORDS[0] <= len(text.split()) <= DONOR_WORDS[1]:
            continue
        if len(said & known) / len(said) <= DONOR_OVERLAP:
            yield from _inserted(note, text, "foreign sentence")


def _idle(note: SteppedNote, source: str, donors: Sequence[str]) -> Iterator[_Proposal]:
    del source, donors
    for text in EMPTY:
        yield from _inserted(note, text, "empty sentence")
    for step in note.texts:
        if step.kind == "sentence" and len(step.text.split()) >= 3:
            yield from _inserted(note, _plain(step.text), "repeated sentence", after=step)


def _removed(note: SteppedNote, source: str, donors: Sequence[str]) -> Iterator[_Proposal]:
    del donors
    known = content_words(source)
    sentences = [step for step in note.texts if step.kind == "sentence"]
    said = {step.number: content_words(step.text) for step in sentences}

    def counts(gone: Step, beside: Sequence[Step]) -> bool:
        """Whether the source says it and nothing that is left does."""
        words = said[gone.number]
        supported = not source.strip() or len(words & known) >= LEAST_SUPPORT * len(words)
        restated = any(len(words & said[other.number]) >= RESTATED * len(words) for other in beside)
        return bool(words) and supported and not restated

    for step in sentences:
        others = [other for other in sentences if other is not step]
        if any(other.problem == step.problem for other in others) and counts(step, others):
            yield _Proposal(_without(note.document, step.start, step.end), "sentence removed")
    if len(note.spans) > 2:
        for number, (start, end) in enumerate(note.spans, start=1):
            mine = [step for step in sentences if step.problem == number]
            rest = [step for step in sentences if step.problem != number]
            if mine and all(counts(step, rest) for step in mine):
                yield _Proposal(_without(note.document, start, end), "problem removed")


def _without(document: str, start: int, end: int) -> str:
    """A document without a part; its end stays as it was."""
    if end < len(document):
        return document[:start] + document[end:]
    gone = document[start:]
    return document[:start].rstrip() + gone[len(gone.rstrip()) :]


def _inserted(note: SteppedNote, text: str, rule: str, *, after: Step | None = None) -> Iterator[_Proposal]:
    """A sentence after each sentence, but not right after the one that it repeats."""
    for step in note.texts:
        if step.kind != "sentence" or (after is not None and step.number <= after.number):
            continue
        kept = step.raw.rstrip()
        at = step.start + len(kept)
        bullet = _BULLET.match(kept)
        mark = "" if bullet is None or bullet.group().strip()[0].isdigit() else f"{bullet.group().strip()} "
        lead = f"\n{mark}" if mark or not _ENDED.search(kept) else " "
        yield _Proposal(note.document[:at] + lead + text + note.document[at:], rule)


def _plain(text: str) -> str:
    """A sentence without the mark of its list."""
    return _BULLET.sub("", text, count=1) if _BULLET.match(text) else text


_PROPOSALS: Final[Mapping[ErrorKind, Callable[[SteppedNote, str, Sequence[str]], Iterator[_Proposal]]]] = {
    "factual-inaccuracy": _altered,
    "hallucination": _foreign,
    "unhelpfulness": _idle,
    "incompleteness": _removed,
}
