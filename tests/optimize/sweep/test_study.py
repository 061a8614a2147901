"""Studies of one worker on a simulated judge: what is recorded, what stops them, and how they go on."""

from __future__ import annotations

import gc
import json
import pickle
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import yaml

import optimize.sweep.trial
from experiments.sweep.loading import load_study
from lineage import canonical_state, read_events
from lineage.canonical import canonical_json
from lineage.errors import BudgetError, LedgerError, PlanError, SealError
from lineage.ledger import Ledger
from lineage.records import stable
from optimize import Campaign
from optimize.sweep import Study, StudyResult, StudyStorage, default_storage
from optimize.sweep.following import Unfollowed
from optimize.sweep.storage import STUDIES, TRIALS
from optimize.sweep.trials import TrialBook
from optimize.sweep.verification import audit_study
from students.transport import SimulatedTransport

pytestmark = pytest.mark.integration

MakeStudy = Callable[..., Path]
Work = Callable[..., StudyResult]


def states(out: Path) -> dict[str, str]:
    """Canonical state of every ledger of a study, by its place."""
    ledgers = sorted(out.glob("*/*/ledger.jsonl"))
    return {str(path.relative_to(out).parent): canonical_state(read_events(path)) for path in ledgers}


def texts_within(root: object) -> set[str]:
    """Every text that can be reached from an object, through closures too, but not through modules, types and code."""
    found: set[str] = set()
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        here = waiting.pop()
        if isinstance(here, str):
            found.add(here)
        elif id(here) not in seen and not isinstance(here, types.ModuleType | type | types.CodeType):
            seen.add(id(here))
            waiting += (here.__closure__ or ()) if isinstance(here, types.FunctionType) else gc.get_referents(here)
    return found


def execute(out: Path, statement: Any) -> None:
    storage = StudyStorage(default_storage(out), "any")
    with storage.begin() as connection:
        connection.execute(statement)
    storage.close()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keys of the calls that the simulated judge answers."""
    asked: list[str] = []
    complete = SimulatedTransport.complete

    async def completed(self: SimulatedTransport, request: Any) -> Any:
        asked.append(request.key(self.identity))
        return await complete(self, request)

    monkeypatch.setattr(SimulatedTransport, "complete", completed)
    return asked


def test_the_same_seed_and_one_worker_give_the_same_study(make_study: MakeStudy, work: Work, tmp_path: Path) -> None:
    study = make_study(pruning={"groups": [2], "reduction": 2}, trials=4)
    one, other = tmp_path / "a" / "study", tmp_path / "b" / "study"
    first, second = work(study, one), work(study, other)
    assert states(one) == states(other)
    assert set(states(one)) == {"workers/01", *(f"trials/{number:04d}" for number in range(1, 5))}
    assert [trial.values for trial in first.trials] == [trial.values for trial in second.trials]
    assert first.finished
    assert first.of("pruned")
    assert audit_study(one, first, load_study(str(study)).lock) == []


def test_no_trial_reads_a_held_out_example_or_spends_a_comparison(
    make_study: MakeStudy, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, out = make_study(trials=2), tmp_path / "runs" / "study"
    loaded = load_study(str(study))
    shown: list[str] = []
    spaces: list[Any] = []
    complete = SimulatedTransport.complete

    async def completed(self: SimulatedTransport, request: Any) -> Any:
        shown.extend(message["content"] for message in request.messages)
        return await complete(self, request)

    def searching(plan: Any) -> Any:
        def search(space: Any, **others: Any) -> Any:
            spaces.append(space)
            return engine(space, **others)

        engine = engine_of(plan)
        return search

    engine_of = optimize.sweep.trial.engine_of
    monkeypatch.setattr(SimulatedTransport, "complete", completed)
    monkeypatch.setattr(optimize.sweep.trial, "engine_of", searching)
    work(study, out)
    heldout = set(loaded.lock.splits["heldout"])
    texts = [example.document for group in heldout for example in loaded.corpus.groups[group]]
    texts += [loaded.corpus.groups[group][0].source for group in heldout]
    everything = "\n".join(shown)
    assert len(spaces) == 2
    for space in spaces:
        held = texts_within(space)
        assert any(len(text) > 200 for text in held)
        assert {*space.reflect.groups, *space.accept.groups, *space.reflect.facts, *space.accept.facts}.isdisjoint(
            heldout
        )
        assert not held & set(texts)
    assert not any(text[:60] in everything for text in texts)
    assert any(example.document[:60] in everything for example in spaces[0].accept.examples), (
        "the look finds what is there"
    )
    files = [path for path in out.parent.rglob("*") if path.is_file() and path.name != "calls.sqlite"]
    assert not any(text[:60].encode() in path.read_bytes() for path in files for text in texts)
    assert not list(tmp_path.rglob("*.register.jsonl")), "no comparison is spent, not even a simulated one"
    for path in out.glob("trials/*/ledger.jsonl"):
        events = read_events(path)
        assert all(event.type != "seal_opened" and event.body.get("split") != "heldout" for event in events)


@pytest.mark.parametrize(
    "reflector",
    [
        {"kind": "simulated-diagnosis", "feedback": {"fact": False, "severity": False, "tokens": 900}},
        {"kind": "operators"},
    ],
    ids=["feedback", "operators"],
)
def test_a_trial_is_the_search_of_the_campaign_at_its_point_request_by_request(
    reflector: dict[str, Any], make_study: MakeStudy, work: Work, tmp_path: Path
) -> None:
    base = {"reflector": reflector, "search": {"iterations": 3, "minibatch_groups": 1, "seed": 4}}
    study, out = make_study(base=base, space={"student.aggregator": ["soft", "share"]}, trials=1), tmp_path / "a" / "s"
    (trial,) = work(study, out).trials
    loaded = load_study(str(study))
    assert trial.parameters is not None
    resolved = loaded.inputs.resolve(loaded.inputs.space.plan_at(trial.parameters))
    run = tmp_path / "b" / "run"
    Campaign(resolved.plan, loaded.corpus, loaded.lock, run, baseline=resolved.baseline).run()
    kinds = ("reflection", "candidate", "outcome", "choice")

    def steps(place: Path) -> list[Any]:
        return [(e.type, stable(e.body)) for e in read_events(place / "ledger.jsonl") if e.type in kinds]

    assert len(steps(run)) > 6
    assert steps(out / "trials" / "0001") == steps(run)


def test_a_study_cannot_be_pickled_or_copied(make_study: MakeStudy, tmp_path: Path) -> None:
    loaded = load_study(str(make_study()))
    study = Study(loaded.inputs, loaded.corpus, loaded.lock, tmp_path / "study")
    with pytest.raises(SealError, match="a study cannot be pickled or copied"):
        pickle.dumps(study)


def test_a_limit_stops_a_study_and_it_goes_on_when_it_is_raised(
    make_study: MakeStudy, work: Work, tmp_path: Path, counted: list[str]
) -> None:
    whole = work(make_study("whole"), tmp_path / "a" / "study")
    needed = len(counted)
    counted.clear()
    study, out = make_study("study", limits={"calls": needed // 2}), tmp_path / "b" / "study"
    with pytest.raises(BudgetError, match=rf"limits.calls = {needed // 2} of the study would be passed"):
        work(study, out)
    assert needed // 2 - 8 <= len(counted) <= needed // 2
    study.write_text(study.read_text().replace(f"calls: {needed // 2}", f"calls: {needed}"))
    result = work(study, out)
    assert len(counted) == len(set(counted)) == needed, "nothing is paid for twice"
    assert result.finished
    assert result.spend.paid.calls == needed
    assert [trial.values for trial in result.trials] == [trial.values for trial in whole.trials]
    attempts = sa.select(TRIALS.c.attempts)
    storage = StudyStorage(default_storage(out), "study")
    with storage.begin() as connection:
        assert set(connection.execute(attempts).scalars()) == {1}, "to come to a limit is no attempt that failed"
    storage.close()


def test_more_trials_go_on_where_the_study_ended(make_study: MakeStudy, work: Work, tmp_path: Path) -> None:
    study = make_study(trials=2)
    one, other = tmp_path / "a" / "study", tmp_path / "b" / "study"
    assert len(work(study, one).trials) == 2
    study.write_text(study.read_text().replace("trials: 2", "trials: 4"))
    assert len(work(study, one).trials) == 4
    work(study, other)
    assert states(one) == states(other), "as if it had been planned so"


def test_a_point_that_cannot_be_searched_fails_with_its_reason_and_the_study_goes_on(
    make_study: MakeStudy, work: Work, tmp_path: Path
) -> None:
    simulated = {"noise": 2.0}
    study = make_study(
        space={
            "student.model": {
                "choices": {"plain": {"simulated": simulated}, "planted": {"simulated": {**simulated, "planted": {}}}}
            },
            "student.budget.effort": ["none", "low"],
        },
        sampler={"kind": "grid", "seed": 1},
        trials=None,
    )
    loaded = load_study(str(study))
    unsearchable = {"student.model": "plain", "student.budget.effort": "low"}
    assert [dict(point) for point, _ in loaded.defects] == [unsearchable]
    result = work(study, tmp_path / "runs" / "study")
    (failed,) = result.of("failed")
    assert failed.parameters == unsearchable
    assert "does not accept budget.effort = low" in failed.reason
    assert failed.candidates == 0
    assert result.finished
    assert len(result.of("complete")) == 3


def test_a_trial_whose_worker_always_dies_fails_at_last(make_study: MakeStudy, work: Work, tmp_path: Path) -> None:
    study, out = make_study(trials=1, attempts=2), tmp_path / "runs" / "study"

    class DeathError(Exception):
        """What no program expects."""

    class Killer:
        def begun(self, number: int, of: int, parameters: Mapping[str, Any], attempts: int) -> None:
            raise DeathError

        def waiting(self, numbers: tuple[int, ...]) -> None:
            """Nobody else is there."""

    for _ in range(2):
        with pytest.raises(DeathError):
            work(study, out, follower=Killer())
    result = work(study, out)
    assert result.of("failed")[0].reason == "it was begun 2 times, and its worker died each time"
    assert result.finished


def test_a_study_that_was_changed_is_refused_in_its_directory(
    make_study: MakeStudy, work: Work, tmp_path: Path
) -> None:
    study, out = make_study(trials=1), tmp_path / "runs" / "study"
    work(study, out)
    plan = yaml.safe_load(study.read_text())
    study.write_text(yaml.safe_dump({**plan, "sampler": {"kind": "tpe", "seed": 2}}))
    with pytest.raises(PlanError, match=r"holds another study .*differs in fingerprint"):
        work(study, out)
    with pytest.raises(PlanError, match=r"study.sqlite holds another study named 'study'"):
        work(study, tmp_path / "other" / "study", storage=default_storage(out))


def test_workers_in_different_directories_on_one_file_pay_for_a_call_once(
    make_study: MakeStudy, tmp_path: Path, judge_endpoint: Any
) -> None:
    price = {"prompt_usd_per_million": 1.0, "completion_usd_per_million": 1.0}
    model = {"endpoint": judge_endpoint.url, "name": "judge", "concurrency": 3, "price": price}
    base = {"student": {"shape": "per-fact", "model": model, "max_facts": 2}}
    address = f"sqlite:///{tmp_path / 'shared.sqlite'}"
    space = {"student.aggregator": ["soft", "share"]}
    study = make_study(base=base, space=space, sampler={"kind": "random", "seed": 1})
    for place, trials in (("one", 1), ("two", 2)):
        study.write_text(yaml.safe_dump({**yaml.safe_load(study.read_text()), "trials": trials}))
        loaded = load_study(str(study))
        Study(loaded.inputs, loaded.corpus, loaded.lock, tmp_path / place / "study", storage=address).work()
    assert judge_endpoint.answered, "the second trial asks for the same, and the first has it"
    assert set(judge_endpoint.answered.values()) == {1}


def test_an_outcome_that_was_edited_in_the_database_is_refused(
    make_study: MakeStudy, work: Work, tmp_path: Path
) -> None:
    study, out = make_study(trials=1), tmp_path / "runs" / "study"
    work(study, out)
    storage = StudyStorage(default_storage(out), "study")
    with storage.begin() as connection:
        record = json.loads(connection.execute(sa.select(TRIALS.c.record)).scalar_one())
    storage.close()
    record["body"]["outcome"]["reading"]["values"]["paired"] = 1.0
    execute(out, sa.update(TRIALS).values(record=canonical_json(record)))
    with pytest.raises(LedgerError, match=r"the outcome of trial 1 is not the one that its worker recorded \(edited\)"):
        work(study, out)


def test_the_audit_finds_what_was_edited_in_the_ledgers(make_study: MakeStudy, work: Work, tmp_path: Path) -> None:
    study, out = make_study(trials=2), tmp_path / "runs" / "study"
    result = work(study, out)
    segment = next((out / "trials" / "0001" / "judgements").iterdir())
    segment.write_text(segment.read_text().replace('"score":0', '"score":1', 1))
    ledger = out / "trials" / "0002" / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b'"outcome":"rejected"', b'"outcome":"accepted"', 1) + b"")
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join(lines[:-1]))
    findings = audit_study(out, result, load_study(str(study)).lock)
    places = [finding.place for finding in findings if finding.severity == "error"]
    assert any(place.startswith("trials/0001 seq") for place in places)
    assert "trials/0002" in places


def test_a_trial_that_others_have_finished_in_the_meantime_is_theirs(
    make_study: MakeStudy, work: Work, tmp_path: Path
) -> None:
    study, out = make_study(trials=1), tmp_path / "runs" / "study"

    class Robbed:
        """While the trial runs, another worker takes it over and finishes it."""

        def begun(self, number: int, of: int, parameters: Mapping[str, Any], attempts: int) -> None:
            execute(out, sa.update(TRIALS).values(worker="other", state="failed", record=None))

        def judged(self, progress: Any) -> None:
            """Look away."""

        def ended(self, number: int, outcome: Mapping[str, Any]) -> None:
            raise AssertionError("it is not this worker's any more")

        def waiting(self, numbers: tuple[int, ...]) -> None:
            """Look away."""

    result = work(study, out, follower=Robbed())
    assert [trial.worker for trial in result.trials] == ["other"]


def test_spend_of_a_study_is_that_of_all_its_trials(make_study: MakeStudy, work: Work, tmp_path: Path) -> None:
    study, out = make_study(trials=3), tmp_path / "runs" / "study"
    result = work(study, out)
    events = [event for event in read_events(out / "workers" / "01" / "ledger.jsonl") if event.type == "trial"]
    paid = [event.body["volatile"]["spend"]["paid"]["calls"] for event in events]
    assert sum(paid) == result.spend.paid.calls > 0
    storage = StudyStorage(default_storage(out), "study")
    with storage.begin() as connection:
        held = connection.execute(sa.select(STUDIES.c.calls)).scalar_one()
    assert held == result.spend.paid.calls, "nothing stays reserved"
    assert TrialBook(storage, "x", grace_s=1).under_way() == []
    storage.close()


def test_a_trial_whose_process_was_given_up_and_lives_is_waited_for(
    make_study: MakeStudy, work: Work, tmp_path: Path
) -> None:
    study, out = make_study(trials=1), tmp_path / "runs" / "study"
    held = Ledger(out / "trials" / "0001" / "ledger.jsonl")
    waited: list[tuple[int, ...]] = []

    class Patient(Unfollowed):
        def waiting(self, numbers: tuple[int, ...]) -> None:
            waited.append(numbers)
            if len(waited) == 2:
                held.close()

    result = work(study, out, follower=Patient())
    assert waited == [(1,), (1,)]
    assert result.of("complete")


def test_a_study_of_one_objective_leaves_its_values_to_optuna(
    make_study: MakeStudy, work: Work, tmp_path: Path
) -> None:
    study = make_study(objectives=["paired"], pruning={"groups": [2], "reduction": 2}, trials=4)
    out = tmp_path / "runs" / "study"
    result = work(study, out)
    storage = StudyStorage(default_storage(out), "study")
    kept = storage.optuna_study(["maximize"])
    states = {"complete": "COMPLETE", "pruned": "PRUNED"}
    assert [trial.state.name for trial in kept.trials] == [states[trial.state] for trial in result.trials]
    assert all(set(trial.intermediate_values) == {2} for trial in kept.trials)
    assert kept.best_value == result.ranked[0].values["paired"]
    assert [dict(trial.params) for trial in kept.trials] == [trial.parameters for trial in result.trials]
    storage.close()


def test_a_worker_that_died_while_it_chose_a_point_chooses_the_same(
    make_study: MakeStudy, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(trials=2)
    whole = work(study, tmp_path / "a" / "study")

    class DeathError(Exception):
        """As by a kill."""

    def dying(self: TrialBook, number: int, **chosen: Any) -> None:
        raise DeathError

    with monkeypatch.context() as patched:
        patched.setattr(TrialBook, "choose", dying)
        with pytest.raises(DeathError):
            work(study, tmp_path / "b" / "study")
    result = work(study, tmp_path / "b" / "study")
    assert [trial.parameters for trial in result.trials] == [trial.parameters for trial in whole.trials]
    storage = StudyStorage(default_storage(tmp_path / "b" / "study"), "study")
    assert len(storage.optuna_study(["maximize", "minimize"]).trials) == 2, "nothing is left under way there"
    storage.close()
