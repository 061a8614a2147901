"""Building labelled notes: parts by group, seeds, donors, and everything that is written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import CorpusError, InputError, SplitError
from splits import Corpus, Example, commit_lock, load_corpus, load_lock, plan_lock
from splits.steps import (
    ERRORS,
    BuildSettings,
    BuiltSteps,
    Granularity,
    Step,
    StepParts,
    SteppedNote,
    build_steps,
    chat_lines,
    cut,
    fresh_parts,
    label_notes,
    parts_of_lock,
    write_steps,
)

FINE = Granularity.of("fine")


@pytest.fixture(scope="module")
def some(consults: Corpus) -> Corpus:
    """Twelve groups."""
    kept = set(list(consults.groups)[:12])
    return consults.part([example for example in consults.examples if example.group in kept])


@pytest.fixture(scope="module")
def parts(some: Corpus) -> StepParts:
    return fresh_parts(some, seed=1)


@pytest.fixture(scope="module")
def built(some: Corpus, parts: StepParts) -> BuiltSteps:
    return build_steps(some, parts, BuildSettings(seed=1))


def asked(example: Example, note: SteppedNote, step: Step) -> Sequence[dict[str, str]]:
    return [{"role": "user", "content": f"{example.source}|{note.document[: step.start]}|{step.kind}|{step.text}"}]


def test_each_group_is_in_one_part_with_everything_that_is_made_of_it(built: BuiltSteps, parts: StepParts) -> None:
    homes = {group: part for part, groups in parts.groups.items() for group in groups}
    assert set(parts.groups) == {"train", "validation", "test"}
    for part, corpus in built.parts.items():
        assert {homes[example.group] for example in corpus.examples} == {part}
        assert set(corpus.facts) == set(corpus.groups)


def test_every_clean_note_gets_a_note_with_each_error_and_keeps_its_twins(built: BuiltSteps, some: Corpus) -> None:
    made = [example for corpus in built.parts.values() for example in corpus.examples]
    injected = [example for example in made if example.meta["origin"] == "injected"]
    assert len(injected) == 12 * len(ERRORS)
    assert all(example.twin in some.by_id and example.meta["seed"] == 1 for example in injected)
    twins = [example for example in made if example.meta["origin"] == "twin"]
    assert twins
    assert all(example.trace != "partial-strong" for example in twins), "where it is not known what is missing"
    assert {example.meta["origin"] for example in made} == {"clean", "paraphrase", "injected", "twin"}


def test_a_foreign_sentence_comes_from_a_group_of_the_same_part(built: BuiltSteps, some: Corpus) -> None:
    for corpus in built.parts.values():
        for example in corpus.examples:
            if example.meta.get("rule") == "foreign sentence":
                ((start, end),) = example.meta["steps"]["wrong"]
                sentence = example.document[start:end].strip().removeprefix("- ").rstrip(".")
                homes = {each.group for each in some.examples if each.label == "clean" and sentence in each.document}
                assert homes & set(corpus.groups), "no text crosses over from another part"


def test_equal_seeds_build_the_same_and_a_note_does_not_depend_on_what_else_is_built(
    built: BuiltSteps, some: Corpus, parts: StepParts
) -> None:
    assert build_steps(some, parts, BuildSettings(seed=1)).parts["train"].hash == built.parts["train"].hash
    assert build_steps(some, parts, BuildSettings(seed=2)).parts["train"].hash != built.parts["train"].hash
    fewer = build_steps(some, parts, BuildSettings(seed=1, errors=("unhelpfulness",), paraphrases=0, twins=False))
    by_id = built.parts["train"].by_id
    assert all(by_id[example.id] == example for example in fewer.parts["train"].examples)


def test_with_a_lock_held_out_groups_are_in_no_part(consults: Corpus, tmp_path: Path) -> None:
    sizes = {"reflect": 40, "accept": 10, "heldout": 10}
    path = tmp_path / "lock.json"
    commit_lock(plan_lock(consults, sizes=sizes, seed=1), path)
    lock = load_lock(path, consults)
    found = parts_of_lock(lock)
    assert set(found.groups) == {"train", "validation"}
    assert (found.sealed, found.lock) == (10, lock.hash)
    taken = {group for groups in found.groups.values() for group in groups}
    assert not taken & set(lock.splits["heldout"])


def test_united_groups_stay_in_one_part(some: Corpus) -> None:
    pair = list(some.groups)[:2]
    for seed in range(6):
        found = fresh_parts(some, seed=seed, united=[pair])
        assert any(set(pair) <= set(groups) for groups in found.groups.values())


def test_a_group_in_two_parts_and_wrong_fractions_are_refused(some: Corpus) -> None:
    with pytest.raises(SplitError, match="'g' is in two parts"):
        StepParts({"train": ("g",), "test": ("g",)}, "fresh draw", 0)
    with pytest.raises(SplitError, match="fractions must be three"):
        fresh_parts(some, seed=0, fractions=(0.5, 0.5))


@pytest.mark.parametrize(
    ("changes", "said"), [({"errors": ("typo",)}, "there is no error 'typo'"), ({"share": 0.0}, "share in")]
)
def test_settings_out_of_range_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(CorpusError, match=said):
        BuildSettings(**changes)


def test_a_part_without_a_clean_note_is_refused(some: Corpus) -> None:
    flawed = Corpus(tuple(replace(example, twin=None) for example in some.examples if example.label != "clean"), {})
    with pytest.raises(CorpusError, match="part train has no clean note"):
        build_steps(flawed, StepParts({"train": tuple(flawed.groups)}, "fresh draw", 0), BuildSettings())


def test_a_conversation_is_what_is_asked_and_its_label_and_none_contradicts_another(built: BuiltSteps) -> None:
    corpus = built.parts["train"]
    notes = label_notes(corpus.examples, corpus, FINE)
    found = chat_lines(notes, part="train", render=asked)
    labels: dict[str, set[str]] = {}
    for line in found.lines:
        *question, answer = line["messages"]
        assert [message["role"] for message in line["messages"]] == ["user", "assistant"]
        labels.setdefault(json.dumps(question), set()).add(answer["content"])
        assert all(type(value) is str for value in line["provenance"].values())
    assert {len(said) for said in labels.values()} == {1}
    assert set.union(*labels.values()) == {"+", "-"}
    assert sum(found.labels.values()) == len(found.lines)
    steps = sum(len(note.labels) for note in notes)
    assert len(found.lines) + found.repeated + found.unlabelled == steps


def test_the_files_say_where_they_come_from_and_are_the_same_again(
    some: Corpus, parts: StepParts, built: BuiltSteps, tmp_path: Path
) -> None:
    def write() -> Any:
        return write_steps(
            tmp_path, some, parts, built, BuildSettings(seed=1), granularity=FINE, render=asked, prompts={"p": "h"}
        )

    manifest = write()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert write() == manifest
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert manifest["corpus_hash"] == some.hash
    assert manifest["settings"]["seed"] == manifest["parts"]["seed"] == 1
    assert set(before) == {
        "steps.json",
        *(f"{part}.{kind}.jsonl" for part in parts.groups for kind in ("corpus", "facts", "steps", "chat")),
    }
    again = load_corpus(tmp_path / "test.corpus.jsonl", facts=tmp_path / "test.facts.jsonl")
    assert again.hash == built.parts["test"].hash, "a corpus that any plan can name"
    for row in map(json.loads, before["train.steps.jsonl"].decode().splitlines()):
        if row["kind"] in ("problem", "sentence"):
            document = built.parts["train"].by_id[row["note"]].document
            assert document[row["start"] : row["end"]].strip() == row["text"]


def test_another_build_is_not_written_over(some: Corpus, parts: StepParts, built: BuiltSteps, tmp_path: Path) -> None:
    for seed, refused in ((1, False), (2, True)):
        arguments: Any = {"granularity": FINE, "render": asked, "prompts": {}}
        settings = BuildSettings(seed=seed)
        if refused:
            with pytest.raises(InputError, match="is of another build"):
                write_steps(tmp_path, some, parts, built, settings, **arguments)
        else:
            write_steps(tmp_path, some, parts, built, settings, **arguments)


def test_the_labels_of_a_built_note_hold_at_every_granularity(built: BuiltSteps) -> None:
    corpus = built.parts["validation"]
    for name in ("fine", "sentence", "problem", "note"):
        for labelled in label_notes(corpus.examples, corpus, Granularity.of(name)):
            assert (labelled.first_wrong is None) == (labelled.error is None)
            assert labelled.note.document == cut(labelled.example.document).document
