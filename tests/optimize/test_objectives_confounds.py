"""Confound checks: judges that only count characters, or read one part of each document."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.objectives import ScoredExamples, length_only, position_only
from optimize.objectives.position import first_difference
from splits.corpus import Example

SENTENCES = [f"Sentence number {number} stands in the note. " for number in range(8)]


def notes(groups: int = 24, *, cut: int | None = None) -> list[Example]:
    """A clean note and one with a sentence cut out, by group: the same sentence, or a different one each time."""
    made = []
    for group in range(groups):
        text = [f"Group {group:02}. ", *SENTENCES]
        gone = 1 + (group % len(SENTENCES) if cut is None else cut)
        shorter = "".join(text[:gone] + text[gone + 1 :])
        name = f"g{group:02}"
        made.append(Example(f"{name}-c", name, "s", "source", "".join(text), "clean", "clean"))
        made.append(Example(f"{name}-o", name, "s", "source", shorter, "omission", "omit", twin=f"{name}-c"))
    return made


def judged(examples: list[Example], *, right: float, seed: int = 0) -> ScoredExamples:
    """A judge that puts a share of the flawed notes below their twins, and the others above."""
    rng = np.random.default_rng(seed)
    return ScoredExamples.of_columns(
        ids=[example.id for example in examples],
        groups=[example.group for example in examples],
        labels=[example.label for example in examples],
        scores=[0.5 if e.label == "clean" else (0.2 if rng.random() < right else 0.8) for e in examples],
        twins=[example.twin for example in examples],
    )


def test_deletions_give_length_alone_every_pair_and_a_warning() -> None:
    examples = notes()
    check = length_only(judged(examples, right=0.8), examples)
    assert check.paired.value == 1.0
    assert check.auc.value == 1.0
    assert len(check.warnings) == 2
    assert check.warnings[0].startswith(
        "length only does as well as the judge in paired discrimination: 1.0000 against "
    )
    assert "WARNING" in str(check)


def test_a_judge_is_ahead_of_length_where_length_says_nothing() -> None:
    examples = notes()
    padded = [replace(e, document=e.document + "." * (100 if e.twin and int(e.group[1:]) % 2 else 0)) for e in examples]
    check = length_only(judged(padded, right=1.0), padded)
    assert check.paired.value == 0.5
    assert check.warnings == ()
    assert str(check).endswith("the judge is ahead of it")


def test_a_judge_that_is_a_little_better_than_length_is_not_shown_to_be() -> None:
    examples = notes(8)
    longer = [replace(e, document=e.document + "." * (100 if e.twin and int(e.group[1:]) % 2 else 0)) for e in examples]
    check = length_only(judged(longer, right=0.6, seed=1), longer)
    assert check.paired.value == 0.5
    assert 0.5 < check.judge_paired.value < 0.8
    assert check.warnings[0].startswith("the judge is not shown to be above length only in paired discrimination: ")


def test_flaws_that_always_stand_in_one_part_give_position_alone_every_pair() -> None:
    examples = notes(cut=6)
    check = position_only(judged(examples, right=0.9), examples)
    assert check.counts == (0, 0, 0, 24)
    assert check.part == 3
    assert check.check.paired.value == 1.0
    assert check.check.auc.value == 1.0
    assert "position only does as well as the judge" in check.warnings[0]
    assert "flaws: 0 in part 1, 0 in part 2, 0 in part 3, 24 in part 4" in str(check)


def test_flaws_spread_evenly_leave_position_alone_little_above_a_coin_flip() -> None:
    examples = notes()
    check = position_only(judged(examples, right=1.0), examples)
    assert sum(check.counts) == 24
    assert max(check.counts) <= 9
    assert check.check.paired.value == pytest.approx(0.5 + max(check.counts) / 48)
    assert check.check.warnings == ()
    # The judge wins everywhere, so its wins cannot go with the place.
    assert check.place.reason


def test_a_judge_that_reads_only_the_beginning_is_found_out_by_the_place_of_its_wins() -> None:
    examples = notes()
    reads = {e.id: 0.2 if int(e.group[1:]) % 8 < 4 else 0.8 for e in examples if e.twin}
    scored = ScoredExamples.of_columns(
        ids=[e.id for e in examples],
        groups=[e.group for e in examples],
        labels=[e.label for e in examples],
        scores=[reads.get(e.id, 0.5) for e in examples],
        twins=[e.twin for e in examples],
    )
    check = position_only(scored, examples, parts=8)
    assert check.place.value == 1.0
    assert check.place.counted == (("won", 12), ("not won", 12))
    muddled = replace(scored, scores=np.where(np.arange(len(scored))[:, None] == 1, 0.9, scored.scores))
    assert any("flaws that stand early" in words for words in position_only(muddled, examples, parts=8).warnings)


@given(head=st.text(max_size=12), first=st.text(max_size=5), second=st.text(max_size=5))
def test_the_first_difference_is_where_two_texts_part(head: str, first: str, second: str) -> None:
    place = first_difference(head + first, head + second)
    assert (head + first)[:place] == (head + second)[:place]
    assert (head + first)[place : place + 1] != (head + second)[place : place + 1] or head + first == head + second


def test_documents_without_text_and_a_single_part_are_refused() -> None:
    examples = notes(2)
    with pytest.raises(InputError, match="document 'g01-c' has no text; pass the examples that were judged"):
        length_only(judged(examples, right=1.0), examples[:2])
    with pytest.raises(InputError, match="parts must be a whole number of at least 2, got 1"):
        position_only(judged(examples, right=1.0), examples, parts=1)


def test_a_check_without_a_flaw_that_has_a_place_says_that_nothing_was_compared() -> None:
    clean = [example for example in notes(3) if example.twin is None]
    check = position_only(judged(clean, right=1.0), clean)
    assert check.warnings == ()
    assert "not compared with the judge: no flawed document names a clean twin" in str(check)


def test_a_flawed_document_with_its_twins_text_has_no_place() -> None:
    examples = notes(4)
    same = Example("g00-x", "g00", "s", "source", examples[0].document, "omission", "omit", twin="g00-c")
    check = position_only(judged([*examples, same], right=0.5), [*examples, same])
    assert check.n_unplaced == 1
    assert sum(check.counts) == 4


def test_without_a_document_every_check_is_undefined_and_says_so() -> None:
    nothing = ScoredExamples.of_columns(ids=[], groups=[], labels=[], scores=np.empty((0, 1)))
    assert "AUC undefined (there is no flawed document)" in str(length_only(nothing, []))
    position = position_only(nothing, [])
    assert position.counts == (0, 0, 0, 0)
    assert position.warnings == ()
    assert "place undefined" in str(position)
