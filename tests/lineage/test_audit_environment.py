"""The audit says with what software a run was made, and what of it is another here."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import pytest

from lineage import __version__
from lineage.audit.environment import check_environment
from lineage.audit.record import Finding, RunRecord
from lineage.ledger import Event

HERE = {"holdgate": __version__, "python": platform.python_version(), "platform": "Linux", "packages": {}}


def found(environment: dict[str, Any]) -> Finding:
    run = RunRecord(Path("nowhere"), (Event(0, "", "plan", {"volatile": environment}, "", ""),))
    (finding,) = check_environment(run)
    return finding


def test_equal_versions_are_a_remark_with_nothing_to_do() -> None:
    from importlib.metadata import version

    finding = found({**HERE, "packages": {"numpy": version("numpy")}})
    assert (finding.severity, finding.remedy) == ("info", "nothing to do")
    assert "all its versions are those here" in finding.words


def test_other_versions_are_named_with_those_here() -> None:
    finding = found({**HERE, "holdgate": "0.0.1", "packages": {"no-such-package": "3"}})
    assert finding.severity == "info"
    assert f"holdgate 0.0.1 (here {__version__}), no-such-package 3 (here none)" in finding.words


@pytest.mark.parametrize("missing", ["holdgate", "python", "platform", "packages"])
def test_a_run_that_does_not_say_is_a_warning(missing: str) -> None:
    written = {**HERE, "packages": {"numpy": "2"}}
    assert found({key: value for key, value in written.items() if key != missing}).severity == "warning"
