"""Near-duplicates have the similarity that is said of them, and none that is clear is missed."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import InputError
from splits import Corpus
from splits.minhash import Banding, candidates, estimated, signatures
from splits.near_duplicates import (
    LEAST_WORDS,
    SHINGLE_WORDS,
    THRESHOLD,
    NearDuplicate,
    near_duplicate_groups,
    near_duplicate_links,
    near_duplicates,
)
from splits.shingles import Shingler, words_of

texts = st.lists(st.lists(st.sampled_from("abcd"), max_size=9).map(" ".join), max_size=8)


def shingles(text: str) -> set[tuple[str, ...]]:
    """Sets of runs of words, made without any hash."""
    words = words_of(text)
    size = min(SHINGLE_WORDS, len(words))
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)} if words else set()


def jaccard(a: str, b: str) -> float:
    mine, other = shingles(a), shingles(b)
    return len(mine & other) / len(mine | other) if mine | other else 0.0


def named(found: list[str]) -> dict[str, str]:
    return {f"t{number}": text for number, text in enumerate(found)}


def overlapping(similarity: float, rng: random.Random, *, size: int = 60) -> tuple[str, str]:
    """Two texts of single-use words whose sets of shingles have about the similarity."""
    gap = SHINGLE_WORDS - 1
    shared = round(2 * (size - gap) * similarity / (1 + similarity)) + gap
    words = [f"w{rng.getrandbits(60)}" for _ in range(2 * size)]
    return " ".join(words[:size]), " ".join(words[:shared] + words[size : 2 * size - shared])


@given(found=texts, threshold=st.sampled_from([0.2, 0.5, 0.9, 1.0]))
@settings(max_examples=40, deadline=None)
def test_every_pair_has_its_exact_similarity_and_no_clear_pair_is_missed(found: list[str], threshold: float) -> None:
    made = named(found)
    pairs = {(pair.a, pair.b): pair.similarity for pair in near_duplicates(made, threshold=threshold)}
    for (a, b), similarity in pairs.items():
        assert a < b
        assert similarity == jaccard(made[a], made[b]) >= threshold
    clear = {
        (a, b)
        for a, b in combinations(sorted(made), 2)
        if jaccard(made[a], made[b]) >= min(1.0, threshold + 0.35) and shingles(made[a])
    }
    assert clear <= set(pairs)


@given(found=texts, order=st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_the_order_of_the_texts_changes_nothing(found: list[str], order: random.Random) -> None:
    made = named(found)
    items = list(made.items())
    order.shuffle(items)
    assert near_duplicates(dict(items)) == near_duplicates(made)


@given(found=texts, groups=st.lists(st.sampled_from("xyz"), min_size=8, max_size=8))
@settings(max_examples=30, deadline=None)
def test_links_connect_the_groups_that_pairs_connect_and_none_is_superfluous(
    found: list[str], groups: list[str]
) -> None:
    made = named(found)
    of = dict(zip(made, groups, strict=False))
    pairs = near_duplicates(made, groups=of)
    links = near_duplicate_links(made, groups=of)
    assert set(links) <= set(pairs)
    assert all(of[pair.a] != of[pair.b] for pair in pairs)
    everything = set(of.values())
    assert components(everything, links, of) == components(everything, pairs, of)
    assert len(links) == len(everything) - len(components(everything, links, of))


def components(names: set[str], pairs: tuple[NearDuplicate, ...], of: Mapping[str, str]) -> set[frozenset[str]]:
    sets = {name: frozenset([name]) for name in names}
    for pair in pairs:
        joined = sets[of[pair.a]] | sets[of[pair.b]]
        sets |= dict.fromkeys(joined, joined)
    return set(sets.values())


@pytest.mark.parametrize("similarity", [0.1, 0.4, 0.7, 1.0])
def test_signatures_agree_as_often_as_the_sets_are_similar(similarity: float) -> None:
    rng = random.Random(4)
    pairs = [overlapping(similarity, rng) for _ in range(200)]
    shingler = Shingler(SHINGLE_WORDS)
    found = signatures([shingler.shingles(text) for pair in pairs for text in pair], n_hashes=120)
    left = np.arange(0, 400, 2)
    agreed = estimated(found, left, left + 1).mean()
    exact = np.mean([jaccard(*pair) for pair in pairs])
    spread = math.sqrt(max(exact * (1 - exact), 1e-9) / (120 * 200))
    assert abs(agreed - exact) <= 5 * spread


@pytest.mark.parametrize("similarity", [0.2, 0.4, 0.8])
def test_pairs_just_at_the_threshold_are_found_about_as_often_as_promised(similarity: float) -> None:
    rng = random.Random(11)
    pairs = [overlapping(similarity, rng) for _ in range(200)]
    threshold = jaccard(*pairs[0])
    assert {jaccard(*pair) for pair in pairs} == {threshold}
    assert threshold == pytest.approx(similarity, abs=0.02)
    made = {
        f"{number:03d}{side}": text for number, pair in enumerate(pairs) for side, text in zip("ab", pair, strict=True)
    }
    found = near_duplicates(made, threshold=threshold)
    assert all(pair.a[:3] == pair.b[:3] for pair in found)
    assert len(found) >= 0.96 * len(pairs)


def test_unrelated_texts_hardly_ever_become_candidates() -> None:
    rng = random.Random(5)
    shingler = Shingler(SHINGLE_WORDS)
    codes = [shingler.shingles(text) for _ in range(150) for text in overlapping(0.02, rng)]
    banding = Banding.at(THRESHOLD)
    own = np.arange(len(codes))
    formed = sum(
        len(left) for left, _ in candidates(signatures(codes, n_hashes=banding.n_hashes), banding, lambda at: own[at])
    )
    assert formed < len(codes) * (len(codes) - 1) / 2 * 0.01


@pytest.mark.parametrize("threshold", [0.05, 0.2, 0.4, 0.7, 0.95, 1.0])
def test_a_banding_keeps_its_promise_within_its_hashes(threshold: float) -> None:
    banding = Banding.at(threshold)
    assert 1 - (1 - threshold**banding.rows) ** banding.bands >= 0.99
    assert banding.n_hashes <= 240


def test_a_thousand_equal_texts_are_tied_together_without_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {f"t{number}": "one and the same text for all of them" for number in range(1000)}
    measured = []
    monkeypatch.setattr(
        "splits.near_duplicates.estimated", lambda found, a, b: measured.append(len(a)) or np.ones(len(a))
    )
    links = near_duplicate_links(made, groups={key: key for key in made})
    assert len(links) == 999
    assert sum(measured) < 2000


@pytest.mark.parametrize("text", ["", "...", " \n"])
def test_texts_without_a_word_are_similar_to_nothing(text: str) -> None:
    assert near_duplicates({"a": text, "b": text}) == ()


def test_short_texts_are_similar_to_equal_words_alone() -> None:
    found = near_duplicates({"a": "No change.", "b": "no CHANGE", "c": "no", "d": "no change today"})
    assert found == (NearDuplicate("a", "b", 1.0),)


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, math.nan])
def test_a_threshold_that_is_no_similarity_is_refused(threshold: float) -> None:
    with pytest.raises(InputError, match=r"threshold is a Jaccard similarity in \(0, 1\]"):
        near_duplicates({}, threshold=threshold)


def test_the_bundled_corpus_has_no_near_duplicate_groups(consults: Corpus) -> None:
    assert near_duplicate_groups(consults) == ()


@pytest.mark.parametrize("field", ["document", "source"])
def test_a_copied_document_or_source_with_small_changes_ties_two_groups(consults: Corpus, field: str) -> None:
    given, taken = consults.groups["tel-03"][0], consults.groups["us-07"][0]
    copied = " ".join("indeed" if n % 12 == 5 else word for n, word in enumerate(getattr(taken, field).split()))
    changed = {given.id: dataclasses.replace(given, **{field: copied})}
    corpus = Corpus(tuple(changed.get(ex.id, ex) for ex in consults.examples), consults.facts)
    assert near_duplicate_groups(corpus) == (frozenset({"tel-03", "us-07"}),)


def test_short_documents_tie_no_groups_and_short_sources_do(grow: Callable[..., Corpus]) -> None:
    corpus = grow([3])
    corpus = Corpus(tuple(dataclasses.replace(ex, source=f"About {ex.group}") for ex in corpus.examples), {})
    said = {"g000": "None, as far as anyone can tell.", "g001": "None, as far as anyone can tell."}
    answered = [dataclasses.replace(ex, document=said.get(ex.group, ex.document)) for ex in corpus.examples]
    assert len(words_of(said["g000"])) == LEAST_WORDS - 1
    assert near_duplicate_groups(Corpus(tuple(answered), {})) == ()
    longer = [dataclasses.replace(ex, document=f"{ex.document} Really.") for ex in answered]
    assert near_duplicate_groups(Corpus(tuple(longer), {})) == (frozenset({"g000", "g001"}),)
    asked = [dataclasses.replace(ex, source=said.get(ex.group, ex.source)) for ex in corpus.examples]
    assert near_duplicate_groups(Corpus(tuple(asked), {})) == (frozenset({"g000", "g001"}),)


def test_groups_are_tied_by_way_of_a_third(grow: Callable[..., Corpus]) -> None:
    corpus = grow([4])
    shared = [" ".join(f"w{n}" for n in range(start, start + 40)) for start in (0, 12, 24)]
    names = sorted(corpus.groups)[:3]
    placed = dict(zip(names, shared, strict=True))
    examples = tuple(
        dataclasses.replace(
            ex, source=placed.get(ex.group, f"quite another source {ex.group}"), document=f"{ex.id} only"
        )
        for ex in corpus.examples
    )
    assert jaccard(shared[0], shared[2]) < THRESHOLD < jaccard(shared[0], shared[1])
    assert near_duplicate_groups(Corpus(examples, {})) == (frozenset(names),)
