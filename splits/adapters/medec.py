"""MEDEC-MS: clinical texts, some with one injected error, and its correction. There is no source document.

Unit and group: upstream's ``group_id``, all texts written on one vignette, whatever split they are in. Stratum: the
type of error in the group (management, diagnosis, treatment, pharmacotherapy, causalOrganism). Source: empty, as the
error is to be found by medical knowledge and coherence of the text alone.

A text with an error is a commission of kind ``change``. Its twin is made of upstream's ``Corrected Text``, which
differs in the one wrong sentence; so every text with an error has a minimal twin, also where upstream has no text
without error for the vignette. The natural texts without error are clean examples of the group besides, and no twins:
there the changed sentence stands elsewhere in the text. ``meta.minimal`` says of each twin whether putting the stated
correction in the place of the stated error, white space aside, gives it exactly.

Clean here is clean, not a candidate: the texts were made from examination questions with a keyed answer, and
upstream's medical annotators wrote the errors into them and say of each text whether it holds one. That is a label on
the text, unlike the bare fact that a clinician wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ftfy import fix_encoding

from splits.adapters.imported import Adapter, Imported, Notices
from splits.adapters.upstream import Record, by_id, find_file, grouped, read_records
from splits.corpus import Corpus
from splits.rows import Row, read_examples

RECORDS: Final = "records.jsonl"

_TYPES: Final = ("causalOrganism", "diagnosis", "management", "pharmacotherapy", "treatment")


def read(path: Path) -> Imported:
    """Read the folder with ``records.jsonl``, or that file.

    Raises:
        CorpusError: the file is missing, cut off, or not what it should be; with its place.
    """
    notices = Notices()
    records = read_records(find_file(path, RECORDS), "group_id", "twin_id", "Text", "Error Flag", "Corrected Text")
    known = by_id(records)
    rows = [row for _, group in grouped(records, "group_id") for row in _group(group, known, notices)]
    return Imported(Corpus(read_examples(rows), {}), notices.all())


def _group(records: list[Record], known: dict[str, Record], notices: Notices) -> Iterator[Row]:
    name = records[0].text("group_id")
    types = [record.one_of("Error Type", _TYPES) for record in records if _has_error(record)]
    if len(set(types)) > 1:
        notices.add("noted", "group with several types of error; its stratum is the first", name)
    if len({record.one_of("split", ("valid", "test")) for record in records}) > 1:
        notices.add("noted", "group that crosses upstream's splits, kept whole", name)
    if all(map(_has_error, records)):
        notices.add("noted", "group without a natural text without error", name)
    shared = {"group": name, "stratum": types[0] if types else "no error", "source": ""}
    for record in records:
        yield from _examples(record, known, shared, notices)


def _has_error(record: Record) -> bool:
    return bool(record.one_of("Error Flag", ("0", "1")) == "1")


def _examples(record: Record, known: dict[str, Record], shared: dict[str, str], notices: Notices) -> Iterator[Row]:
    name = record.text("id")
    text = _clean_text(record, "Text", notices)
    natural = record.optional("twin_id")
    if natural is None:
        notices.add("noted", "text without a natural text of the other class", name)
    elif natural not in known:
        raise record.refuse(f"{natural!r} is not in the file; fetch it again", field="twin_id")
    elif known[natural].text("group_id") != shared["group"]:
        raise record.refuse(f"{natural!r} is in group {known[natural].text('group_id')!r}", field="twin_id")
    elif _has_error(known[natural]) == _has_error(record):
        raise record.refuse(f"{natural!r} is of the same class, with error or without", field="twin_id")
    meta: dict[str, Any] = {"split": record.text("split"), "natural_twin": natural}
    if not _has_error(record):
        yield record.row(id=name, document=text, label="clean", meta=meta, **shared)
        return
    corrected = _clean_text(record, "Corrected Text", notices)
    error, correction = (_clean_text(record, field, notices) for field in ("Error Sentence", "Corrected Sentence"))
    if _folded(text) == _folded(corrected):
        raise record.refuse("is the same as Text; a correction changes it", field="Corrected Text")
    minimal = _folded(text).replace(_folded(error), _folded(correction), 1) == _folded(corrected)
    if not minimal:
        notices.add("noted", "corrected text that differs beyond the stated sentence", name)
    if not _points_to(record, error):
        notices.add("noted", "Error Sentence ID that does not point to Error Sentence; the sentence is kept", name)
    twin = f"{name}.corrected"
    yield record.row(id=twin, document=corrected, label="clean", meta={**meta, "minimal": minimal}, **shared)
    yield record.row(
        id=name,
        document=text,
        label="commission",
        kind="change",
        twin=twin,
        meta={**meta, "error_type": record.text("Error Type"), "error": error, "correction": correction},
        **shared,
    )


def _clean_text(record: Record, field: str, notices: Notices) -> str:
    """A text with plain line ends and its mojibake set right."""
    name = record.text("id")
    given = record.text(field)
    plain = given.replace("\r\n", "\n").replace("\r", "\n")
    text = fix_encoding(plain)
    notices.add("repaired", f"{field} with CRLF line ends made LF", name, int(plain != given))
    notices.add("repaired", f"{field} with mojibake set right", name, int(text != plain))
    return text.strip()


def _points_to(record: Record, error: str) -> bool:
    sentences = dict(re.findall(r"(?m)^(\d+) (.*?)\r?$", record.text("Sentences")))
    found = fix_encoding(sentences.get(record.text("Error Sentence ID"), ""))
    return _folded(found) == _folded(error) and "\n" not in error


def _folded(text: str) -> str:
    return " ".join(text.split())


ADAPTER: Final = Adapter(
    name="medec",
    summary="1,171 clinical texts, 630 with one error and its correction as twin; by vignette; no source",
    files={RECORDS: "4b59e79cb408cd7dad5303384a34c28a7cb72412057821d3d721f7498ad742ef"},
    licence="CC-BY-4.0",
    attribution=(
        "MEDEC by Asma Ben Abacha, Wen-wai Yim, Yujuan Fu, Zhaoyi Sun, Meliha Yetisgen, Fei Xia and Thomas Lin, "
        "Findings of ACL 2025, https://github.com/abachaa/MEDEC, CC BY 4.0; converted to JSON, empty rows left out, "
        "group and twin ids added."
    ),
    read=read,
)
