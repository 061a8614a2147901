"""Scoring one note from a file, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.judging.loading import LoadedJudging
from lineage.canonical import digest
from lineage.errors import InputError
from lineage.records import Judgement
from optimize.judging.calling import open_calls
from optimize.judging.judges import judges_of, open_models
from splits.corpus import Corpus, Example
from splits.steps import SteppedNote, cut
from students.steps import StepVerifier


@dataclass(frozen=True, slots=True)
class NoteScore:
    """One note with the judgement of its steps.

    Attributes:
        name: of the file.
        student: of the verifier.
        read: ``log-probabilities`` or ``votes``.
        aggregation: how steps make the score.
        note: the note, cut.
        judgement: without a score where a step was not read.
    """

    name: str
    student: str
    read: str
    aggregation: str
    note: SteppedNote
    judgement: Judgement

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        verdicts = {verdict.fact: verdict for verdict in self.judgement.facts}
        return {
            "note": self.name,
            "student": self.student,
            "read": self.read,
            "aggregation": self.aggregation,
            "status": self.judgement.status,
            "score": self.judgement.score,
            "reason": self.judgement.reason,
            "parts": dict(self.judgement.parts),
            "flags": list(self.judgement.flags),
            "steps": [
                {
                    "id": step.id,
                    "kind": step.kind,
                    "place": step.place,
                    "text": step.text,
                    "p": verdicts[step.id].p_yes if step.id in verdicts else None,
                    "bad": None if step.id not in verdicts else not verdicts[step.id].present,
                }
                for step in self.note.steps
            ],
        }


def score_note(loaded: LoadedJudging, note: Path, *, source: Path | None, cache: Path) -> NoteScore:
    """Score a note with the first step verifier of a plan.

    Args:
        loaded: the plan; its corpus is not looked at.
        note: file of the note.
        source: file of what it was written from; None where there is nothing.
        cache: path of the call cache.

    Raises:
        InputError: a file cannot be read, or the note is empty.
        BudgetError: a limit of the plan would be passed.
    """
    document, text = _read(note), "" if source is None else _read(source)
    if not document.strip():
        raise InputError(f"{note}: is empty; give a file with a note")
    models = open_models(loaded.plan)
    judge = judges_of(loaded.plan, models, loaded.texts)[0]
    assert judge.model is not None
    assert isinstance(judge.student, StepVerifier)
    models[judge.model].check()
    name = f"note-{digest([document, text])[:12]}"
    corpus = Corpus((Example(name, name, "file", text, document, "clean", "clean"),), {})
    plan = loaded.plan
    with open_calls(models, limits=plan.limits, seed=plan.seed, cache=cache, run=f"score-{name}") as calls:
        (judgement,) = calls.turn(judge).judge(judge.student, corpus, [judge.candidate], phase="score")
    settings = judge.student.settings()
    return NoteScore(
        note.name, judge.name, settings["read"], settings["aggregation"], cut(document, judge.student.kinds), judgement
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is not a readable UTF-8 file ({error})") from error
