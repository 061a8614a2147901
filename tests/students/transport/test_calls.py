"""Calls against a real server on this machine that misbehaves on demand: nothing is paid twice, lost or overspent."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage.errors import BudgetError, CallError
from lineage.records import Candidate, Judgement, Usage, stable
from splits.corpus import Corpus, Example, Fact
from students import Bench, PerFactChecker, Student, WholeNoteScorer
from students.transport import (
    CallCache,
    CallFailure,
    CallRequest,
    CallResult,
    Calls,
    EndpointTransport,
    HostedTransport,
    Limiter,
    Limits,
    Price,
    Rate,
    Retry,
    Spend,
    Tags,
)
from students.transport.spend import worst_case

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[3]
TAGS = Tags("c", "student", "test")
SEED = Candidate({"instruction": "Judge."}, "seed")
SCORER = WholeNoteScorer(model={"name": "m"})
FAST = Retry(tries=3, wait_s=0.002)


def body_key(body: dict[str, Any]) -> str:
    return json.dumps(body, sort_keys=True)


def completion(body: dict[str, Any], *, version: str = "v1") -> dict[str, Any]:
    """A chat completion whose score and log-probabilities depend on the request alone."""
    draw = hashlib.sha256(body_key(body).encode()).digest()
    choice: dict[str, Any] = {
        "message": {"role": "assistant", "content": f"Score: {draw[0] % 11}"},
        "finish_reason": "stop",
    }
    if body.get("logprobs"):
        top = [{"token": "Yes", "logprob": -draw[0] / 100}, {"token": "No", "logprob": -draw[1] / 100}]
        choice |= {"logprobs": {"content": [{"top_logprobs": top}]}, "finish_reason": "length"}
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 40}}
    return {"choices": [choice], "usage": usage, "system_fingerprint": version}


Misbehave = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.requests.append(body)
            server.under_way += 1
            server.most_under_way = max(server.most_under_way, server.under_way)
            behaviour = server.behaviours.popleft() if server.behaviours else server.always
        try:
            time.sleep(server.delay_s)
            if behaviour is None:
                self.say(completion(body))
                with server.lock:
                    server.answered[body_key(body)] += 1
            else:
                behaviour(self, body)
        finally:
            with server.lock:
                server.under_way -= 1

    def say(self, data: Any, status: int = 200, **headers: str) -> None:
        raw = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        pass


class Server(ThreadingHTTPServer):
    """Answers every call, or does what ``behaviours`` say one after the other, then ``always``."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self.answered: Counter[str] = Counter()
        self.behaviours: deque[Misbehave | None] = deque()
        self.gone: list[bytes] = []
        self.always: Misbehave | None = None
        self.delay_s = 0.0
        self.under_way = self.most_under_way = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of the tests."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def fails(status: int, text: str = "no", **headers: str) -> Misbehave:
    return lambda handler, body: handler.say({"error": {"message": text}}, status, **headers)


def says(data: Any) -> Misbehave:
    return lambda handler, body: handler.say(data)


def with_message(**message: Any) -> Misbehave:
    return says({"choices": [{"message": message, "finish_reason": "stop"}]})


def reset_mid_body(handler: Handler, body: dict[str, Any]) -> None:
    raw = json.dumps(completion(body)).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(raw)))
    handler.end_headers()
    handler.wfile.write(raw[: len(raw) // 2])
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    handler.connection.close()
    handler.close_connection = True


def corpus(examples: int) -> Corpus:
    made = (
        Example(f"e{n:03}", f"g{n // 4:02}", "s", f"source {n // 4}", f"note {n}", "clean", "clean")
        for n in range(examples)
    )
    facts = {f"g{n:02}": (Fact(f"f{n}", f"g{n:02}", f"fact {n}", (), "critical", True),) for n in range(examples)}
    return Corpus(tuple(made), facts)


@contextmanager
def bench(
    server: Server | str,
    path: Path,
    *,
    limits: Limits | None = None,
    concurrency: int = 8,
    serial: bool = False,
    **more: Any,
) -> Iterator[Bench]:
    url = server if isinstance(server, str) else server.url
    with CallCache(path / "calls.sqlite") as cache:
        transport = EndpointTransport(url, model="m", serial=serial)
        spend = Spend(limits or Limits(), spent={"student": cache.paid("c") + cache.unanswered("c")})
        calls = Calls(transport, cache=cache, spend=spend, concurrency=concurrency, **{"retry": FAST, **more})
        made = Bench(calls, run_seed=0, campaign="c")
        try:
            yield made
        finally:
            made.close()


def judged(
    server: Server | str, path: Path, of: Corpus, student: Student = SCORER, **more: Any
) -> tuple[Judgement, ...]:
    with bench(server, path, **more) as made:
        return made.judge(student, of, (SEED,), phase="test")


def stored(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path / "calls.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (calls,), (paid,) = (
            database.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("calls", "paid")
        )
        assert calls <= paid
        return int(calls)


def request(text: str = "hello", **more: Any) -> CallRequest:
    return CallRequest(({"role": "user", "content": text},), {"max_tokens": 5}, **more)


def rows(judgements: Sequence[Judgement]) -> list[Any]:
    return [stable(judgement.row()) for judgement in judgements]


def test_a_call_sends_model_messages_parameters_and_seed_zero_and_nothing_else(server: Server, tmp_path: Path) -> None:
    judged(server, tmp_path, corpus(1))
    (sent,) = server.requests
    assert set(sent) == {"model", "messages", "temperature", "max_tokens", "seed"}
    assert (sent["model"], sent["seed"], sent["max_tokens"]) == ("m", 0, 16)
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]


def test_an_answer_is_recorded_with_usage_and_model_version(server: Server, tmp_path: Path) -> None:
    (found,) = judged(server, tmp_path, corpus(1))
    assert (found.status, found.paid) == ("scored", 1)
    assert (found.usage.calls, found.usage.prompt_tokens, found.usage.cached_tokens) == (1, 100, 40)
    assert found.usage.cost_usd is None
    assert found.sent["version"] == "v1"
    assert found.latency_s > 0


def test_a_per_fact_judgement_reads_the_log_probabilities(server: Server, tmp_path: Path) -> None:
    (found,) = judged(server, tmp_path, corpus(1), PerFactChecker(model={"name": "m"}))
    top = completion(server.requests[0])["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    assert found.facts[0].margin == pytest.approx(top[0]["logprob"] - top[1]["logprob"])


def test_retry_after_is_honoured(server: Server, tmp_path: Path) -> None:
    server.behaviours.append(fails(429, Retry_After="0.25"))
    start = time.monotonic()
    (found,) = judged(server, tmp_path, corpus(1))
    assert found.status == "scored"
    assert time.monotonic() - start >= 0.25
    assert len(server.requests) == 2


@pytest.mark.parametrize("asked", ["inf", "nan", "-5", "1e999", "Wed, 21 Oct 2026 07:28:00 GMT", "soon", ""])
def test_a_retry_after_that_is_no_number_of_seconds_is_left_to_our_own_backoff(
    server: Server, tmp_path: Path, asked: str
) -> None:
    server.behaviours.append(fails(429, Retry_After=asked))
    start = time.monotonic()
    (found,) = judged(server, tmp_path, corpus(1))
    assert found.status == "scored"
    assert time.monotonic() - start < 2


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(server: Server, tmp_path: Path, status: int) -> None:
    server.behaviours.extend([fails(status), fails(status)])
    (found,) = judged(server, tmp_path, corpus(1))
    assert (found.status, found.paid, len(server.requests)) == ("scored", 1, 3)


def test_a_connection_reset_in_the_middle_of_an_answer_is_tried_again(server: Server, tmp_path: Path) -> None:
    server.behaviours.append(reset_mid_body)
    (found,) = judged(server, tmp_path, corpus(1))
    assert (found.status, len(server.requests)) == ("scored", 2)


MALFORMED: dict[str, Misbehave] = {
    "no JSON": says(b"<html>gateway</html>"),
    "half JSON": says(b'{"choices": [{"message'),
    "no UTF-8": says(b'{"choices": "\xff\xfe"}'),
    "a list": says([1, 2]),
    "null": says(None),
    "an error with status 200": says({"error": {"message": "overloaded"}}),
    "no choices": says({"choices": []}),
    "choices null": says({"choices": None}),
    "no message": says({"choices": [{"finish_reason": "stop"}]}),
    "message null": says({"choices": [{"message": None}]}),
    "content in parts": with_message(content=[{"type": "text", "text": "8"}]),
    "content a number": with_message(content=8),
    "usage words": says({"choices": [{"message": {"content": "8"}}], "usage": {"prompt_tokens": "many"}}),
    "usage infinite": says(b'{"choices": [{"message": {"content": "8"}}], "usage": {"prompt_tokens": Infinity}}'),
    "logprobs broken": says(
        {"choices": [{"message": {"content": "8"}, "logprobs": {"content": [{"top_logprobs": [1]}]}}]}
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_answer_is_a_failure_with_its_reason_and_is_never_cached(
    server: Server, tmp_path: Path, name: str
) -> None:
    server.always = MALFORMED[name]
    (found,) = judged(server, tmp_path, corpus(1))
    assert (found.status, found.score, len(server.requests)) == ("failed", None, 3)
    assert found.reason is not None
    assert "malformed: " in found.reason
    assert stored(tmp_path) == 0
    server.always = None
    (again,) = judged(server, tmp_path, corpus(1))
    assert again.status == "scored"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"content": None, "reasoning_content": "Perhaps 8"}, "reasoning_only: no text"),
        ({"content": "", "reasoning_content": ""}, "empty: no text"),
        ({"content": None}, "empty: no text"),
        ({"content": "cut \ud83d pair"}, "unparseable: cut ? pair"),
    ],
)
def test_a_completed_answer_that_says_nothing_fails_the_judgement_and_is_paid_once(
    server: Server, tmp_path: Path, message: dict[str, Any], reason: str
) -> None:
    server.always = with_message(**message)
    for _ in range(2):
        (found,) = judged(server, tmp_path, corpus(1))
        assert (found.status, found.reason) == ("failed", reason)
    assert len(server.requests) == 1


def test_log_probabilities_that_are_not_finite_are_stored_as_not_listed(server: Server, tmp_path: Path) -> None:
    raw = json.dumps(completion({"logprobs": True})).replace("}]}]}", '}, {"token": "No", "logprob": -Infinity}]}]}')
    server.always = says(raw.encode())
    (found,) = judged(server, tmp_path, corpus(1), PerFactChecker(model={"name": "m"}))
    assert "Infinity" in raw
    assert found.status == "scored"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_refused_call_is_an_error_at_once_that_says_what_was_refused(
    server: Server, tmp_path: Path, status: int
) -> None:
    server.always = fails(status, "Unsupported parameter: 'temperature'")
    with pytest.raises(CallError, match=f"answered {status}: .*Unsupported parameter: 'temperature'") as caught:
        judged(server, tmp_path, corpus(1))
    assert (caught.value.reason, caught.value.transient) == ("refused", False)
    assert len(server.requests) == 1


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        return int(held.getsockname()[1])


def test_an_unreachable_endpoint_is_a_failure_twice_and_then_an_error_that_says_how_to_go_on(tmp_path: Path) -> None:
    with bench(f"http://127.0.0.1:{free_port()}/v1", tmp_path) as made:
        for n in range(2):
            (found,) = made.run(made.calls.run([request(str(n))], TAGS))
            assert isinstance(found, CallFailure)
            assert "cannot be reached (ClientConnectorError" in found.message
        with pytest.raises(CallError, match=r"3 calls in a row .*everything paid for is kept: give the same command"):
            made.run(made.calls.run([request("2")], TAGS))
    assert stored(tmp_path) == 0


def test_failures_between_answers_do_not_add_up_to_a_lost_endpoint(server: Server, tmp_path: Path) -> None:
    server.behaviours.extend([*[fails(500)] * 6, None] * 3)
    found = judged(server, tmp_path, corpus(9), concurrency=1)
    assert Counter(judgement.status for judgement in found) == {"failed": 6, "scored": 3}
    assert {judgement.reason.partition(":")[0] for judgement in found if judgement.reason} == {"transport"}


@pytest.mark.parametrize(
    "address", ["127.0.0.1:8080/v1", "ftp://127.0.0.1/v1", "http://", "http://h:99999/v1", "http://:80/v1"]
)
def test_what_is_no_address_is_refused_before_any_call(address: str) -> None:
    with pytest.raises(CallError, match=r"is not an http\(s\) address"):
        EndpointTransport(address, model="m")


def test_equal_calls_under_way_are_one_call(server: Server, tmp_path: Path) -> None:
    server.delay_s = 0.05

    async def together(calls: Calls) -> list[Any]:
        return await asyncio.gather(*(calls.run([request()], TAGS) for _ in range(5)))

    with bench(server, tmp_path) as made:
        answers = [answer for (answer,) in made.run(together(made.calls))]
    assert len(server.requests) == 1
    assert len({answer.text for answer in answers}) == 1
    assert sorted(answer.cached for answer in answers) == [False, True, True, True, True]
    assert made.calls.paid == 1


def test_equal_calls_under_way_share_an_error(server: Server, tmp_path: Path) -> None:
    server.delay_s = 0.05
    server.always = fails(400, "never")

    async def together(calls: Calls) -> list[Any]:
        return await asyncio.gather(*(calls.run([request()], TAGS) for _ in range(3)), return_exceptions=True)

    with bench(server, tmp_path) as made:
        errors = made.run(together(made.calls))
    assert len(server.requests) == 1
    assert all(isinstance(error, CallError) and "never" in str(error) for error in errors)


def test_an_equal_call_outlives_the_one_it_was_joined_to(server: Server, tmp_path: Path) -> None:
    server.delay_s = 0.1

    async def first_gives_up(calls: Calls) -> Any:
        first, second = (asyncio.create_task(calls.run([request()], TAGS)) for _ in range(2))
        await asyncio.sleep(0.03)
        first.cancel()
        return await second

    with bench(server, tmp_path) as made:
        (answer,) = made.run(first_gives_up(made.calls))
    assert isinstance(answer, CallResult)
    assert len(server.requests) == 1


def test_what_is_in_the_cache_costs_nothing(server: Server, tmp_path: Path) -> None:
    first = judged(server, tmp_path, corpus(20))
    second = judged(server, tmp_path, corpus(20), limits=Limits(calls=20, wall_s=0.0))
    assert len(server.requests) == 20
    assert rows(first) == rows(second)
    assert sum(judgement.paid for judgement in second) == 0


def test_a_score_of_zero_is_cached_like_any_other(server: Server, tmp_path: Path) -> None:
    server.always = with_message(content="Score: 0")
    for _ in range(2):
        (found,) = judged(server, tmp_path, corpus(1))
        assert (found.status, found.score) == ("scored", 0.0)
    assert len(server.requests) == 1


def test_replicate_and_sample_are_other_calls_where_no_seed_is_sent(server: Server, tmp_path: Path) -> None:
    with bench(server, tmp_path) as made:
        for more in ({}, {"sample": 1}, {"replicate": 1}, {}):
            made.run(made.calls.run([request(**more)], TAGS))
    assert len(server.requests) == 3
    assert all("seed" not in sent for sent in server.requests)


def test_order_and_concurrency_never_change_a_result(server: Server, tmp_path: Path) -> None:
    whole = corpus(24)
    turned = Corpus(tuple(reversed(whole.examples)), whole.facts)
    one = judged(server, tmp_path / "1", whole, concurrency=1)
    server.behaviours.extend([fails(500), None, fails(429), None, reset_mid_body])
    two = judged(server, tmp_path / "2", turned, concurrency=16)
    assert rows(one) == rows(two)


def test_no_more_chains_are_under_way_than_allowed(server: Server, tmp_path: Path) -> None:
    server.delay_s = 0.01
    judged(server, tmp_path / "1", corpus(24), concurrency=4)
    assert server.most_under_way == 4
    server.most_under_way = 0
    judged(server, tmp_path / "2", corpus(6), concurrency=4, serial=True)
    assert server.most_under_way == 1


def test_the_limit_of_calls_is_never_passed_and_everything_paid_is_kept(server: Server, tmp_path: Path) -> None:
    server.delay_s = 0.01
    for _ in range(3):
        with pytest.raises(
            BudgetError, match=r"limits\.calls = 21 would be passed .*raise limits\.calls and give the same"
        ):
            judged(server, tmp_path, corpus(60), limits=Limits(calls=21), concurrency=16)
        assert len(server.requests) == 21
        assert stored(tmp_path) == 21
    found = judged(server, tmp_path, corpus(60), limits=Limits(calls=60), concurrency=16)
    assert len(found) == 60
    assert set(server.answered.values()) == {1}
    assert len(server.answered) == 60


def test_a_failed_call_gives_its_reservation_back(server: Server, tmp_path: Path) -> None:
    server.behaviours.extend([fails(500)] * 3)
    found = judged(server, tmp_path, corpus(5), limits=Limits(calls=4), concurrency=1)
    assert Counter(judgement.status for judgement in found) == {"scored": 4, "failed": 1}


def test_the_limit_of_tokens_counts_the_worst_case_before_a_call_and_what_it_cost_after(
    server: Server, tmp_path: Path
) -> None:
    server.delay_s = 0.005
    with pytest.raises(BudgetError, match=r"limits\.tokens = 1500 would be passed"):
        judged(server, tmp_path, corpus(60), limits=Limits(tokens=1500), concurrency=16)
    with CallCache(tmp_path / "calls.sqlite") as cache:
        spent = cache.paid("c")
    assert spent.calls == len(server.requests)
    # One more call of 105 tokens could not be sent, as its worst case (prompt bytes and the answer cap) is larger.
    assert 1500 - 800 < spent.prompt_tokens + spent.completion_tokens <= 1500


def test_a_call_whose_worst_case_never_fits_is_refused_before_it_is_sent(server: Server, tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match=r"limits\.tokens = 100 would be passed \(0 calls paid so far\)"):
        judged(server, tmp_path, corpus(1), limits=Limits(tokens=100))
    assert not server.requests


def test_text_that_is_not_ascii_is_reserved_by_its_bytes(server: Server, tmp_path: Path) -> None:
    with bench(server, tmp_path, limits=Limits(tokens=1000)) as made, pytest.raises(BudgetError, match="tokens"):
        made.run(made.calls.run([request("頭痛" * 330)], TAGS))


def test_a_stated_price_is_charged_where_the_endpoint_names_no_cost(server: Server, tmp_path: Path) -> None:
    price = Price(0.001, 0.001, cached=0.0005)
    with pytest.raises(BudgetError, match=r"limits\.usd = 1 would be passed"):
        judged(server, tmp_path, corpus(40), limits=Limits(usd=1.0), price=price, concurrency=16)
    with CallCache(tmp_path / "calls.sqlite") as cache:
        cost = cache.paid("c").cost_usd
    assert cost == pytest.approx(len(server.requests) * 0.085)
    assert cost <= 1.0
    (found, *_) = judged(server, tmp_path, corpus(1), price=price)
    assert found.usage.cost_usd == pytest.approx(0.085)


def test_no_call_is_sent_when_the_time_is_up(server: Server, tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match=r"limits\.wall_s = 0 would be passed"):
        judged(server, tmp_path, corpus(3), limits=Limits(wall_s=0.0))
    assert not server.requests


def test_an_error_keeps_the_answers_that_were_under_way(server: Server, tmp_path: Path) -> None:
    server.delay_s = 0.05
    server.behaviours.extend([None] * 7 + [lambda handler, body: handler.say({"error": "refused"}, 400)])
    with pytest.raises(CallError, match="answered 400"):
        judged(server, tmp_path, corpus(60), concurrency=8)
    assert len(server.requests) < 60
    assert stored(tmp_path) == sum(server.answered.values()) >= 7
    judged(server, tmp_path, corpus(60), concurrency=8)
    assert set(server.answered.values()) == {1}


def test_a_call_that_waits_for_its_next_try_does_not_hold_up_an_error(server: Server, tmp_path: Path) -> None:
    server.delay_s = 0.02
    server.behaviours.extend([fails(429, Retry_After="50"), fails(400, "refused")])
    start = time.monotonic()
    with pytest.raises(CallError, match="answered 400"):
        judged(server, tmp_path, corpus(2), concurrency=2)
    assert time.monotonic() - start < 5


CHILD = """
import json, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_calls import corpus, judged, rows
found = judged(sys.argv[1], Path(sys.argv[2]), corpus(int(sys.argv[3])), concurrency=int(sys.argv[4]))
print(json.dumps([rows(found), sum(judgement.paid for judgement in found)]))
"""


def child(server: Server, path: Path, examples: int, concurrency: int) -> subprocess.Popen[str]:
    """A process of its own that judges so many examples."""
    script = CHILD.format(tests=str(Path(__file__).parent))
    return subprocess.Popen(
        [sys.executable, "-c", script, server.url, str(path), str(examples), str(concurrency)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> Any:
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return json.loads(out)


def test_after_kill_9_no_answered_call_is_sent_again_and_the_end_is_the_same(server: Server, tmp_path: Path) -> None:
    server.delay_s = 0.004
    process = child(server, tmp_path / "killed", 200, 4)
    while len(server.requests) < 80 and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    time.sleep(0.05)
    kept, sent = stored(tmp_path / "killed"), len(server.requests)
    assert sent - 4 <= kept + 4 <= 200
    found, paid = finished(child(server, tmp_path / "killed", 200, 4))
    assert len(found) == 200
    assert paid == 200 - kept == len(server.requests) - sent
    assert sum(count - 1 for count in server.answered.values()) <= 4
    assert max(server.answered.values()) <= 2
    server.delay_s = 0.0
    assert found == json.loads(json.dumps(rows(judged(server, tmp_path / "whole", corpus(200)))))


def test_an_interrupt_waits_for_the_answers_that_are_under_way(server: Server, tmp_path: Path) -> None:
    server.delay_s = 0.1
    process = child(server, tmp_path, 200, 8)
    while len(server.requests) < 20 and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode != 0
    assert stored(tmp_path) == len(server.requests) == len(server.answered) < 60


def test_two_processes_share_one_cache_file(server: Server, tmp_path: Path) -> None:
    server.delay_s = 0.01
    both = [child(server, tmp_path, 24, 2) for _ in range(2)]
    (one, paid_one), (two, paid_two) = (finished(process) for process in both)
    assert one == two
    assert stored(tmp_path) == 24
    assert 24 <= paid_one + paid_two == sum(server.answered.values())


class TwoAnswers:
    """A transport with another answer for each process, here for each object."""

    identity: ClassVar[dict[str, Any]] = {"model": "hot"}
    serial = simulated = False

    def __init__(self, text: str, started: asyncio.Event, go: asyncio.Event) -> None:
        self.text, self.started, self.go = text, started, go

    async def complete(self, request: CallRequest) -> CallResult:
        self.started.set()
        await self.go.wait()
        return CallResult(self.text, "stop", Usage(calls=1))

    async def prime(self, request: CallRequest) -> None:
        pass

    async def aclose(self) -> None:
        pass


def test_of_two_processes_that_pay_for_one_call_both_use_the_answer_that_is_kept(tmp_path: Path) -> None:
    async def race() -> list[Any]:
        texts = ("8", "3")
        events = [(asyncio.Event(), asyncio.Event()) for _ in texts]
        with CallCache(tmp_path / "calls.sqlite") as one, CallCache(tmp_path / "calls.sqlite") as two:
            calls = [
                Calls(TwoAnswers(text, *pair), cache=cache, spend=Spend(Limits()))
                for text, pair, cache in zip(texts, events, (one, two), strict=True)
            ]
            tasks = [asyncio.create_task(call.run([request()], TAGS)) for call in calls]
            for started, _ in events:
                await started.wait()
            found = []
            for (_, go), task in zip(events, tasks, strict=True):
                go.set()
                found += await task
            return [*found, one.find(request().key(TwoAnswers.identity)), one.paid("c").calls]

    first, second, kept, paid = asyncio.run(race())
    assert first.text == second.text == kept.text == "8"
    assert paid == 2


def hosted(server: Server, path: Path, *, price: Price | None = None, **more: Any) -> tuple[Judgement, ...]:
    """A judgement through dspy and its native engine, with this server in the provider's place."""
    with CallCache(path / "calls.sqlite") as cache:
        transport = HostedTransport("openai/gpt-4.1-mini", options={"api_base": server.url, "api_key": "SECRET"})
        assert "SECRET" not in json.dumps(transport.identity)
        options = {"retry": FAST, "give_up_after": 9, **more}
        calls = Calls(transport, cache=cache, spend=Spend(Limits()), price=price, **options)
        made = Bench(calls, run_seed=0, campaign="c")
        try:
            return made.judge(SCORER, corpus(1), (SEED,), phase="test")
        finally:
            made.close()


def with_finish(finish: str) -> Misbehave:
    choices = [{"message": {"content": "Score: 1"}, "finish_reason": finish}]
    return says({"choices": choices, "usage": {"prompt_tokens": 10, "completion_tokens": 16}})


def test_a_hosted_call_sends_what_was_asked_and_is_charged_at_the_price(server: Server, tmp_path: Path) -> None:
    (found,) = hosted(server, tmp_path, price=Price(0.001, 0.001, cached=0.0005))
    (sent,) = server.requests
    assert (found.status, sent["seed"], sent["temperature"]) == ("scored", 0, 0.0)
    assert sent.get("max_tokens", sent.get("max_completion_tokens")) == 16
    assert found.usage.cost_usd == pytest.approx(0.085)
    assert hosted(server, tmp_path)[0].score == found.score
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("length", "truncated: after 0 reasoning tokens"), ("content_filter", "refused: content_filter")],
)
def test_a_hosted_answer_that_was_cut_off_or_refused_is_no_score(
    server: Server, tmp_path: Path, finish: str, reason: str
) -> None:
    server.always = with_finish(finish)
    (found,) = hosted(server, tmp_path)
    assert (found.status, found.reason, found.finish) == ("failed", reason, (finish,))


def test_hosted_failures_that_may_pass_are_tried_again_by_us_alone(server: Server, tmp_path: Path) -> None:
    server.behaviours.extend([fails(429, Retry_After="0.1"), fails(500)])
    start = time.monotonic()
    (found,) = hosted(server, tmp_path)
    assert (found.status, len(server.requests)) == ("scored", 3)
    assert time.monotonic() - start >= 0.1


@pytest.mark.parametrize("name", ["no JSON", "no choices", "an error with status 200"])
def test_a_malformed_hosted_answer_is_a_failure_that_is_not_cached(server: Server, tmp_path: Path, name: str) -> None:
    server.always = MALFORMED[name]
    (found,) = hosted(server, tmp_path)
    assert (found.status, len(server.requests), stored(tmp_path)) == ("failed", 3, 0)


def test_a_parameter_that_a_hosted_model_refuses_is_an_error_that_names_it(server: Server, tmp_path: Path) -> None:
    server.always = fails(400, "Unsupported parameter: 'temperature'")
    with pytest.raises(CallError, match=r"openai/gpt-4\.1-mini: .*Unsupported parameter: 'temperature'") as caught:
        hosted(server, tmp_path)
    assert not caught.value.transient
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("limits", "price"),
    [
        (Limits(calls=100), None),
        (Limits(tokens=100 * 105), None),
        (Limits(usd=100 * 0.085), Price(0.001, 0.001, cached=0.0005)),
    ],
)
def test_sixty_four_calls_at_once_send_not_one_request_more_than_the_limit_pays_for(
    server: Server, tmp_path: Path, limits: Limits, price: Price | None
) -> None:
    server.delay_s = 0.01
    for _ in range(2):
        with pytest.raises(BudgetError, match="would be passed"):
            judged(server, tmp_path, corpus(400), limits=limits, price=price, concurrency=64)
        # As many as are paid for, less at most the last whose worst case, unlike its cost, no longer fitted.
        assert 90 <= len(server.requests) <= 100
    assert stored(tmp_path) == len(server.requests)


class Erratic:
    """A transport that answers after some turns of the loop, at no more than the worst case, or fails in some way."""

    identity: ClassVar[dict[str, Any]] = {"model": "erratic"}
    serial = simulated = False

    def __init__(self, draws: Sequence[int]) -> None:
        self.draws, self.sent, self.may_be_paid = draws, 0, Usage()

    async def complete(self, request: CallRequest) -> CallResult:
        draw = self.draws[self.sent % len(self.draws)]
        self.sent += 1
        for _ in range(draw % 7):
            await asyncio.sleep(0)
        if draw % 5 == 1:
            raise CallError("busy", reason="transport", transient=True, throttled=draw % 2 == 0)
        worst = worst_case(request, PRICE, free=False)
        if draw % 5 == 2:
            self.may_be_paid += worst
            raise CallError("reset", reason="transport", transient=True, unanswered=True)
        used = Usage(1, 1 + draw % worst.prompt_tokens, draw % (worst.completion_tokens + 1))
        cost = PRICE.cost(used.prompt_tokens, used.completion_tokens, 0)
        self.may_be_paid += replace(used, cost_usd=cost)
        return CallResult("8", "stop", used)

    async def prime(self, request: CallRequest) -> None:
        pass

    async def aclose(self) -> None:
        pass


PRICE = Price(0.01, 0.03)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    draws=st.lists(st.integers(0, 200), min_size=1, max_size=40),
    limits=st.builds(
        Limits,
        calls=st.none() | st.integers(0, 90),
        tokens=st.none() | st.integers(0, 2500),
        usd=st.none() | st.floats(0, 40),
    ),
)
def test_no_course_of_sixty_four_concurrent_calls_passes_a_limit(
    tmp_path_factory: pytest.TempPathFactory, draws: list[int], limits: Limits
) -> None:
    transport = Erratic(draws)

    async def campaign(cache: CallCache) -> bool:
        retry = Retry(tries=3, throttled=3, wait_s=0.0)
        calls = Calls(
            transport,
            cache=cache,
            spend=Spend(limits),
            price=PRICE,
            retry=retry,
            concurrency=64,
            give_up_after=10**6,
        )
        asked = (calls.run([request(str(n))], TAGS) for n in range(100))
        found = await asyncio.gather(*asked, return_exceptions=True)
        await calls.finish()
        assert all(isinstance(answer, list | BudgetError) for answer in found), found
        return any(isinstance(answer, BudgetError) for answer in found)

    with CallCache(tmp_path_factory.mktemp("erratic") / "calls.sqlite") as cache:
        refused = asyncio.run(campaign(cache))
        recorded = cache.paid("c") + cache.unanswered("c")
    may_be = transport.may_be_paid
    used = {
        "calls": may_be.calls,
        "tokens": may_be.prompt_tokens + may_be.completion_tokens,
        "usd": may_be.cost_usd or 0.0,
    }
    for name, value in used.items():
        limit = getattr(limits, name)
        assert limit is None or value <= limit + 1e-9
    assert (recorded.calls, recorded.prompt_tokens) == (may_be.calls, may_be.prompt_tokens)
    # Refused only where the largest worst case of a call had no room left.
    largest = worst_case(request("99"), PRICE, free=False)
    room = {"calls": 1, "tokens": largest.prompt_tokens + largest.completion_tokens, "usd": largest.cost_usd or 0.0}
    tight = any(
        limit is not None and value + room[name] > limit - 1e-9
        for name, value in used.items()
        for limit in [getattr(limits, name)]
    )
    assert tight or not refused


def unanswered(path: Path) -> list[tuple[str, int]]:
    """Reasons and worst-case calls of what may have been paid for without an answer."""
    with contextlib.closing(sqlite3.connect(path / "calls.sqlite")) as database:
        rows = database.execute("SELECT reason, worst FROM unanswered ORDER BY number").fetchall()
    return [(reason, json.loads(worst)["calls"]) for reason, worst in rows]


def hangs(handler: Handler, body: dict[str, Any]) -> None:
    """Say nothing until the client has gone."""
    handler.connection.settimeout(10)
    with contextlib.suppress(OSError):
        handler.server.gone.append(handler.connection.recv(1))
    handler.close_connection = True


def drips(handler: Handler, body: dict[str, Any]) -> None:
    """Send one byte of the answer at a time, for ever."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    with contextlib.suppress(OSError):
        for _ in range(1000):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.02)
    handler.server.gone.append(b"")
    handler.close_connection = True


@pytest.mark.parametrize("behaviour", [hangs, drips])
def test_a_call_at_its_deadline_is_cancelled_not_sent_again_and_charged_once_at_its_worst(
    server: Server, tmp_path: Path, behaviour: Misbehave
) -> None:
    server.behaviours.append(behaviour)
    start = time.monotonic()
    found = judged(server, tmp_path, corpus(3), concurrency=1, deadline_s=0.2, limits=Limits(calls=3))
    assert 0.2 <= time.monotonic() - start < 3
    assert [judgement.status for judgement in found] == ["failed", "scored", "scored"]
    assert "no answer within 0.2 s; the request was cancelled" in (found[0].reason or "")
    assert len(server.requests) == 3
    for _ in range(200):
        if server.gone:
            break
        time.sleep(0.01)
    assert server.gone == [b""], "the connection was closed on the server"
    assert unanswered(tmp_path) == [("deadline", 1)]
    # It may have been paid for, so that a process which goes on has no call left.
    with pytest.raises(BudgetError, match=r"limits\.calls = 3 would be passed \(3 calls paid so far\)"):
        judged(server, tmp_path, corpus(3), limits=Limits(calls=3))
    (again, *_) = judged(server, tmp_path, corpus(3), limits=Limits(calls=4))
    assert again.status == "scored"


def test_an_endpoint_that_hangs_for_good_stops_the_campaign_after_as_many_calls_as_count_as_gone(
    server: Server, tmp_path: Path
) -> None:
    server.always = hangs
    with pytest.raises(CallError, match=r"3 calls in a row were not answered: no answer within 0\.1 s"):
        judged(server, tmp_path, corpus(9), concurrency=1, deadline_s=0.1)
    assert unanswered(tmp_path) == [("deadline", 1)] * len(server.requests)


def test_an_answer_lost_on_its_way_is_asked_for_again_and_counted_as_perhaps_paid(
    server: Server, tmp_path: Path
) -> None:
    server.behaviours.extend([reset_mid_body, MALFORMED["half JSON"], fails(500), fails(429)])
    (found,) = judged(server, tmp_path, corpus(1), retry=Retry(tries=9, wait_s=0.001))
    assert (found.status, len(server.requests)) == ("scored", 5)
    assert unanswered(tmp_path) == [("transport", 1), ("malformed", 1)]
    with CallCache(tmp_path / "calls.sqlite") as cache:
        assert (cache.paid("c").calls, cache.unanswered("c").calls, cache.unanswered("other").calls) == (1, 2, 0)


def test_what_was_under_way_at_a_kill_is_recorded_as_perhaps_paid(server: Server, tmp_path: Path) -> None:
    server.delay_s = 0.02
    process = child(server, tmp_path, 200, 4)
    while len(server.requests) < 40 and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    time.sleep(0.1)
    lost = len(server.requests) - stored(tmp_path)
    assert lost <= len(unanswered(tmp_path)) <= 4
    assert {reason for reason, _ in unanswered(tmp_path)} == {"under way"}


def test_an_answer_that_states_no_usage_is_held_to_the_limit_at_its_worst_case(server: Server, tmp_path: Path) -> None:
    server.always = with_message(content="Score: 8")
    with pytest.raises(BudgetError, match=r"limits\.tokens = 1500 would be passed"):
        judged(server, tmp_path, corpus(60), limits=Limits(tokens=1500), concurrency=16)
    assert 0 < len(server.requests) < 10


def test_a_retry_after_pauses_every_call_to_the_endpoint(server: Server, tmp_path: Path) -> None:
    times: list[float] = []

    def noted(handler: Handler, body: dict[str, Any]) -> None:
        times.append(time.monotonic())
        handler.say(completion(body))

    server.behaviours.append(fails(429, Retry_After="0.4"))
    server.always = noted
    server.delay_s = 0.02
    start = time.monotonic()
    found = judged(server, tmp_path, corpus(30), concurrency=4)
    assert {judgement.status for judgement in found} == {"scored"}
    assert len(server.requests) == 31
    early = [moment for moment in times if moment - start < 0.4]
    assert len(early) <= 3, "only what was already under way when the endpoint said so"


def test_two_roles_at_one_endpoint_wait_for_each_other(server: Server, tmp_path: Path) -> None:
    server.delay_s = 0.05

    async def both(cache: CallCache) -> None:
        transport, limiter = EndpointTransport(server.url, model="m"), Limiter(Rate(3))
        roles = [Calls(transport, cache=cache, spend=Spend(Limits()), limiter=limiter, concurrency=3) for _ in range(2)]
        asked = [role.run([request(f"{number} {n}")], TAGS) for number, role in enumerate(roles) for n in range(10)]
        await asyncio.gather(*asked)
        await transport.aclose()

    with CallCache(tmp_path / "calls.sqlite") as cache:
        asyncio.run(both(cache))
    assert server.most_under_way == 3


def test_under_a_storm_of_429_every_judgement_is_answered_with_fewer_calls_at_once(
    server: Server, tmp_path: Path
) -> None:
    server.delay_s = 0.005

    def only_two(handler: Handler, body: dict[str, Any]) -> None:
        if server.under_way > 2:
            return handler.say({"error": {"message": "slow down"}}, 429)
        handler.say(completion(body))
        with server.lock:
            server.answered[body_key(body)] += 1
        return None

    server.always = only_two
    found = judged(server, tmp_path, corpus(150), concurrency=32, retry=Retry(wait_s=0.01, longest_s=0.1))
    assert {judgement.status for judgement in found} == {"scored"}
    assert set(server.answered.values()) == {1}
    assert len(server.requests) < 150 * 2.5, "most requests are no longer turned away"
    assert unanswered(tmp_path) == []


def test_an_endpoint_that_asks_for_more_than_patience_stops_the_campaign_and_says_so(
    server: Server, tmp_path: Path
) -> None:
    server.always = fails(429, Retry_After="86400")
    with pytest.raises(CallError, match=r"asks to wait 86400 s .*everything paid for is kept"):
        judged(server, tmp_path, corpus(3), concurrency=1)
    assert len(server.requests) == 1


def test_a_hosted_call_at_its_deadline_is_cancelled_and_not_sent_again(server: Server, tmp_path: Path) -> None:
    server.behaviours.append(hangs)
    (found,) = hosted(server, tmp_path, deadline_s=0.3)
    assert "no answer within 0.3 s; the request was cancelled" in (found.reason or "")
    assert len(server.requests) == 1
    for _ in range(200):
        if server.gone:
            break
        time.sleep(0.01)
    assert server.gone == [b""], "the connection was closed on the server"
    assert unanswered(tmp_path) == [("deadline", 1)]
