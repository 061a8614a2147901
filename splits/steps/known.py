"""What is known to be wrong with an example of any corpus: built, paired with its clean twin, or judged by people."""

from __future__ import annotations

import re
from typing import Final

from splits.corpus import Corpus, Example
from splits.steps.comparing import flaw_by_difference
from splits.steps.flaws import LABELS_OF, ErrorKind, Flaw

META: Final = "steps"
"""Key of ``meta`` under which a built example has its flaw."""

_BY_KIND: Final[dict[str, ErrorKind]] = {
    "change": "factual-inaccuracy",
    "add": "hallucination",
    "omit": "incompleteness",
}
assert set(_BY_KIND) == {kind for _, kind in LABELS_OF.values()}


def flaw_of(example: Example, corpus: Corpus) -> Flaw | None:
    """The flaw of an example, None for a clean one.

    A built example says itself what its flaw is. Elsewhere people marked the wrong sentence (``meta.error``), or judged
    the statements of the note one by one (``meta.incorrect``; statements that they did not judge cannot be told from
    those they found right). Otherwise a flawed note is compared with its clean twin. What is left is known to be flawed
    and no more.

    Raises:
        CorpusError: what a built example says of itself is damaged.
    """
    if example.label == "clean":
        return None
    if META in example.meta:
        return Flaw.from_row(example.meta[META], where=example.id)
    error = _BY_KIND[example.kind]
    if isinstance(marked := example.meta.get("error"), str) and (spans := spans_of(marked, example.document)):
        return Flaw(error, wrong=spans)
    if isinstance(judged := example.meta.get("incorrect"), list):
        places = tuple(span for text in judged for span in spans_of(str(text), example.document))
        return Flaw(error, wrong=places, complete=None, problems=False, located=bool(places))
    if example.twin is not None:
        twin = corpus.by_id[example.twin]
        return flaw_by_difference(example.document, twin.document, error=error, trace=example.trace)
    return Flaw(error, complete=False if error == "incompleteness" else None, problems=False, located=False)


def spans_of(text: str, document: str) -> tuple[tuple[int, int], ...]:
    """Where a text first stands in a document, white space aside; nothing where it does not."""
    words = text.split()
    found = re.search(r"\s+".join(map(re.escape, words)), document) if words else None
    return () if found is None else (found.span(),)
