"""A baseline without a language model: the similarity of each fact with the document's sentences, by static embeddings.

The embedding of a text is the mean of its tokens' vectors; there is no network, and words have no context. The vectors
and their tokenizer are files of the package ``wordllama``. It would look for the tokenizer on a hub; both are read here
where they lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from lineage.errors import ModelError
from splits.corpus import Fact

EMBEDDING: Final = "l2_supercat_256"
"""Name of the vectors, of 256 dimensions."""
ROUNDED: Final = 6
"""Decimals of a similarity; sums of 32-bit numbers differ beyond them from one machine to another."""

Vectors = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SentenceEmbedder:
    """Embeds texts as unit vectors.

    Args:
        vectors: shape (n_tokens, n_dimensions).
        tokenizer: the tokenizer that numbers the rows of ``vectors``.
    """

    vectors: npt.NDArray[np.float32]
    tokenizer: object

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (n_texts, n_dimensions); a text without a token has the zero vector."""
        rows = []
        for encoded in self.tokenizer.encode_batch(list(texts), add_special_tokens=False):  # type: ignore[attr-defined]
            ids = np.clip(np.asarray(encoded.ids, dtype=np.int64), 0, len(self.vectors) - 1)
            rows.append(self.vectors[ids].astype(np.float64).mean(axis=0) if len(ids) else np.zeros(self._dimensions))
        found = np.asarray(rows, dtype=np.float64).reshape(len(rows), self._dimensions)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0))

    @property
    def _dimensions(self) -> int:
        return int(self.vectors.shape[1])


@lru_cache(maxsize=1)
def sentence_embedder() -> SentenceEmbedder:
    """The embedder, read from the package's files once.

    Raises:
        ModelError: the package is not installed, or lacks the files.
    """
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    spec = find_spec("wordllama")
    home = Path(spec.origin).parent if spec is not None and spec.origin is not None else Path("wordllama")
    weights = home / "weights" / f"{EMBEDDING}.safetensors"
    tokens = home / "tokenizers" / f"{EMBEDDING.removesuffix('_256')}_tokenizer_config.json"
    if not weights.is_file() or not tokens.is_file():
        raise ModelError(f"{weights} or {tokens.name} is missing; install the package wordllama again")
    (vectors,) = load_file(weights).values()
    return SentenceEmbedder(np.asarray(vectors, dtype=np.float32), Tokenizer.from_file(str(tokens)))


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a text, each line by itself."""
    import sentencex

    found = (part.strip() for line in text.splitlines() for part in sentencex.segment("en", line))
    return tuple(part for part in found if part)


def embedding_score(facts: Sequence[Fact], document: str, embedder: SentenceEmbedder) -> float:
    """Mean over the facts of the greatest cosine with a sentence of the document, in [-1, 1]; higher is better.

    It measures closeness of wording, and a negation or another number hardly moves it.

    Raises:
        ValueError: there are no facts, or the document has no sentence.
    """
    sentences = sentences_of(document)
    if not facts or not sentences:
        raise ValueError("similarity is undefined without facts and sentences")
    cosines = embedder.embed([fact.fact for fact in facts]) @ embedder.embed(sentences).T
    return round(float(np.round(cosines.max(axis=1), ROUNDED).mean()), ROUNDED)
