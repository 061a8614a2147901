"""Foreign code in a thread of its own, while everything that it asks for is done in the thread that started it.

An optimiser of dspy calls back from wherever it likes, worker threads among them, and catches exceptions in places. The
ledger, the bench and its event loop belong to one thread. So the optimiser runs aside, each of its requests is
carried out here, and what fails here leaves the optimiser as something that it cannot catch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, TypeVar

from lineage.errors import CampaignError

Value = TypeVar("Value")


class SearchEndedError(BaseException):
    """Raised by a request to end the search as it stands; what it has found so far is its result."""


class _LeftError(BaseException):
    """Leaves foreign code whose request failed, or that is not wanted any more."""


@dataclass(slots=True)
class _Request:
    """One request, and the reply to it."""

    step: Callable[[], Any]
    done: threading.Event = field(default_factory=threading.Event)
    value: Any = None
    failed: bool = False

    def reply(self, value: Any = None, *, failed: bool = False) -> None:
        self.value, self.failed = value, failed
        self.done.set()


class Relay:
    """Runs one piece of foreign code, once.

    Args:
        name: what runs, for messages.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._requests: SimpleQueue[_Request | None] = SimpleQueue()
        self._closed = False
        self._foreign: Exception | None = None

    def run(self, work: Callable[[], object]) -> None:
        """Run ``work`` aside and serve its requests, until it is done or a request ends it.

        Raises:
            CampaignError: the foreign code itself failed.
            BaseException: whatever a request raised.
        """
        thread = threading.Thread(target=self._aside, args=(work,), name=self._name, daemon=True)
        thread.start()
        try:
            while (request := self._requests.get()) is not None:
                try:
                    value = request.step()
                except BaseException:
                    request.reply(failed=True)
                    raise
                request.reply(value)
        except SearchEndedError:
            return
        finally:
            self._close()
            thread.join()
        if self._foreign is not None:
            raise CampaignError(
                f"{self._name} failed in its own code ({type(self._foreign).__name__}: {str(self._foreign)[:200]}); "
                "run the campaign with another search.engine"
            ) from self._foreign

    def ask(self, step: Callable[[], Value]) -> Value:
        """Have a step carried out in the serving thread, from whichever thread, and wait for its value."""
        request = _Request(step)
        if self._closed:
            raise _LeftError
        self._requests.put(request)
        request.done.wait()
        if request.failed:
            raise _LeftError
        value: Value = request.value
        return value

    def __deepcopy__(self, memo: object) -> Relay:
        """Programs are copied by optimisers; the way back is one and the same."""
        return self

    def _aside(self, work: Callable[[], object]) -> None:
        try:
            work()
        except _LeftError:
            pass
        except Exception as error:  # raised in the serving thread, with its cause
            self._foreign = error
        finally:
            self._requests.put(None)

    def _close(self) -> None:
        """Turn away what is asked from now on, and what still waits."""
        self._closed = True
        while not self._requests.empty():
            if (waiting := self._requests.get()) is not None:
                waiting.reply(failed=True)
