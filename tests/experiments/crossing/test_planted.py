from __future__ import annotations

import re
from pathlib import Path

from experiments.crossing.planted import planted_corpus
from experiments.loading import PLANS
from splits import load_corpus
from splits.loaders import save_corpus
from students.overlap import word_overlap
from students.transport.planted import FRAGMENT, RESTATED, STATED


def test_the_bundled_corpus_is_the_one_that_is_made(tmp_path: Path) -> None:
    corpus, facts = save_corpus(planted_corpus(), tmp_path)
    for made in (corpus, facts):
        assert (PLANS / "planted" / made.name).read_bytes() == made.read_bytes()


def test_no_two_groups_share_a_word() -> None:
    corpus = planted_corpus(30)
    seen: set[str] = set()
    for group, examples in corpus.groups.items():
        words = {word for example in examples for word in re.findall(r"\w+", example.document.lower())} - {"note"}
        assert not words & seen, group
        seen |= words


def test_a_fragment_and_a_vaguer_wording_are_what_the_simulated_judge_takes_them_for() -> None:
    corpus = load_corpus(PLANS / "planted" / "corpus.jsonl", facts=PLANS / "planted" / "facts.jsonl")
    for example in corpus.examples:
        facts = {fact.id: fact.fact for fact in corpus.facts[example.group]}
        for name, fact in facts.items():
            overlap = word_overlap(fact, example.document)
            if name != example.fact:
                assert overlap >= STATED
            elif example.trace == "partial-weak":
                assert FRAGMENT <= overlap < RESTATED
            else:
                assert RESTATED <= overlap < STATED
