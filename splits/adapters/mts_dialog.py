"""MTS-Dialog's correlation study: short dialogues, a reference summary, four systems' summaries with factual scores.

Unit and group: one dialogue, which is the source. Stratum: the section of the note that it is about. A few dialogues
have word for word the same reference summary: ``meta.reference`` names the first of them, so that they can be united.

The reference summary is written by people and not verified: a clean candidate, and the twin of the flawed summaries.
A system's summary is a commission (kind ``add``) if people counted hallucinations and no omission in it, an omission
if it is the other way round, and clean if they counted neither. They counted against the reference, which may hold
facts that the dialogue lacks, so that clean summaries are candidates too. Left out are summaries with both flaws (an
example has one), those whose omission rate is -1, upstream's mark of a missing one, and a text that two systems wrote
where the raters contradict themselves. There is no severity and no marked span. Many summaries end in mid-sentence
(``meta.unfinished``): a flaw of form that a judge may see and nobody rated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from splits.adapters.imported import Adapter, Imported, Notices
from splits.adapters.upstream import Record, find_file, flat, read_records
from splits.corpus import Corpus
from splits.rows import Row, read_examples

STUDY: Final = "correlation_study.jsonl"

_END: Final = re.compile(r"[.!?][\"')]*\Z")
_MISSING: Final = -1.0


def read(path: Path) -> Imported:
    """Read the folder with ``correlation_study.jsonl``, or that file.

    Raises:
        CorpusError: the file is missing, cut off, or not what it should be; with its place.
    """
    notices = Notices()
    records = read_records(find_file(path, STUDY), "dialogue", "reference_summary", "summaries")
    references: dict[str, str] = {}
    for record in records:
        first = references.setdefault(_plain(record, "reference_summary"), record.text("id"))
        same = "reference summary that is word for word another dialogue's; keep the two in one split"
        notices.add("noted", same, record.text("id"), int(first != record.text("id")))
    rows = [row for record in records for row in _dialogue(record, references, notices)]
    return Imported(Corpus(read_examples(rows), {}), notices.all())


def _dialogue(record: Record, references: dict[str, str], notices: Notices) -> Iterator[Row]:
    group = record.text("id")
    reference = _plain(record, "reference_summary")
    twin = f"{group}.reference"
    given = record.text("dialogue")
    source = "\n".join(" ".join(line.split()) for line in given.splitlines() if line.strip())
    notices.add(
        "repaired", "dialogue with CRLF line ends and stray spaces made plain lines", group, int(source != given)
    )
    notices.add("noted", "reference summaries, and summaries rated against them alone, are clean candidates", group)
    shared = {"group": group, "stratum": record.text("section_header"), "source": source}
    meta = {"reference": references[reference]}
    candidate = {**meta, "clean": "candidate"}
    yield record.row(id=twin, document=reference, label="clean", meta=candidate, **shared)
    summaries = record.records("summaries")
    labels = {summary.text("id"): _label(summary, notices) for summary in summaries}
    by_text: dict[str, set[str]] = {}
    for summary in summaries:
        unfinished = _unfinished(_plain(summary, "automatic_summary"))
        notices.add(
            "noted", "summary that ends in mid-sentence, marked where kept", summary.text("id"), int(unfinished)
        )
        if (label := labels[summary.text("id")]) is not None:
            by_text.setdefault(_plain(summary, "automatic_summary"), set()).add(label)
    for summary in summaries:
        name, label = summary.text("id"), labels[summary.text("id")]
        if label is None:
            continue
        document = _plain(summary, "automatic_summary")
        if len(by_text[document]) > 1:
            notices.add("left out", "text that the raters found flawed and clean by turns", name)
            continue
        yield summary.row(
            id=flat(name),
            document=document,
            label=label,
            twin=None if label == "clean" else twin,
            meta={
                **(candidate if label == "clean" else meta),
                "system": f"system{summary.one_of('system', range(1, 5))}",
                "unfinished": _unfinished(document),
                "rates": _rates(summary),
            },
            **shared,
        )


def _label(summary: Record, notices: Notices) -> str | None:
    """What is wrong with a summary, or None where it cannot be said in one word."""
    rates = _rates(summary)
    for rate, value in rates.items():
        if not (0 <= value <= 1 or value == _MISSING):
            raise summary.record("scores").refuse(f"must be a rate from 0 to 1, or -1, got {value}", field=rate)
    name = summary.text("id")
    if _MISSING in rates.values():
        notices.add("left out", "summary whose rate is -1, which is to say missing", name)
        return None
    adds, omits = rates["HallucinationRate"] > 0, rates["OmissionRate"] > 0
    if adds and omits:
        notices.add("left out", "summary with hallucinations and omissions both", name)
        return None
    return "commission" if adds else "omission" if omits else "clean"


def _rates(summary: Record) -> dict[str, float]:
    scores = summary.record("scores")
    return {rate: scores.number(rate) for rate in ("HallucinationRate", "OmissionRate")}


def _unfinished(text: str) -> bool:
    return not _END.search(text)


def _plain(record: Record, field: str) -> str:
    return " ".join(record.text(field).split())


ADAPTER: Final = Adapter(
    name="mts-dialog",
    summary="100 short dialogues with a reference and four rated summaries each; by dialogue",
    files={STUDY: "bcb3002fe8e029e5f6dc3d5af6fe04c5495c94ac7bef310f54e820175d36c6c5"},
    licence="CC-BY-4.0",
    attribution=(
        "MTS-Dialog by Asma Ben Abacha, Wen-wai Yim, Yadan Fan and Thomas Lin, EACL 2023, "
        "https://github.com/abachaa/MTS-Dialog, CC BY 4.0; summaries and scores joined by row and grouped by dialogue."
    ),
    read=read,
)
