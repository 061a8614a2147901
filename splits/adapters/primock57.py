"""PriMock57: mock primary-care consultations with a clinician's note, fact checklists and some generated notes.

Unit and group: one consultation. Its source is the transcript, doctor and patient in time order. Its clean document
is the clinician's note as written in the consultation, which nobody verified: a clean candidate. No flawed note has a
twin.

Generated notes that clinicians judged statement by statement become examples where a statement was found incorrect: a
commission of kind ``add`` (upstream does not say whether it was added or changed). They have no twin, as the
clinician's note is another text in another style, not the same text without the flaw. Notes that nobody judged are
left out, and so is a judged note without an incorrect statement: what it omits was not judged.

Stratum: whether the consultation has a checklist, so that each split gets consultations with facts. ``meta`` holds
``presenting_complaint`` as upstream has it, and ``complaint``, its symptom words alone: groups that share it are
close in content (four pairs of cough and cold, say) and are better kept in one split.

Facts: the graded items of the checklists. A sub-item (leading stars) is read under the items above it, and all under
their heading, so that each fact stands alone. Criticality c, nc, i becomes critical, supporting, peripheral. Where
two clinicians wrote a list both are kept, the first clinician's items first; the critical ones of that first list are
core.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from splits.adapters.imported import Adapter, Imported, Notices
from splits.adapters.turns import untagged
from splits.adapters.upstream import Record, by_id, find_file, read_records
from splits.corpus import Corpus
from splits.rows import Row, read_examples, read_facts

CONSULTATIONS: Final = "consultations.jsonl"
CHECKLISTS: Final = "checklists.jsonl"

_SPEAKERS: Final = {"doctor": "Doctor", "patient": "Patient"}
_SEVERITIES: Final = {"c": "critical", "nc": "supporting", "i": "peripheral"}
_STARS: Final = re.compile(r"(\**)\s*(.*)", re.DOTALL)
_ARROW: Final = "\u21b3"
_HEADER: Final = re.compile(r"\s*\d+\.\s+\d\d:\d\d-\d\d:\d\d\s.*?Note:\s*\Z", re.DOTALL)
_APPENDED: Final = "note_has_next_consultations_note_appended"

_SPELLINGS: Final = {
    "abdominal": "abdomen",
    "breathe": "breath",
    "breathing": "breath",
    "breathless": "breath",
    "diarrhoea": "diarrhea",
    "hurt": "pain",
    "stomach": "abdomen",
    "tummy": "abdomen",
}
_IDLE: Final = frozenset(
    re.findall(
        "[a-z]+",
        "a after all an and as bad been bit blinding bottom can cant day difficulty dont eating feel feeling few for "
        "from got had hard have havent having i im in is it ive last lately lower much my not of on or past pouring "
        "really severe short sore strange terrible the time to used very week well when",
    )
)


def read(path: Path) -> Imported:
    """Read the folder with ``consultations.jsonl`` and ``checklists.jsonl``.

    Raises:
        CorpusError: a file is missing, cut off, or not what it should be; with its place.
    """
    notices = Notices()
    consultations = read_records(find_file(path, CONSULTATIONS), "note", "presenting_complaint", "transcript")
    checklists = read_records(find_file(path, CHECKLISTS, beside=True), "consultation_id", "items", "model_notes")
    known = by_id(consultations)
    listed: dict[str, list[Record]] = {}
    for checklist in checklists:
        consultation = checklist.text("consultation_id")
        if consultation not in known:
            raise checklist.refuse(f"{consultation!r} is not in {CONSULTATIONS}", field="consultation_id")
        listed.setdefault(consultation, []).append(checklist)
    for lists in listed.values():
        lists.sort(key=lambda checklist: checklist.text("clinician"))
    rows = [row for record in consultations for row in _documents(record, known, listed, notices)]
    facts = [row for group, lists in listed.items() for row in _facts(group, lists, notices)]
    return Imported(Corpus(read_examples(rows), read_facts(facts, known)), notices.all())


def complaint(text: str) -> str:
    """The symptom words of a presenting complaint in order of the alphabet; complaints alike have the same."""
    words = re.findall("[a-z]+", text.lower().replace("\u2019", "").replace("'", ""))
    single = (re.sub(r"(?<=[^isu])s\Z", "", word) for word in words)
    return " ".join(sorted({_SPELLINGS.get(word, word) for word in single} - _IDLE)) or text.strip().lower()


def _documents(
    record: Record, known: dict[str, Record], listed: dict[str, list[Record]], notices: Notices
) -> Iterator[Row]:
    group = record.text("id")
    given = record.text("presenting_complaint")
    shared = {
        "group": group,
        "stratum": "checklist" if group in listed else "no checklist",
        "source": _transcript(record, notices),
    }
    meta = {"presenting_complaint": given, "complaint": complaint(given), "day": record.whole("day")}
    note = _note(record, known, notices)
    notices.add("noted", "clinicians' notes are clean candidates, not verified", group)
    yield record.row(id=f"{group}.note", document=note, label="clean", meta={**meta, "clean": "candidate"}, **shared)
    for checklist in listed.get(group, ()):
        for number, generated in enumerate(checklist.records("model_notes"), start=1):
            statements = generated.records("statements")
            verdicts = [statement.one_of("judgement", ("c", "i", None)) for statement in statements]
            place = f"{checklist.text('id')} {generated.text('label')}"
            if not any(verdicts):
                notices.add("left out", "generated note that nobody judged", place)
            elif "i" not in verdicts:
                notices.add("left out", "generated note without an incorrect statement; omissions not judged", place)
            else:
                wrong = [text.strip(f"{_ARROW} ") for text in _incorrect(statements)]
                yield generated.row(
                    id=f"{group}.{checklist.text('clinician')}.generated{number}",
                    document=_joined(statements),
                    label="commission",
                    kind="add",
                    meta={**meta, "incorrect": wrong, "statements": len(statements)},
                    **shared,
                )


def _incorrect(statements: list[Record]) -> list[str]:
    return [statement.text("text") for statement in statements if statement.get("judgement") == "i"]


def _joined(statements: list[Record]) -> str:
    """The generated note: one line a statement, continued where an arrow says so."""
    lines: list[str] = []
    for statement in statements:
        text = statement.text("text").strip()
        if text.startswith(_ARROW) and lines:
            lines[-1] += f" {text[len(_ARROW) :].strip()}"
        else:
            lines.append(text.removeprefix(_ARROW).strip())
    return "\n".join(lines)


def _transcript(record: Record, notices: Notices) -> str:
    turns = []
    end = 0.0
    for utterance in record.records("transcript"):
        speaker = _SPEAKERS[utterance.one_of("speaker", _SPEAKERS)]
        text, tags = untagged(utterance.text("text", empty=True))
        notices.add("repaired", "transcription tags stripped from utterances", record.text("id"), tags)
        notices.add(
            "noted",
            "utterance that begins before the one before has ended",
            record.text("id"),
            int(utterance.number("start_s") < end),
        )
        end = utterance.number("end_s")
        if text:
            turns.append(f"{speaker}: {text}")
        else:
            notices.add("left out", "utterance that holds no words, only tags", record.text("id"))
    return "\n".join(turns)


def _note(record: Record, known: dict[str, Record], notices: Notices) -> str:
    """The note, without the note of another consultation that was appended to it."""
    note = record.text("note")
    for other in known.values():
        appended = other.text("note").strip()
        if other is not record and len(appended) < len(note) and note.rstrip().endswith(appended):
            header = note.rstrip().removesuffix(appended)
            notices.add("repaired", "note of another consultation cut off the end", record.text("id"))
            return _HEADER.sub("", header).rstrip()
    if _APPENDED in record.texts("defects"):
        message = "said to have another consultation's note appended, but no other note is found at its end"
        raise record.refuse(f"{message}; fetch the file again or take the mark out of defects", field="note")
    return note


def _facts(group: str, lists: list[Record], notices: Notices) -> Iterator[Row]:
    for place, checklist in enumerate(lists):
        clinician = checklist.text("clinician")
        heading, above = "", list[tuple[int, str]]()
        for item in checklist.records("items"):
            found = _STARS.fullmatch(item.text("text").strip())
            assert found is not None
            depth, text = len(found[1]), found[2].strip()
            given = item.optional("severity")
            if given != (grade := given and given.strip()):
                notices.add("repaired", "space around a criticality stripped", checklist.text("id"))
            if grade is not None and grade not in _SEVERITIES:
                raise item.refuse(f"must be c, nc, i or null, got {given!r}", field="severity")
            if grade is None and not depth:
                heading, above = text, []
                continue
            above = [(stars, parent) for stars, parent in above if stars < depth]
            if grade is None:
                notices.add("noted", "sub-item without criticality, read as part of those below", checklist.text("id"))
            else:
                severity = _SEVERITIES[grade]
                yield item.row(
                    id=f"{clinician}.{item.whole('row')}",
                    group=group,
                    fact=": ".join(part for part in (heading, *(parent for _, parent in above), text) if part),
                    evidence=[],
                    severity=severity,
                    core=place == 0 and severity == "critical",
                )
            above.append((depth, text))
    if len(lists) > 1:
        notices.add("noted", "consultation with the checklists of two clinicians, both kept", group)


ADAPTER: Final = Adapter(
    name="primock57",
    summary="57 mock consultations: transcript, clinician's note, fact checklists; by consultation",
    files={
        CONSULTATIONS: "2d4d3a1640a5276c424a4a7280df8bdd56b0d31df238b870887883b8ab7c460a",
        CHECKLISTS: "e479880f5b213f2481015d7151243a3f29fb782f2022374a67acce246d3d3ada",
    },
    licence="CC-BY-4.0",
    attribution=(
        "PriMock57 by Alex Papadopoulos Korfiatis, Francesco Moramarco, Radmila Sarac and Aleksandar Savkov (Babylon "
        "Health), https://github.com/babylonhealth/primock57, CC BY 4.0; doctor and patient tracks merged in time "
        "order."
    ),
    read=read,
)
