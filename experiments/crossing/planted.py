"""The invented corpus of the bundled simulated experiments: two facts a group, a fragment of one, a vaguer other.

No two groups share a word, and no word has a meaning, so that nothing but the judge's formula tells documents apart. A
simulated judge takes the fragment and the vaguer wording for the facts, until its instruction says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from splits.corpus import Corpus, Example, Fact

GROUPS: Final = 96
WORDS: Final = 5
"""Words of a fact; of a fragment two are left, of a vaguer wording four."""
_ONSETS, _VOWELS = "bdfgklmnprstvz", "aeiou"


def planted_corpus(groups: int = GROUPS) -> Corpus:
    """The corpus, the same every time."""
    words = _words(groups * 2 * WORDS)
    examples: list[Example] = []
    facts: dict[str, tuple[Fact, ...]] = {}
    for number in range(1, groups + 1):
        group = f"inv-{number:03d}"
        said = [[next(words) for _ in range(WORDS)] for _ in range(2)]
        facts[group] = tuple(
            Fact(f"f{place}", group, f"{' '.join(each).capitalize()}.", (" ".join(each),), "critical", True)
            for place, each in enumerate(said, start=1)
        )
        source = "\n".join(f"Patient: {' '.join(each)}." for each in said)
        for name, kept in (("clean", (WORDS, WORDS)), ("fragment", (2, WORDS)), ("vaguer", (WORDS, 4))):
            lines = [f"- {' '.join(each[:count])}." for each, count in zip(said, kept, strict=True)]
            flaw = {"fragment": ("partial-weak", "f1"), "vaguer": ("partial-strong", "f2")}.get(name)
            examples.append(
                Example(
                    id=f"{group}.{name}",
                    group=group,
                    stratum="invented",
                    source=source,
                    document="\n".join(["NOTE", *lines]),
                    label="clean" if flaw is None else "omission",
                    kind="clean" if flaw is None else "omit",
                    severity=None if flaw is None else "critical",
                    trace=None if flaw is None else flaw[0],
                    twin=None if flaw is None else f"{group}.clean",
                    fact=None if flaw is None else flaw[1],
                )
            )
    return Corpus(tuple(examples), facts)


def _words(count: int) -> Iterator[str]:
    """Words of three syllables that mean nothing, each once."""
    syllables = [onset + vowel for onset in _ONSETS for vowel in _VOWELS]
    drawn = np.random.default_rng(20260107).permutation(len(syllables) ** 3)[:count]
    for number in drawn.tolist():
        high, low = divmod(number, len(syllables))
        higher, middle = divmod(high, len(syllables))
        yield syllables[higher] + syllables[middle] + syllables[low]
