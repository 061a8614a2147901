from __future__ import annotations

import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lineage.errors import CallError, CampaignError
from optimize.engines.relay import Relay, SearchEndedError, _LeftError


def test_steps_are_carried_out_in_the_serving_thread_whichever_thread_asks() -> None:
    relay, seen = Relay("foreign"), list[int]()

    def foreign() -> None:
        with ThreadPoolExecutor(2) as pool:
            for future in [pool.submit(relay.ask, lambda: seen.append(threading.get_ident())) for _ in range(4)]:
                future.result()
        relay.ask(lambda: seen.append(threading.get_ident()))

    relay.run(foreign)
    assert seen == [threading.get_ident()] * 5


def test_what_a_step_raises_leaves_foreign_code_that_catches_every_exception() -> None:
    relay, after = Relay("foreign"), list[str]()
    failure = CallError("the endpoint is gone", reason="transport", transient=False)

    def fail() -> None:
        raise failure

    def foreign() -> None:
        try:
            relay.ask(fail)
        except Exception:  # as an optimiser does
            after.append("went on")

    with pytest.raises(CallError, match="the endpoint is gone") as raised:
        relay.run(foreign)
    assert raised.value is failure
    assert not after


def test_a_step_may_end_the_search_without_an_error() -> None:
    relay, asked = Relay("foreign"), list[int]()

    def step(number: int) -> None:
        asked.append(number)
        if number == 3:
            raise SearchEndedError

    def foreign() -> None:
        for number in range(100):
            relay.ask(lambda number=number: step(number))  # type: ignore[misc]

    relay.run(foreign)
    assert asked == [0, 1, 2, 3]


def test_a_failure_of_the_foreign_code_names_it_and_what_to_do() -> None:
    def foreign() -> None:
        raise KeyError("proposed_instruction")

    with pytest.raises(CampaignError, match=r"MIPROv2 failed in its own code \(KeyError.*another search\.engine"):
        Relay("MIPROv2").run(foreign)


def test_values_come_back_and_copies_share_the_way() -> None:
    relay, found = Relay("foreign"), list[int]()
    relay.run(lambda: found.append(copy.deepcopy(relay).ask(lambda: 7)))
    assert found == [7]


def test_nothing_is_asked_any_more_once_the_search_has_been_left() -> None:
    relay = Relay("foreign")
    relay.run(lambda: None)
    with pytest.raises(_LeftError):
        relay.ask(lambda: 1)
    assert not issubclass(_LeftError, Exception)
