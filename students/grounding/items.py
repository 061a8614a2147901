"""Items: the single things that a negation denies, as in a list of three, each with its head, its side and its dose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from students.grounding.lexicon import BODY, listed
from students.grounding.subjects import is_person
from students.grounding.words import Content, Word, content_of

_SEPARATORS: Final = frozenset((",", "/", "or", "nor", "and", "&"))
_PREPOSITIONS: Final = listed(
    "of in on at for with to from by during after before since over under around about into within when "
    "while that which as despite because due"
)
_BOTH: Final = frozenset(("left", "right"))


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is denied, or said to be undocumented.

    Attributes:
        words: stems of what it is, without sides and numbers.
        head: the stem that the others narrow down: what is denied of *chest pain* is pain.
        sides: left, right or both, as said.
        doses: numbers, with their units.
        start: offset of its first word in the text.
        end: offset after its last word.
        context: stems of the label that it stands under and of the clause before, which narrow it down, or do not.
        context_sides: sides of the label, which are the item's where it has none.
        near_sides: sides of the clause before, which may be the item's.
    """

    words: frozenset[str]
    head: str
    sides: frozenset[str]
    doses: frozenset[str]
    start: int
    end: int
    context: frozenset[str] = frozenset()
    context_sides: frozenset[str] = frozenset()
    near_sides: frozenset[str] = frozenset()

    @property
    def all_sides(self) -> frozenset[str]:
        """Sides of the item, or else of its label."""
        return self.sides or self.context_sides

    def with_words(self, content: Sequence[Content]) -> Item:
        """The item narrowed down by further words, which do not become its head."""
        more = _kinds(content)
        return replace(
            self, words=self.words | more.words, sides=self.sides | more.sides, doses=self.doses | more.doses
        )

    def under(self, label: Sequence[Content], near: Sequence[Content]) -> Item:
        """The item under a label, behind another clause."""
        kinds, before = _kinds(label), _kinds(near)
        return replace(self, context=kinds.words | before.words, context_sides=kinds.sides, near_sides=before.sides)


def items_of(words: Sequence[Word], *, predicate: bool = False) -> tuple[Item, ...]:
    """The items of a list, in order; words that say nothing make none.

    In a list of parts of the body what stands before the first or after the last belongs to each: *pain in the chest
    or back*, *chest or back pain*.

    Args:
        words: the words of the list.
        predicate: whether they are what a verb's denial denies, whose head is the verb where they begin with it.
    """
    pieces = [(piece, own_content(piece)) for piece in _pieces(words)]
    pieces = [(piece, content) for piece, content in pieces if content]
    shared_before: tuple[Content, ...] = ()
    made: list[Item] = []
    for number, (piece, content) in enumerate(pieces):
        item = _item(piece, content, predicate=predicate)
        if _is_body_only(content):
            following = next((c for _, c in pieces[number + 1 :] if not _is_body_only(c)), ())
            if number and shared_before:
                item = replace(item.with_words(shared_before), head=shared_before[0].stem)
            elif following and following[0].stem in BODY:
                rest = tuple(part for part in following if part.stem not in BODY and not part.is_side)
                item = replace(item.with_words(rest), head=rest[-1].stem) if rest else item
        elif number == 0 or not _is_body_only(content):
            shared_before = _before_the_body(piece, content)
        made.append(item)
    return tuple(made)


def own_content(words: Sequence[Word]) -> tuple[Content, ...]:
    """What words say, without the people in them, who are subjects."""
    return tuple(content for content in content_of(words) if not is_person(words[content.place].key))


def _pieces(words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    piece: list[Word] = []
    for word in words:
        if word.key in _SEPARATORS:
            yield tuple(piece)
            piece = []
        else:
            piece.append(word)
    yield tuple(piece)


def _is_body_only(content: Sequence[Content]) -> bool:
    return bool(content) and all(part.stem in BODY or part.is_side for part in content)


def _before_the_body(piece: Sequence[Word], content: Sequence[Content]) -> tuple[Content, ...]:
    """What stands before a part of the body that ends a piece: *pain in the* of *pain in the chest*."""
    if content[-1].stem not in BODY:
        return ()
    between = [word.key for word in piece[: content[-1].place]]
    if not any(key in _PREPOSITIONS for key in between):
        return ()
    return tuple(part for part in content if part.stem not in BODY and not part.is_side)


def _item(piece: Sequence[Word], content: Sequence[Content], *, predicate: bool) -> Item:
    kinds = _kinds(content)
    plain = [part for part in content if not part.is_side and not part.is_number]
    head = ""
    if plain:
        head = plain[0].stem
        for part in plain[1:] if not (predicate and plain[0].place == 0) else ():
            if any(word.key in _PREPOSITIONS for word in piece[plain[0].last + 1 : part.place]):
                break
            head = part.stem
    return replace(kinds, head=head, start=piece[content[0].place].start, end=piece[content[-1].last].end)


def _kinds(content: Sequence[Content]) -> Item:
    return Item(
        frozenset(part.stem for part in content if not part.is_side and not part.is_number),
        "",
        frozenset(part.stem for part in content if part.is_side),
        frozenset(part.stem for part in content if part.is_number),
        0,
        0,
    )


def sides_agree(wanted: Item, stated: Item) -> bool:
    """Whether what is denied of the stated sides is denied of the wanted ones; both sides are left and right."""
    sides, own = wanted.all_sides, stated.all_sides
    if not own and sides:
        return sides <= stated.near_sides
    return sides == own or "both" in own or own == _BOTH
