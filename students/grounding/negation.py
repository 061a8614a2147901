"""What a clause denies: its negation cues with their scopes, as items; and what it affirms besides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from students.grounding.clauses import Clause
from students.grounding.cues import LEXICAL, Cue
from students.grounding.items import Item, items_of, own_content
from students.grounding.lexicon import FUNCTION, listed
from students.grounding.words import Content, Word, words_of

WINDOW: Final = 14
"""Most words on one side of a cue that it reaches, so that a long list is one scope, and a ramble is not."""
_DENYING: Final = frozenset(("before", "verb", "after", "lexical", "ceased"))
_UNDOCUMENTED: Final = frozenset(("undocumented", "unstated"))
_HAVING: Final = listed("has have had having")
_AFFIRMATIONS: Final = listed("yes yeah yep")
_DOING: Final = listed("did does do has had have was is are were")
_EMPTY_CUES: Final = frozenset(("before", "after", "verb"))
_FOR_ALL_TIME: Final = frozenset(("never", "ever", "history", "lifelong", "previous", "past"))
_OF_ONE_WORD: Final = frozenset(("non", "ex", "former"))

Reach = Literal["scope", "label", "question", "heading"]


@dataclass(frozen=True, slots=True)
class Negation:
    """One cue of a clause with what it denies, or says to be undocumented.

    Attributes:
        clause: the clause.
        cue: the cue.
        items: what it denies, each by itself.
        start: offset of the first of the cue and its scope.
        end: offset after the last of them.
        never: whether it denies it for all time: *never*, *no history of*.
        reach: where the items were found: in the scope, or, of a bare *no* or *none*, in the label before it, the
            question that it answers, or the heading that it stands under.
    """

    clause: Clause
    cue: Cue
    items: tuple[Item, ...]
    start: int
    end: int
    never: bool = False
    reach: Reach = "scope"

    @property
    def denies(self) -> bool:
        """Whether it denies its items, rather than say that they are not documented."""
        return self.cue.kind in _DENYING


def negations_of(clause: Clause) -> tuple[Negation, ...]:
    """The negations of a clause in order, those without anything to deny left out; pseudo-negations are none."""
    return tuple(_negations(clause))


def _negations(clause: Clause) -> Iterator[Negation]:
    for number, cue in enumerate(clause.cues):
        if cue.kind not in _DENYING | _UNDOCUMENTED:
            continue
        scope = _scope(clause, number)
        items = scope.items()
        reach: Reach = "scope"
        if not items and cue.kind in _EMPTY_CUES and not scope.subject:
            items, reach = _elsewhere(clause)
        if not items:
            continue
        label = own_content(clause.label)
        if reach == "scope":
            items = tuple(item.under(label, own_content(clause.near)) for item in items)
        near = [word.key for word in scope.words] + cue.phrase.split()
        own = [clause.words[place] for place in range(cue.first, cue.last + 1)] + list(scope.words)
        yield Negation(
            clause,
            cue,
            items,
            min(word.start for word in own),
            max(word.end for word in own),
            _is_for_all_time(near),
            reach,
        )


def _is_for_all_time(keys: Sequence[str]) -> bool:
    """Whether a denial speaks of all time; the family's history is whose it is, not when."""
    return any(
        key in _FOR_ALL_TIME and not (key == "history" and "family" in keys[max(place - 1, 0) : place])
        for place, key in enumerate(keys)
    )


@dataclass(frozen=True, slots=True)
class _Scope:
    """Words that a cue reaches: those of the list, a verb's subject, and what narrows an item behind the cue."""

    listed: tuple[Word, ...]
    subject: tuple[Content, ...] = ()
    trailing: tuple[Content, ...] = ()
    predicate: bool = False
    lexical: str = ""
    words: tuple[Word, ...] = ()
    place: Word | None = None

    def items(self) -> tuple[Item, ...]:
        if self.lexical:
            assert self.place is not None
            bare = Item(
                frozenset((self.lexical,)), self.lexical, frozenset(), frozenset(), self.place.start, self.place.end
            )
            return (bare.with_words((*self.subject, *self.trailing)),)
        found = items_of(self.listed, predicate=self.predicate)
        return tuple(item.with_words((*self.subject, *self.trailing)) for item in found)


def _scope(clause: Clause, number: int) -> _Scope:
    """The scope of a clause's cue, up to the next cue on either side and no further than the window."""
    cue, words = clause.cues[number], clause.words
    back = clause.cues[number - 1].last + 1 if number else 0
    ahead = clause.cues[number + 1].first if number + 1 < len(clause.cues) else len(words)
    before = words[max(back, cue.first - WINDOW) : cue.first]
    after = words[cue.last + 1 : min(ahead, cue.last + 1 + WINDOW)]
    if cue.kind in ("after", "unstated") and not own_content(before) and any(word.key == ":" for word in after):
        return _Scope(after, words=after)
    if cue.kind in ("after", "unstated"):
        after = _to_mark(after)
        return _Scope(before, trailing=own_content(after), words=(*before, *after))
    if cue.kind == "lexical":
        word = words[cue.first]
        after = _to_mark(after)
        subject = own_content(_from_mark(before))
        return _Scope((), subject, own_content(after), lexical=LEXICAL[word.key], words=(*after,), place=word)
    if cue.kind == "verb":
        before = (*clause.lead, *_from_mark(before))
        return _Scope(after, own_content(before), predicate=True, words=(*before, *after))
    if cue.kind == "ceased" and own_content(before) and (not after or after[0].is_mark or after[0].key in FUNCTION):
        return _Scope(before, words=before)
    if cue.phrase in _OF_ONE_WORD:
        after = after[:1] if cue.phrase == "non" else _to_mark(after)
        return _Scope(after, words=after)
    if before and before[-1].key in _HAVING and cue.kind == "before":
        subject = own_content(before)
        return _Scope(after, subject, words=(*(before if subject else ()), *after))
    return _Scope(after, words=after)


def _to_mark(words: Sequence[Word]) -> tuple[Word, ...]:
    ends = next((place for place, word in enumerate(words) if word.is_mark), len(words))
    return tuple(words[:ends])


def _from_mark(words: Sequence[Word]) -> tuple[Word, ...]:
    begins = max((place + 1 for place, word in enumerate(words) if word.is_mark), default=0)
    return tuple(words[begins:])


def _elsewhere(clause: Clause) -> tuple[tuple[Item, ...], Reach]:
    """What a bare *no* or *none* denies: the label before it, the question asked, or the heading above."""
    if items := items_of(clause.label):
        return items, "label"
    if clause.asked:
        return items_of(clause.asked), "question"
    return items_of(words_of(clause.sentence.heading.lower())), "heading"


@dataclass(frozen=True, slots=True)
class Affirmed:
    """What a clause says that is, with where.

    Attributes:
        content: what it says, in order, of what no cue of it denies; sides and numbers among it.
        words: the words whose places the content has.
    """

    content: tuple[Content, ...]
    words: tuple[Word, ...]


def affirmed_of(clause: Clause) -> Affirmed:
    """What a clause affirms: all but the scopes of its cues, and with pseudo-negations and what they leave open.

    The subject of a verb's denial is taken to be there where it has an article or an owner: *the rash does not itch*.
    """
    kept = [True] * len(clause.words)
    for number, cue in enumerate(clause.cues):
        scope = _scope(clause, number)
        if cue.kind in _DENYING | _UNDOCUMENTED:
            there = cue.kind == "verb" and _presupposed(clause.words[: cue.first]) and items_of(scope.listed)
            spared = set() if not there else {id(word) for word in clause.words[: cue.first]}
            reached = {id(word) for word in scope.words} - spared
            for place, word in enumerate(clause.words):
                kept[place] = kept[place] and id(word) not in reached
        for place in range(cue.first, cue.last + 1):
            kept[place] = False
    words = tuple(word for word, keep in zip(clause.words, kept, strict=True) if keep)
    if clause.asked and (clause.words[0].key in _AFFIRMATIONS or (clause.words[-1].key in _DOING and not clause.cues)):
        words = (*clause.asked, *words)
    elif clause.label and not any(cue.kind in _DENYING | _UNDOCUMENTED for cue in clause.cues):
        words = (*clause.label, *words)
    return Affirmed(own_content(words), words)


def _presupposed(words: Sequence[Word]) -> bool:
    return any(word.key in ("the", "this", "that", "his", "her", "my", "their", "your") for word in words[:2])
