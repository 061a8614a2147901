"""A baseline without a language model: the share of a fact's content words that stand in the document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from splits.corpus import Fact

_FUNCTION_WORDS: Final = frozenset(
    "a an the and or of to in on at by for with from as is are was were be been has have had no not he she it "  # noqa: SIM905
    "his her they them their that this than but who which since about patient".split()
)


def content_words(text: str) -> frozenset[str]:
    """Lower-cased words of a text, cut to their first six letters so that endings matter less; numbers whole."""
    words = re.findall(r"[a-z]+|\d+(?:\.\d+)?", text.lower())
    return frozenset(word if word[0].isdigit() else word[:6] for word in words if word not in _FUNCTION_WORDS)


def word_overlap(text: str, document: str) -> float:
    """Share of the content words of ``text`` that occur in ``document``, in [0, 1]."""
    wanted = content_words(text)
    return len(wanted & content_words(document)) / len(wanted) if wanted else 0.0


def overlap_score(facts: Sequence[Fact], document: str) -> float:
    """Mean word overlap of the facts with a document, in [0, 1]; higher means more of the facts' words are there."""
    found = content_words(document)
    shares = []
    for fact in facts:
        wanted = content_words(fact.fact)
        shares.append(Fraction(len(wanted & found), len(wanted)) if wanted else Fraction(0))
    return float(sum(shares, Fraction(0)) / len(shares))
