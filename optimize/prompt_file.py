"""The prompt file of a pass: front matter that says what it was found to do, and the instruction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from lineage.canonical import digest
from lineage.errors import HoldgateError
from lineage.records import Candidate
from optimize.gate import Arm
from optimize.texts import written_text


def prompt_text(verdict: Mapping[str, Any], *, winner: Candidate, front: Mapping[str, Any], arm: Arm) -> str:
    """The prompt file of a passing verdict: front matter and the instruction.

    Raises:
        HoldgateError: the verdict did not pass, so there must be no prompt file.
    """
    if verdict["decision"] != "emit" or not verdict["confirmatory"]:
        raise HoldgateError(f"no prompt may be written on the decision {verdict['decision']!r}")
    omissions = verdict["heldout"]["omissions"]
    matter = {
        **front,
        "threshold": arm.threshold,
        "verdict": digest(dict(verdict)),
        "heldout_difference": omissions["difference"],
        "heldout_interval": [omissions["low"], omissions["high"]],
        "level": omissions["level"],
    }
    head = yaml.safe_dump(matter, sort_keys=True, allow_unicode=True, width=100)
    return f"---\n{head}---\n{written_text(winner.texts)}\n"
