"""A bundle is run again from what is in it alone, in a new place, and comes to an equal canonical replay."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from experiments import load_plan
from lineage import Ledger, canonical_state, read_events
from lineage.bundle import extract_bundle, write_bundle
from lineage.errors import BundleError, CallError
from optimize import Campaign
from optimize.bundling import Packed, pack_run, replay_bundle
from optimize.recompute import audit_numbers
from splits import Corpus
from tests.conftest import JudgeEndpoint


def repacked(packed: Packed, to: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """A bundle with changed files and a manifest that fits them."""
    found = extract_bundle(packed.path, to.with_suffix(".files"))
    files = {name: (found.directory / name).read_bytes() for name in found.members}
    change(files)
    content = {key: value for key, value in found.manifest.items() if key not in ("files", "format")}
    write_bundle(to, content, files)
    return to


@pytest.fixture
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a replay reaches nothing")

    monkeypatch.setattr(socket.socket, "connect", refused)


@pytest.mark.usefixtures("_no_network")
def test_a_replay_in_a_new_place_is_equal_to_the_campaign(packed: Packed, finished_run: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.zip"
    shutil.copyfile(packed.path, elsewhere)
    found = replay_bundle(elsewhere, tmp_path / "again")
    assert found.equal
    assert found.difference == ()
    assert found.recorded == found.found == canonical_state(read_events(finished_run / "ledger.jsonl"))
    assert found.calls == packed.calls > 100
    assert (found.directory / "prompt.md").read_text() == (finished_run / "prompt.md").read_text()
    assert not any(finding.severity == "error" for finding in audit_numbers(found.directory))


@pytest.mark.usefixtures("_no_network")
def test_the_first_call_without_an_answer_is_named(packed: Packed, tmp_path: Path) -> None:
    lost: list[str] = []

    def lose(files: dict[str, bytes]) -> None:
        lines = files["calls.jsonl"].splitlines(keepends=True)
        lost.append(json.loads(lines[0])["key"])
        files["calls.jsonl"] = b"".join(lines[1:])

    bundle = repacked(packed, tmp_path / "less.zip", lose)
    with pytest.raises(CallError, match=r"has no answer to call") as raised:
        replay_bundle(bundle, tmp_path / "again")
    assert raised.value.reason == "not_recorded"
    assert lost[0] in str(raised.value)


def test_an_answer_that_was_changed_is_seen_in_what_the_campaign_comes_to(packed: Packed, tmp_path: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        rows = [json.loads(line) for line in files["calls.jsonl"].splitlines()]
        for row in rows:
            row["result"]["usage"]["prompt_tokens"] += 1
        files["calls.jsonl"] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)

    found = replay_bundle(repacked(packed, tmp_path / "changed.zip", change), tmp_path / "again")
    assert not found.equal
    assert found.recorded != found.found
    assert "segment.content" in found.difference[0]


def test_a_replay_takes_a_new_directory_and_a_sound_bundle(packed: Packed, withheld: Packed, tmp_path: Path) -> None:
    (tmp_path / "full" / "x").mkdir(parents=True)
    with pytest.raises(BundleError, match="holds something already"):
        replay_bundle(packed.path, tmp_path / "full")
    with pytest.raises(BundleError, match="withholds the texts that its calls were made of"):
        replay_bundle(withheld.path, tmp_path / "again")
    data = bytearray(packed.path.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "bad.zip").write_bytes(data)
    with pytest.raises(BundleError):
        replay_bundle(tmp_path / "bad.zip", tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_run_whose_cache_has_lost_an_answer_is_packed_with_the_reason(
    run_copy: Path, consults: Corpus, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(run_copy.parent / "calls.sqlite")) as db, db:
        db.execute("DELETE FROM calls WHERE key = (SELECT max(key) FROM calls)")
    packed = pack_run(run_copy, tmp_path / "a.zip", corpus=consults)
    assert packed.replay is not None
    assert "has no answer to call" in packed.replay
    with pytest.raises(BundleError, match=r"cannot be replayed: .*has no answer to call"):
        replay_bundle(packed.path, tmp_path / "again")


def test_a_judging_run_is_packed_and_not_replayed(finished_judging: Path, consults: Corpus, tmp_path: Path) -> None:
    packed = pack_run(finished_judging, tmp_path / "judging.zip", corpus=consults)
    assert packed.replay == "it is a judging run; campaigns alone are replayed"
    with pytest.raises(BundleError, match="campaigns alone are replayed"):
        replay_bundle(packed.path, tmp_path / "again")


def test_an_unfinished_campaign_is_packed_and_not_replayed(run_copy: Path, consults: Corpus, tmp_path: Path) -> None:
    events = read_events(run_copy / "ledger.jsonl")
    for name in ("ledger.jsonl", "ledger.head.json", "verdict.json", "prompt.md"):
        (run_copy / name).unlink()
    with Ledger(run_copy / "ledger.jsonl") as ledger:
        for event in events[:20]:
            ledger.perform(event.type, event.body, dict)
    packed = pack_run(run_copy, tmp_path / "a.zip", corpus=consults)
    assert packed.replay == "the campaign is not finished; resume it, and pack it again"


def test_what_a_person_answered_is_in_the_bundle_and_is_given_again(
    make_plan: Callable[..., Path], tmp_path: Path
) -> None:
    plan = make_plan(reflector={"kind": "human"}, search={"iterations": 1, "minibatch_groups": 2, "seed": 1})
    loaded, run = load_plan(str(plan)), tmp_path / "runs" / "one"
    (run / "reflections").mkdir(parents=True)
    answer = "<instruction>Look for the fact. Check every line. Say No if none has it.</instruction>"
    (run / "reflections" / "0001-1.answer.md").write_text(answer, encoding="utf-8")
    Campaign(loaded.plan, loaded.corpus, loaded.lock, run, baseline=loaded.baseline, wait=False).run()
    packed = pack_run(run, tmp_path / "a.zip", corpus=loaded.corpus)
    assert packed.replay is None
    shutil.rmtree(run)
    assert replay_bundle(packed.path, tmp_path / "again").equal


@pytest.mark.integration
class TestWithAnEndpoint:
    """A campaign whose judge and reflector were models behind an endpoint with a key, both gone since."""

    @pytest.fixture
    def bundle(self, make_plan: Callable[..., Path], judge_endpoint: JudgeEndpoint, tmp_path: Path) -> Packed:
        judge_endpoint.written = [
            "<instruction>Look for the fact. Check every line. Say No if none has it.</instruction>",
            "I would write: check every line.",
            "<instruction>Look once more. Check every line. Compare each word. Say No if none has it.</instruction>",
        ]
        judge = {"endpoint": judge_endpoint.url, "name": "judge", "key_env": "JUDGE_KEY"}
        plan = make_plan(
            student={"shape": "per-fact", "model": judge, "max_facts": 5},
            reflector={"kind": "llm", "model": {"endpoint": judge_endpoint.url, "name": "writer"}},
            search={"iterations": 3, "minibatch_groups": 2, "seed": 1},
            limits={"calls": 5000},
        )
        loaded = load_plan(str(plan))
        run = tmp_path / "runs" / "one"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("JUDGE_KEY", "secret")
            Campaign(loaded.plan, loaded.corpus, loaded.lock, run, baseline=loaded.baseline).run()
        judge_endpoint.before = lambda number: (500, "gone")
        packed = pack_run(run, tmp_path / "one.zip", corpus=loaded.corpus)
        shutil.rmtree(tmp_path / "runs")
        shutil.rmtree(plan.parent)
        return packed

    def test_it_is_replayed_without_the_key_and_nothing_is_asked(
        self, bundle: Packed, judge_endpoint: JudgeEndpoint, tmp_path: Path
    ) -> None:
        assert "JUDGE_KEY" not in os.environ
        assert bundle.replay is None
        before = len(judge_endpoint.prompts)
        found = replay_bundle(bundle.path, tmp_path / "again")
        assert found.equal
        assert len(judge_endpoint.prompts) == before
        reflections = [e.body for e in read_events(found.directory / "ledger.jsonl") if e.type == "reflection"]
        assert len(reflections) == 3

    def test_no_key_is_in_it(self, bundle: Packed, tmp_path: Path) -> None:
        found = extract_bundle(bundle.path, tmp_path / "files")
        assert not any(b"secret" in (found.directory / name).read_bytes() for name in found.members)

    def test_a_second_comparison_on_the_split_is_replayed_as_the_second(
        self, make_plan: Callable[..., Path], judge_endpoint: JudgeEndpoint, tmp_path: Path, consults: Corpus
    ) -> None:
        from splits import Selection, commit_lock, plan_lock

        judge = {"endpoint": judge_endpoint.url, "name": "judge"}
        search = {"iterations": 4, "minibatch_groups": 2, "seed": 1}
        plan = make_plan(student={"shape": "per-fact", "model": judge, "max_facts": 5}, search=search)
        (plan.parent / "split.lock.json").unlink()
        sizes = {"reflect": 5, "accept": 4, "heldout": 6}
        chosen = Selection(groups=15, flawed_per_group=2, seed=3)
        drawn = plan_lock(consults, sizes=sizes, seed=3, selection=chosen, comparisons=2)
        commit_lock(drawn, plan.parent / "split.lock.json")
        loaded = load_plan(str(plan))
        runs = [tmp_path / "runs" / name for name in ("one", "two")]
        for run in runs:
            Campaign(loaded.plan, loaded.corpus, loaded.lock, run, baseline=loaded.baseline).run()
        opened = [e.body for e in read_events(runs[1] / "ledger.jsonl") if e.type == "seal_opened"]
        assert [body["comparison"] and body["comparison"]["k"] for body in opened] == [None, 2]
        packed = pack_run(runs[1], tmp_path / "two.zip", corpus=consults)
        assert packed.replay is None
        assert replay_bundle(packed.path, tmp_path / "again").equal
