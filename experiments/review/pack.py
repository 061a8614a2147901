"""A pack for people and its key: items under names that say nothing, in an order that says nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from experiments.review.drawing import Draw, Item
from experiments.review.form import form
from experiments.review.key import Key
from experiments.review.questions import QUESTIONS
from experiments.review.sources import ReviewedRun
from lineage.canonical import digest, pretty_json, write_atomic
from lineage.errors import InputError

Row = Mapping[str, Any]
FORMAT: Final = "holdgate review pack 1"


@dataclass(frozen=True, slots=True)
class Pack:
    """What a reader is given, and its key.

    Attributes:
        content: sections with their questions and items, and the key's hash; nothing of the run.
        key: the key, which the reader is not given.
    """

    content: Row = field(repr=False)
    key: Key = field(repr=False)


@dataclass(frozen=True, slots=True)
class PackPaths:
    """Where the files of a pack lie."""

    form: Path
    key: Path


def make_pack(run: ReviewedRun, draw: Draw, *, seed: int, salt: str) -> Pack:
    """Name the items, and part what is shown from what is not.

    Args:
        run: the run that was drawn from.
        draw: the items.
        seed: of the draw, for the record.
        salt: 64 hexadecimal digits that nobody can guess; without them the key's hash could be searched for.

    Raises:
        InputError: the salt is too short.
    """
    if len(salt) < 64:
        raise InputError(f"salt must have at least 64 hexadecimal digits, got {len(salt)}; use secrets.token_hex(32)")
    numbers: Counter[str] = Counter()
    named: list[tuple[str, Item]] = []
    for item in draw.items:
        numbers[item.section] += 1
        named.append((f"{QUESTIONS[item.section].prefix}{numbers[item.section]:03d}", item))
    body = {
        "run": {
            "name": run.name,
            "kind": run.kind,
            "split": run.split,
            "ledger": {"count": run.head.count, "hash": run.head.hash},
            "corpus_hash": run.corpus_hash,
            "exploratory": run.exploratory,
            "simulated": run.simulated,
            "judges": {judge.name: judge.rule for judge in run.judges},
        },
        "seed": seed,
        "salt": salt,
        "sections": {section: _section(section, draw) for section in draw.strata},
        "items": {name: {"section": item.section, "stratum": item.stratum, **item.truth} for name, item in named},
    }
    commitment = digest(body)
    content = {
        "format": FORMAT,
        "key": commitment,
        "sections": [
            {
                "section": section,
                "title": QUESTIONS[section].title,
                "question": QUESTIONS[section].text,
                "answers": [list(answer) for answer in QUESTIONS[section].answers],
                "items": [
                    {"name": name, "source": item.source, "document": item.document, "statement": item.statement}
                    for name, item in named
                    if item.section == section
                ],
            }
            for section in draw.strata
        ],
    }
    return Pack(content, Key(digest(content), body))


def write_pack(pack: Pack, directory: Path) -> PackPaths:
    """Write ``pack.html``, for the reader, and ``key.json``, which stays here.

    Raises:
        InputError: the directory holds a key already, without which its answers could not be read any more.
    """
    paths = PackPaths(directory / "pack.html", directory / "key.json")
    if paths.key.exists():
        raise InputError(f"{paths.key}: a pack was made here before; its answers need this key: give another --out")
    write_atomic(paths.key, pretty_json(pack.key.row()))
    write_atomic(paths.form, form(pack.content, pack.key.pack))
    return paths


def _section(section: str, draw: Draw) -> dict[str, Any]:
    """What the key says of a section: hidden and shared things, and its strata with what was drawn of each."""
    items: Sequence[Item] = [item for item in draw.items if item.section == section]
    drawn = Counter(item.stratum for item in items)
    return {
        "hidden": list(QUESTIONS[section].hidden),
        "one_sided": len(_sides(items)) == 1,
        "shared_sources": draw.shared(section),
        "strata": {name: {"drawn": drawn[name], "of": of} for name, of in draw.strata[section].items()},
    }


def _sides(items: Sequence[Item]) -> set[Any]:
    """What the key says of items, of which a reader who knows that there is but one could guess the rest."""
    return {item.truth.get("fired", item.truth.get("grade", item.truth.get("label"))) for item in items}
