"""What gives the answer to a flawed example away: the facts of its group, the sentences its flaw changed, its name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from lineage.errors import SealError
from splits.corpus import Corpus, Example
from splits.shingles import Shingler, words_of

KEY_WORDS: Final = 5
"""Fewest words of a key; a shorter sentence may stand anywhere by chance."""

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_TOKEN: Final = re.compile(r"\w(?:[\w.:|-]*\w)?")
_LEAST_NAME: Final = 4


@dataclass(frozen=True, slots=True)
class NamedKey:
    """A key that stands in a text: its words as they stand there, and the groups that it belongs to."""

    words: str
    groups: tuple[str, ...]


class AnswerKeys:
    """Codes of the keys of some examples: it tells a key that it is shown, and cannot give one away.

    Keys are statements of facts, and the sentences that stand in only one of a flawed document and its twin. Names are
    ids of examples and groups that look like names, as ``uk-07.omit.f2`` does and ``notes`` does not.
    """

    __slots__ = ("_keys", "_names")

    def __init__(self, part: Corpus) -> None:
        shinglers: dict[int, Shingler] = {}  # dropped with the words that they have seen
        self._keys: dict[int, dict[int, set[str]]] = {}
        for group, text in key_texts(part):
            if (size := len(words_of(text))) >= KEY_WORDS:
                (code,) = shinglers.setdefault(size, Shingler(size)).runs(text)
                self._keys.setdefault(size, {}).setdefault(int(code), set()).add(group)
        names = {name: example.group for example in part.examples for name in (example.id, example.group)}
        self._names: Mapping[str, str] = {name: group for name, group in names.items() if _looks_like_a_name(name)}

    def keys_in(self, text: str) -> list[NamedKey]:
        """The keys that stand in a text, whatever their case and punctuation."""
        words = words_of(text)
        found = []
        sizes = sorted(self._keys)
        for size, codes in zip(sizes, Shingler(KEY_WORDS).runs_of(text, sizes), strict=True):
            keys = self._keys[size]
            for start, code in enumerate(codes.tolist()):
                if code in keys:
                    found.append(NamedKey(" ".join(words[start : start + size]), tuple(sorted(keys[code]))))
        return found

    def names_in(self, text: str) -> list[NamedKey]:
        """The names of examples and groups that stand in a text."""
        tokens = dict.fromkeys(_TOKEN.findall(text) + _TOKEN.findall(text.replace("|", " ")))
        return [NamedKey(token, (self._names[token],)) for token in tokens if token in self._names]

    def __reduce__(self) -> NoReturn:
        raise SealError("answer keys cannot be pickled or copied: what they stand for stays behind the seal")


def key_texts(part: Corpus) -> Iterator[tuple[str, str]]:
    """The groups of some examples, each with a statement of a fact or a sentence that a flaw changed."""
    for facts in part.facts.values():
        for fact in facts:
            yield fact.group, fact.fact
    for example in part.examples:
        if example.fact is not None:  # an id, or the statement itself, where a corpus has no list of facts
            yield example.group, example.fact
        if example.twin is not None and example.twin in part.by_id:
            yield from ((example.group, sentence) for sentence in _changed(example, part.by_id[example.twin]))


def _changed(flawed: Example, twin: Example) -> list[str]:
    """Sentences and lines that stand in only one of two documents."""
    mine, other = (dict.fromkeys(_SENTENCE.split(example.document)) for example in (flawed, twin))
    return [sentence for sentence in [*mine, *other] if (sentence in mine) != (sentence in other)]


def _looks_like_a_name(name: str) -> bool:
    marked = any(character.isdigit() or character in "._:|-" for character in name)
    return len(name) >= _LEAST_NAME and marked and any(map(str.isalpha, name)) and bool(_TOKEN.fullmatch(name))
