"""The software that a run was made with, and the software that audits it."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from lineage._version import __version__
from lineage.audit.record import Finding, RunRecord
from lineage.records import VOLATILE


def check_environment(run: RunRecord) -> Iterator[Finding]:
    """The run says what it was made with; other versions here may come to other last bits."""
    if run.plan is None:
        return
    written = run.plan.body.get(VOLATILE) or {}
    packages = written.get("packages")
    if not (written.get("holdgate") and written.get("python") and written.get("platform") and packages):
        words = "the run does not say with which versions of what software it was made"
        yield Finding("warning", "seq 0", words, "do not expect another machine to come to the same answers")
        return
    here = {"holdgate": __version__, "python": platform.python_version()}
    here |= {name: _installed(name) or "none" for name in packages}
    then = {"holdgate": written["holdgate"], "python": written["python"], **packages}
    other = [f"{name} {then[name]} (here {here[name]})" for name in then if then[name] != here[name]]
    words = f"made with holdgate {written['holdgate']}, python {written['python']} on {written['platform']}"
    if not other:
        yield Finding("info", "seq 0", f"{words}; all its versions are those here", "nothing to do")
        return
    remedy = "where a number differs, audit with the versions that the run was made with"
    yield Finding("info", "seq 0", f"{words}; other versions here: {', '.join(other)}", remedy)


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
