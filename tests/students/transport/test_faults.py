"""Ways in which an endpoint misbehaves: nothing is lost or charged twice, and the run goes on or stops as it should."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import CallError
from lineage.records import Candidate, Judgement, Usage
from splits.corpus import Corpus, Example
from students import Bench, WholeNoteScorer
from students.transport import CallCache, Calls, EndpointTransport, Limits, Price, Retry, Spend

pytestmark = pytest.mark.integration

Fault = Callable[[Any, bytes], None]

NOTES = tuple(f"note-{n:02}" for n in range(12))
STRUCK = "note-05"
PRICE = Price(1e-6, 2e-6)
DEADLINE_S = 1.0


def refuses(status: int, text: str = "no", **headers: str) -> Fault:
    return lambda handler, answer: handler.say(json.dumps({"error": {"message": text}}).encode(), status, **headers)


def changed(change: Callable[[dict[str, Any]], None]) -> Fault:
    """The model answers, and is billed for, something else than usual."""

    def fault(handler: Any, answer: bytes) -> None:
        handler.bill(answer)
        data = json.loads(answer)
        change(data)
        handler.say(json.dumps(data).encode())

    return fault


def says(**message: Any) -> Fault:
    return changed(lambda data: data["choices"][0].update(message={"role": "assistant", **message}))


def counts(**usage: Any) -> Fault:
    return changed(lambda data: data["usage"].update(usage))


def resets_in_the_middle(handler: Any, answer: bytes) -> None:
    handler.bill(answer)
    handler.begin(len(answer))
    handler.wfile.write(answer[: len(answer) // 2])
    handler.cut()


def drops_the_connection_before_the_answer(handler: Any, answer: bytes) -> None:
    handler.bill(answer)
    handler.cut()


def ends_the_body_early(handler: Any, answer: bytes) -> None:
    handler.bill(answer)
    handler.begin(len(answer))
    handler.wfile.write(answer[:-10])
    handler.close_connection = True


def hangs(handler: Any, answer: bytes) -> None:
    handler.bill(answer)
    handler.server.gone.wait(10)
    handler.close_connection = True


def dribbles(seconds: float) -> Fault:
    """The body comes in twenty pieces over so many seconds: each piece is prompt, the whole is not."""

    def fault(handler: Any, answer: bytes) -> None:
        handler.bill(answer)
        handler.begin(len(answer))
        with contextlib.suppress(OSError):
            for at in range(0, len(answer), len(answer) // 20 + 1):
                handler.wfile.write(answer[at : at + len(answer) // 20 + 1])
                handler.server.gone.wait(seconds / 20)

    return fault


def is_no_json(handler: Any, answer: bytes) -> None:
    handler.bill(answer)
    handler.say(b"<html>gateway</html>")


@dataclass(frozen=True)
class Case:
    """What an endpoint does to one note, and what becomes of it.

    ``status`` and ``reason`` are those of the note's judgement; ``asked`` counts its requests, and ``uncertain`` those
    among them that may be paid for without an answer. ``kept``: the answer is complete and paid for, though it is no
    score, so a second run does not ask again. ``at_least_s`` is the time that the run must take.
    """

    fault: Fault
    times: int = 1
    status: str = "scored"
    reason: str = ""
    asked: int = 2
    uncertain: int = 0
    kept: bool = False
    at_least_s: float = 0.0


CASES = {
    "429 with Retry-After: waits as long as it is asked to and is scored": Case(
        refuses(429, Retry_After="0.2"), at_least_s=0.2
    ),
    "429 without Retry-After: backs off and is scored": Case(refuses(429), times=2, asked=3),
    "429 for ever: fails as transport and costs nothing": Case(
        refuses(429), times=9, status="failed", reason="transport: ", asked=4
    ),
    "500 twice: is scored at the third try": Case(refuses(500), times=2, asked=3),
    "500 for ever: fails as transport after all tries and costs nothing": Case(
        refuses(500), times=9, status="failed", reason="transport: ", asked=3
    ),
    "reset in the middle of the body: is asked again and the first counts as perhaps paid": Case(
        resets_in_the_middle, uncertain=1
    ),
    "body that ends early: is asked again and the first counts as perhaps paid": Case(ends_the_body_early, uncertain=1),
    "delivered twice, as the connection drops after the work: the first counts as perhaps paid": Case(
        drops_the_connection_before_the_answer, uncertain=1
    ),
    "slow body within the deadline: is scored": Case(dribbles(DEADLINE_S / 4), asked=1),
    "slow body past the deadline: is cancelled, fails, and counts as perhaps paid once": Case(
        dribbles(DEADLINE_S * 4), status="failed", reason="transport: ", asked=1, uncertain=1
    ),
    "hang: is cancelled at the deadline, fails, and counts as perhaps paid once": Case(
        hangs, status="failed", reason="transport: ", asked=1, uncertain=1, at_least_s=DEADLINE_S
    ),
    "malformed JSON once: is asked again and the first counts as perhaps paid": Case(is_no_json, uncertain=1),
    "malformed JSON for ever: fails and every try counts as perhaps paid": Case(
        is_no_json, times=9, status="failed", reason="transport: ", asked=3, uncertain=3
    ),
    "empty content: fails as empty, paid once": Case(
        says(content=""), status="failed", reason="empty: ", asked=1, kept=True
    ),
    "content null and nothing else: fails as empty, paid once": Case(
        says(content=None), status="failed", reason="empty: ", asked=1, kept=True
    ),
    "reasoning only: fails as reasoning_only, paid once": Case(
        says(content=None, reasoning_content="Perhaps 8"),
        status="failed",
        reason="reasoning_only: ",
        asked=1,
        kept=True,
    ),
    "truncated: fails as truncated and never as a score, paid once": Case(
        changed(lambda data: data["choices"][0].update(finish_reason="length")),
        status="failed",
        reason="truncated: ",
        asked=1,
        kept=True,
    ),
    "usage missing: is scored and charged at its worst case": Case(changed(lambda data: data.pop("usage")), asked=1),
    "usage null: is scored and charged at its worst case": Case(changed(lambda data: data.update(usage=None)), asked=1),
    "usage in strings of digits: is scored and counted": Case(
        counts(prompt_tokens="100", completion_tokens="5"), asked=1
    ),
    "usage negative: is no answer, and gives nothing back": Case(counts(prompt_tokens=-50_000), uncertain=1),
    "usage in words: is no answer": Case(counts(prompt_tokens="many"), uncertain=1),
    "more cached tokens than prompt tokens: is scored and never costs less than nothing": Case(
        counts(prompt_tokens_details={"cached_tokens": 10**9}), asked=1
    ),
}


def corpus() -> Corpus:
    examples = (Example(name, name, "s", f"source of {name}", f"{name}.", "clean", "clean") for name in NOTES)
    return Corpus(tuple(examples), {})


@dataclass(frozen=True)
class Ended:
    """A run: its judgements by note, what its limits counted, and how long it took."""

    judgements: dict[str, Judgement]
    spent: Usage
    took_s: float


def run(url: str, path: Path) -> Ended:
    """Judge all notes at a priced endpoint, as a process of a campaign does."""
    with CallCache(path / "calls.sqlite") as cache:
        spend = Spend(Limits(usd=10.0), spent={"student": cache.paid("c") + cache.unanswered("c")})
        calls = Calls(
            EndpointTransport(url, model="m", identity={"model": "m"}),
            cache=cache,
            spend=spend,
            concurrency=4,
            price=PRICE,
            retry=Retry(tries=3, throttled=4, wait_s=0.002),
            deadline_s=DEADLINE_S,
        )
        bench = Bench(calls, run_seed=0, campaign="c")
        start = time.monotonic()
        try:
            student = WholeNoteScorer(model={"name": "m"})
            found = bench.judge(student, corpus(), (Candidate({"instruction": "Judge."}, "seed"),), phase="test")
        finally:
            bench.close()
        return Ended({judgement.example: judgement for judgement in found}, spend.spent(), time.monotonic() - start)


def bill(path: Path) -> tuple[int, int, Usage]:
    """Calls paid for, the most of them that are one and the same, and all that is or may be paid for."""
    with CallCache(path / "calls.sqlite") as cache, contextlib.closing(sqlite3.connect(cache.path)) as database:
        per_call = [count for (count,) in database.execute("SELECT count(*) FROM paid GROUP BY key")]
        return sum(per_call), max(per_call, default=0), cache.paid("c") + cache.unanswered("c")


def scores(ended: Ended) -> dict[str, float | None]:
    return {name: judgement.score for name, judgement in ended.judgements.items()}


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
def test_an_endpoint_that_misbehaves_about_one_note(case: Case, faulty_endpoint: Any, tmp_path: Path) -> None:
    faulty_endpoint.notes = NOTES
    faulty_endpoint.faults[STRUCK] = deque([case.fault] * case.times)
    first = run(faulty_endpoint.url, tmp_path)

    assert sorted(first.judgements) == list(NOTES), "no judgement is lost"
    struck = first.judgements[STRUCK]
    assert (struck.status, faulty_endpoint.requests[STRUCK]) == (case.status, case.asked)
    assert (struck.reason or "").startswith(case.reason)
    assert all(judgement.status == "scored" for name, judgement in first.judgements.items() if name != STRUCK)
    assert first.took_s >= case.at_least_s

    answered = len(NOTES) - 1 + (case.status == "scored" or case.kept)
    paid, most, charged = bill(tmp_path)
    assert (paid, most) == (answered, 1), "no call is charged twice"
    assert charged.calls == answered + case.uncertain
    assert first.spent.calls == charged.calls
    assert charged.calls >= faulty_endpoint.billed_calls, "nothing that the endpoint bills is left out"
    tokens = charged.prompt_tokens + charged.completion_tokens
    assert first.spent.prompt_tokens + first.spent.completion_tokens == tokens, "a resumed run counts what this one did"
    assert tokens >= faulty_endpoint.billed_tokens
    assert charged.cost_usd is not None
    assert charged.cost_usd >= 0.0

    faulty_endpoint.faults.clear()
    asked = faulty_endpoint.requests.total()
    second = run(faulty_endpoint.url, tmp_path)
    again = 0 if case.status == "scored" or case.kept else 1
    assert faulty_endpoint.requests.total() == asked + again, "only what has no answer is asked again"
    assert bill(tmp_path)[1] == 1
    assert second.judgements[STRUCK].status == ("failed" if case.kept else "scored")
    whole = run(faulty_endpoint.url, tmp_path / "undisturbed")
    kept = {} if case.kept else {STRUCK: scores(whole)[STRUCK]}
    assert scores(second) == scores(whole) | {STRUCK: None} | kept, "the end is that of an undisturbed run"


def test_a_refused_parameter_stops_the_run_which_goes_on_without_paying_again(
    faulty_endpoint: Any, tmp_path: Path
) -> None:
    faulty_endpoint.notes = NOTES
    faulty_endpoint.faults[STRUCK] = deque([refuses(400, "Unsupported parameter: 'temperature'")])
    with pytest.raises(CallError, match=r"answered 400: .*Unsupported parameter: 'temperature'") as caught:
        run(faulty_endpoint.url, tmp_path)
    assert not caught.value.transient
    paid, most, charged = bill(tmp_path)
    assert paid == charged.calls == faulty_endpoint.billed_calls < len(NOTES), "what was under way is kept"
    ended = run(faulty_endpoint.url, tmp_path)
    assert all(judgement.status == "scored" for judgement in ended.judgements.values())
    assert faulty_endpoint.requests == dict.fromkeys(NOTES, 1) | {STRUCK: 2}
    assert (bill(tmp_path)[0], most) == (len(NOTES), 1)


def test_an_endpoint_that_is_gone_stops_the_run_which_goes_on_without_paying_again(
    faulty_endpoint: Any, tmp_path: Path
) -> None:
    faulty_endpoint.notes = NOTES
    for name in NOTES[4:]:
        faulty_endpoint.faults[name] = deque([refuses(503)] * 3)
    with pytest.raises(CallError, match=r"calls in a row were not answered.*everything paid for is kept"):
        run(faulty_endpoint.url, tmp_path)
    assert bill(tmp_path)[0] == faulty_endpoint.billed_calls == 4
    faulty_endpoint.faults.clear()
    ended = run(faulty_endpoint.url, tmp_path)
    assert all(judgement.status == "scored" for judgement in ended.judgements.values())
    assert faulty_endpoint.billed_calls == len(NOTES)


def test_a_provider_that_asks_for_a_wait_beyond_patience_stops_the_run(faulty_endpoint: Any, tmp_path: Path) -> None:
    faulty_endpoint.notes = NOTES
    faulty_endpoint.faults[STRUCK] = deque([refuses(429, Retry_After="86400")])
    with pytest.raises(CallError, match="asks to wait 86400 s"):
        run(faulty_endpoint.url, tmp_path)
    assert run(faulty_endpoint.url, tmp_path).judgements[STRUCK].status == "scored"
    assert bill(tmp_path)[:2] == (len(NOTES), 1)
