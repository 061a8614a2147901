"""The ledger: appended, replayed, repaired, and every attempt to change it found."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.canonical import canonical_json, digest, digest_bytes
from lineage.errors import LedgerError
from lineage.ledger import (
    GENESIS,
    Event,
    Head,
    Ledger,
    canonical_state,
    check_head,
    head_file,
    read_events,
    read_head,
)

ROOT = Path(__file__).resolve().parents[2]
STEPS: Sequence[tuple[str, dict[str, Any], dict[str, Any]]] = (
    ("plan", {"plan": {"seed": 0, "model": "naïve 患者"}}, {"volatile": {"host": "a"}}),
    ("evaluation", {"candidate": "c1"}, {"score": 0.1, "tiny": 1e-300, "big": 1e300, "volatile": {"latency_s": 0.3}}),
    ("candidate", {"id": "c2", "parents": ["c1"]}, {"outcome": "rejected", "text": "Line one.\nLine “two” \u2028 😀"}),
    ("spend", {}, {"usd": 0.25, "none": None, "yes": True}),
)


def take(ledger: Ledger, steps: Sequence[tuple[str, dict[str, Any], dict[str, Any]]] = STEPS) -> list[str]:
    """Perform steps and return those that were really carried out."""
    produced: list[str] = []
    for kind, key, rest in steps:

        def produce(kind: str = kind, rest: dict[str, Any] = rest) -> dict[str, Any]:
            produced.append(kind)
            return rest

        ledger.perform(kind, key, produce)
    return produced


def kinds(path: Path) -> list[str]:
    return [event.type for event in read_events(path)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "ledger.jsonl"


@pytest.fixture
def written(path: Path) -> Path:
    with Ledger(path) as ledger:
        take(ledger)
    return path


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """Bytes of a ledger and of its head."""
    path = tmp_path_factory.mktemp("sample") / "ledger.jsonl"
    with Ledger(path) as ledger:
        take(ledger)
    return path.read_bytes(), head_file(path).read_bytes()


@pytest.fixture(scope="module")
def lay(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes, bytes | None], Path]:
    """Lay out a ledger with given bytes in a directory that is used again."""
    path = tmp_path_factory.mktemp("laid") / "ledger.jsonl"

    def laid(data: bytes, head: bytes | None) -> Path:
        path.write_bytes(data)
        head_file(path).unlink(missing_ok=True)
        if head is not None:
            head_file(path).write_bytes(head)
        return path

    return laid


def head_bytes(lines: Sequence[bytes]) -> bytes:
    last = json.loads(lines[-1])["hash"] if lines else GENESIS
    return json.dumps({"count": len(lines), "hash": last}).encode()


# Appending and reading


def test_events_are_chained_and_each_hash_covers_every_other_field(written: Path) -> None:
    events = read_events(written)
    assert [event.seq for event in events] == [0, 1, 2, 3]
    assert events[0].prev == GENESIS
    for before, event in zip((None, *events), events, strict=False):
        assert before is None or event.prev == before.hash
        row = event.row()
        assert row.pop("hash") == digest(row)


def test_the_head_beside_the_ledger_follows_every_event(path: Path) -> None:
    with Ledger(path) as ledger:
        for count, (kind, key, rest) in enumerate(STEPS, start=1):
            ledger.perform(kind, key, lambda rest=rest: rest)
            assert read_head(path) == ledger.head == Head(count, ledger.events[-1].hash)


def test_every_event_is_on_disk_when_perform_returns(path: Path) -> None:
    with Ledger(path) as ledger:
        for count, (kind, key, rest) in enumerate(STEPS, start=1):
            ledger.perform(kind, key, lambda rest=rest: rest)
            assert path.read_bytes().count(b"\n") == count


def test_every_event_is_synced_before_perform_returns(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        held = os.fstat(descriptor)
        if held.st_ino == path.stat().st_ino:
            synced.append(held.st_size)

    with Ledger(path) as ledger:
        monkeypatch.setattr(os, "fsync", fsync)
        for count, (kind, key, rest) in enumerate(STEPS, start=1):
            ledger.perform(kind, key, lambda rest=rest: rest)
            assert len(synced) == count
            assert synced[-1] == path.stat().st_size


def test_lines_are_utf8_with_lf_ends_and_unicode_as_itself(written: Path) -> None:
    data = written.read_bytes()
    assert b"\r" not in data
    assert "naïve 患者".encode() in data
    assert read_events(written)[2].body["text"] == "Line one.\nLine “two” \u2028 😀"


def test_half_a_surrogate_pair_in_a_body_is_recorded_and_replayed(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger.perform("reflection", {"raw": "cut \ud83d off"}, dict)
    with Ledger(path) as ledger:
        assert ledger.perform("reflection", {"raw": "cut \ud83d off"}, pytest.fail)["raw"] == "cut \ud83d off"


def test_a_nan_cannot_enter_the_ledger_and_leaves_it_as_it_was(written: Path) -> None:
    with Ledger(written) as ledger:
        take(ledger)
        before = written.read_bytes()
        with pytest.raises(ValueError, match="not JSON compliant"):
            ledger.perform("evaluation", {}, lambda: {"score": float("nan")})
        assert written.read_bytes() == before
        ledger.perform("evaluation", {}, lambda: {"score": 1.0})
    assert kinds(written)[-1] == "evaluation"


def test_a_step_that_fails_records_nothing(path: Path) -> None:
    def fail() -> dict[str, Any]:
        raise RuntimeError("no answer")

    with Ledger(path) as ledger:
        with pytest.raises(RuntimeError, match="no answer"):
            ledger.perform("evaluation", {}, fail)
        assert ledger.events == ()


def test_a_campaign_is_named_by_its_first_event_for_ever(path: Path) -> None:
    with Ledger(path) as ledger:
        with pytest.raises(LedgerError, match="an empty ledger has no campaign identity yet"):
            _ = ledger.campaign
        take(ledger, STEPS[:1])
        name = ledger.campaign
    with Ledger(path) as ledger:
        assert ledger.campaign == name == ledger.events[0].hash


def test_only_operational_events_are_recorded_as_such(path: Path) -> None:
    refused = pytest.raises(ValueError, match=r"'evaluation' is not one of \['resumed', 'stopped'\]")
    with Ledger(path) as ledger, refused:
        ledger.operational("evaluation", {})


# Replay


def test_a_resumed_run_produces_nothing_twice(path: Path) -> None:
    with Ledger(path) as ledger:
        assert take(ledger, STEPS[:2]) == ["plan", "evaluation"]
    with Ledger(path) as ledger:
        assert ledger.replaying
        assert take(ledger) == ["candidate", "spend"]
        assert not ledger.replaying
    assert kinds(path) == ["plan", "evaluation", "resumed", "candidate", "spend"]


def test_a_replayed_step_returns_the_body_that_was_recorded(path: Path) -> None:
    with Ledger(path) as ledger:
        first = ledger.perform("split", {"sizes": (1, 2)}, lambda: {"groups": ("a", "b")})
    with Ledger(path) as ledger:
        again = ledger.perform("split", {"sizes": (1, 2)}, pytest.fail)
    assert first == again == {"sizes": [1, 2], "groups": ["a", "b"]}


def test_listeners_see_earlier_events_as_they_are_replayed_and_no_operational_ones(path: Path) -> None:
    heard: list[Event] = []
    with Ledger(path) as ledger:
        take(ledger, STEPS[:2])
        ledger.operational("stopped", {"why": "budget"})
    with Ledger(path, listen=heard.append) as ledger:
        assert heard == []
        take(ledger)
    assert [event.type for event in heard] == [kind for kind, _, _ in STEPS]


def test_another_step_at_the_same_place_is_named_by_seq(written: Path) -> None:
    with Ledger(written) as ledger:
        ledger.perform("plan", STEPS[0][1], pytest.fail)
        with pytest.raises(LedgerError, match=r"seq 1 holds 'evaluation' where this run comes to 'proposal'; .* --out"):
            ledger.perform("proposal", {}, pytest.fail)


def test_a_divergence_names_seq_and_every_field_that_differs(written: Path) -> None:
    with Ledger(written) as ledger:
        take(ledger, STEPS[:2])
        with pytest.raises(LedgerError, match=r"seq 2 holds 'candidate' .* \(differs in id, parents\)"):
            ledger.perform("candidate", {"id": "c3", "parents": []}, pytest.fail)


def test_what_stands_under_volatile_may_differ_on_replay(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger.perform("plan", {"plan": {"a": 1, "volatile": {"at": 1}}}, dict)
    with Ledger(path) as ledger:
        ledger.perform("plan", {"plan": {"a": 1, "volatile": {"at": 2}}}, pytest.fail)


# Interruption


@given(cuts=st.lists(st.integers(0, len(STEPS)), max_size=4))
@settings(max_examples=12, deadline=None)
def test_interrupted_and_uninterrupted_campaigns_have_one_state(
    cuts: list[int], sample: tuple[bytes, bytes], lay: Callable[[bytes, bytes | None], Path]
) -> None:
    whole = canonical_state(read_events(lay(*sample)))
    path = lay(b"", None)
    produced: list[str] = []
    for cut in (*sorted(cuts), len(STEPS)):
        with Ledger(path) as ledger:
            produced += take(ledger, STEPS[:cut])
            ledger.operational("stopped", {"at": cut})
    assert produced == [kind for kind, _, _ in STEPS]
    assert canonical_state(read_events(path)) == whole


def test_the_state_ignores_volatile_parts_and_nothing_else(tmp_path: Path) -> None:
    def state(name: str, body: dict[str, Any]) -> str:
        with Ledger(tmp_path / name / "ledger.jsonl") as ledger:
            ledger.perform("evaluation", {"candidate": "c1"}, lambda: body)
            return canonical_state(ledger.events)

    first = state("a", {"score": 1.0, "volatile": {"latency_s": 1}})
    assert state("b", {"score": 1.0, "volatile": {"latency_s": 2}}) == first
    assert state("c", {"score": 1.0, "deep": {"volatile": 2}}) != first
    assert state("d", {"score": 0.5, "volatile": {"latency_s": 1}}) != first


@given(cut=st.integers(0), beside=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_kill_at_any_byte_of_an_append_is_repaired_on_resume(
    cut: int, beside: bool, sample: tuple[bytes, bytes], lay: Callable[[bytes, bytes | None], Path]
) -> None:
    lines = sample[0].splitlines(keepends=True)
    cut %= len(sample[0]) + 1
    whole = sample[0][:cut].count(b"\n")
    torn = cut > sum(map(len, lines[:whole]))
    # The head is one behind where the kill fell between an event and its head.
    heads = whole if torn or beside else max(whole - 1, 0)
    path = lay(sample[0][:cut], head_bytes(lines[:heads]) if heads else None)
    if torn:
        with pytest.raises(LedgerError, match=rf"the last line \(seq {whole}\) has no terminator; resume"):
            read_events(path)
    with Ledger(path) as ledger:
        assert [event.row() for event in ledger.events[:whole]] == [json.loads(line) for line in lines[:whole]]
        assert take(ledger) == [kind for kind, _, _ in STEPS[whole:]]
    events = read_events(path)
    check_head(path, events)
    assert canonical_state(events) == canonical_state(read_events(lay(*sample)))


def test_a_resumption_says_whether_it_repaired_a_line(written: Path) -> None:
    with written.open("ab") as file:
        file.write(b'{"at":"2026')
    with Ledger(written) as ledger:
        assert ledger.events[-1].body == {"volatile": {"events": 4, "repaired_line": True}}
    with Ledger(written) as ledger:
        assert ledger.events[-1].body == {"volatile": {"events": 5, "repaired_line": False}}


CHILD = """
import sys
from pathlib import Path
from lineage.ledger import Ledger
with Ledger(Path(sys.argv[1])) as ledger:
    print("open", flush=True)
    for step in range(int(sys.argv[2])):
        ledger.perform("step", {"step": step}, lambda: {"text": "患" * 20_000, "volatile": {"pid": 0}})
print("done", flush=True)
"""


@pytest.mark.integration
def test_killed_processes_leave_a_ledger_that_can_be_resumed_to_the_same_state(tmp_path: Path) -> None:
    steps, rng = 60, random.Random(20261108)
    path, whole = tmp_path / "killed" / "ledger.jsonl", tmp_path / "whole" / "ledger.jsonl"
    killed = 0
    for turn in range(20):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), str(steps)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        with child:
            assert child.stdout is not None
            assert child.stdout.readline() == "open\n"
            if turn < 6:
                time.sleep(rng.uniform(0, 0.03))
                os.kill(child.pid, signal.SIGKILL)
            finished = child.stdout.readline() == "done\n"
        if finished:
            break
        killed += 1
        assert child.returncode == -signal.SIGKILL
    assert killed >= 3
    subprocess.run([sys.executable, "-c", CHILD, str(whole), str(steps)], cwd=ROOT, check=True, capture_output=True)
    events = read_events(path)
    check_head(path, events)
    campaign = [event for event in events if event.type == "step"]
    assert [event.body["step"] for event in campaign] == list(range(steps))
    assert canonical_state(events) == canonical_state(read_events(whole))


@pytest.mark.integration
def test_two_processes_cannot_hold_one_ledger(path: Path) -> None:
    holder = CHILD.replace('print("done"', 'sys.stdin.read(); print("done"').replace(
        "    for", "    sys.stdin.read()\n    for"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", holder, str(path), "1"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout is not None
        assert child.stdin is not None
        child.stdout.readline()
        with pytest.raises(LedgerError, match="another process is running this campaign"):
            Ledger(path)
        child.stdin.close()
    with Ledger(path) as ledger:
        assert ledger.events[0].type == "step"


def test_one_process_cannot_open_a_ledger_twice_but_can_after_closing(path: Path) -> None:
    with Ledger(path), pytest.raises(LedgerError, match="another process is running this campaign"):
        Ledger(path)
    Ledger(path).close()


def test_a_refused_ledger_is_not_left_locked(written: Path) -> None:
    whole = written.read_bytes()
    written.write_bytes(whole.replace(b"rejected", b"accepted"))
    with pytest.raises(LedgerError, match="event seq 2 was edited"):
        Ledger(written)
    written.write_bytes(whole)
    Ledger(written).close()


# Tampering


@given(position=st.integers(0), byte=st.integers(0, 255))
@settings(max_examples=400, deadline=None)
def test_one_changed_byte_anywhere_in_the_ledger_is_found(
    position: int, byte: int, sample: tuple[bytes, bytes], lay: Callable[[bytes, bytes | None], Path]
) -> None:
    data = bytearray(sample[0])
    position %= len(data)
    data[position] = byte if data[position] != byte else byte ^ 1
    seq = sample[0][:position].count(b"\n")
    with pytest.raises(LedgerError, match=rf"seq {seq}\b|from seq {seq} on were dropped"):
        Ledger(lay(bytes(data), sample[1]))


@given(position=st.integers(0), byte=st.integers(0, 255))
@settings(max_examples=150, deadline=None)
def test_one_changed_byte_in_the_head_is_found_or_means_the_same(
    position: int, byte: int, sample: tuple[bytes, bytes], lay: Callable[[bytes, bytes | None], Path]
) -> None:
    head = bytearray(sample[1])
    head[position % len(head)] = byte
    path = lay(sample[0], bytes(head))
    events = read_events(path)
    try:
        check_head(path, events)
    except LedgerError as error:
        assert "head" in str(error)  # noqa: PT017  # either outcome is right, and this is what one of them must say
    else:
        assert read_head(path) == Head(len(events), events[-1].hash)


@given(start=st.integers(0), length=st.integers(1, 80), junk=st.binary(max_size=80))
@settings(max_examples=150, deadline=None)
def test_any_replaced_run_of_bytes_is_found(
    start: int, length: int, junk: bytes, sample: tuple[bytes, bytes], lay: Callable[[bytes, bytes | None], Path]
) -> None:
    start %= len(sample[0])
    changed = sample[0][:start] + junk + sample[0][start + length :]
    path = lay(changed, sample[1])
    if changed != sample[0] and not changed.startswith(sample[0]):
        with pytest.raises(LedgerError, match="seq"):
            Ledger(path)


def rehashed(line: bytes, **changes: Any) -> bytes:
    row = {**json.loads(line), **changes}
    row.pop("hash")
    return (canonical_json({**row, "hash": digest(row)}) + "\n").encode()


def tampered(name: str, lines: list[bytes]) -> tuple[list[bytes], int]:
    """Lines after an attack, and the seq that must be named."""
    zero, one, two, three = lines
    return {
        "an edited body": ([zero, one.replace(b'"score":0.1', b'"score":0.9'), two, three], 1),
        "an edited body with its hash made new": ([zero, rehashed(one, body={"score": 0.9}), two, three], 2),
        "an edited time": ([zero, one.replace(b'"at":"2', b'"at":"1'), two, three], 1),
        "swapped events": ([zero, two, one, three], 1),
        "a dropped event": ([zero, two, three], 1),
        "a dropped first event": ([one, two, three], 0),
        "a duplicated event": ([zero, one, one, two, three], 2),
        "an inserted event": ([zero, rehashed(one, seq=1, type="extra"), one, two, three], 2),
        "white space": ([zero, one.replace(b'"body":', b'"body": '), two, three], 1),
        "another escape": ([zero.replace("ï".encode(), b"\\u00ef"), one, two, three], 0),
        "an additional field": ([zero, one.replace(b'{"at"', b'{"aa":1,"at"'), two, three], 1),
        "a blank line": ([zero, b"\n", one, two, three], 1),
        "CRLF ends": ([zero, one.replace(b"\n", b"\r\n"), two, three], 1),
        "a body that is a number": ([zero, rehashed(one, body=5), two, three], 1),
        "a body that is a text": ([zero, rehashed(one, body="abc"), two, three], 1),
        "a body that is a list": ([zero, rehashed(one, body=[]), two, three], 1),
        "an infinite number": ([zero, one.replace(b"1e+300", b"1e+999"), two, three], 1),
        "a NaN": ([zero, one.replace(b"1e+300", b"NaN"), two, three], 1),
        "a list for an event": ([zero, b"[]\n", two, three], 1),
        "a byte that is not UTF-8": ([zero, one.replace(b"c1", b"c\xff"), two, three], 1),
    }[name]


@pytest.mark.parametrize(
    "attack",
    [
        "an edited body",
        "an edited body with its hash made new",
        "an edited time",
        "swapped events",
        "a dropped event",
        "a dropped first event",
        "a duplicated event",
        "an inserted event",
        "white space",
        "another escape",
        "an additional field",
        "a blank line",
        "CRLF ends",
        "a body that is a number",
        "a body that is a text",
        "a body that is a list",
        "an infinite number",
        "a NaN",
        "a list for an event",
        "a byte that is not UTF-8",
    ],
)
def test_an_attack_on_the_chain_is_named_by_seq(attack: str, written: Path) -> None:
    lines, seq = tampered(attack, written.read_bytes().splitlines(keepends=True))
    before = digest_bytes(written.read_bytes())
    written.write_bytes(b"".join(lines))
    assert digest_bytes(written.read_bytes()) != before
    for reader in (read_events, Ledger):
        with pytest.raises(LedgerError, match=rf"event seq {seq}\b"):
            reader(written)


@pytest.mark.parametrize("dropped", [1, 2, 4])
def test_a_dropped_tail_is_found_by_the_head(dropped: int, written: Path) -> None:
    lines = written.read_bytes().splitlines(keepends=True)
    written.write_bytes(b"".join(lines[:-dropped]))
    for repairing in (False, True):
        with pytest.raises(LedgerError, match=rf"the head counts 4 events, .* from seq {4 - dropped} on were dropped"):
            check_head(written, read_events(written), repairing=repairing)
    with pytest.raises(LedgerError, match="were dropped"):
        Ledger(written)


def test_a_tail_cut_inside_a_line_is_not_taken_for_an_interruption(written: Path) -> None:
    written.write_bytes(written.read_bytes()[:-3])
    with pytest.raises(LedgerError, match="the head counts 4 events, the ledger has 3"):
        Ledger(written)


def test_a_rewrite_of_everything_is_found_by_the_head(written: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "ledger.jsonl"
    with Ledger(other) as ledger:
        take(ledger, [*STEPS[:3], ("spend", {}, {"usd": 0.0})])
    written.write_bytes(other.read_bytes())
    with pytest.raises(LedgerError, match="event seq 3 does not have the hash that the head holds"):
        Ledger(written)


def test_a_head_one_event_behind_is_allowed_on_resume_only(written: Path) -> None:
    lines = written.read_bytes().splitlines(keepends=True)
    head_file(written).write_bytes(head_bytes(lines[:3]))
    with pytest.raises(LedgerError, match="has 4 events, its head counts 3: events were added"):
        check_head(written, read_events(written))
    with Ledger(written) as ledger:
        assert take(ledger) == []
    check_head(written, read_events(written))


@pytest.mark.parametrize("behind", [0, 1, 2])
def test_a_head_further_behind_is_refused(behind: int, written: Path) -> None:
    lines = written.read_bytes().splitlines(keepends=True)
    head_file(written).write_bytes(head_bytes(lines[:behind]))
    with pytest.raises(LedgerError, match=f"has 4 events, its head counts {behind}: events were added"):
        Ledger(written)


def test_a_missing_head_is_refused_beside_a_longer_ledger(written: Path) -> None:
    head_file(written).unlink()
    with pytest.raises(LedgerError, match=r"ledger\.head\.json is missing beside a ledger of 4 events"):
        Ledger(written)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"[]",
        b"{}",
        b'{"count":-1,"hash":"x"}',
        b'{"count":"4","hash":"x"}',
        b'{"count":Infinity,"hash":"x"}',
        b'{"count":true,"hash":"x"}',
        b'{"count":4,"hash":null}',
        b"\xff",
    ],
)
def test_a_head_that_is_none_is_named(head: bytes, written: Path) -> None:
    head_file(written).write_bytes(head)
    with pytest.raises(LedgerError, match=r"ledger\.head\.json: is not a ledger head"):
        Ledger(written)


def test_a_ledger_that_vanished_beside_its_head_is_refused(written: Path) -> None:
    written.unlink()
    with pytest.raises(LedgerError, match="the head counts 4 events, the ledger has 0"):
        Ledger(written)


def test_an_unused_directory_has_no_events_and_no_head(tmp_path: Path) -> None:
    assert read_events(tmp_path / "ledger.jsonl") == ()
    assert read_head(tmp_path / "ledger.jsonl") is None
