"""A small folder of each public corpus in its upstream form, and the real ones where they stand beside the project."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from splits.adapters import Imported, import_corpus

CORPORA = Path(__file__).parents[3].parent / "shared" / "corpora"
COMMON = {"source": "owner/name@commit", "license": "CC-BY-4.0"}


def utterance(speaker: str, text: str, start: float, end: float) -> dict[str, Any]:
    return {"speaker": speaker, "text": text, "start_s": start, "end_s": end}


def consultation(name: str, note: str, complaint: str, *turns: dict[str, Any], **changes: Any) -> dict[str, Any]:
    said = list(turns) or [utterance("doctor", "Hello.", 0.0, 1.0), utterance("patient", "Hi.", 1.0, 2.0)]
    made = {"id": name, "day": 1, "note": note, "presenting_complaint": complaint, "transcript": said, "defects": []}
    return {**COMMON, **made, **changes}


def encounter(name: str, text: str, note: str, dataset: str = "aci", **changes: Any) -> dict[str, Any]:
    about = {"cc": "back pain", "2nd_complaints": ""}
    made = {"id": name, "split": "train", "dataset": dataset, "dialogue": text, "note": note, "metadata": about}
    return {**COMMON, **made, **changes}


def text_with_error(name: str, group: str, twin: str | None, split: str = "valid", **changes: Any) -> dict[str, Any]:
    made = {
        "id": name,
        "split": split,
        "group_id": group,
        "twin_id": twin,
        "Error Flag": "1",
        "Text": "A man coughs. It is gout.",
        "Sentences": "0 A man coughs.\n1 It is gout.",
        "Error Type": "diagnosis",
        "Error Sentence ID": "1",
        "Error Sentence": "It is gout.",
        "Corrected Sentence": "It is a cold.",
        "Corrected Text": "A man coughs. It is a cold.",
    }
    return {**COMMON, **made, **changes}


def text_without_error(name: str, group: str, twin: str | None, split: str = "valid") -> dict[str, Any]:
    made = {
        "Error Flag": "0",
        "Error Type": "NA",
        "Error Sentence ID": "-1",
        "Error Sentence": "NA",
        "Corrected Sentence": "NA",
        "Corrected Text": "NA",
        "Text": "It is a cold. A man coughs.",
        "Sentences": "0 It is a cold.\n1 A man coughs.",
    }
    return {**text_with_error(name, group, twin, split), **made}


def summary(name: str, system: int, text: str, added: float, omitted: float) -> dict[str, Any]:
    scores = {"HallucinationRate": added, "OmissionRate": omitted, "FactualF1": 0.5}
    return {"id": name, "system": system, "row": 0, "automatic_summary": text, "scores": scores}


def edit(name: str, text: str, label: int, *types: str, document: str = "calls/c0") -> dict[str, Any]:
    made = {"id": name, "domain": "calls", "doc_id": document, "seed_summary_id": "c0_og", "summary": text}
    return {**COMMON, **made, "label": label, "edit_types": list(types), "split": "test"}


def instance(name: str, asked: str, one: str, two: str, better: int) -> dict[str, Any]:
    made = {"id": name, "subset": name.rpartition("/")[0], "input": asked, "output_1": one, "output_2": two}
    return {**COMMON, **made, "label": better}


def pair(name: str, kind: str, trace: str | None = None, **changes: Any) -> dict[str, Any]:
    classes = {"omit": "omit-complete" if trace == "complete" else "omit-partial"}
    made = {
        "pair_id": name,
        "stratum": "aci",
        "id": "D1",
        "type": kind,
        "class": classes.get(kind, kind),
        "residual_level": trace,
        "severity": "critical",
        "verified": True,
        "eval_set": True,
        "clean": "PLAN\nRest. Fluids. Rest well.",
        "errored": f"PLAN\nFluids. {name}",
        "source": "factorial",
        "held_out_reason": None,
        "matched_pair_ids": None,
        "fact": "Rest.",
        "residual": None,
    }
    return {**made, **changes}


FOLDERS: Mapping[str, Mapping[str, Any]] = {
    "primock57": {
        "consultations.jsonl": [
            consultation("day1_consultation01", "Cough 3/7.", "I have a cough"),
            consultation("day1_consultation02", "Headache.", "I have a headache"),
        ],
        "checklists.jsonl": [
            {
                **COMMON,
                "id": "day1_consultation01/Clinician_1",
                "consultation_id": "day1_consultation01",
                "clinician": "Clinician_1",
                "items": [{"row": 2, "text": "HPC", "severity": None}, {"row": 3, "text": "Cough", "severity": "c"}],
                "model_notes": [{"label": "Note 1", "statements": [{"row": 2, "text": "No cough.", "judgement": "i"}]}],
            }
        ],
    },
    "aci-bench": {
        "encounters.jsonl": [
            encounter("D2N001", "[doctor] hi .\n[patient] hello .", "PLAN\nRest."),
            encounter("D2N002", "[doctor] hi .\n[patient] bye .", "PLAN\nFluids.", "virtscribe"),
        ]
    },
    "aci-bench-variants": {
        "encounters.jsonl": [
            encounter("D2N001", "[doctor] hi .\n[patient] hello .", "PLAN\nRest."),
            encounter("D2N002", "[doctor] hi .\n[patient] bye .", "PLAN\nFluids.", "virtscribe"),
        ],
        "dialogue_variants.jsonl": [
            {
                **COMMON,
                "id": "D2N002/asr",
                "encounter_id": "D2N002",
                "version": "asr",
                "dialogue": "[doctor] high . [patient] buy . [patient_guest] yes .",
            }
        ],
    },
    "medec": {
        "records.jsonl": [
            text_with_error("ms-val-0", "g0", "ms-val-1"),
            text_without_error("ms-val-1", "g0", "ms-val-0"),
            text_with_error("ms-val-2", "g1", None),
        ]
    },
    "mts-dialog": {
        "correlation_study.jsonl": [
            {
                **COMMON,
                "id": "mts-valid-0",
                "section_header": "GENHX",
                "reference_summary": "A cough for two days.",
                "dialogue": "Doctor: Well? \r\n Patient: A cough,  two days.",
                "summaries": [
                    summary("mts-valid-0/system1", 1, "A cough for two days.", 0.0, 0.0),
                    summary("mts-valid-0/system2", 2, "A cough for", 0.0, 0.5),
                    summary("mts-valid-0/system3", 3, "A cough for two days. Asthma.", 0.5, 0.0),
                    summary("mts-valid-0/system4", 4, "Asthma.", 1.0, 1.0),
                ],
            }
        ]
    },
    "summedits": {
        "documents.jsonl": [{**COMMON, "id": "calls/c0", "domain": "calls", "doc": "\nThe agent sold a plan.\n"}],
        "summaries.jsonl": [
            edit("c0_og", "The agent sold a plan.", 1),
            edit("c0_0", "The agent sold one plan.", 1),
            edit("c0_1", "The agent never sold a plan.", 0, "negation_insertion_removal"),
            edit("c0_2", "The client sold a plan.", 0, "entity_modification"),
        ],
    },
    "llmbar": {
        "instances.jsonl": [
            instance("Natural/0", "Name a colour.", "Red.", "A dog.", 1),
            instance("Adversarial/Neighbor/0", "Name a number.", "A long answer that names none.", "Two.", 2),
        ]
    },
    "omissionbench": {
        "pairs/dataset_v2.json": {
            "dataset_version": "factorial-v1",
            "counts": {"pairs_total": 2},
            "pairs": [
                pair("aci|D1|omitc|mc0", "omit", "complete", fact_uid="aci|D1|mc|0"),
                pair("aci|D1|add", "add", severity="supporting"),
            ],
        },
        "fact_sheets/aci/D1.json": {
            "id": "D1",
            "fact_sheet": {"must_contain": [{"fact": "Rest.", "evidence": "rest", "load_bearing": "medium"}]},
        },
        "transcripts/aci/D1.txt": "Doctor: Rest, and rest well.\nPatient: Yes.\n",
    },
}
"""Upstream files of each adapter: lists are written as JSON lines, objects as JSON, texts as they are."""


@pytest.fixture
def whole() -> Callable[[str, str], Any]:
    """The content of an upstream file that an adapter accepts, for a test to change."""
    return lambda name, file: copy.deepcopy(FOLDERS[name][file])


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Write the folder of an adapter; keyword-like changes replace whole files (None leaves one out)."""

    def written(name: str, changes: Mapping[str, Any] | None = None) -> Path:
        files = {**copy.deepcopy(dict(FOLDERS[name])), **(changes or {})}
        for file, content in files.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str | bytes):
                path.write_bytes(content.encode() if isinstance(content, str) else content)
            elif content is not None:
                path.write_text(as_json(content))
        return tmp_path / name

    return written


def as_json(content: Any) -> str:
    if isinstance(content, Sequence):
        return "".join(json.dumps(record) + "\n" for record in content)
    return json.dumps(content, indent=1)


@pytest.fixture
def imported(folder: Callable[..., Path]) -> Callable[..., Imported]:
    """Import the folder of an adapter, with changes."""

    def read(name: str, changes: Mapping[str, Any] | None = None) -> Imported:
        return import_corpus(name, folder(name, changes))

    return read


@pytest.fixture(scope="session")
def real() -> Callable[[str], Imported]:
    """Import a real corpus, once; the test is skipped where it does not stand beside the project."""
    found: dict[str, Imported] = {}

    def read(name: str) -> Imported:
        path = CORPORA / name.removesuffix("-variants")
        if not path.is_dir():
            pytest.skip(f"the public corpus is not beside the project ({path})")
        if name not in found:
            found[name] = import_corpus(name, path)
        return found[name]

    return read


@pytest.fixture
def counted() -> Callable[[Imported], dict[str, int]]:
    """What the notices say, and how often; files other than the checked ones go without saying in fixtures."""
    return lambda imported: {
        f"{notice.action}: {notice.what}": notice.count
        for notice in imported.notices
        if "byte for byte" not in notice.what
    }
