"""OmissionBench's release: pairs of a clean note and a twin with one error, transcripts, fact sheets.

This reading follows the shape in which the benchmark's public builder writes ``dataset_v2.json``. It was tested on
invented files of that shape alone, never on the release itself, and says so wherever it is used. What it does not
recognise it refuses.

    pairs/dataset_v2.json            an object with a list ``pairs`` and, to check it by, ``counts.pairs_total``
    transcripts/STRATUM/ID.txt       the transcript of each consultation that a pair names
    fact_sheets/STRATUM/ID.json      its fact sheet, or fact_sheets/STRATUM.json: a list of sheets with their ``id``

(``dataset_v2.json`` may also stand beside the other two.) A pair has ``pair_id, stratum, id, type`` (omit, add,
change), ``class`` (omit-complete, omit-partial, add, change), ``residual_level`` (complete, partial-strong,
partial-weak or null), ``severity``, ``clean``, ``errored``, ``source`` (its cohort), ``verified``, ``eval_set``,
``held_out_reason``, and where there are any ``matched_pair_ids`` (its couple: the same fact omitted with another
trace), ``fact``, ``fact_uid`` and ``residual`` with ``verified_sites`` or ``sites``, each with ``quote`` or ``span``,
``section`` and ``strength``.

Unit and group: one consultation, ``STRATUM|ID``; stratum as upstream. The errored note is an omission with its trace,
or a commission; its twin is its clean note, which upstream audited and repaired: clean, no mere candidate. Cohort:
``source``. Surviving mentions are found in the note by their words. ``meta`` keeps the couple, and whether upstream
evaluated on the pair: pairs that its optimiser trained on are kept and marked. Ids are upstream's keys of the notes
(``PAIR_ID|err``, and ``STRATUM|ID|clean|`` with the first twelve digits of the text's SHA-256), so that published
scores can be joined.

Facts: the ``must_contain`` items of the sheets, by their place (``mc0``, ``mc1``, ...), as pairs refer to them. Core is
what ``scope`` calls so; without it, all but what ``load_bearing`` calls medium. A fact that a pair omits has the pair's
severity; for the others it is ours: contextual peripheral, else high critical, else supporting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lineage.canonical import digest_bytes
from splits.adapters.imported import NOT_RUN, Adapter, Imported, Notices
from splits.adapters.sheets import read_sheets
from splits.adapters.turns import untagged
from splits.adapters.upstream import Record, by_id, find_file, flat
from splits.corpus import SEVERITIES, STRENGTHS, Corpus
from splits.json_lines import read_json
from splits.rows import Row, read_examples, read_facts

PAIRS: Final = "dataset_v2.json"

_CLASSES: Final[Mapping[str, Mapping[str, tuple[str | None, ...]]]] = {
    "omit": {"omit-complete": ("complete",), "omit-partial": ("partial-strong", "partial-weak", None)},
    "add": {"add": (None,)},
    "change": {"change": (None,)},
}


def read(path: Path) -> Imported:
    """Read the release's folder, or its ``dataset_v2.json`` with the other folders beside it or beside its folder.

    Raises:
        CorpusError: a file is missing, cut off, or not what it should be; with its place.
    """
    notices = Notices()
    inner = path / "pairs"
    file = find_file(inner if path.is_dir() and (inner / PAIRS).is_file() else path, PAIRS)
    root = file.parent.parent if file.parent.name == "pairs" else file.parent
    pairs = _pairs(file)
    groups: dict[str, list[Record]] = {}
    for pair in pairs.values():
        if pair.one_of("verified", (True, False)):
            groups.setdefault(_key(pair), []).append(pair)
        else:
            notices.add("left out", "pair that upstream did not verify", pair.text("pair_id"))
    sheets = read_sheets(root, {key: members[0] for key, members in groups.items()}, notices)
    graded = _graded(pairs)
    facts = read_facts((row for sheet in sheets.values() for row in sheet.rows(graded)), groups)
    known = frozenset(f"{group}|{fact.id}" for group, listed in facts.items() for fact in listed)
    release = _Release(root, frozenset(pairs), known, notices)
    rows = [row for members in groups.values() for row in release.consultation(members)]
    return Imported(Corpus(read_examples(rows), facts), notices.all())


def _pairs(file: Path) -> dict[str, Record]:
    whole = read_json(file, "pairs")
    if not isinstance(whole, dict):
        raise Record({}, str(file)).refuse("must be one JSON object with a list of pairs")
    release = Record(whole, str(file))
    pairs = release.records("pairs")
    counts = release.values.get("counts")
    stated = counts.get("pairs_total") if isinstance(counts, dict) else None
    if not pairs or stated not in (None, len(pairs)):
        message = f"holds {len(pairs)} pairs, and counts.pairs_total says {stated}; fetch the file again"
        raise release.refuse(message, field="pairs")
    return by_id(pairs, "pair_id")


def _key(pair: Record) -> str:
    return f"{pair.text('stratum')}|{pair.text('id')}"


def _fact(pair: Record) -> str | None:
    """``STRATUM|ID|mc7`` where the pair's fact is an item of the sheet."""
    uid = pair.values.get("fact_uid")
    if not isinstance(uid, str):
        return None
    *key, kind, place = uid.split("|")
    return f"{'|'.join(key)}|mc{place}" if kind == "mc" else None


def _graded(pairs: dict[str, Record]) -> dict[str, str]:
    found = {_fact(pair): pair.one_of("severity", (*SEVERITIES, None)) for pair in pairs.values()}
    return {fact: severity for fact, severity in found.items() if fact and severity}


@dataclass(frozen=True, slots=True)
class _Release:
    """What the reading of one consultation needs to know of the rest: pair ids, and facts as ``STRATUM|ID|mcN``."""

    root: Path
    pairs: frozenset[str]
    facts: frozenset[str]
    notices: Notices

    def consultation(self, members: list[Record]) -> Iterator[Row]:
        key = _key(members[0])
        shared = {"group": key, "stratum": members[0].text("stratum"), "source": self.transcript(members[0])}
        clean: dict[str, str] = {}
        for pair in members:
            note = pair.text("clean")
            if note not in clean:
                clean[note] = flat(f"{key}|clean|{digest_bytes(note.encode('utf-8'))[:12]}")
                yield pair.row(id=clean[note], document=note, label="clean", **shared)
        if len(clean) > 1:
            self.notices.add("noted", "consultation with more than one clean note; each pair keeps its own", key)
        for pair in members:
            yield self.errored(pair, {**shared, "twin": clean[pair.text("clean")]})

    def transcript(self, pair: Record) -> str:
        path = self.root / "transcripts" / pair.text("stratum") / f"{pair.text('id')}.txt"
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise pair.refuse(f"{path} is not there; fetch the transcripts of the release", field="id") from error
        except UnicodeDecodeError as error:
            raise pair.refuse(f"{path} is not UTF-8 ({error.reason}); fetch it again", field="id") from error
        if not text.strip():
            raise pair.refuse(f"{path} is empty; fetch it again", field="id")
        lines = [untagged(line) if "<" in line else (line.rstrip(), 0) for line in text.strip().splitlines()]
        self.notices.add("repaired", "transcription tags stripped", _key(pair), sum(tags for _, tags in lines))
        return "\n".join(line for line, _ in lines)

    def errored(self, pair: Record, shared: dict[str, str]) -> Row:
        name, kind = pair.text("pair_id"), pair.one_of("type", _CLASSES)
        trace = pair.one_of("residual_level", _CLASSES[kind][pair.one_of("class", _CLASSES[kind])])
        document = pair.text("errored")
        if document.split() == pair.text("clean").split():
            raise pair.refuse("is the same as clean; a twin has one error", field="errored")
        about = self.about(pair)
        fact = _fact(pair)
        if kind == "omit" and fact not in self.facts:
            self.notices.add("noted", "omission whose fact is not an item of a fact sheet", name)
        return pair.row(
            id=flat(f"{name}|err"),
            document=document,
            label="omission" if kind == "omit" else "commission",
            kind=kind,
            severity=pair.one_of("severity", (*SEVERITIES, None)),
            trace=trace,
            fact=fact.rpartition("|")[2] if fact in self.facts else None,
            residual=self.residual(pair, document) if kind == "omit" else [],
            cohort=pair.text("source"),
            meta={field: value for field, value in about.items() if value not in (None, [])},
            **shared,
        )

    def about(self, pair: Record) -> dict[str, Any]:
        """What is kept in ``meta``."""
        matched = pair.texts("matched_pair_ids") if pair.values.get("matched_pair_ids") is not None else []
        lost = sum(other not in self.pairs for other in matched)
        self.notices.add("noted", "couple of which only one pair is in the release", pair.text("pair_id"), lost)
        evaluated = pair.one_of("eval_set", (True, False))
        held_out = "pair outside upstream's evaluation set, kept and marked"
        self.notices.add("noted", held_out, pair.text("pair_id"), int(not evaluated))
        return {
            "class": pair.get("class"),
            "fact": pair.values.get("fact"),
            "matched": matched,
            "eval_set": evaluated,
            "held_out_reason": pair.values.get("held_out_reason"),
        }

    def residual(self, pair: Record, document: str) -> list[dict[str, Any]]:
        """Where the surviving mentions stand."""
        if not pair.values.get("residual"):
            return []
        residual = pair.record("residual")
        field = "verified_sites" if residual.values.get("verified_sites") else "sites"
        found = []
        for site in residual.records(field) if residual.values.get(field) else ():
            words = site.text("quote" if "quote" in site.values else "span")
            strength = site.one_of("strength", STRENGTHS)
            if (offset := document.find(words)) < 0:
                left_out = "surviving mention whose words are not in the note"
                self.notices.add("left out", left_out, pair.text("pair_id"))
            else:
                found.append({"offset": offset, "heading": site.values.get("section") or "", "strength": strength})
        return sorted(found, key=lambda mention: mention["offset"])


ADAPTER: Final = Adapter(
    name="omissionbench",
    summary=f"pairs of a clean note and its twin with one error; by consultation ({NOT_RUN})",
    files={PAIRS: None},
    licence="CC-BY-4.0",
    attribution=(
        "OmissionBench by Seb Fox, Michael Karotsieris, Luke Markham and Ryan Lail (Composo), 2026, "
        "https://github.com/composo-ai/omission-bench, data CC BY 4.0; built on PriMock57 and ACI-Bench (CC BY 4.0) "
        "and on consultations written for it."
    ),
    read=read,
    caveat=f"This adapter was {NOT_RUN}: it follows the published shape of dataset_v2.json. Compare the counts.",
)
