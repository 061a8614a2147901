"""The child process that runs one model behind an OpenAI-compatible endpoint on this machine.

    python -P -m students.local.serve --model PATH --port N --ctx 4096 --threads N --slots 1

It prints one JSON line once it answers, and ends when its standard input ends: the write end of that pipe is held by
the parent alone and is closed by the system even when the parent is killed, so no server outlives its owner.
"""

from __future__ import annotations

import argparse
import importlib
import os
import select
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lineage.canonical import canonical_json

PARENT_CHECK_S = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until standard input ends. SIGTERM keeps its default action, which works even while the model loads."""
    options = _parser().parse_args(arguments)
    parent = os.getppid()
    # Idle threads of the math library would spin otherwise and take the second core from the parent. It is read when
    # the library is loaded, hence before the import.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    library = importlib.import_module("xllamacpp")  # no type information; Any at this edge
    server = library.Server(server_parameters(library, options))
    ready = {"event": "listening", "address": server.listening_address, "model": model_alias(options.model)}
    sys.stdout.write(canonical_json(ready) + "\n")
    sys.stdout.flush()
    wait_for_end_of_input(parent)
    # Tearing the library down joins its threads and may wait for a generation that nobody will read.
    os._exit(0)


def server_parameters(library: Any, options: argparse.Namespace) -> Any:
    """``CommonParams`` of the library for the given options."""
    params = library.CommonParams()
    params.model.path = str(options.model)
    params.model_alias = {model_alias(options.model)}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    # The library divides its context among the slots; here --ctx is what one request may use.
    params.n_ctx = options.ctx * options.slots
    params.n_parallel = options.slots
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    params.warmup = True
    params.verbosity = 1  # errors and warnings; 0 would hide why a model cannot be loaded
    params.offline = True
    # Sizes are given; fitting them to the device would load the file twice and could shrink the context silently.
    params.fit_params = False
    # The library would keep the states of earlier prompts in up to 8 GiB of memory; the slot's own cache suffices for
    # prompts with a common beginning.
    params.cache_ram_mib = 0
    # Nothing but the endpoint: no page, and no view of other requests' prompts.
    params.ui = False
    params.endpoint_slots = False
    params.endpoint_metrics = False
    # By default any page in a browser on this machine may call the server.
    params.cors_origins = "localhost"
    return params


def model_alias(path: str | Path) -> str:
    """Name of the model in requests and answers: the file name without its ending."""
    return Path(path).stem


def wait_for_end_of_input(parent: int) -> None:
    """Return when standard input ends, or when the process is no longer a child of ``parent``.

    The second covers a parent that forked: its fork holds the pipe open, and the end of input would never come.
    """
    while os.getppid() == parent:
        readable, _, _ = select.select([0], [], [], PARENT_CHECK_S)
        if readable and not os.read(0, 4096):
            return


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="students.local.serve", description="Serve one local model on 127.0.0.1.")
    parser.add_argument("--model", required=True, help="path of the model file (GGUF)")
    parser.add_argument("--port", type=int, default=0, help="TCP port; 0 lets the system choose a free one")
    parser.add_argument("--ctx", type=int, default=4096, help="context of one request, in tokens")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="compute threads")
    parser.add_argument("--slots", type=int, default=1, help="requests answered at the same time")
    return parser


if __name__ == "__main__":
    sys.exit(main())
