"""The reading of OmissionBench's released shape, on invented files: the release itself was never seen."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.canonical import digest_bytes
from lineage.errors import CorpusError
from splits.adapters import Imported, import_corpus

Read = Callable[..., Imported]
Whole = Callable[[str, str], Any]
Counted = Callable[[Imported], dict[str, int]]

PAIRS, SHEET, TRANSCRIPT = "pairs/dataset_v2.json", "fact_sheets/aci/D1.json", "transcripts/aci/D1.txt"


def released(whole: Whole, *changes: dict[str, Any]) -> dict[str, Any]:
    """The release of the fixture with as many pairs as there are changes, all built on its first, an omission."""
    release = whole("omissionbench", PAIRS)
    base = release["pairs"][0]
    release["pairs"] = [
        {**base, "pair_id": f"p{at}", "errored": f"PLAN\nFluids. {at}", **c} for at, c in enumerate(changes)
    ]
    release["counts"] = {"pairs_total": len(changes)}
    return release


def test_a_consultation_has_its_clean_note_once_and_an_example_for_each_pair(imported: Read) -> None:
    corpus = imported("omissionbench").corpus
    shown = [(e.id, e.group, e.stratum, e.label, e.kind, e.trace, e.severity, e.twin, e.fact) for e in corpus.examples]
    clean = "aci|D1|clean|" + digest_bytes(b"PLAN\nRest. Fluids. Rest well.")[:12]
    assert shown == [
        (clean, "aci|D1", "aci", "clean", "clean", None, None, None, None),
        ("aci|D1|omitc|mc0|err", "aci|D1", "aci", "omission", "omit", "complete", "critical", clean, "mc0"),
        ("aci|D1|add|err", "aci|D1", "aci", "commission", "add", None, "supporting", clean, None),
    ]
    assert corpus.examples[1].cohort == "factorial"
    assert not corpus.examples[0].candidate
    assert corpus.examples[0].source == "Doctor: Rest, and rest well.\nPatient: Yes."


def test_facts_carry_the_severity_of_the_pair_that_omits_them_or_else_ours(imported: Read, whole: Whole) -> None:
    items = [
        {"fact": "Rest.", "evidence": "rest", "load_bearing": "medium", "scope": "core"},
        {"fact": "Fluids.", "evidence": "", "load_bearing": "high", "scope": "core"},
        {"fact": "Fluids often.", "load_bearing": "medium", "scope": "core"},
        {"fact": "A dog.", "load_bearing": "high", "scope": "contextual"},
        {"fact": "Was heard.", "load_bearing": "medium"},
        "A bare text.",
    ]
    sheet = {"id": "D1", "fact_sheet": {"must_contain": items}}
    facts = imported("omissionbench", {SHEET: sheet}).corpus.facts["aci|D1"]
    assert [(fact.id, fact.severity, fact.core, fact.evidence) for fact in facts] == [
        ("mc0", "critical", True, ("rest",)),
        ("mc1", "critical", True, ()),
        ("mc2", "supporting", True, ()),
        ("mc3", "peripheral", False, ()),
        ("mc4", "supporting", False, ()),
        ("mc5", "supporting", True, ()),
    ]


def test_fact_sheets_may_stand_in_one_file_a_stratum(imported: Read, whole: Whole) -> None:
    sheet = whole("omissionbench", SHEET)
    stranger = {**sheet, "id": "D9"}
    found = imported("omissionbench", {SHEET: None, "fact_sheets/aci.json": json.dumps([sheet, stranger])})
    assert [fact.id for fact in found.corpus.facts["aci|D1"]] == ["mc0"]
    assert "left out: fact sheet of a consultation without a pair (1: aci|D9)" in map(str, found.notices)


def test_without_fact_sheets_the_corpus_has_no_facts_and_says_so(imported: Read, counted: Counted) -> None:
    found = imported("omissionbench", {SHEET: None})
    assert found.corpus.facts == {}
    assert found.corpus.by_id["aci|D1|omitc|mc0|err"].fact is None
    said = counted(found)
    assert said["noted: consultation without a fact sheet, so without facts"] == 1
    assert said["noted: omission whose fact is not an item of a fact sheet"] == 1


def test_surviving_mentions_are_found_by_their_words(imported: Read, whole: Whole, counted: Counted) -> None:
    sites = [
        {"quote": "Rest well.", "section": "PLAN", "strength": "partial"},
        {"span": "Fluids.", "section": None, "strength": "explicit"},
        {"quote": "not there", "section": "PLAN", "strength": "partial"},
    ]
    partial = {"class": "omit-partial", "residual_level": "partial-weak", "errored": "PLAN\nFluids. Rest well."}
    verified = {**partial, "residual": {"verified_sites": sites, "sites": [{"span": "Fluids.", "strength": "?"}]}}
    older = {**partial, "errored": "PLAN Fluids. Rest well.", "residual": {"sites": sites[:1], "n_surviving": 1}}
    found = imported("omissionbench", {PAIRS: released(whole, verified, older)})
    one, other = (found.corpus.by_id[name] for name in ("p0|err", "p1|err"))
    assert [(m.offset, m.heading, m.strength) for m in one.residual] == [(5, "", "explicit"), (13, "PLAN", "partial")]
    assert [m.offset for m in other.residual] == [13]
    assert one.trace == "partial-weak"
    assert counted(found)["left out: surviving mention whose words are not in the note"] == 1


def test_couples_cohorts_and_upstreams_evaluation_set_are_kept(imported: Read, whole: Whole, counted: Counted) -> None:
    couple = {"matched_pair_ids": ["p1"], "source": "frozen_omit"}
    widow = {"matched_pair_ids": ["p7"], "eval_set": False, "held_out_reason": "trained_by_prompt_optimizer"}
    found = imported("omissionbench", {PAIRS: released(whole, couple, widow)})
    one, other = (found.corpus.by_id[name] for name in ("p0|err", "p1|err"))
    assert (one.cohort, one.meta["matched"], one.meta["eval_set"]) == ("frozen_omit", ["p1"], True)
    assert other.meta["held_out_reason"] == "trained_by_prompt_optimizer"
    said = counted(found)
    assert said["noted: couple of which only one pair is in the release"] == 1
    assert said["noted: pair outside upstream's evaluation set, kept and marked"] == 1


def test_each_pair_keeps_its_own_clean_note(imported: Read, whole: Whole, counted: Counted) -> None:
    found = imported("omissionbench", {PAIRS: released(whole, {}, {"clean": "PLAN\nRest. Fluids."})})
    one, other = (found.corpus.by_id[name] for name in ("p0|err", "p1|err"))
    assert found.corpus.by_id[one.twin or ""].document == "PLAN\nRest. Fluids. Rest well."
    assert found.corpus.by_id[other.twin or ""].document == "PLAN\nRest. Fluids."
    assert counted(found)["noted: consultation with more than one clean note; each pair keeps its own"] == 1


def test_unverified_pairs_are_left_out(imported: Read, whole: Whole, counted: Counted) -> None:
    found = imported("omissionbench", {PAIRS: released(whole, {}, {"verified": False})})
    assert [example.label for example in found.corpus.examples] == ["clean", "omission"]
    assert counted(found)["left out: pair that upstream did not verify"] == 1


def test_transcription_tags_are_stripped(imported: Read) -> None:
    found = imported("omissionbench", {TRANSCRIPT: "Doctor: <UNSURE>Rest</UNSURE> <UNIN/>.\nPatient: Yes."})
    assert found.corpus.examples[0].source == "Doctor: Rest .\nPatient: Yes."


def test_the_pairs_may_stand_beside_the_transcripts(folder: Callable[..., Path], whole: Whole) -> None:
    path = folder("omissionbench", {"dataset_v2.json": whole("omissionbench", PAIRS), PAIRS: None})
    (path / "pairs").rmdir() if (path / "pairs").is_dir() else None
    assert len(import_corpus("omissionbench", path).corpus.examples) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"type": "drop"}, r"dataset_v2\.json, field 'pairs\[0\]\.type': must be one of \['omit', 'add', 'change'\]"),
        ({"class": "add"}, r"field 'pairs\[0\]\.class': must be one of \['omit-complete', 'omit-partial'\], got 'add'"),
        ({"residual_level": "partial-weak"}, r"field 'pairs\[0\]\.residual_level': must be one of \['complete'\]"),
        ({"severity": "grave"}, r"field 'pairs\[0\]\.severity': must be one of"),
        ({"errored": "PLAN Rest. Fluids. Rest well."}, r"field 'pairs\[0\]\.errored': is the same as clean"),
        ({"clean": ""}, r"field 'pairs\[0\]\.clean': must be a non-empty text"),
        ({"eval_set": None}, r"field 'pairs\[0\]\.eval_set': must be one of \[True, False\], got None"),
        ({"id": "D2"}, r"field 'pairs\[0\]\.id': .*transcripts/aci/D2\.txt is not there; fetch the transcripts"),
        ({"matched_pair_ids": "p1"}, r"field 'pairs\[0\]\.matched_pair_ids': must be a list of texts"),
        (
            {"residual": {"sites": [{"span": "Fluids.", "strength": "strong"}]}},
            r"residual\.sites\[0\]\.strength': must be",
        ),
    ],
)
def test_a_broken_pair_is_named(changes: dict[str, Any], message: str, imported: Read, whole: Whole) -> None:
    with pytest.raises(CorpusError, match=message):
        imported("omissionbench", {PAIRS: released(whole, changes, {})})


@pytest.mark.parametrize(
    "field", ["pair_id", "stratum", "id", "type", "class", "clean", "errored", "source", "verified"]
)
def test_a_field_that_a_pair_lacks_is_named(field: str, imported: Read, whole: Whole) -> None:
    release = released(whole, {}, {})
    del release["pairs"][1][field]
    with pytest.raises(CorpusError, match=rf"dataset_v2\.json, field 'pairs\[1\]\.{field}': is missing"):
        imported("omissionbench", {PAIRS: release})


def test_a_release_that_is_cut_off_or_lacks_pairs_is_refused(imported: Read, whole: Whole) -> None:
    release = whole("omissionbench", PAIRS)
    text = json.dumps(release, indent=1)
    with pytest.raises(CorpusError, match=r"dataset_v2\.json:\d+: is not JSON .*it may be cut off"):
        imported("omissionbench", {PAIRS: text[: len(text) // 2]})
    with pytest.raises(CorpusError, match=r"field 'pairs': holds 1 pairs, and counts\.pairs_total says 2"):
        imported("omissionbench", {PAIRS: {**release, "pairs": release["pairs"][:1]}})
    with pytest.raises(CorpusError, match=r"dataset_v2\.json, field 'pairs': is missing \(there is 'pair'\)"):
        imported("omissionbench", {PAIRS: {"pair": release["pairs"]}})
    with pytest.raises(CorpusError, match=r"dataset_v2\.json: must be one JSON object with a list of pairs"):
        imported("omissionbench", {PAIRS: json.dumps(release["pairs"])})
    with pytest.raises(CorpusError, match=r"field 'pairs\[1\]\.pair_id': 'p' stands twice"):
        imported("omissionbench", {PAIRS: released(whole, {"pair_id": "p"}, {"pair_id": "p"})})


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "is not there"), (" \n", "is empty"), (b"\xff\xfe", "is not UTF-8")],
)
def test_a_transcript_that_is_missing_empty_or_garbled_is_refused(
    text: str | bytes | None, message: str, imported: Read
) -> None:
    with pytest.raises(CorpusError, match=rf"field 'pairs\[0\]\.id': .*D1\.txt {message}.*fetch"):
        imported("omissionbench", {TRANSCRIPT: text})


def test_two_fact_sheets_of_one_consultation_are_refused(imported: Read, whole: Whole) -> None:
    with pytest.raises(CorpusError, match=r"there are two fact sheets for 'aci\|D1'"):
        imported("omissionbench", {"fact_sheets/aci.json": json.dumps([whole("omissionbench", SHEET)])})
