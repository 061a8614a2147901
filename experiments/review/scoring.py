"""Answers joined to the key: rates with intervals, agreement beyond chance, counts; abstentions stay what they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from experiments.review.answers import Answers, check_reviewers
from experiments.review.joined import Confusion, Joined, Rate, agreement_row, confusion, joined_items, rate
from experiments.review.key import Key
from experiments.review.questions import CANNOT_TELL, DOCUMENTS, FLAGS, QUESTIONS, SEVERITY
from experiments.review.wording import blinding_words, run_words
from lineage.errors import InputError
from optimize.stats import Agreement, check_level, cohen_kappa, rating_table

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SectionScore:
    """One reviewer's answers to one section.

    Attributes:
        section: its name.
        counts: how often each answer was given, ``cannot-tell`` among them, and ``missing`` for none.
        rates: of items that were answered; who abstained is counted beside them, in neither part of a fraction.
        agreements: beyond chance, by what with.
        confusions: counts of what is on record against what was answered, abstentions in a column of their own.
    """

    section: str
    counts: Mapping[str, int]
    rates: tuple[Rate, ...]
    agreements: Mapping[str, Agreement]
    confusions: tuple[Confusion, ...]

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "section": self.section,
            "counts": dict(self.counts),
            "rates": [one.row() for one in self.rates],
            "agreements": {name: agreement_row(one) for name, one in self.agreements.items()},
            "confusions": [one.row() for one in self.confusions],
        }


@dataclass(frozen=True, slots=True)
class ReviewScore:
    """What a review came to.

    Its rates are of the pack: strata were drawn from evenly, so that rare ones are seen, and the same rates over the
    whole run are others.

    Attributes:
        words: what was blinded, and what else limits it.
        reviewers: each reviewer's sections, by name.
        between: agreement of each two reviewers, by section.
    """

    words: tuple[str, ...]
    reviewers: Mapping[str, tuple[SectionScore, ...]]
    between: Mapping[tuple[str, str], Mapping[str, Agreement]]

    def row(self) -> dict[str, Any]:
        """The JSON form; undefined numbers are null with a reason."""
        return {
            "words": list(self.words),
            "reviewers": {name: [one.row() for one in sections] for name, sections in self.reviewers.items()},
            "between": [
                {"reviewers": list(names), "agreements": {name: agreement_row(one) for name, one in found.items()}}
                for names, found in self.between.items()
            ],
        }


def score_review(key: Key, answers: Sequence[Answers], *, level: float = 0.95) -> ReviewScore:
    """Join answers to their key.

    Args:
        key: of the pack.
        answers: one file a reviewer, checked against the key.
        level: of the intervals, in (0, 1).

    Raises:
        InputError: there are no answers, or two files of one person.
    """
    check_level(level)
    if not answers:
        raise InputError("there are no answers to score; give the files that the form saved")
    check_reviewers(answers)
    scored = {
        one.reviewer: tuple(_section(section, joined_items(key, one, section), level=level) for section in key.sections)
        for one in answers
    }
    between = {
        (first.reviewer, second.reviewer): {
            section: _between(key, first, second, section, level=level) for section in key.sections
        }
        for first, second in combinations(answers, 2)
    }
    words = (*run_words(key), *blinding_words(key), *_missing_words(answers))
    return ReviewScore(words, scored, between)


def _section(section: str, items: Sequence[Joined], *, level: float) -> SectionScore:
    question = QUESTIONS[section]
    given = Counter(item.answer or "missing" for item in items)
    counts = {name: given[name] for name in (*(name for name, _ in question.answers), "missing") if name in given}
    parts = {DOCUMENTS.section: _documents, SEVERITY.section: _severity, FLAGS.section: _flags}[section]
    rates: list[Rate] = []
    agreements: dict[str, Agreement] = {}
    confusions: list[Confusion] = []
    for part in parts(items, level):
        match part:
            case Rate():
                rates.append(part)
            case Confusion():
                confusions.append(part)
            case (str(name), Agreement() as found):
                agreements[name] = found
    return SectionScore(section, counts, tuple(rates), agreements, tuple(confusions))


Part = Rate | Confusion | tuple[str, Agreement]


def _documents(items: Sequence[Joined], level: float) -> Iterator[Part]:
    """What the reader found against how the document was made, and against what each judge flags."""
    made = DOCUMENTS.categories
    yield confusion("made as (rows), read as (columns)", items, "label", made, DOCUMENTS)
    yield rate("read as it was made", items, lambda item: item.answer == item.truth["label"], level=level)
    yield "how documents were made", _kappa(items, "label", made, level=level)
    judges = sorted({name for item in items for name in item.truth["flags"]})
    for judge in judges:
        decided = [item.flagged_by(judge) for item in items if item.truth["flags"].get(judge) is not None]
        flawed = [item for item in decided if item.answer != "clean"]
        clean = [item for item in decided if item.answer in ("clean", CANNOT_TELL, None)]
        yield confusion(f"{judge} (rows), read as (columns)", decided, "said", ("flagged", "not flagged"), DOCUMENTS)
        yield rate(f"{judge} flags what is read as flawed", flawed, lambda item: item.said == "flagged", level=level)
        yield rate(f"{judge} flags what is read as clean", clean, lambda item: item.said == "flagged", level=level)
        told = [item for item in decided if item.decided]
        yield (
            f"{judge}, flawed or not",
            _two(
                [item.said == "flagged" for item in told],
                [item.answer != "clean" for item in told],
                [item.group for item in told],
                level=level,
            ),
        )
        differ = [item for item in decided if item.stratum.startswith("judges differ")]
        if differ:
            name = f"{judge} is right where judges differ"
            yield rate(name, differ, lambda item: (item.said == "flagged") == (item.answer != "clean"), level=level)


def _severity(items: Sequence[Joined], level: float) -> Iterator[Part]:
    """The grade on record against the reader's, for each who graded."""
    for grader in sorted({item.truth["grader"] for item in items}):
        mine = [item for item in items if item.truth["grader"] == grader]
        yield confusion(
            f"graded by {grader} (rows), by the reader (columns)", mine, "grade", SEVERITY.categories, SEVERITY
        )
        yield rate(f"same grade as {grader}", mine, lambda item: item.answer == item.truth["grade"], level=level)
        yield f"{grader}, linear weights", _kappa(mine, "grade", SEVERITY.categories, level=level, ordered=True)


def _flags(items: Sequence[Joined], level: float) -> Iterator[Part]:
    """What each judge claimed, and did not claim, to be missing."""
    for judge in sorted({item.truth["judge"] for item in items}):
        mine = [item.claimed() for item in items if item.truth["judge"] == judge]
        fired = [item for item in mine if item.truth["fired"]]
        silent = [item for item in mine if not item.truth["fired"]]
        yield confusion(f"{judge} (rows), the claim is (columns)", mine, "said", ("claimed", "not claimed"), FLAGS)
        yield rate(f"{judge}: claims that are right", fired, lambda item: item.answer == "right", level=level)
        yield rate(
            f"{judge}: facts not claimed that are missing", silent, lambda item: item.answer == "right", level=level
        )
        told = [item for item in mine if item.decided]
        yield (
            f"{judge}, missing or not",
            _two(
                [bool(item.truth["fired"]) for item in told],
                [item.answer == "right" for item in told],
                [item.group for item in told],
                level=level,
            ),
        )


def _kappa(
    items: Sequence[Joined], field: str, categories: Sequence[str], *, level: float, ordered: bool = False
) -> Agreement:
    """Agreement of what is on record with the answers that decide."""
    told = [item for item in items if item.decided]
    table = rating_table(
        [item.truth[field] for item in told],
        [item.answer or "" for item in told],
        categories=categories,
        groups=[item.group for item in told],
    )
    return cohen_kappa(table, weights="linear" if ordered else None, level=level)


def _two(first: Sequence[bool], second: Sequence[bool], groups: Sequence[str], *, level: float) -> Agreement:
    names = {True: "yes", False: "no"}
    table = rating_table(
        [names[one] for one in first], [names[one] for one in second], categories=("yes", "no"), groups=groups
    )
    return cohen_kappa(table, level=level)


def _between(key: Key, first: Answers, second: Answers, section: str, *, level: float) -> Agreement:
    """Agreement of two reviewers on what both decided."""
    ours, theirs = (joined_items(key, one, section) for one in (first, second))
    both = [(mine, other) for mine, other in zip(ours, theirs, strict=True) if mine.decided and other.decided]
    table = rating_table(
        [mine.answer or "" for mine, _ in both],
        [other.answer or "" for _, other in both],
        categories=QUESTIONS[section].categories,
        groups=[mine.group for mine, _ in both],
    )
    return cohen_kappa(table, weights="linear" if section == SEVERITY.section else None, level=level)


def _missing_words(answers: Sequence[Answers]) -> Iterator[str]:
    for one in answers:
        if one.missing:
            yield f"{one.reviewer} left {len(one.missing)} items without an answer; no rate counts them."
