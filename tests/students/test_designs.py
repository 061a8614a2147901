"""The designs that a plan can name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from students import KeyedFactChecker, PerFactChecker, ReasoningBudget, WholeNoteScorer, student_hash
from students.designs import DESIGNS, Design
from students.shape import PROMPTS, load_instruction
from students.student import Student

MODEL = {"name": "m"}
THINKING = ReasoningBudget(thinking_tokens=50, answer_tokens=64)

BUNDLED = [design for name, design in DESIGNS.items() if name != "program"]
"""The designs whose prompts are ours."""


def built(design: Design, budget: ReasoningBudget | None = None) -> Any:
    own = budget or ReasoningBudget(answer_tokens=design.answer_tokens)
    options = {"temperature": design.temperature, "samples": design.samples}
    return design.build(options, model=MODEL, budget=own)


@pytest.mark.parametrize("design", BUNDLED, ids=lambda design: design.name)
def test_a_design_is_built_under_its_name_and_scale(design: Design) -> None:
    student: Student = built(design)
    assert (student.name, student.scale) == (design.name, design.scale)
    assert all(text.strip() for text in student.seed_texts.values())


def test_designs_and_their_thinking_variants_have_hashes_of_their_own() -> None:
    hashes = {student_hash(built(design, budget)) for design in BUNDLED for budget in (None, THINKING)}
    assert len(hashes) == 2 * len(BUNDLED)


@pytest.mark.parametrize("design", BUNDLED, ids=lambda design: design.name)
def test_every_block_that_may_evolve_has_a_bundled_text(design: Design) -> None:
    blocks = getattr(built(design), "blocks", (None,)) if "block" in design.options else (None,)
    for block in blocks:
        options = {"temperature": design.temperature, "samples": design.samples, **({"block": block} if block else {})}
        student = design.build(options, model=MODEL, budget=ReasoningBudget(answer_tokens=design.answer_tokens))
        assert student.seed_texts["instruction"]
        if block is not None:
            assert student.settings()["prompts"][block]["instruction"] is None
            assert student.seed_texts["instruction"] == load_instruction(student.seed_instruction)


def test_prompts_are_files_and_every_file_is_a_prompt_of_a_student() -> None:
    shapes = {path.stem for path in PROMPTS.glob("*.md")}
    assert {"criterion-yes-no", "criterion-score", "deployed", "engineered", "g-eval"} <= shapes
    for design in BUNDLED:
        if "block" not in design.options:
            assert built(design).prompt.shape.name in shapes


@pytest.mark.parametrize(
    ("judge", "plain", "thinking"),
    [
        (
            PerFactChecker,
            "4b31010a6e4978d9291d83a8fc51688ec7261fd81b7acd23109b7a52aba04613",
            "d1efef550305efe1978e47dccbcdc3019c75d2c9e957f320b5fc04867a59ccff",
        ),
        (
            KeyedFactChecker,
            "0396246d5ac671cb5a3cd2b68e186d8e5fb10577168753861feba9afa81613fd",
            "8965629325a501384610d8bad21afe3237efd501d32866347965a00ae4bc9570",
        ),
        (
            WholeNoteScorer,
            "24a9ca454b7a5c45c7e52ba39840a49a0302bf8afa681d70ef80cfdcdc5f555d",
            "76e6b7e41235a80a73b5ae525e58415762f41f60181ed716265f9993687484b5",
        ),
    ],
)
def test_the_hash_of_a_student_stays_what_recorded_campaigns_have(
    judge: Callable[..., Student], plain: str, thinking: str
) -> None:
    assert student_hash(judge(model=MODEL)) == plain
    assert student_hash(judge(model=MODEL, budget=THINKING)) == thinking
