"""One answer held against one source, with a model as the judge of what it affirms."""

from __future__ import annotations

from pathlib import Path

from lineage.records import Candidate
from optimize.grounding.outcomes import gated_again
from optimize.grounding.run import GroundingSettings, build_design, check_dollars, judge_with, opened
from optimize.models import open_model
from splits.corpus import Corpus, Example
from students.grounding import Gated
from students.grounding.student import GROUNDING


def check_answer(answer: str, source: str, settings: GroundingSettings, *, cache: Path, question: str = "") -> Gated:
    """What becomes of an answer; calls that the cache holds are not paid for again.

    Args:
        answer: the answer.
        source: what it must be stated in.
        settings: which model judges, and how.
        cache: path of the call cache.
        question: what the answer answers, where a bare *no* may stand in it.

    Raises:
        InputError: the answer holds no sentence.
        PlanError: the model does not take what is asked for.
        BudgetError: a limit was reached.
        CallError: the endpoint refuses or is gone.
    """
    model = open_model(settings.model)
    check_dollars(settings, model)
    model.check()
    student = build_design(f"{GROUNDING}{'-score' if settings.scored else ''}", settings, model)
    texts = dict(student.seed_texts)
    if settings.instruction is not None:
        texts = dict.fromkeys(texts, settings.instruction)
    corpus = Corpus((Example("answer", "answer", "", source, answer, "clean", "clean"),), {})
    with opened(settings, model, cache, "check", None) as (calls, turn):
        found = judge_with(calls.bench, student, corpus, Candidate(texts, "seed"), turn("check"))
    return gated_again(answer, source, found["answer"], pass_mark=settings.pass_mark, question=question)
