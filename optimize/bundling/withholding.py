"""A run without the texts that it was judged on: hashes and structure in their place, and a check that none is left.

Strings that hold such text by what they are (answers, the reflector's prompt and answer, quotations) are replaced by
their hashes, and so is every other string in which a run of it is found. The check then reads every file that would be
packed, and knows nothing of that rule: whatever it finds keeps the bundle from being written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from lineage.canonical import canonical_json, digest_bytes, json_lines
from lineage.errors import BundleError
from lineage.ledger import Event
from lineage.records import Judgement, stable
from lineage.segments import read_segment
from splits.corpus import Corpus
from splits.withheld import WithheldTexts

LEDGER: Final = "run/ledger.jsonl"
WITHHELD_LEDGER: Final = "run/ledger.withheld.jsonl"
"""A ledger with hashes in the place of texts has another name: its chain cannot be computed from it."""
DERIVED: Final = ("report.html", "report.md", "stopped.md")
"""Pages that are written from the rest, and show texts."""
FOLDERS: Final = ("reflections",)
"""Folders of texts for people."""
MARK: Final = "withheld sha256:"

_ALWAYS: Final[Mapping[str, frozenset[str]]] = {
    "reflection": frozenset({"prompt", "answer", "why"}),
    "evaluation": frozenset({"failures"}),
}
"""Keys whose strings are withheld whatever they say, by type of event."""
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class WithheldFiles:
    """The files of a bundle without texts, and what its manifest says of that."""

    files: Mapping[str, Path | bytes]
    said: Mapping[str, Any]


class _Redaction:
    """Puts hashes in the place of texts, and keeps count of the places."""

    def __init__(self, texts: WithheldTexts) -> None:
        self._texts = texts
        self.places: list[str] = []

    def of(self, value: Any, *, always: frozenset[str] = frozenset(), path: str = "") -> Any:
        """A copy of a JSON value without text; below a key of ``always`` every string is withheld."""
        if isinstance(value, str):
            if (always >= _EVERY and value and not value.startswith(MARK)) or self._texts.copied(value) is not None:
                self.places.append(path)
                return withheld_mark(value)
            return value
        if isinstance(value, Mapping):
            return {
                key: self.of(
                    item, always=_EVERY if always >= _EVERY or key in always else always, path=_join(path, key)
                )
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.of(item, always=always, path=path) for item in value]
        return value


_EVERY: Final = frozenset({"*"})


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def withheld_mark(text: str) -> str:
    """What stands in the place of a text. A hash confirms a guess: it hides no text that can be guessed whole."""
    return f"{MARK}{digest_bytes(text.encode('utf-8', 'surrogatepass'))} ({len(text)} characters)"


def withheld_files(files: Mapping[str, Path], events: Sequence[Event], corpus: Corpus) -> WithheldFiles:
    """The files of a run directory without any text of its corpus.

    Args:
        files: the run's files by their names in the bundle.
        events: its events.
        corpus: whose texts are withheld.

    Raises:
        BundleError: a run of withheld text is left in a file; names file, place and how much.
    """
    texts = WithheldTexts.of(corpus)
    kept: dict[str, Path | bytes] = {}
    said: dict[str, Any] = {"what": "vendor", "texts": texts.texts, "events": {}, "segments": {}, "left_out": {}}
    segments = {f"run/judgements/{event.body['segment']['name']}.jsonl": event for event in _evaluations(events)}
    for name, file in sorted(files.items()):
        inner = name.removeprefix("run/")
        if inner in DERIVED or inner.partition("/")[0] in FOLDERS:
            said["left_out"][inner] = "is written from the rest and may quote"
        elif name == LEDGER:
            kept[WITHHELD_LEDGER] = _ledger(events, texts, said)
        elif name in segments:
            kept[name] = _segment(file.parent, segments[name], texts, said)
        elif texts.copied(_text(file)) is not None and file.suffix != ".json":
            said["left_out"][inner] = "quotes withheld text"
        else:
            kept[name] = file
    check_nothing_left(kept, texts)
    return WithheldFiles(kept, said)


def check_nothing_left(files: Mapping[str, Path | bytes], texts: WithheldTexts) -> None:
    """Read every file as it would be packed, each string in it and the whole of it, and look for withheld text.

    Raises:
        BundleError: there is some; names file, place and how much, and not the words.
    """
    found: list[str] = []
    for name, content in sorted(files.items()):
        for place, text in [("its name", name), *_strings(name, _text(content))]:
            if (copied := texts.copied(text)) is not None:
                found.append(f"{name}, {place} ({copied.runs} runs of {copied.words} words)")
                break
    if found:
        more = f" and {len(found) - _SHOWN} more files" if len(found) > _SHOWN else ""
        raise BundleError(
            f"text that is to be withheld is left in {'; '.join(found[:_SHOWN])}{more}: nothing was packed. Ids, names "
            "and keys cannot be replaced by hashes: give examples, groups and fields names that quote no text"
        )


def _strings(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Strings and keys of a JSON file with their places; and of any file the text itself, however it is cut."""
    rows: list[Any] = []
    if name.endswith((".jsonl", ".json")):
        try:
            rows = json_lines(text) if name.endswith(".jsonl") else [json.loads(text)]
        except ValueError:
            rows = []  # the text itself is read all the same
    for number, row in enumerate(rows, start=1):  # in one piece: a text may be cut into several values
        yield f"line {number}" if name.endswith(".jsonl") else "its values", " ".join(_inside(row))
    yield "its text", text


def _inside(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _inside(item)
    elif isinstance(value, list):
        for item in value:
            yield from _inside(item)


def _ledger(events: Sequence[Event], texts: WithheldTexts, said: dict[str, Any]) -> bytes:
    """One row an event, with the places that hold hashes; the event's own hash is that of the whole text."""
    lines = []
    for event in events:
        redaction = _Redaction(texts)
        body = redaction.of(dict(event.body), always=_ALWAYS.get(event.type, frozenset()))
        row = {**event.row(), "body": body}
        if redaction.places:
            row["withheld"] = sorted(set(redaction.places))
            said["events"][str(event.seq)] = row["withheld"]
        lines.append(canonical_json(row) + "\n")
    return "".join(lines).encode("utf-8")


def _segment(directory: Path, event: Event, texts: WithheldTexts, said: dict[str, Any]) -> bytes:
    """Judgements with their numbers; answers, facts in words, quotations and reasons in words are withheld."""
    entry = event.body["segment"]
    lines, count = [], 0
    for judgement in read_segment(directory, entry):
        row = _without_text(judgement).row()
        redaction = _Redaction(texts)
        lines.append(canonical_json(redaction.of(row)) + "\n")
        count += row != judgement.row() or bool(redaction.places)
    said["segments"][entry["name"]] = count
    return "".join(lines).encode("utf-8")


def _without_text(judgement: Judgement) -> Judgement:
    hidden = [
        replace(verdict, text=_marked(verdict.text), quote=_marked(verdict.quote), rescue=_marked(verdict.rescue))
        for verdict in judgement.facts
    ]
    return replace(
        judgement,
        raw=tuple(withheld_mark(text) for text in judgement.raw),
        facts=tuple(hidden),
        reason=None if judgement.reason is None else judgement.reason.partition(":")[0],
    )


def _marked(text: str | None) -> str | None:
    return None if text is None else withheld_mark(text)


def left_out_of(said: Mapping[str, Any]) -> Iterator[str]:
    """What was left out whole, in words."""
    for name, why in said["left_out"].items():
        yield f"{name} {why}"


def _evaluations(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event.type == "evaluation"]


def _text(content: Path | bytes) -> str:
    data = content.read_bytes() if isinstance(content, Path) else content
    return data.decode("utf-8", errors="replace")


def segment_hashes(data: bytes) -> dict[str, str]:
    """The two hashes of a segment, as the ledger keeps them of one with its texts."""
    rows = stable([json.loads(line) for line in data.split(b"\n") if line])
    return {"content": digest_bytes(canonical_json(rows).encode("utf-8")), "sha256": digest_bytes(data)}
