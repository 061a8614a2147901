"""The local server: starting, answering, and above all stopping."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import ModelError
from students.local import DEFAULT_MODEL, LocalServer, find_model
from students.local.serve import model_alias

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def model_file() -> Path:
    path = find_model(DEFAULT_MODEL)
    if path is None:
        pytest.skip(f"{DEFAULT_MODEL.file} is not on this machine; fetch it: holdgate model fetch {DEFAULT_MODEL.name}")
    return path


@pytest.fixture
def broken_file(tmp_path: Path) -> Path:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF and then nothing of use")
    return path


def post(url: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    # An empty proxy table: a proxy of the environment is not for this machine's own addresses.
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
        return json.load(answer)


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_dead(pid: int, *, limit_s: float = 10) -> bool:
    deadline = time.monotonic() + limit_s
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_alive(pid)


def test_a_missing_model_file_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"model_path must be a model file.*holdgate model fetch"):
        LocalServer(tmp_path / "none.gguf")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"context_tokens": 10}, "context_tokens must be at least 64, got 10"),
        ({"slots": 0}, "slots must be at least 1, got 0"),
        ({"threads": 0}, "threads must be at least 1, got 0"),
        ({"startup_s": 0}, "startup_s must be greater than 0, got 0"),
    ],
)
def test_arguments_out_of_range_are_refused(broken_file: Path, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        LocalServer(broken_file, **arguments)


def test_a_server_that_was_not_started_has_no_address(broken_file: Path) -> None:
    server = LocalServer(broken_file)
    for use in (lambda: server.base_url, lambda: server.pid, server.ensure_alive):
        with pytest.raises(ModelError, match="the server is not running"):
            use()
    server.stop()


def test_the_model_is_named_after_its_file() -> None:
    assert model_alias("/a/b/qwen2.5-q4.gguf") == "qwen2.5-q4"


@pytest.mark.model
def test_a_broken_model_file_gives_the_end_of_the_log(broken_file: Path) -> None:
    with pytest.raises(ModelError, match=r"(?s)could not start \(exit status 1\).*failed to load model"):
        LocalServer(broken_file).start()


@pytest.mark.model
def test_a_server_that_is_too_slow_is_stopped(model_file: Path) -> None:
    server = LocalServer(model_file, startup_s=0.01)
    with pytest.raises(ModelError, match=r"did not answer within 0\.01 s; raise startup_s"):
        server.start()
    with pytest.raises(ModelError, match="the server is not running"):
        _ = server.pid


@pytest.mark.model
def test_a_real_server_answers_with_log_probabilities_and_stops(model_file: Path) -> None:
    with LocalServer(model_file, context_tokens=512) as server:
        server.ensure_alive()
        pid = server.pid
        answer = post(
            f"{server.base_url}/chat/completions",
            {
                "model": server.model,
                "messages": [{"role": "user", "content": "Is ice cold? Answer yes or no."}],
                "max_tokens": 1,
                "temperature": 0,
                "seed": 1,
                "logprobs": True,
                "top_logprobs": 20,
                "cache_prompt": False,
            },
        )
        entry = answer["choices"][0]["logprobs"]["content"][0]
        assert answer["model"] == server.model
        assert answer["usage"]["completion_tokens"] == 1
        assert len(entry["top_logprobs"]) == 20
        assert all(top["logprob"] <= 0 for top in entry["top_logprobs"])
    assert not is_alive(pid)
    server.stop()


@pytest.mark.model
def test_each_slot_has_the_whole_context(model_file: Path) -> None:
    with LocalServer(model_file, context_tokens=512, slots=2) as server:
        long = {"model": server.model, "messages": [{"role": "user", "content": "x " * 400}], "max_tokens": 1}
        assert post(f"{server.base_url}/chat/completions", long)["usage"]["prompt_tokens"] > 400


@pytest.mark.model
def test_the_server_stops_when_the_context_ends_by_an_exception(model_file: Path) -> None:
    pids: list[int] = []

    def fail_inside_the_context() -> None:
        with LocalServer(model_file, context_tokens=512) as server:
            pids.append(server.pid)
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        fail_inside_the_context()
    assert not is_alive(pids[0])


@pytest.mark.model
def test_a_server_that_died_is_told_with_its_log(model_file: Path) -> None:
    with LocalServer(model_file, context_tokens=512) as server:
        os.kill(server.pid, signal.SIGKILL)
        assert wait_until_dead(server.pid)
        server._running().wait(10)  # a process of several threads is gone when the last of them is
        with pytest.raises(ModelError, match=r"died \(signal 9\)"):
            server.ensure_alive()


PARENT = """
import sys, time
sys.path.insert(0, sys.argv[1])
from students.local import LocalServer
server = LocalServer(sys.argv[2], context_tokens=512).start()
print(server.pid, flush=True)
if sys.argv[3] == "wait":
    time.sleep(60)
"""


def start_parent(model_file: Path, *, then: str) -> tuple[subprocess.Popen[str], int]:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(ROOT), str(model_file), then], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    return parent, int(parent.stdout.readline())


@pytest.mark.model
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_server_dies_with_a_parent_that_is_killed(model_file: Path, number: signal.Signals) -> None:
    parent, pid = start_parent(model_file, then="wait")
    assert is_alive(pid)
    parent.send_signal(number)
    parent.communicate()
    assert wait_until_dead(pid)


@pytest.mark.model
def test_the_server_stops_when_the_interpreter_ends_without_stopping_it(model_file: Path) -> None:
    parent, pid = start_parent(model_file, then="end")
    parent.communicate()
    assert parent.returncode == 0
    assert wait_until_dead(pid)


@pytest.mark.model
def test_the_child_ends_on_sigterm(model_file: Path) -> None:
    with LocalServer(model_file, context_tokens=512) as server:
        os.kill(server.pid, signal.SIGTERM)
        assert wait_until_dead(server.pid)
