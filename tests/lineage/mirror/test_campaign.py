"""What a campaign becomes in MLflow, of ledgers with everything that an engine can record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.mirror import MlflowMirror
from lineage.records import Candidate

pytestmark = pytest.mark.integration

SEED = Candidate({"ask": "Is it there?", "answer": "Say yes."}, "seed")
OTHER = Candidate({"ask": "Is all of it there?", "answer": "Say yes."}, "seed")
CHILD = Candidate({"ask": "Is it there?", "answer": "Say yes or no."}, "mutation", (SEED.id,), 1)
MERGED = Candidate({"ask": "Is all of it there?", "answer": "Say yes or no."}, "merge", (CHILD.id, OTHER.id), 2)


@pytest.fixture
def searched(recorded: Callable[..., Any]) -> Any:
    """Two seeds, an accepted child, a merge of two parents, a repetition and a text that lost its place."""
    controls = {"accept_is_reflect": True, "accept_groups": None}
    made = recorded(plan={"controls": controls}, simulated=True, exploratory="a test")
    made.propose(SEED)
    made.segment = made.judge(SEED, "accept", "accept")
    made.measure(SEED, "accept")
    made.propose(OTHER)
    made.settle(OTHER, "accepted", "a seed of the plan", rewards=False)
    made.propose(CHILD, "rewrite", prompt="Look at this.")
    made.minibatch = made.judge(CHILD, "minibatch", "reflect", failed=True)
    made.settle(CHILD, "accepted", "minibatch reward +0.2500")
    made.propose(MERGED, "crossover")
    made.settle(MERGED, "rejected", "minibatch reward -0.1")
    repeated = Candidate(CHILD.texts, "mutation", (SEED.id,), 2)
    made.propose(repeated, "rewrite")
    made.settle(repeated, "invalid", "it was tried before", rewards=False)
    return made


def test_every_proposal_is_a_run_with_its_outcome_its_parents_and_links_to_them(
    searched: Any, mlflow_store: Any
) -> None:
    mlflow_store.sync(searched)
    runs = mlflow_store.runs()
    assert runs.keys() == {"campaign", "seed", "seed.2", "c01", "c02", "c02.2"}
    tags = {name: run.data.tags for name, run in runs.items()}
    outcomes = {name: found["holdgate.outcome"] for name, found in tags.items() if name != "campaign"}
    assert outcomes == {"seed": "seed", "seed.2": "accepted", "c01": "accepted", "c02": "rejected", "c02.2": "invalid"}
    assert tags["c02"]["holdgate.parents"] == f"{CHILD.id},{OTHER.id}"
    above = [runs["c01"].info.run_id, runs["seed.2"].info.run_id]
    assert tags["c02"]["holdgate.parent_runs"] == ",".join(above)
    place = f"#/experiments/{runs['c01'].info.experiment_id}/runs"
    assert all(f"{place}/{run})" in tags["c02"]["mlflow.note.content"] for run in above)
    assert tags["c02"]["holdgate.candidate_kind"] == "merge"
    assert tags["c02.2"]["holdgate.candidate"] == CHILD.id
    assert tags["c02.2"]["holdgate.reason"] == "it was tried before"


def test_each_parent_has_a_difference_of_its_own(
    searched: Any, mlflow_store: Any, artifact: Callable[[Any, str], str]
) -> None:
    mlflow_store.sync(searched)
    run = mlflow_store.runs()["c02"]
    assert artifact(run, "diff/c01.txt") == "## ask\nIs {+all of +}it there?\n"
    assert artifact(run, "diff/seed.2.txt") == "## answer\nSay [-yes.-]{+yes or no.+}\n"
    assert {name: artifact(run, f"{name}.md") for name in MERGED.texts} == MERGED.texts


def test_what_is_simulated_exploratory_or_a_control_says_so_on_every_run(searched: Any, mlflow_store: Any) -> None:
    mlflow_store.sync(searched)
    names = ("simulated", "exploratory", "control", "imported")
    for run in mlflow_store.runs().values():
        marks = {name: run.data.tags[f"holdgate.{name}"] for name in names}
        assert marks == {"simulated": "true", "exploratory": "a test", "control": "true", "imported": "false"}


def test_judgements_are_tables_of_numbers_that_mlflow_reads(
    searched: Any,
    mlflow_store: Any,
    table: Callable[[Any, str], list[dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mlflow_store.sync(searched)
    runs = mlflow_store.runs()
    rows = table(runs["seed"], f"judgements/{searched.segment}.json")
    assert [(row["example"], row["label"], row["score"], row["cost_usd"]) for row in rows[-2:]] == [
        ("g3.clean", "clean", 0.75, 0.01),
        ("g3.omission", "omission", 0.75, 0.01),
    ]
    failed = table(runs["c01"], f"judgements/{searched.minibatch}.json")[0]
    assert (failed["status"], failed["score"], failed["reason"]) == ("failed", None, "unparseable")
    assert table(runs["c01"], "scores/minibatch.json") == [{"example": "g0.omission", "parent": 0.25, "child": 0.5}]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", mlflow_store.uri)  # load_table looks for runs in the default store
    found = runs["seed"].info
    read = mlflow_store.client.load_table(found.experiment_id, "scores/accept.json", run_ids=[found.run_id])
    assert list(read["score"]) == [row["score"] for row in rows]
    listed = json.loads(runs["seed"].data.tags["mlflow.loggedArtifacts"])
    assert [entry["path"] for entry in listed] == [f"judgements/{searched.segment}.json", "scores/accept.json"]


def test_measures_have_intervals_and_what_is_undefined_is_no_number(
    searched: Any, mlflow_store: Any, artifact: Callable[[Any, str], str]
) -> None:
    mlflow_store.sync(searched)
    run = mlflow_store.runs()["seed"]
    metrics = {name: value for name, value in run.data.metrics.items() if name.startswith("accept.")}
    assert metrics["accept.omissions"] == 0.5
    assert (metrics["accept.omissions.complete.low"], metrics["accept.omissions.complete.high"]) == (0.25, 0.75)
    assert "accept.commissions" not in metrics
    assert json.loads(artifact(run, "measures/accept.json"))["commissions"]["value"] is None


def test_no_answer_is_ever_mirrored(searched: Any, mlflow_store: Any) -> None:
    searched.judge(SEED, "baseline", "heldout", failed=True)
    searched.decide(SEED, "refuse")
    searched.finish()
    mlflow_store.sync(searched)
    assert "never told anyone" not in mlflow_store.written()


def test_heldout_judgements_and_measures_wait_for_the_decision(
    searched: Any, mlflow_store: Any, table: Callable[[Any, str], list[dict[str, Any]]]
) -> None:
    name = searched.judge(SEED, "baseline", "heldout")
    searched.measure(SEED, "baseline")
    mlflow_store.sync(searched)
    assert f"{name}.json" not in mlflow_store.written()
    runs = mlflow_store.runs()
    assert not any(name.startswith("heldout.") for run in runs.values() for name in run.data.metrics)
    assert not list(mlflow_store.directory.rglob("baseline.json"))
    searched.resume()
    searched.decide(SEED, "refuse")
    searched.finish()
    mlflow_store.sync(searched)
    assert mlflow_store.runs()["seed"].data.metrics["heldout.baseline.omissions"] == 0.5
    assert mlflow_store.runs()["campaign"].data.metrics["heldout.baseline.baseline.omissions"] == 0.5
    rows = table(mlflow_store.runs()["seed"], f"judgements/{name}.json")
    assert [row["score"] for row in rows] == [0, 0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75]


def test_spend_is_on_the_campaign_and_on_each_candidate(
    searched: Any, mlflow_store: Any, artifact: Callable[[Any, str], str]
) -> None:
    used = searched.usage.row()
    usage = {"role": "student", "phase": "accept", "candidate": CHILD.id, "usage": used}
    stray = {"role": "reflector", "phase": "reflect", "candidate": "", "usage": used}
    searched.finish(paid=[usage, usage, stray])
    mlflow_store.sync(searched)
    runs = mlflow_store.runs()
    metrics = runs["campaign"].data.metrics
    assert (metrics["spend.calls"], metrics["spend.tokens"], metrics["spend.usd"]) == (2, 806, 0.02)
    assert metrics["spend.reflector.reflect.usd"] == 0.01
    assert runs["c01"].data.metrics["spend.usd"] == 0.02
    assert "spend.usd" not in runs["c02.2"].data.metrics, "the repetition was never judged"
    assert json.loads(artifact(runs["campaign"], "spend.json"))["limits"] == {"usd": 2.5}
    assert runs["campaign"].data.params["limits.usd"] == "2.5"


def test_proposals_of_one_iteration_have_each_their_own_reflection(
    recorded: Callable[..., Any], mlflow_store: Any, artifact: Callable[[Any, str], str]
) -> None:
    made = recorded()
    made.propose(SEED)
    one = Candidate({"ask": "One?", "answer": "x"}, "mutation", (SEED.id,), 1)
    two = Candidate({"ask": "Two?", "answer": "x"}, "mutation", (SEED.id,), 1)
    made.propose(one, prompt="the first")
    made.propose(two, prompt="the second")
    made.settle(two, "accepted")
    made.settle(one, "rejected")
    mlflow_store.sync(made)
    runs = mlflow_store.runs()
    assert [artifact(runs[name], "reflection/prompt.md") for name in ("c01", "c01.2")] == ["the first", "the second"]
    assert [runs[name].data.tags["holdgate.outcome"] for name in ("c01", "c01.2")] == ["rejected", "accepted"]
    assert not (Path(runs["seed"].info.artifact_uri.removeprefix("file://")) / "reflection").exists()


def test_a_sync_completes_a_partial_mirror_without_duplicates(searched: Any, mlflow_store: Any) -> None:
    mirror = MlflowMirror(mlflow_store.uri, experiment=mlflow_store.experiment, directory=searched.directory)
    mirror.events(searched.events[:9])
    partial = {run.info.run_id for run in mlflow_store.runs().values()}
    searched.decide(SEED, "nothing-found")
    searched.finish("nothing-found")
    first = mlflow_store.sync(searched)
    whole = mlflow_store.snapshot()
    assert partial < whole.keys()
    assert len(whole) == 6
    assert {state[0][0] for state in whole.values()} == {"FINISHED"}
    (searched.directory / "mlflow.json").unlink()
    assert mlflow_store.sync(searched) == first
    assert mlflow_store.snapshot() == whole


def test_what_stopped_a_campaign_says_whether_it_failed_or_was_killed(searched: Any, mlflow_store: Any) -> None:
    searched.ledger.operational("stopped", {"reason": "limits.usd is spent"})
    mlflow_store.sync(searched)
    run = mlflow_store.runs()["campaign"]
    assert (run.info.status, run.data.tags["holdgate.stopped"]) == ("FAILED", "limits.usd is spent")
    searched.resume()  # and dies without a word
    mlflow_store.sync(searched)
    run = mlflow_store.runs()["campaign"]
    assert (run.info.status, run.data.tags["holdgate.stopped"]) == ("KILLED", "none")
    before = mlflow_store.snapshot()
    mlflow_store.sync(searched)
    assert mlflow_store.snapshot() == before


def test_a_long_parameter_says_that_it_is_cut(recorded: Callable[..., Any], mlflow_store: Any) -> None:
    made = recorded(plan={"seeds": ["word " * 3000]})
    mlflow_store.sync(made)
    value = mlflow_store.runs()["campaign"].data.params["seeds"]
    assert value.endswith(" … (cut)")
    assert len(value) < 6000
