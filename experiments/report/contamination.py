"""Contamination: near-duplicate groups that the split separates, and accept or held-out text in prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from experiments.report.blocks import Block, Paragraph, Section, Table
from experiments.report.data import ReportData
from experiments.report.wording import split_words
from lineage.audit.contamination import overlap_words

Row = Mapping[str, Any]


def contamination_section(data: ReportData) -> Section:
    """Every recorded finding, and what was looked for."""
    return Section("contamination", "Contamination", tuple(_parts(data)))


def contamination_notices(data: ReportData) -> list[str]:
    """What must be read before any number: a split that leaks, or a compared prompt that holds what it must not."""
    said = []
    if pairs := _pairs(data):
        said.append(
            f"CONTAMINATION: the split separates {len(pairs)} pair(s) of near-duplicate groups. What is learnt on one "
            "of a pair is partly known of the other."
        )
    for role in ("winner", "baseline") if data.found else ("baseline",):
        held = [row for row in _texts(data, "candidate") if row[0]["candidate"] == data.verdict[role]]
        if held:
            body, overlap = held[0]
            said.append(
                f"CONTAMINATION: the {role} ({_name(data, body)}) {overlap_words(overlap)}. Its numbers there may be "
                "too good."
            )
    return said


def _parts(data: ReportData) -> Iterator[Block]:
    checked = next((body for body in data.contamination if body["of"] == "splits"), None)
    if checked is None:
        yield Paragraph("Not looked for: the version that ran this campaign recorded no such check.")
        return
    checks = checked["checks"]
    yield Paragraph(
        f"Looked for in every candidate and in all that the reflector was told: runs of {checks['ngram_words']} words "
        f"of accept or held-out text, passages of which {100 * checks['passage_share']:g}% is repeated in runs of "
        f"{checks['passage_words']} words, facts and changed sentences, and names of examples. What also stands in "
        "reflect text does not count, and a paraphrase is not seen. Between splits: texts whose sets of runs of "
        f"{checks['shingle_words']} words have a Jaccard similarity of at least {checks['similarity']:g}."
    )
    yield from _split_table(data)
    yield from _text_table(data)


def _split_table(data: ReportData) -> Iterator[Block]:
    pairs = _pairs(data)
    if not pairs:
        yield Paragraph("Splits: no near-duplicate groups lie in different splits.")
        return
    yield Table(
        "Near-duplicate groups in different splits, with the highest similarity of two of their texts.",
        ("Groups", "Splits", "Similarity"),
        tuple(
            (
                " and ".join(row["groups"]),
                " and ".join(split_words(split) for split in row["splits"]),
                f"{row['similarity']:.2f}",
            )
            for row in pairs
        ),
    )


def _text_table(data: ReportData) -> Iterator[Block]:
    candidates, requests = _texts(data, "candidate"), _texts(data, "reflection")
    if not candidates and not requests:
        yield Paragraph("Prompts: no candidate and no request to the reflector holds accept or held-out text.")
        return
    rows = [(_name(data, body), _outcome(data, body), overlap_words(row)) for body, row in candidates]
    rows += [(f"request {body['iteration']}", "told to the reflector", overlap_words(row)) for body, row in requests]
    yield Table(
        "Candidates and requests to the reflector with accept or held-out text. An invalid candidate was not judged.",
        ("Where", "Outcome", "What"),
        tuple(rows),
    )


def _pairs(data: ReportData) -> list[Row]:
    return [row for body in data.contamination if body["of"] == "splits" for row in body["findings"]]


def _texts(data: ReportData, subject: str) -> list[tuple[Row, Row]]:
    """Each finding about candidates or reflections, with its event's body before it."""
    return [(body, row) for body in data.contamination if body["of"] == subject for row in body["findings"]]


def _name(data: ReportData, body: Row) -> str:
    return data.proposal(body["candidate"]).name


def _outcome(data: ReportData, body: Row) -> str:
    return data.proposal(body["candidate"]).outcome
