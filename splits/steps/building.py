"""From a corpus to notes whose every step has a label: clean notes, paraphrased ones and ones with one error each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from lineage.canonical import digest
from lineage.errors import CorpusError
from splits.corpus import Corpus, Example
from splits.steps.cutting import SteppedNote, cut
from splits.steps.dealing import StepParts
from splits.steps.flaws import ERRORS, LABELS_OF, ErrorKind
from splits.steps.injecting import inject
from splits.steps.known import META, flaw_of
from splits.steps.paraphrasing import paraphrase

MOST_DONORS: Final = 60
"""Foreign sentences that one note is offered, drawn from all of its part."""


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """What is built for each clean note.

    Args:
        errors: kinds of errors.
        copies: notes with an error of each kind.
        paraphrases: notes in other words.
        share: of the sentences that have other words, those that get them.
        twins: whether flawed notes of the corpus are taken too, where what is wrong with them is known step by step.
        seed: of all randomness; each note draws from a seed of its own, so that no note depends on another.
    """

    errors: tuple[ErrorKind, ...] = ERRORS
    copies: int = 1
    paraphrases: int = 1
    share: float = 0.5
    twins: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if unknown := [error for error in self.errors if error not in ERRORS]:
            raise CorpusError(f"there is no error {unknown[0]!r}; there are {', '.join(ERRORS)}")
        if self.copies < 0 or self.paraphrases < 0 or not 0 < self.share <= 1:
            raise CorpusError(
                f"copies and paraphrases must be at least 0 and share in (0, 1], got {self.copies}, "
                f"{self.paraphrases} and {self.share:g}"
            )

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "errors": list(self.errors),
            "copies": self.copies,
            "paraphrases": self.paraphrases,
            "share": self.share,
            "twins": self.twins,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True)
class BuiltSteps:
    """What was built.

    Attributes:
        parts: a corpus of each part, in Holdgate's form; a flawed example has its flaw in ``meta.steps``.
        unmade: how often no note could be made, by what was to be made.
        candidates: clean notes that nobody verified, whose steps are taken to be right.
    """

    parts: Mapping[str, Corpus]
    unmade: Mapping[str, int] = field(default_factory=dict)
    candidates: int = 0


def build_steps(corpus: Corpus, parts: StepParts, settings: BuildSettings) -> BuiltSteps:
    """Build the notes of every part.

    Of each group one clean note is taken, the one that has flawed twins where there is one. Foreign sentences come
    from other groups of the same part, so that no text crosses over.

    Raises:
        CorpusError: a part has no clean note.
    """
    unmade: Counter[str] = Counter()
    built: dict[str, Corpus] = {}
    candidates = 0
    for part, groups in parts.groups.items():
        clean = [note for group in groups if (note := _clean_note(corpus.groups[group])) is not None]
        if not clean:
            raise CorpusError(f"part {part} has no clean note, from which others could be made; give it other groups")
        candidates += sum(example.candidate for example in clean)
        notes = {example.id: cut(example.document) for example in clean}
        sentences = {
            example.group: [step.text for step in notes[example.id].texts if step.kind == "sentence"]
            for example in clean
        }
        made = [
            note
            for example in clean
            for note in _of_group(example, notes[example.id], sentences, corpus, settings, unmade)
        ]
        built[part] = Corpus(tuple(made), {group: corpus.facts[group] for group in groups if group in corpus.facts})
    return BuiltSteps(built, dict(sorted(unmade.items())), candidates)


def _clean_note(examples: Sequence[Example]) -> Example | None:
    """The clean note that most flawed ones name as their twin, the first of equals."""
    twins = Counter(example.twin for example in examples if example.twin is not None)
    clean = [example for example in examples if example.label == "clean" and META not in example.meta]
    return max(clean, key=lambda example: twins[example.id], default=None)


def _of_group(
    clean: Example,
    note: SteppedNote,
    sentences: Mapping[str, Sequence[str]],
    corpus: Corpus,
    settings: BuildSettings,
    unmade: Counter[str],
) -> Iterator[Example]:
    """The clean note of a group, and everything that is made from it."""
    yield replace(clean, meta={**clean.meta, "origin": "clean"})
    for number in range(1, settings.paraphrases + 1):
        said = paraphrase(note, share=settings.share, rng=_rng(settings.seed, clean.id, "paraphrase", number))
        if said is None:
            unmade["paraphrase"] += 1
            continue
        yield replace(
            clean,
            id=f"{clean.id}.paraphrase{number}",
            document=said.document,
            meta={**clean.meta, "origin": "paraphrase", "of": clean.id, "seed": settings.seed},
        )
    foreign = [text for group in sorted(sentences) if group != clean.group for text in sentences[group]]
    for error in settings.errors:
        label, kind = LABELS_OF[error]
        seen: set[str] = set()
        for number in range(1, settings.copies + 1):
            rng = _rng(settings.seed, clean.id, error, number)
            chosen = rng.permutation(len(foreign))[:MOST_DONORS]
            donors = [foreign[place] for place in sorted(chosen.tolist())] if error == "hallucination" else []
            found = inject(note, error, source=clean.source, donors=donors, rng=rng)
            if found is None or found.document in seen:
                unmade[error] += 1
                continue
            seen.add(found.document)
            yield replace(
                clean,
                id=f"{clean.id}.{error}{number}",
                document=found.document,
                label=label,
                kind=kind,
                twin=clean.id,
                meta={
                    **{name: value for name, value in clean.meta.items() if name != "clean"},
                    META: found.flaw.row(),
                    "origin": "injected",
                    "rule": found.rule,
                    "seed": settings.seed,
                },
            )
    if settings.twins:
        yield from _twins(clean, corpus)


def _twins(clean: Example, corpus: Corpus) -> Iterator[Example]:
    """Flawed notes of the corpus itself whose flaw is known to the step."""
    for example in corpus.groups[clean.group]:
        flaw = flaw_of(example, corpus)
        if example.twin != clean.id or flaw is None or not flaw.located or flaw.complete is None:
            continue
        yield replace(example, meta={**example.meta, META: flaw.row(), "origin": "twin"})


def _rng(seed: int, *named: str | int) -> np.random.Generator:
    """A generator of one note: what else is built does not change what it draws."""
    return np.random.default_rng([seed, int(digest(list(named))[:16], 16)])
