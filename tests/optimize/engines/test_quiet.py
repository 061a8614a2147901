from __future__ import annotations

import logging
import sys
import threading
import warnings
from contextvars import copy_context

import pytest

from optimize.engines.quiet import hushed, silenced


def test_silenced_code_prints_nothing_while_the_rest_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    with hushed():
        with silenced():
            sys.stdout.write("a bar\n")
            sys.stderr.write("a banner\n")
        sys.stdout.write("the campaign's own line\n")
    sys.stdout.write("afterwards\n")
    said = capsys.readouterr()
    assert said.out == "the campaign's own line\nafterwards\n"
    assert said.err == ""


def test_a_thread_with_the_context_of_silenced_code_is_silent_too(capsys: pytest.CaptureFixture[str]) -> None:
    with hushed(), silenced():
        thread = threading.Thread(target=copy_context().run, args=(lambda: sys.stdout.write("from a worker"),))
        thread.start()
        thread.join()
    assert capsys.readouterr().out == ""


def test_warnings_go_nowhere_and_loggers_are_as_before_afterwards() -> None:
    logger = logging.getLogger("optuna")
    before = logger.level
    with hushed():
        warnings.warn("experimental", UserWarning, stacklevel=1)
        assert not logger.isEnabledFor(logging.CRITICAL)
    assert logger.level == before
