"""Defects of examples beside the format of a row: ids, twins, texts, and what groups share."""

from __future__ import annotations

from collections.abc import Iterator

from splits.corpus import Example
from splits.defects import Defect, RowFile, Severity
from splits.near_duplicates import LEAST_WORDS, near_duplicate_links
from splits.shingles import has_words, same_words
from splits.text_defects import text_defects


def identity_defects(file: RowFile) -> Iterator[Defect]:
    """Ids are unique, and a group lies in one stratum."""
    strata: dict[str, tuple[str, int]] = {}
    for line, example in file.examples.items():
        if (first := file.first[example.id]) != line:
            words = f"id {example.id!r} also stands on line {first}; ids must be unique"
            yield file.defect("error", "duplicate id", line, "id", words)
        if "stratum" in file.guessed[line]:
            continue
        stratum, above = strata.setdefault(example.group, (example.stratum, line))
        if stratum != example.stratum:
            words = f"group {example.group!r} is in stratum {stratum!r} on line {above}, here in {example.stratum!r}"
            yield file.defect("error", "stratum", line, "stratum", f"{words}; a group lies in one stratum")


def twin_defects(file: RowFile) -> Iterator[Defect]:
    """A flawed example has a clean twin in its group, on the same source, and differs from it."""
    paired = any(example.twin is not None for example in file.examples.values())
    for line, example in file.examples.items():
        if example.label == "clean" or "twin" in file.guessed[line]:
            continue
        if example.twin is None:
            if paired:
                words = "a flawed example without a twin is left out of every paired measure; name its clean twin"
                yield file.defect("warning", "missing twin", line, "twin", words)
        elif (at := file.first.get(example.twin)) is None:
            words = f"twin {example.twin!r} is not in the corpus"
            yield file.defect("error", "missing twin", line, "twin", words)
        else:
            yield from _pair_defects(file, line, at)


def _pair_defects(file: RowFile, line: int, at: int) -> Iterator[Defect]:
    example, twin = file.examples[line], file.examples[at]
    guessed = file.guessed[line] | file.guessed[at]
    named = f"twin {twin.id!r} (line {at})"
    if twin.label != "clean" and "label" not in guessed:
        yield file.defect("error", "wrong twin", line, "twin", f"{named} is {twin.label}; a twin is a clean example")
    if twin.group != example.group and "group" not in guessed:
        words = f"{named} is in group {twin.group!r}, this example in {example.group!r}; twins are in one group"
        yield file.defect("error", "wrong twin", line, "twin", words)
    elif twin.source != example.source and "source" not in guessed:
        yield file.defect("warning", "other source", line, "source", f"is not the source of its {named}")
    if "document" not in guessed:
        yield from _unchanged(file, line, example, twin)


def _unchanged(file: RowFile, line: int, example: Example, twin: Example) -> Iterator[Defect]:
    if example.document == twin.document:
        words = f"is the text of its twin {twin.id!r}: the flaw changes nothing; mend or remove the example"
        yield file.defect("error", "identical twins", line, "document", words)
    elif same_words(example.document, twin.document):
        words = f"differs from its twin {twin.id!r} in case, spaces or punctuation alone; is that the flaw?"
        yield file.defect("warning", "identical twins", line, "document", words)


def example_text_defects(file: RowFile) -> Iterator[Defect]:
    """What is wrong with documents and sources in themselves."""
    for line, field, text in file.texts():
        for found in text_defects(text):
            yield file.defect("warning", found.kind, line, field, found.words)


def shared_text_defects(file: RowFile) -> Iterator[Defect]:
    """No text stands in two groups: an error for a source, as a group is what shares one, a warning for a document."""
    first: dict[str, int] = {}
    for line, field, text in file.texts():
        at = first.setdefault(text, line)
        if at != line and file.examples[at].group != file.examples[line].group and _long(text):
            here, there = (file.examples[place].group for place in (line, at))
            words = f"is also the text of line {at}, in group {there!r} instead of {here!r}; unite the two groups"
            severity: Severity = "error" if field == "source" else "warning"
            yield file.defect(severity, "text in two groups", line, field, words)


def near_duplicate_defects(file: RowFile, *, threshold: float) -> Iterator[Defect]:
    """No two groups have near-duplicate texts; one pair stands for all of two groups; short documents do not count."""
    texts = {(line, field): text for line, field, text in file.texts() if field == "source" or _long(text)}
    keys = {f"{line:012d} {field}": (line, field) for line, field in texts}
    groups = {key: file.examples[line].group for key, (line, _) in keys.items()}
    links = near_duplicate_links({key: texts[place] for key, place in keys.items()}, groups=groups, threshold=threshold)
    for link in links:
        (at, _), (line, field) = keys[link.a], keys[link.b]
        if texts[keys[link.a]] == texts[keys[link.b]] and _long(texts[keys[link.a]]):
            continue  # told as a text in two groups
        words = (
            f"is a near-duplicate (similarity {link.similarity:.2f}) of a text on line {at}; keep the groups "
            f"{groups[link.a]!r} and {groups[link.b]!r} in one split: --unite near-duplicates"
        )
        yield file.defect("warning", "near-duplicate", line, field, words)


def _long(text: str) -> bool:
    return has_words(text, LEAST_WORDS)
