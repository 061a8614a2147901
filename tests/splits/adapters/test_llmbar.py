from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from lineage.errors import CorpusError
from splits.adapters import Imported

Read = Callable[..., Imported]
Real = Callable[[str], Imported]
Whole = Callable[[str, str], Any]

INSTANCES = "instances.jsonl"


def test_the_real_corpus_has_the_counts_of_its_readme(real: Real) -> None:
    corpus = real("llmbar").corpus
    better = [example for example in corpus.examples if example.label == "clean"]
    assert len(corpus.examples) == 2 * len(better) == 2 * 419
    assert Counter(example.meta["output"] for example in better) == {1: 206, 2: 213}
    assert Counter(example.meta["subset"] for example in better) == {
        "Natural": 100,
        "Adversarial/Neighbor": 134,
        "Adversarial/GPTInst": 92,
        "Adversarial/GPTOut": 47,
        "Adversarial/Manual": 46,
    }
    assert all(example.candidate for example in better)
    longer = sum(
        len(example.document) > len(corpus.by_id[example.twin].document)
        for example in corpus.examples
        if example.twin is not None
    )
    assert round(longer / 419, 1) == 0.7


def test_real_instances_that_share_their_instruction_are_one_group(real: Real) -> None:
    corpus = real("llmbar").corpus
    assert len(corpus.groups) == 418
    assert len({example.source for example in corpus.examples}) == 418
    (group,) = (group for group in corpus.groups.values() if len(group) > 2)
    assert {example.stratum for example in group} == {"Adversarial/Neighbor"}


def test_the_better_output_is_a_clean_candidate_and_the_twin_of_the_worse(imported: Read) -> None:
    corpus = imported("llmbar").corpus
    assert [(e.id, e.document, e.label, e.twin, e.candidate) for e in corpus.examples] == [
        ("Natural-0.better", "Red.", "clean", None, True),
        ("Natural-0.worse", "A dog.", "commission", "Natural-0.better", False),
        ("Adversarial-Neighbor-0.better", "Two.", "clean", None, True),
        (
            "Adversarial-Neighbor-0.worse",
            "A long answer that names none.",
            "commission",
            "Adversarial-Neighbor-0.better",
            False,
        ),
    ]
    assert corpus.examples[0].source == "Name a colour."


def test_the_same_output_twice_is_refused(imported: Read, whole: Whole) -> None:
    records = whole("llmbar", INSTANCES)
    records[1]["output_2"] = records[1]["output_1"] + "\n"
    with pytest.raises(CorpusError, match=r"instances\.jsonl:2, field 'output_2': is the same as output_1"):
        imported("llmbar", {INSTANCES: records})
