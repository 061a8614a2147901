from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lineage.errors import PlanError
from optimize.texts import candidate_of, written_text
from students import PerFactChecker

TWO: Any = SimpleNamespace(name="two", seed_texts={"read": "a", "judge.step": "b"})


def test_the_whole_text_is_the_instruction_of_a_student_with_one_block() -> None:
    text = "One rule.\n\n## a heading of its own\nTwo rules."
    seed = candidate_of(PerFactChecker(model={}), text)
    assert (seed.kind, seed.texts) == ("seed", {"instruction": text})
    assert written_text(seed.texts) == text


def test_a_text_for_several_blocks_has_a_section_for_each_in_the_student_s_order() -> None:
    seed = candidate_of(TWO, "## judge.step\nJudge it.\nIn two lines.\n\n## read\nRead it.\n")
    assert list(seed.texts.items()) == [("read", "Read it."), ("judge.step", "Judge it.\nIn two lines.")]
    assert candidate_of(TWO, written_text(seed.texts)).texts == seed.texts


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Read it.", "got no section and words before the first"),
        ("## read\nRead it.", "got read"),
        ("## read\na\n## judge.step\nb\n## judge.step\nc", "got read, judge.step, judge.step"),
        ("## read\na\n## judge.step\n", "with words in it; got read, judge.step"),
        ("Before\n## read\na\n## judge.step\nb", "and words before the first"),
        ("## read\na\n## judge\nb", "got read, judge"),
    ],
)
def test_a_text_whose_sections_are_not_the_blocks_is_refused(text: str, said: str) -> None:
    with pytest.raises(PlanError, match=rf"student two has the blocks read, judge\.step.*{said}"):
        candidate_of(TWO, text)
