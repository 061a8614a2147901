"""A small model on this machine: which files are known, how one is fetched and checked, and the server that runs it.

    with LocalServer(fetch_model("qwen2.5-coder-0.5b-instruct").path) as server:
        ...  # an OpenAI-compatible endpoint at server.base_url

``students.local.serve`` is the child process of ``LocalServer`` and is not imported here: it loads the native library.
"""

from students.local.fetch import (
    FetchedModel,
    cache_directory,
    fetch_model,
    find_model,
    require_model,
    search_directories,
)
from students.local.models import DEFAULT_MODEL, MODELS, LocalModel, SlicePackages, known_model
from students.local.server import LocalServer
from students.local.slices import PackageSlices
from students.local.sources import HubRepository, Source, SourceError
from students.local.verification import Verification, confirm_model, verify_model
from students.local.watch import Progress

__all__ = [
    "DEFAULT_MODEL",
    "MODELS",
    "FetchedModel",
    "HubRepository",
    "LocalModel",
    "LocalServer",
    "PackageSlices",
    "Progress",
    "SlicePackages",
    "Source",
    "SourceError",
    "Verification",
    "cache_directory",
    "confirm_model",
    "fetch_model",
    "find_model",
    "known_model",
    "require_model",
    "search_directories",
    "verify_model",
]
