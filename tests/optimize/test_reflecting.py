"""Campaigns with each kind of reflector, from the plan to the ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from experiments import load_plan, write_report
from lineage import canonical_state, read_events
from lineage.errors import CampaignError, PlanError
from optimize import Campaign
from optimize.reflecting import REQUESTS
from splits import Corpus, NgramIndex, load_lock
from splits.lock import _examples

MakePlan = Callable[..., Path]
SEARCH = {"iterations": 3, "minibatch_groups": 1, "seed": 1}
WRITTEN = (
    "Look for the fact. Every detail counts.",
    "Look for the whole fact in every line.",
    "Decide whether the note states the whole fact, and say No where a detail is missing.",
)


def run(plan: Path, out: Path, **more: Any) -> Any:
    loaded = load_plan(str(plan))
    return Campaign(loaded.plan, loaded.corpus, loaded.lock, out, baseline=loaded.baseline, **more).run()


def bodies(out: Path, kind: str) -> list[Any]:
    return [event.body for event in read_events(out / "ledger.jsonl") if event.type == kind]


def answered(plan: Path, out: Path, texts: Sequence[str] = WRITTEN) -> list[str]:
    """Run a campaign to its end, answering each request that stops it; the messages that it stopped with."""
    stops = []
    for number, text in enumerate(texts, start=1):
        with pytest.raises(CampaignError) as stopped:
            run(plan, out, wait=False)
        stops.append(str(stopped.value))
        path = out / REQUESTS / f"{number:04d}-1.answer.md"
        path.write_text(f"My reasons.\n<instruction>\n{text}\n</instruction>\n", encoding="utf-8")
    run(plan, out, wait=False)
    return stops


def test_a_person_reflects_in_files_and_a_stopped_campaign_goes_on_where_it_waited(
    make_plan: MakePlan, tmp_path: Path
) -> None:
    plan = make_plan(reflector={"kind": "human"}, search=SEARCH)
    stopping, out = tmp_path / "runs" / "stopping", tmp_path / "runs" / "waiting"
    stops = answered(plan, stopping)
    for number, stop in enumerate(stops, start=1):
        assert f"{stopping / REQUESTS}/{number:04d}-1.answer.md: no finished answer yet" in stop
    assert [body["texts"]["instruction"] for body in bodies(stopping, "candidate")][1:] == list(WRITTEN)
    assert bodies(stopping, "reflection")[0]["reflection"]["answer"].startswith("My reasons.")

    told = []

    class Answering:
        """A watcher that answers as soon as it is told of a request."""

        def waiting(self, file: Path) -> None:
            told.append(file.name)
            text = WRITTEN[len(told) - 1]
            file.write_text(f"My reasons.\n<instruction>\n{text}\n</instruction>\n", encoding="utf-8")

        def __getattr__(self, name: str) -> Callable[..., None]:
            return lambda *_: None

    run(plan, out, watcher=Answering())
    assert told == ["0001-1.answer.md", "0002-1.answer.md", "0003-1.answer.md"]
    states = [canonical_state(read_events(each / "ledger.jsonl")) for each in (stopping, out)]
    assert states[0] == states[1], "stopped three times, or never"


def test_the_command_line_stops_where_an_answer_is_missing_and_says_what_to_do(
    make_plan: MakePlan, tmp_path: Path, holdgate: Callable[..., tuple[int, str, str]]
) -> None:
    plan = make_plan(reflector={"kind": "human"}, search={"iterations": 1, "minibatch_groups": 1, "seed": 1})
    out = tmp_path / "runs" / "one"
    command = ("run", plan, "--out", out, "--no-mlflow", "--no-wait")
    status, said, error = holdgate(*command)
    assert status != 0
    assert "reflector: a person, asked in files; no reflector model is asked." in said
    assert "0001-1.answer.md: no finished answer yet" in error
    answer = out / REQUESTS / "0001-1.answer.md"
    answer.write_text(f"<instruction>{WRITTEN[0]}</instruction>", encoding="utf-8")
    assert holdgate(*command)[0] == 0
    assert bodies(out, "finished")


def test_a_request_holds_reflect_text_and_none_of_accept_or_heldout(
    make_plan: MakePlan, tmp_path: Path, consults: Corpus
) -> None:
    plan, out = make_plan(reflector={"kind": "human", "memory": 2}, search=SEARCH), tmp_path / "runs" / "one"
    answered(plan, out)
    lock = load_lock(plan.parent / "split.lock.json", consults)
    texts = {
        split: [text for example in _examples(lock, consults, split) for text in (example.document, example.source)]
        + [fact.fact for group in lock.splits[split] for fact in consults.facts[group]]
        for split in ("reflect", "accept", "heldout")
    }
    reflect = NgramIndex.of(texts["reflect"], size=5)
    closed = NgramIndex.of(texts["accept"] + texts["heldout"], size=5)
    for path in sorted((out / REQUESTS).glob("*.request.md")):
        text = path.read_text(encoding="utf-8")
        assert reflect.copied(text), "it quotes the examples that it may quote"
        assert [run for run in closed.copied(text) if run not in reflect.copied(text)] == []
        assert not any(group in text for split in ("accept", "heldout") for group in lock.splits[split])
    assert all(not body["findings"] for body in bodies(out, "contamination"))


def test_failed_edits_are_told_to_the_next_reflection_with_what_came_of_them(
    make_plan: MakePlan, tmp_path: Path
) -> None:
    plan, out = make_plan(reflector={"kind": "human", "memory": 5}, search=SEARCH), tmp_path / "runs" / "one"
    answered(plan, out)
    outcomes = bodies(out, "outcome")
    failed = [body for body in outcomes[:-1] if body["outcome"] != "accepted"]
    assert failed, "this seed rejects one"
    last = (out / REQUESTS / "0003-1.request.md").read_text(encoding="utf-8")
    assert "EARLIER PROPOSALS THAT FAILED" in last
    assert all(f"- {body['outcome']} ({body['reason']})" in last for body in failed)


def test_a_rejection_on_accept_is_told_without_what_accept_said(make_plan: MakePlan, tmp_path: Path) -> None:
    search = {"iterations": 8, "minibatch_groups": 1, "seed": 2, "acceptance": "full"}
    plan, out = make_plan(reflector={"kind": "human", "memory": 9}, search=search), tmp_path / "runs" / "one"
    texts = [f"{WRITTEN[number % 3]} Read line {number + 1} twice." for number in range(8)]
    answered(plan, out, texts)
    of_accept = [body for body in bodies(out, "outcome")[:-1] if body["reason"].startswith("accept reward -")]
    assert of_accept, "this seed rejects one on accept"
    last = (out / REQUESTS / "0008-1.request.md").read_text(encoding="utf-8")
    assert "- rejected (no better than its parent in other examples)" in last
    assert "accept reward" not in last


def test_a_replay_takes_the_recorded_course_and_refuses_another(make_plan: MakePlan, tmp_path: Path) -> None:
    search = {"iterations": 6, "minibatch_groups": 2, "seed": 1}
    plan, recorded = make_plan(search=search), tmp_path / "runs" / "recorded"
    run(plan, recorded)
    data = yaml.safe_load(plan.read_text(encoding="utf-8"))
    replayed = plan.with_name("replay.yaml")
    settings = {"kind": "replay", "ledger": str(Path("..") / "runs" / "recorded"), "feedback": {"document": False}}
    replayed.write_text(yaml.safe_dump({**data, "reflector": settings}), encoding="utf-8")
    out = tmp_path / "runs" / "replayed"
    run(replayed, out)
    for kind in ("candidate", "outcome", "choice"):
        assert bodies(out, kind) == bodies(recorded, kind), kind
    assert bodies(out, "reflection")[0]["reflector"]["reflector"] == "replay"

    other = {**data, "reflector": settings, "search": {**search, "seed": 2}}
    replayed.write_text(yaml.safe_dump(other), encoding="utf-8")
    with pytest.raises(CampaignError, match=r"was told something else of its parent|was of another parent"):
        run(replayed, tmp_path / "runs" / "other")


@pytest.mark.parametrize(
    ("kind", "words", "simulated"),
    [("random-edits", "CONTROL: blind edits", None), ("simulated-diagnosis", "SIMULATED: a rule that reads", True)],
)
def test_the_control_and_the_simulated_reflector_say_so_in_ledger_and_report(
    make_plan: MakePlan, tmp_path: Path, kind: str, words: str, simulated: bool | None
) -> None:
    plan, out = make_plan(reflector={"kind": kind}, search=SEARCH), tmp_path / "runs" / "one"
    run(plan, out)
    for body in bodies(out, "reflection"):
        assert body["reflector"]["reflector"] == kind
        assert body["reflector"].get("simulated") is simulated
        assert kind.split("-")[0] in body["reflection"]["operator"] or body["reflection"]["problem"]
    assert words in write_report(out).markdown.read_text(encoding="utf-8")


def test_what_cannot_be_built_is_refused_before_anything_is_called(make_plan: MakePlan, tmp_path: Path) -> None:
    plan = make_plan(reflector={"kind": "replay", "ledger": "gone"})
    loaded = load_plan(str(plan))
    with pytest.raises(PlanError, match=rf"reflector\.ledger: there is no ledger {plan.parent}/gone"):
        Campaign(loaded.plan, loaded.corpus, loaded.lock, tmp_path / "run", baseline=loaded.baseline)
    assert not (tmp_path / "run").exists()


@pytest.mark.integration
def test_a_reflector_model_is_told_feedback_and_failed_edits(
    make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any
) -> None:
    judge_endpoint.written = [
        "<instruction>Look for the fact. Check every line. Say No if none has it.</instruction>",
        "<instruction>",
        "<instruction>Look once more. Check every line. Compare each word. Say No if none has it.</instruction>",
    ]
    url = judge_endpoint.url
    student = {"shape": "per-fact", "model": {"endpoint": url, "name": "judge"}, "max_facts": 5}
    student["budget"] = {"answer_tokens": 1}
    reflector = {"kind": "llm", "model": {"endpoint": url, "name": "writer"}, "memory": 3}
    plan = make_plan(student=student, reflector=reflector, search=SEARCH)
    run(plan, tmp_path / "runs" / "one")
    asked = [prompt for prompt in judge_endpoint.prompts if "PRESENT INSTRUCTION" in prompt]
    assert len(asked) == 3
    assert "EARLIER PROPOSALS" not in asked[0]
    assert "invalid (no marked instruction)" in asked[2]
    assert all("its correct twin at" in prompt and "Scoring every document lower" in prompt for prompt in asked)
