"""Several workers of a study on one machine: processes of their own, ended with the one that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Final

LOOK_S: Final = 1.0
LIMIT_STATUS: Final = 3
"""Exit status of a worker that a limit stopped."""

_RUN = "from experiments.cli import main; main()"


def run_workers(arguments: Sequence[str], count: int) -> list[int]:
    """Run the command line in several processes and wait for all of them.

    Args:
        arguments: what ``holdgate`` is given.
        count: how many.

    Returns:
        Their exit statuses; one that was killed has the signal's number below zero.
    """
    # -P: a folder of the user's that is named like one of ours is not taken for it.
    command = [sys.executable, "-P", "-c", _RUN, *arguments, "--worker-of", str(os.getpid())]
    started: list[subprocess.Popen[bytes]] = []
    try:
        started += [subprocess.Popen(command) for _ in range(count)]
        return [process.wait() for process in started]
    except BaseException:
        for process in started:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in started:
            process.wait()
        raise


def end_with(parent: int) -> None:
    """Interrupt this process as soon as the one that started it is gone."""

    def look() -> None:
        waiting = threading.Event()
        while os.getppid() == parent:
            waiting.wait(LOOK_S)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=look, name="parent", daemon=True).start()
