"""What the trials of a study are given: reflect and accept examples, and codes by which held-out text is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lineage.canonical import canonical_json
from lineage.ledger import Ledger
from splits.contamination import ContaminationCheck, NgramIndex, SplitSignatures
from splits.corpus import Corpus
from splits.lock import SplitLock, split_examples, without_text
from splits.seal import Seal

CALLER: Final = "optimize.sweep"
"""Who asks the seal for codes of held-out text; it is never opened."""


@dataclass(frozen=True, slots=True)
class StudyData:
    """The examples of a study. No held-out example is among them, nor can be reached from here.

    Attributes:
        reflect: reflect examples.
        accept: accept examples.
        forbidden: hashes of what no prompt may repeat, of held-out and of accept text.
        check: knows accept and held-out text again.
        corpus_hash: of the whole corpus.
        lock_hash: of the split lock.
        structure: the examples without their texts, one JSON line each.
    """

    reflect: Corpus
    accept: Corpus
    forbidden: NgramIndex
    check: ContaminationCheck
    corpus_hash: str
    lock_hash: str
    structure: str

    @classmethod
    def of(cls, corpus: Corpus, lock: SplitLock, ledger: Ledger) -> StudyData:
        """The reflect and accept parts of a corpus.

        Args:
            corpus: the whole corpus.
            lock: its split lock.
            ledger: of the worker; the seal logs openings there, and there are none.
        """
        seal = Seal(corpus, lock, ledger, target="study", caller=CALLER)
        reflect, accept = (corpus.part(split_examples(lock, corpus, split)) for split in ("reflect", "accept"))
        heldout = seal.ngrams()
        texts = {text for example in accept.examples for text in (example.document, example.source)}
        rows = [
            {**_row(part, place), "split": name}
            for name, part in (("reflect", reflect), ("accept", accept))
            for place in range(len(part.examples))
        ]
        return cls(
            reflect,
            accept,
            NgramIndex(heldout.size, heldout.hashes | NgramIndex.of(texts, size=heldout.size).hashes),
            ContaminationCheck(reflect, [SplitSignatures(accept, split="accept"), seal.signatures()]),
            corpus.hash,
            lock.hash,
            "".join(canonical_json(row) + "\n" for row in sorted(rows, key=lambda row: str(row["id"]))),
        )


def _row(part: Corpus, place: int) -> dict[str, object]:
    example = without_text(part.examples[place], part)
    fields = ("id", "group", "stratum", "label", "kind", "severity", "trace", "twin", "cohort", "fact")
    mark = {"meta": {"clean": "candidate"}} if example.candidate else {}
    return {**{name: getattr(example, name) for name in fields}, **mark}
