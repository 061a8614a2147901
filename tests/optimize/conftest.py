"""Arms of a held-out comparison, and run directories in which other things were recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lineage import Judgement
from lineage.canonical import canonical_json, digest, pretty_json
from lineage.ledger import GENESIS
from lineage.records import Usage
from optimize import parse_plan
from optimize.evaluation import Evaluation
from optimize.gate import Arm
from optimize.noise_run import NoiseRun
from splits import Corpus, Example, SplitLock
from students import load_instruction

Rows = list[dict[str, Any]]
Score = float | None
Scores = Score | Sequence[Score]
KINDS = {"clean": "clean", "omit": "omission", "add": "commission", "change": "commission"}


def build(
    groups: Mapping[str, Mapping[str, Scores]],
    *,
    threshold: float = 0.5,
    words: int = 10,
    usage: Usage | None = None,
    student: str = "s",
    candidates: Sequence[str] = (),
    traces: Mapping[str, str] | None = None,
) -> Arm:
    """One document an entry, named by its kind, as in ``{"g1": {"clean": 0.9, "omit": (0.1, None, 0.2)}}``.

    None is a judgement that failed; several scores are replicates. ``candidates`` are groups whose clean document is a
    candidate, ``traces`` those of omissions by group.
    """
    examples: list[Example] = []
    judgements: list[Judgement] = []
    for group, documents in groups.items():
        for kind, scores in documents.items():
            name, label = f"{group}.{kind}", KINDS[kind]
            twin = None if label == "clean" else f"{group}.clean"
            meta: Mapping[str, Any] = {"clean": "candidate"} if label == "clean" and group in candidates else {}
            trace = (traces or {}).get(group) if label == "omission" else None
            examples.append(Example(name, group, "s", "", "", label, kind, trace=trace, twin=twin, meta=meta))
            for replicate, score in enumerate([scores] if scores is None or isinstance(scores, float) else scores):
                status, reason = ("failed", "transport") if score is None else ("scored", None)
                judgements.append(
                    Judgement(
                        name,
                        "c",
                        student,
                        status,  # type: ignore[arg-type]  # one of the two above
                        score,
                        replicate=replicate,
                        reason=reason,
                        usage=usage if usage is not None and score is not None else Usage(),
                    )
                )
    return Arm(Evaluation("c", tuple(examples), tuple(judgements)), threshold, words)


@pytest.fixture(scope="session")
def make_arm() -> Callable[..., Arm]:
    """See `build`."""
    return build


@pytest.fixture(scope="session")
def measured_noise(
    tmp_path_factory: pytest.TempPathFactory,
    consults: Corpus,
    finished_lock: SplitLock,
    tiny_plan: Callable[..., dict[str, Any]],
) -> Path:
    """The directory in which the noise of the plan of ``finished_run``, of three replicates, was measured on accept."""
    place = tmp_path_factory.mktemp("noise") / "run"
    plan = parse_plan(tiny_plan(replicates=3), where="test")
    NoiseRun(plan, consults, finished_lock, place, baseline=load_instruction("stated-in-note")).run()
    return place


@pytest.fixture(scope="session")
def rewrite() -> Callable[[Path, Callable[[Rows], None]], None]:
    """Change events and chain them anew, with head and verdict file to match."""

    def rewritten(directory: Path, change: Callable[[Rows], None]) -> None:
        rows = [json.loads(line) for line in (directory / "ledger.jsonl").read_text().splitlines()]
        change(rows)
        prev = GENESIS
        for row in rows:
            if row["type"] == "verdict":
                row["body"]["verdict_hash"] = digest(row["body"]["verdict"])
            row["prev"] = prev
            prev = row["hash"] = digest({key: value for key, value in row.items() if key != "hash"})
        (directory / "ledger.jsonl").write_text("".join(canonical_json(row) + "\n" for row in rows))
        head = {"count": len(rows), "hash": prev}
        (directory / "ledger.head.json").write_text(pretty_json(head))
        verdict = next(row for row in rows if row["type"] == "verdict")["body"]["verdict"]
        (directory / "verdict.json").write_text(pretty_json({**verdict, "ledger_head": head}))

    return rewritten
