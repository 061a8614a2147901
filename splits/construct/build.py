"""Writing a constructed corpus: examples, facts and the site map, byte for byte the same from equal sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lineage.canonical import canonical_json, write_atomic
from splits.construct.pairs import build_corpus
from splits.construct.source import ConsultationSource, read_sources
from splits.corpus import Corpus
from splits.loaders import save_corpus


def build_files(directory: Path) -> Corpus:
    """Build ``corpus.jsonl``, ``facts.jsonl`` and ``sites.jsonl`` from ``sources/*.yaml`` in ``directory``."""
    sources = read_sources(directory / "sources")
    corpus = build_corpus(sources)
    save_corpus(corpus, directory)
    write_atomic(directory / "sites.jsonl", site_lines(sources))
    return corpus


def site_lines(sources: Sequence[ConsultationSource]) -> str:
    """JSON lines of every site: group, fact, strength, start and end offset in the clean note, heading, text."""
    return "".join(
        canonical_json(
            {
                "group": source.group,
                "fact": site.fact,
                "strength": site.strength,
                "start": site.start,
                "end": site.end,
                "heading": site.heading,
                "text": site.text,
            }
        )
        + "\n"
        for source in sources
        for site in source.sites
    )
