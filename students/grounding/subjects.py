"""Whom a clause is about: the patient, one of the family, somebody else, or not surely any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from students.grounding.lexicon import listed
from students.grounding.words import Word

SubjectKind = Literal["patient", "family", "other", "unclear"]

_RELATIVES: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(("mother", "mum", "mom", "mummy", "mam"), ("mother", "she")),
    **dict.fromkeys(("father", "dad", "daddy"), ("father", "he")),
    **dict.fromkeys(("brother", "brothers"), ("brother", "he")),
    **dict.fromkeys(("sister", "sisters"), ("sister", "she")),
    **dict.fromkeys(("sibling", "siblings"), ("sibling", "they")),
    **dict.fromkeys(("son", "sons"), ("son", "he")),
    **dict.fromkeys(("daughter", "daughters"), ("daughter", "she")),
    **dict.fromkeys(("parent", "parents"), ("parent", "they")),
    **dict.fromkeys(("grandmother", "granny", "nan", "grandma"), ("grandmother", "she")),
    **dict.fromkeys(("grandfather", "grandad", "grandpa"), ("grandfather", "he")),
    **dict.fromkeys(("grandparent", "grandparents"), ("grandparent", "they")),
    **dict.fromkeys(("aunt", "auntie", "aunts"), ("aunt", "she")),
    **dict.fromkeys(("uncle", "uncles"), ("uncle", "he")),
    **dict.fromkeys(("cousin", "cousins"), ("cousin", "they")),
    **dict.fromkeys(("niece",), ("niece", "she")),
    **dict.fromkeys(("nephew",), ("nephew", "he")),
    **dict.fromkeys(("relative", "relatives", "family"), ("family", "they")),
}
_UNRELATED: Final = listed(
    "partner spouse friend friends neighbour neighbor neighbours flatmate flatmates roommate colleague "
    "colleagues coworker boss teacher carer caregiver stepfather stepmother contact contacts classmate "
    "classmates donor driver dog cat"
)
_OTHERS: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(("wife", "girlfriend"), ("wife", "she")),
    **dict.fromkeys(("husband", "boyfriend"), ("husband", "he")),
    **{name: (name.removesuffix("s"), "they") for name in sorted(_UNRELATED)},
}
_PATIENT: Final = listed("patient pt client i he she they child baby infant boy girl man woman lady gentleman")
_REPORTING: Final = listed(
    "reports reported report says said say states stated denies denied thinks describes described notes "
    "noted told tells confirms confirmed believes brought attended accompanies accompanied worries "
    "worried asks asked called calls gives gave noticed reckons keeps wants recommends advised explains "
    "explained"
)
_AWAY: Final = listed("with by to from for of at near like about than after beside against via on")
_WITHIN: Final = listed("he she him himself herself patient")
_SEVERAL: Final = listed("neither none one both all some two three any most")
_OF_THE_FAMILY: Final = (
    ("family", "history"),
    ("fh",),
    ("fhx",),
    ("in", "the", "family"),
    ("in", "his", "family"),
    ("in", "her", "family"),
    ("in", "my", "family"),
    ("in", "your", "family"),
    ("runs", "in"),
)
_OWNERS: Final = listed("his her their my your the our")


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a clause is about.

    Attributes:
        kind: the patient, one of the family, somebody else, or unclear, which never supports anything.
        who: which one, such as ``mother``; ``family`` for all of them; nothing for the patient.
        pronoun: what stands for them later: he, she or they.
    """

    kind: SubjectKind = "patient"
    who: str = ""
    pronoun: str = ""

    def covers(self, other: Subject) -> bool:
        """Whether what is denied of this subject is denied of the other: nobody of the family, so not the mother."""
        if "unclear" in (self.kind, other.kind) or self.kind != other.kind:
            return False
        return self.who in (other.who, "family")

    def may_be(self, other: Subject) -> bool:
        """Whether what is said of this subject may be said of the other: the mother's illness is in the family."""
        return self.kind == other.kind != "unclear" and (self.who == other.who or other.who == "family")

    def __str__(self) -> str:
        return self.who or self.kind


PATIENT: Final = Subject()
UNCLEAR: Final = Subject("unclear")


def is_person(key: str) -> bool:
    """Whether a word names a relative or another person whom a clause may be about."""
    return key in _RELATIVES or key in _OTHERS


def subject_of(words: Sequence[Word], *, before: Subject = PATIENT, clinician: bool = False) -> Subject:
    """Whom a clause is about.

    A relative who reports ("mother says he has no fever") is no subject, nor one whom the patient lives with, came with
    or was told by. A pronoun that may stand for the relative of the clause before is unclear, and so is a clause of a
    relative with the patient in it.

    Args:
        words: the clause.
        before: subject of the clause before.
        clinician: whether the clinician of a conversation says it, whose *I* is not the patient.
    """
    keys = [word.key for word in words]
    for phrase in _OF_THE_FAMILY:
        if any(tuple(keys[place : place + len(phrase)]) == phrase for place in range(len(keys))):
            return _named(keys) or Subject("family", "family", "they")
    if (named := _named(keys)) is not None:
        return named
    if clinician and keys[:1] in (["i"], ["we"]):
        return Subject("other", "clinician")
    pronoun = next((key for key in keys[:4] if key in ("he", "she", "they")), None)
    if pronoun is not None and before.kind in ("family", "other") and before.pronoun in (pronoun, "they"):
        return UNCLEAR
    return PATIENT


def _named(keys: Sequence[str]) -> Subject | None:
    """The relative or other person that a clause is about, if any."""
    for place, key in enumerate(keys):
        if key in _RELATIVES and key != "family":
            kind: SubjectKind = "family"
            who, pronoun = _RELATIVES[key]
        elif key in _OTHERS:
            kind = "other"
            who, pronoun = _OTHERS[key]
        else:
            continue
        if place and keys[place - 1] in ("family",):
            continue
        lead = place - 1 if place and keys[place - 1] in _OWNERS else place
        back = keys[lead - 1] if lead else ""
        of_several = back == "of" and any(key in _SEVERAL for key in keys[: lead - 1])
        if any(key in _REPORTING for key in keys[place + 1 : place + 3]) or (back in _AWAY and not of_several):
            continue
        if back == "in" and place + 1 < len(keys) and keys[place + 1] in _REPORTING:
            continue
        patient_first = any(key in _PATIENT for key in keys[:lead])
        if patient_first and back not in ("in", "whose", "that", "say", "says"):
            continue
        if any(key in _WITHIN for key in keys[place + 1 :]):
            return UNCLEAR
        return Subject(kind, who, pronoun)
    return None
