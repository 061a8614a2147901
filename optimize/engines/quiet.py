"""Silence for code that prints: bars, banners and examples, on a screen that is not its own."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TextIO

_SILENT: Final[ContextVar[bool]] = ContextVar("silent", default=False)


class _Hush:
    """A stream that drops what silenced code writes; everything else goes through to the stream beneath."""

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath

    def write(self, text: str) -> int:
        return len(text) if _SILENT.get() else self.beneath.write(text)

    def flush(self) -> None:
        if not _SILENT.get():
            self.beneath.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beneath, name)


@contextmanager
def hushed() -> Iterator[None]:
    """Make :func:`silenced` code silent as long as this lasts; warnings and log lines of dspy and Optuna go nowhere."""
    out, err = sys.stdout, sys.stderr
    loggers = [logging.getLogger(name) for name in ("dspy", "gepa", "optuna")]
    levels = [logger.level for logger in loggers]
    sys.stdout, sys.stderr = _Hush(out), _Hush(err)
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.stdout, sys.stderr = out, err
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def silenced() -> Iterator[None]:
    """Silence the code within, in the threads too to which it hands its context."""
    token = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(token)
