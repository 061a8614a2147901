"""Negation cues: which words deny, on which side of them, and which only look as if they did.

After NegEx and ConText: Chapman et al. (2001), J Biomed Inform 34(5); Harkema et al. (2009), J Biomed Inform 42(5). The
lists here are written anew, for consultations and short notes, and kinds are more: a verb's denial takes its subject
along, and a statement that something is not documented denies nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from students.grounding.words import Word

CueKind = Literal["before", "verb", "after", "lexical", "ceased", "pseudo", "open", "undocumented", "unstated"]
"""What a cue does.

``before`` denies what follows it; ``verb`` denies a predicate, which belongs to its subject; ``after`` denies what
stands before it; ``lexical`` is a word that denies by itself; ``ceased`` denies that something still is; ``pseudo``
denies nothing; ``open`` leaves it open; ``undocumented`` says, of what follows, that it is not documented, and
``unstated`` says so of what stands before it.
"""


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue in a sequence of words.

    Attributes:
        kind: what it does.
        phrase: its words.
        first: index of its first word.
        last: index of its last word.
    """

    kind: CueKind
    phrase: str
    first: int
    last: int


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for part in text.split(";") if (line := part.strip()))


_PHRASES: Final[Mapping[CueKind, tuple[str, ...]]] = {
    "before": _lines(
        "no; without; denies; denied; deny; denying; negative for; free of; free from; absence of; lack of; "
        "lacks; nor; neither; no evidence of; no sign of; no signs of; no history of; nil; non; rules out; "
        "ruled out; rule out; never had any; nothing to suggest; none; none of; in the absence of; negative; "
        "no longer any; devoid of; fails to; failed to; unable to; declined; declines; refused; refuses; "
        "avoids; zero"
    ),
    "verb": _lines("not; never; no longer; not been; not had; hardly ever"),
    "after": _lines(
        "is absent; was absent; are absent; were absent; absent; is negative; was negative; are negative; "
        "were negative; negative; came back negative; tests negative; tested negative; has been ruled out; "
        "have been ruled out; was ruled out; were ruled out; is ruled out; are ruled out; been excluded; was "
        "excluded; were excluded; is excluded; denied; was denied; were denied; is denied; not present; not "
        "seen; not found; not detected; not noted; not observed; not identified; not felt; not heard; not "
        "elicited; not evident; not apparent; none; nil; nil known; not there; unlikely to be"
    ),
    "lexical": (),
    "ceased": _lines(
        "stopped; has stopped; quit; discontinued; ceased; gave up; given up; came off; come off; ex; former; formerly"
    ),
    "pseudo": _lines(
        "not only; not just; not merely; not simply; not necessarily; no change; no changes; no change in; "
        "not changed; no increase; no increase in; not increased; no decrease; no decrease in; not decreased; "
        "no further; no doubt; no doubt that; without doubt; without a doubt; no wonder; no less than; no "
        "more than; no fewer than; not unlike; not uncommon; not uncommonly; not infrequent; not "
        "infrequently; not unusual; not unusually; not quite; no sooner; not drain; gram negative; rhesus "
        "negative; rh negative; o negative; a negative; b negative; ab negative; negative pressure; negative "
        "mood; negative thoughts; or not; if not; why not; not all; not every; not always; not completely; "
        "not entirely; not fully; not totally; no different; no difference; no worse; no better; no stranger "
        "to; no smoke without; not to mention; not least; no one else; not without; not unreasonable; no "
        "problem i will; no problem we will; no improvement; no improvement in; not improved; not improving; "
        "not settled; not resolved; not cleared; not gone; not gone away; not go away; never goes away; not "
        "stopped; never stopped; not lost; no let up; no let up in; no relief; no relief from; no relief of; "
        "no resolution; no resolution of; not controlled; no control of; not the only; no exception"
    ),
    "open": _lines(
        "can not be excluded; can not exclude; could not be excluded; could not exclude; not be excluded; not "
        "excluded; not been excluded; can not be ruled out; can not rule out; could not be ruled out; not be "
        "ruled out; not ruled out; not been ruled out; not rule out; not exclude; not certain; not sure; not "
        "clear; not convinced; not possible to say; no certainty; not yet excluded; not yet ruled out; not "
        "definite; not definitely; uncertain; unclear; equivocal; inconclusive; not known whether; not know "
        "whether; not know if; not sure whether; not sure if; to rule out; to exclude"
    ),
    "undocumented": _lines(
        "no mention of; no mention; no record of; no record; no note of; no information on; no information "
        "about; no information; no documentation of; no documentation; no details of; no detail of; no data "
        "on; does not mention; did not mention; not mention; does not state; not state; does not say; did not "
        "say; not say; does not record; not record; does not document; not document; does not specify; not "
        "specify; does not address; not address; does not discuss; not discuss; does not give; not give; not "
        "include; does not describe; not describe; not comment on; not refer to; not cover; not tell us"
    ),
    "unstated": _lines(
        "not documented; not recorded; not mentioned; not stated; not discussed; not asked; not asked about; "
        "not assessed; not examined; not tested; not checked; not known; not specified; not addressed; not "
        "described; not available; not covered; not noted in; not enquired about; unknown; "
        "undocumented; unrecorded; unspecified; unavailable; not reported in; not included; not measured"
    ),
}

LEXICAL: Final[Mapping[str, str]] = {
    "afebrile": "fever",
    "apyrexial": "fever",
    "apyrexic": "fever",
    "painless": "pain",
    "asymptomatic": "symptom",
    "nontender": "tender",
    "atraumatic": "trauma",
    "nonsmoker": "smoke",
    "teetotal": "alcohol",
    "teetotaller": "alcohol",
    "anicteric": "jaundic",
    "symptomless": "symptom",
    "odourless": "odour",
    "odorless": "odour",
    "unvaccinated": "vaccin",
    "untreated": "treatment",
    "nondiabetic": "diabet",
    "nkda": "allergi",
    "nka": "allergi",
}
"""Words that deny by themselves, with the stem of what they deny."""

_BY_FIRST: dict[str, list[tuple[tuple[str, ...], CueKind]]] = {}
for _kind, _phrases in _PHRASES.items():
    for _phrase in _phrases:
        _words = tuple(_phrase.split())
        _BY_FIRST.setdefault(_words[0], []).append((_words, _kind))
for _found in _BY_FIRST.values():
    _found.sort(key=lambda item: -len(item[0]))


def find_cues(words: Sequence[Word]) -> tuple[Cue, ...]:
    """The cues among words, in order; of several at one place the longest, and none within another.

    ``denied``, ``nil``, ``none`` and ``negative`` stand on either side of what they deny: with words after them they
    deny those, and otherwise what stands before.
    """
    found: list[Cue] = []
    place = 0
    while place < len(words):
        key = words[place].key
        if key in LEXICAL:
            found.append(Cue("lexical", key, place, place))
        elif options := list(_matching(words, place)):
            phrase, kind = _chosen(options, words, place)
            found.append(Cue(kind, " ".join(phrase), place, place + len(phrase) - 1))
            place += len(phrase) - 1
        place += 1
    return tuple(found)


def _matching(words: Sequence[Word], place: int) -> Iterable[tuple[tuple[str, ...], CueKind]]:
    for phrase, kind in _BY_FIRST.get(words[place].key, ()):
        if tuple(word.key for word in words[place : place + len(phrase)]) == phrase:
            yield phrase, kind


def _chosen(
    options: Sequence[tuple[tuple[str, ...], CueKind]], words: Sequence[Word], place: int
) -> tuple[tuple[str, ...], CueKind]:
    longest = [option for option in options if len(option[0]) == len(options[0][0])]
    if len(longest) == 1:
        return longest[0]
    after = place + len(longest[0][0])
    ends = after >= len(words) or words[after].is_mark or words[after].key in ("by", "on", "at", "today", "in")
    wanted: CueKind = "after" if ends and place > 0 else "before"
    return next((option for option in longest if option[1] == wanted), longest[0])
