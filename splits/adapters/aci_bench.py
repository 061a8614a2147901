"""ACI-Bench: simulated ambulatory encounters with a dialogue and a reference note.

Unit and group: one encounter. Source: the dialogue; document: its reference note, which nobody verified against the
dialogue: a clean candidate. There are no flawed documents and no facts (the claims that DocLens made of these notes
restate the note, not the dialogue, and carry no severity). Stratum: upstream's collection (``aci``, ``virtassist``,
``virtscribe``), whose dialogues were made in different ways. Patients' names repeat between encounters without being
the same patient, so they join nothing.

``aci-bench`` has the official dialogues. ``aci-bench-variants`` has upstream's other transcription (speech
recognition, or that corrected) of those encounters that have one, under the same groups and ids, so that what was
measured on the one can be compared on the other. They are two corpora, as a group has one source.

Dialogues become lines ``Doctor: ...``, ``Patient: ...``, ``Guest: ...``. Lower case, tokenised text stays. Speakers
that speech recognition swapped stay swapped: no file says where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from splits.adapters.imported import Adapter, Imported, Notices
from splits.adapters.turns import dialogue
from splits.adapters.upstream import Record, by_id, find_file, read_records
from splits.corpus import Corpus
from splits.rows import Row, read_examples

ENCOUNTERS: Final = "encounters.jsonl"
VARIANTS: Final = "dialogue_variants.jsonl"

_COLLECTIONS: Final = ("aci", "virtassist", "virtscribe")
_VERSIONS: Final = ("asr", "asrcorr")
_UNSEEN_SPACE: Final = re.compile("[\u00a0\u200b\u202f]")


def read(path: Path, *, variants: bool) -> Imported:
    """Read the folder with ``encounters.jsonl``, and ``dialogue_variants.jsonl`` where its dialogues are wanted.

    Raises:
        CorpusError: a file is missing, cut off, or not what it should be; with its place.
    """
    notices = Notices()
    encounters = read_records(find_file(path, ENCOUNTERS), "dialogue", "note", "dataset")
    if variants:
        others = read_records(find_file(path, VARIANTS, beside=True), "encounter_id", "version", "dialogue")
        rows = list(_variants(by_id(encounters), by_id(others, "encounter_id"), notices))
    else:
        rows = [_row(record, record, "official", notices) for record in encounters]
    return Imported(Corpus(read_examples(rows), {}), notices.all())


def _variants(encounters: dict[str, Record], others: dict[str, Record], notices: Notices) -> Iterator[Row]:
    for name, record in encounters.items():
        if name in others:
            yield _row(record, others[name], others[name].one_of("version", _VERSIONS), notices)
        else:
            notices.add("left out", "encounter without another transcription", name)
    for name, other in others.items():
        if name not in encounters:
            raise other.refuse(f"{name!r} is not in {ENCOUNTERS}", field="encounter_id")


def _row(encounter: Record, spoken: Record, version: str, notices: Notices) -> Row:
    group = encounter.text("id")
    said = dialogue(spoken.text("dialogue"))
    for what, count in (
        ("line without a speaker joined to the turn before", said.continued),
        ("speaker tag without words dropped", said.bare),
        ("blank line dropped", said.blank),
        ("mark of inaudible speech stripped", said.inaudible),
    ):
        notices.add("repaired", what, group, count)
    if not said.turns:
        raise spoken.refuse("holds no words", field="dialogue")
    if not said.turns[0].speaker:
        notices.add("noted", "dialogue that begins without a speaker", group)
    notices.add("noted", "reference notes are clean candidates, not verified", group)
    note, unseen = _UNSEEN_SPACE.subn(lambda found: "" if found[0] == "\u200b" else " ", encounter.text("note"))
    notices.add("repaired", "no-break, narrow or zero-width space in a note made plain", group, unseen)
    about = encounter.record("metadata")
    known = {name: about.text(name, empty=True) for name in ("cc", "2nd_complaints")}
    return encounter.row(
        id=f"{group}.note",
        group=group,
        stratum=encounter.one_of("dataset", _COLLECTIONS),
        source=str(said),
        document=note,
        label="clean",
        meta={
            "clean": "candidate",
            "split": encounter.text("split"),
            "transcription": version,
            **({"complaint": known["cc"]} if known["cc"] else {}),
            **({"second_complaints": known["2nd_complaints"]} if known["2nd_complaints"] else {}),
        },
    )


_ATTRIBUTION: Final = (
    "ACI-BENCH by Wen-wai Yim, Yujuan Fu, Asma Ben Abacha, Neal Snider, Thomas Lin and Meliha Yetisgen, Nature "
    "Scientific Data 2023, https://github.com/wyim/aci-bench, CC BY 4.0; CSV files joined with their metadata and "
    "converted to JSON."
)
_ENCOUNTERS_HASH: Final = "e0549f0edc957e4f7b58e9ea40c15541f68f2704077aa262d837ed16160bac14"
_VARIANTS_HASH: Final = "ad1c5c0db98c6206edf35203c97a879d336368a0e2dcaef50fbb4e5e7eff3916"

ADAPTER: Final = Adapter(
    name="aci-bench",
    summary="207 simulated encounters: dialogue and reference note; by encounter",
    files={ENCOUNTERS: _ENCOUNTERS_HASH},
    licence="CC-BY-4.0",
    attribution=_ATTRIBUTION,
    read=partial(read, variants=False),
)
VARIANTS_ADAPTER: Final = Adapter(
    name="aci-bench-variants",
    summary="57 of them with upstream's other transcription; same groups and ids as aci-bench",
    files={ENCOUNTERS: _ENCOUNTERS_HASH, VARIANTS: _VARIANTS_HASH},
    licence="CC-BY-4.0",
    attribution=_ATTRIBUTION,
    read=partial(read, variants=True),
)
