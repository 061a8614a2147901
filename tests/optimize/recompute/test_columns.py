"""An evaluation from columns says what one from records says, and reads the records when it is asked for them."""

from __future__ import annotations

from pathlib import Path

from lineage.segments import read_segment
from optimize.evaluation import Evaluation
from optimize.recompute import load_run
from optimize.recompute.columns import RecordedEvaluation


def test_every_evaluation_of_a_run_is_that_of_its_records(finished_run: Path) -> None:
    run = load_run(finished_run)
    for event in run.all("evaluation"):
        (found,) = run.evaluations(event)
        judged = read_segment(finished_run / "judgements", event.body["segment"])
        plain = Evaluation(found.candidate, found.examples, judged)
        assert isinstance(found, RecordedEvaluation)
        assert "judgements" not in found.__dict__
        objective = {"scale": 1.0, "margin": 0.1, "clean_weight": 0.25}
        assert found.rewards(**objective) == plain.rewards(**objective)
        assert found.pairs() == plain.pairs()
        assert found.scores(label="clean") == plain.scores(label="clean")
        assert found.replicates == plain.replicates
        assert found.judgements == plain.judgements
        assert found.unscored == plain.unscored == ()


def test_evaluations_on_accept_are_read_once(finished_run: Path) -> None:
    run = load_run(finished_run)
    event = run.judged("accept")[0]
    assert run.evaluations(event)[0] is run.evaluations(event)[0]


def test_a_changed_reward_does_not_change_the_evaluation(finished_run: Path) -> None:
    run = load_run(finished_run)
    (found,) = run.evaluations(run.judged("accept")[0])
    objective = {"scale": 1.0, "margin": 0.1, "clean_weight": 0.25}
    before = found.rewards(**objective)
    found.rewards(**objective).clear()
    assert found.rewards(**objective) == before
