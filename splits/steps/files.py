"""The files of a build: for each part a corpus, step-labelled records and chat lines, and one manifest for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from lineage.canonical import canonical_json, digest_bytes, pretty_json, write_atomic
from lineage.errors import InputError
from splits.corpus import Corpus, example_row, fact_row
from splits.steps.building import BuildSettings, BuiltSteps
from splits.steps.chat import Render, chat_lines, step_rows
from splits.steps.dealing import StepParts
from splits.steps.granularity import Granularity
from splits.steps.labelling import LabelledNote, label_notes

MANIFEST: Final = "steps.json"
FORMAT: Final = "holdgate steps 1"
CAVEATS: Final = (
    "The errors were injected by rules: a verifier that tells them apart has learnt these rules, and its accuracy on "
    "such notes overstates what it does with errors that people and models make. Read the transfer to independently "
    "made errors.",
    "A paraphrase says the same by rule; a clean note is right by its corpus's word alone.",
)


def write_steps(
    directory: Path,
    corpus: Corpus,
    parts: StepParts,
    built: BuiltSteps,
    settings: BuildSettings,
    *,
    granularity: Granularity,
    render: Render,
    prompts: Mapping[str, Any],
) -> Mapping[str, Any]:
    """Write all files of a build; equal input gives equal bytes.

    Args:
        directory: where; created if need be.
        corpus: what it was built from.
        parts: groups of each part.
        built: what was built.
        settings: with which settings.
        granularity: kinds of steps of records and chat lines.
        render: makes the messages of a step.
        prompts: what they were made with, for the manifest.

    Returns:
        The manifest.

    Raises:
        InputError: the directory holds another build.
    """
    files: dict[str, str] = {}
    counts: dict[str, Any] = {}
    for part, made in built.parts.items():
        notes = label_notes(made.examples, made, granularity)
        chat = chat_lines(notes, part=part, render=render)
        files[f"{part}.corpus.jsonl"] = _lines([example_row(example) for example in made.examples])
        facts = [fact_row(fact) for group in sorted(made.facts) for fact in made.facts[group]]
        if facts:
            files[f"{part}.facts.jsonl"] = _lines(facts)
        files[f"{part}.steps.jsonl"] = _lines(list(step_rows(notes, part=part)))
        files[f"{part}.chat.jsonl"] = _lines(chat.lines)
        counts[part] = {
            "groups": len(made.groups),
            **_counts(notes),
            "chat": {"lines": len(chat.lines), "labels": dict(chat.labels)},
            "left_out": {"repeated": chat.repeated, "unlabelled": chat.unlabelled},
        }
    manifest = {
        "format": FORMAT,
        "corpus_hash": corpus.hash,
        "settings": settings.row(),
        "granularity": str(granularity),
        "parts": parts.row(),
        "prompts": dict(prompts),
        "counts": counts,
        "unmade": dict(built.unmade),
        "clean_candidates": built.candidates,
        "files": {name: digest_bytes(text.encode("utf-8")) for name, text in files.items()},
        "caveats": list(CAVEATS),
    }
    text = pretty_json(manifest)
    path = directory / MANIFEST
    if path.is_file() and path.read_text(encoding="utf-8") != text:
        raise InputError(f"{path} is of another build; give another --out, or remove it")
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_atomic(directory / name, content)
    write_atomic(path, text)
    return manifest


def _counts(notes: Sequence[LabelledNote]) -> dict[str, Any]:
    steps = Counter(
        (step.kind, str(label)) for note in notes for step, label in zip(note.note.steps, note.labels, strict=True)
    )
    by_kind: dict[str, dict[str, int]] = {}
    for (kind, label), count in sorted(steps.items()):
        by_kind.setdefault(kind, {})["unlabelled" if label == "None" else label] = count
    return {
        "notes": dict(sorted(Counter(note.origin for note in notes).items())),
        "errors": dict(sorted(Counter(note.error or "none" for note in notes).items())),
        "rules": dict(sorted(Counter(str(note.example.meta.get("rule", "none")) for note in notes).items())),
        "steps": by_kind,
    }


def _lines(rows: Sequence[Mapping[str, Any]]) -> str:
    return "".join(canonical_json(row) + "\n" for row in rows)
