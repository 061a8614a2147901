"""Prompt shapes and bundled instructions."""

from __future__ import annotations

from pathlib import Path

import pytest

import students.shape
from lineage.errors import PlanError
from students import INSTRUCTION, PromptShape, load_instruction

VALUES = {
    "per-fact": {"instruction": "<<I>>", "document": "<<D>>", "fact": "<<F>>"},
    "whole-note": {"instruction": "<<I>>", "source": "<<S>>", "document": "<<D>>"},
}


@pytest.fixture
def prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A prompt directory of the test's own, with one good shape."""
    monkeypatch.setattr(students.shape, "PROMPTS", tmp_path)
    (tmp_path / "mine.md").write_text("About.\n\n## system\n$instruction\n\n## user\n$document\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", sorted(VALUES))
def test_bundled_shapes_load_and_put_every_value_into_the_messages(name: str) -> None:
    shape = PromptShape.load(name)
    assert shape.slots == set(VALUES[name])
    system, user = shape.messages(VALUES[name])
    assert (system["role"], user["role"]) == ("system", "user")
    said = system["content"] + user["content"]
    assert all(said.count(value) == 1 for value in VALUES[name].values())
    assert "$" not in said


def test_the_fact_comes_after_instruction_and_document_so_that_checks_share_their_beginning() -> None:
    system, user = PromptShape.load("per-fact").messages(VALUES["per-fact"])
    said = system["content"] + user["content"]
    assert said.index("<<I>>") < said.index("<<F>>")
    assert said.index("<<D>>") < said.index("<<F>>")


def test_the_source_comes_before_the_document_so_that_the_notes_of_a_group_share_their_beginning() -> None:
    system, user = PromptShape.load("whole-note").messages(VALUES["whole-note"])
    said = system["content"] + user["content"]
    assert said.index("<<I>>") < said.index("<<S>>") < said.index("<<D>>")


@pytest.mark.parametrize("slot", ["instruction", "document", "fact"])
def test_a_missing_slot_raises_and_is_named(slot: str) -> None:
    values = {name: value for name, value in VALUES["per-fact"].items() if name != slot}
    with pytest.raises(PlanError, match=f"per-fact: slots and values differ in {slot}$"):
        PromptShape.load("per-fact").messages(values)


def test_a_value_without_a_slot_raises_and_is_named() -> None:
    with pytest.raises(PlanError, match="differ in answer_key"):
        PromptShape.load("per-fact").messages({**VALUES["per-fact"], "answer_key": "x"})


def test_dollars_and_slots_inside_values_are_not_substituted() -> None:
    nasty = "costs $5, $fact ${document} $$ {fact} %s \\g<0> \\1"
    _, user = PromptShape.load("per-fact").messages({"instruction": "i", "document": nasty, "fact": "THE-FACT"})
    assert nasty in user["content"]
    assert user["content"].count("THE-FACT") == 1


def test_the_hash_changes_with_any_byte_of_the_file(prompts: Path) -> None:
    before = PromptShape.load("mine")
    (prompts / "mine.md").write_text(
        (prompts / "mine.md").read_text(encoding="utf-8").replace("About.", "About!"), encoding="utf-8"
    )
    after = PromptShape.load("mine")
    assert before.sections == after.sections
    assert before.hash != after.hash
    assert len(after.hash) == 64


def test_an_unknown_shape_is_refused() -> None:
    with pytest.raises(PlanError, match="no prompt shape 'per-note'"):
        PromptShape.load("per-note")


@pytest.mark.parametrize(
    "text",
    [
        "## system\n$instruction\n",
        "## user\n$document\n\n## system\n$instruction\n",
        "## system\nJudge.\n\n## user\n$document\n",
        "no sections $instruction",
    ],
)
def test_a_shape_without_its_sections_or_the_instruction_slot_is_refused(prompts: Path, text: str) -> None:
    (prompts / "mine.md").write_text(text, encoding="utf-8")
    with pytest.raises(PlanError, match=r"one ## system and one ## user section.* and the slot \$instruction"):
        PromptShape.load("mine")


@pytest.mark.parametrize("name", ["stated-in-note", "complete-and-faithful"])
def test_bundled_seeds_load_by_name(name: str) -> None:
    text = load_instruction(name)
    assert text == text.strip()
    assert text.endswith(".")


def test_a_file_of_the_users_is_an_instruction(tmp_path: Path) -> None:
    path = tmp_path / "mine.md"
    path.write_text("\ufeffJudge $this \u2013 strictly.\n\n", encoding="utf-8")
    assert load_instruction(str(path)) == "Judge $this \u2013 strictly."


def test_an_unknown_instruction_lists_the_bundled_seeds() -> None:
    with pytest.raises(PlanError, match=r"'stated-in-notes'.*bundled seeds: .*complete-and-faithful, .*stated-in-note"):
        load_instruction("stated-in-notes")


def test_an_empty_instruction_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text(" \n", encoding="utf-8")
    with pytest.raises(PlanError, match=r"mine\.md: the instruction is empty"):
        load_instruction(str(tmp_path / "mine.md"))


def test_an_instruction_in_another_encoding_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_bytes("Prüfe die Notiz.".encode("cp1252"))
    with pytest.raises(PlanError, match=r"mine\.md: the instruction is not UTF-8 .*save it as UTF-8"):
        load_instruction(str(tmp_path / "mine.md"))


def test_the_evolving_block_is_named_instruction() -> None:
    assert INSTRUCTION == "instruction"
