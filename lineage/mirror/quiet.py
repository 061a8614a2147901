"""What surrounds a call of MLflow, so that it changes and prints nothing outside its store."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

ENVIRONMENT: Final = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
}
"""MLflow's settings while it is called, where the user has not set them: no reports home, no lines on our output, and
an error within seconds rather than minutes where a store is gone."""


@contextmanager
def quiet() -> Iterator[None]:
    """MLflow without its log lines, its dependencies' deprecation warnings and its reports home, for one call."""
    loggers = [logging.getLogger(name) for name in ("mlflow", "alembic", "urllib3.connectionpool")]
    unset = {name: value for name, value in ENVIRONMENT.items() if name not in os.environ}
    os.environ.update(unset)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import mlflow.entities  # noqa: F401 - loading it sets the levels of its loggers

            levels = [logger.level for logger in loggers]
            for logger in loggers:
                logger.setLevel(logging.ERROR)
            try:
                yield
            finally:
                for logger, level in zip(loggers, levels, strict=True):
                    logger.setLevel(level)
    finally:
        for name in unset:
            os.environ.pop(name, None)


def without_password(uri: str, text: str) -> str:
    """A text about a tracking address, without the address's password."""
    password = urlsplit(uri).password
    return text if password is None else text.replace(f":{password}@", ":***@")
