"""A file of answers, checked against the key before anything is counted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from experiments.review.key import Key
from experiments.review.questions import QUESTIONS
from lineage.errors import InputError

FORMAT: Final = "holdgate review answers 1"


@dataclass(frozen=True, slots=True)
class Answers:
    """What one person answered.

    Attributes:
        path: of the file.
        reviewer: who.
        given: the answer to each item that has one, those who could not tell among them.
        notes: what they wrote beside items, where they did.
        missing: items without an answer, in order.
    """

    path: Path
    reviewer: str
    given: Mapping[str, str]
    notes: Mapping[str, str]
    missing: tuple[str, ...]


def read_answers(path: Path, key: Key, *, partial: bool = False) -> Answers:
    """Read and check a file of answers.

    Args:
        path: of the file that the form saved.
        key: of its pack.
        partial: whether items may lack an answer.

    Raises:
        InputError: the file is no file of answers, or of another pack or key, has an item or an answer that there is
            not, lacks answers, or does not say whose it is.
    """
    try:
        row = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once)
        stated, pack, commitment, reviewer, answers = (
            row[name] for name in ("format", "pack", "key", "reviewer", "answers")
        )
        pairs = {str(name): (given["answer"], given.get("note", "")) for name, given in answers.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: is not a file of answers ({error}); give the file that the form saved") from error
    if stated != FORMAT:
        raise InputError(f"{path}: has the format {stated!r}, and this version reads {FORMAT!r}")
    if pack != key.pack:
        raise InputError(f"{path}: answers another pack, {str(pack)[:12]}; the key is that of pack {key.pack[:12]}")
    if commitment != key.commitment:
        raise InputError(
            f"{path}: was answered to a pack whose key had the hash {str(commitment)[:12]}; this key has "
            f"{key.commitment[:12]}: it was changed after the pack was made"
        )
    if not isinstance(reviewer, str) or not reviewer.strip():
        raise InputError(f"{path}: does not say whose answers they are; load it into the form, give a name, save it")
    given: dict[str, str] = {}
    notes: dict[str, str] = {}
    for name, (answer, note) in pairs.items():
        if name not in key.items:
            raise InputError(f"{path}: answers {name!r}, which is no item of the pack; it was edited or made elsewhere")
        allowed = [one for one, _ in QUESTIONS[key.items[name]["section"]].answers]
        if answer is not None and answer not in allowed:
            raise InputError(f"{path}: {name} has the answer {answer!r}; it must be one of {', '.join(allowed)}")
        if not isinstance(note, str):
            raise InputError(f"{path}: the note on {name} is no text, but {type(note).__name__}")
        if answer is not None:
            given[name] = answer
        if note.strip():
            notes[name] = note.strip()
    missing = tuple(name for name in key.items if name not in given)
    if missing and not partial:
        shown = ", ".join(missing[:8]) + (", …" if len(missing) > 8 else "")
        raise InputError(
            f"{path}: {len(missing)} of {len(key.items)} items have no answer ({shown}); load the file into the form "
            "and answer them, or count what there is with --partial"
        )
    if not given:
        raise InputError(f"{path}: has no answer at all")
    return Answers(path, reviewer.strip(), given, notes, missing)


def check_reviewers(all_answers: Sequence[Answers]) -> None:
    """Refuse two files of one person.

    Raises:
        InputError: naming both.
    """
    seen: dict[str, Path] = {}
    for answers in all_answers:
        name = answers.reviewer.casefold()
        if name in seen:
            raise InputError(
                f"{seen[name]} and {answers.path} are both answers of {answers.reviewer!r}; give the one that counts, "
                "or have two people of one name tell themselves apart"
            )
        seen[name] = answers.path


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names all stand once; of two answers to an item, JSON would keep the last without a word."""
    names = [name for name, _ in pairs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{twice[0]!r} stands in it twice")
    return dict(pairs)
