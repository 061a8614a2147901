"""Running step verifiers over the corpora of their plans, and reading what they said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.judging.loading import LoadedJudging
from experiments.judging.stopping import read_stopped, stopped_words, write_stopped
from experiments.judging.writing import write_table
from lineage.errors import BudgetError
from optimize.judging import JudgingFollower, JudgingRun
from optimize.judging.recorded import load_judging
from optimize.steps import ScoredSteps, scored_steps
from students.steps import StepVerifier

Introduce = Callable[[JudgingRun, int], None]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A plan whose verifiers have judged.

    Attributes:
        directory: of the judging run.
        scored: by the name of the verifier.
        simulated: verifiers that answer from a formula.
        paid: calls paid for in this process.
        found: calls found in the cache.
    """

    directory: Path
    scored: Mapping[str, ScoredSteps]
    simulated: tuple[str, ...]
    paid: int
    found: int


def evaluate_plan(
    loaded: LoadedJudging,
    directory: Path,
    *,
    follower: JudgingFollower,
    introduce: Introduce,
    cache: Path | None = None,
) -> Evaluated:
    """Judge the corpus of a plan, or go on judging it, and read every step beside its label.

    Args:
        loaded: the plan, of step verifiers alone.
        directory: of the judging run; resumed if there.
        follower: follows the run.
        introduce: called before the first call, with the most calls that there may be.
        cache: path of the call cache; by default beside the run directory.

    Raises:
        BudgetError: a limit of the plan was reached; the run can be resumed.
    """
    run = JudgingRun(
        loaded.plan,
        loaded.corpus,
        directory,
        texts=loaded.texts,
        lock=loaded.lock,
        cache=cache,
        follower=follower,
        models_hash=loaded.models_hash,
    )
    most = most_step_calls(run, loaded)
    introduce(run, sum(most.values()))
    try:
        result = run.run()
    except BudgetError as error:
        stop = read_stopped(directory, most)
        write_stopped(stop, loaded.path, directory)
        raise BudgetError(stopped_words(stop, directory)) from error
    write_table(directory)
    recorded = load_judging(directory)
    scored, simulated = {}, []
    for judge in run.judges:
        if isinstance(judge.student, StepVerifier):
            judged = recorded.judged(judge.name)
            scored[judge.name] = scored_steps(
                loaded.plan.name, loaded.corpus, judged.evaluation.judgements, judged.judge["settings"]
            )
            if judge.model is not None and judge.model.original.simulated is not None:
                simulated.append(judge.name)
    return Evaluated(directory, scored, tuple(simulated), result.paid, result.found)


def most_step_calls(run: JudgingRun, loaded: LoadedJudging) -> Mapping[str, int]:
    """Most calls of each verifier, as if nothing were cached: a step each, counted in the notes themselves."""
    documents = [loaded.corpus.by_id[str(row["id"])].document for row in run.part.rows]
    return {
        judge.name: sum(judge.student.calls_of(document) for document in documents) * run.plan.replicates
        for judge in run.judges
        if isinstance(judge.student, StepVerifier)
    }
