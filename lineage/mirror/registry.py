"""Emitted prompts in MLflow's prompt registry, each with the verdict that passed it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lineage.mirror.layout import PREFIX, word

VERDICT: Final = f"{PREFIX}verdict_hash"
LINKED: Final = "mlflow.linkedPrompts"
"""The tag by which MLflow's pages show a run's prompts."""
LONGEST: Final = 100_000
"""Characters of a prompt that the registry takes."""
EXPERIMENTS: Final = "_mlflow_experiment_ids"
"""The tag by which MLflow's pages show an experiment's prompts."""


@dataclass(frozen=True, slots=True)
class RegisteredPrompt:
    """A version in the prompt registry."""

    name: str
    version: int

    @property
    def link(self) -> str:
        """Value of the tag that ties it to a run."""
        return json.dumps([{"name": self.name, "version": str(self.version)}])

    def __str__(self) -> str:
        return f"{self.name}/{self.version}"


def emitted(body: Mapping[str, Any]) -> bool:
    """Whether a ``verdict`` event lets a prompt be registered: it passed, it confirms, and there is a prompt file."""
    verdict = body["verdict"]
    return bool(verdict["decision"] == "emit" and verdict["confirmatory"] is True and body["prompt"] is not None)


def register_prompt(client: Any, *, name: str, text: str, tags: Mapping[str, Any], experiment: str) -> RegisteredPrompt:
    """The version of a verdict's prompt in the registry, made where there is none.

    Args:
        client: MLflow's client.
        name: of the prompt; what the registry does not take in one is replaced.
        text: the whole instruction.
        tags: of the version; ``verdict_hash`` among them identifies it.
        experiment: MLflow's id of the experiment that shows it.
    """
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", name)
    marks = {f"{PREFIX}{key}": word(value) for key, value in tags.items()}
    prompt = client.get_prompt(name)
    if prompt is None:
        prompt = client.create_prompt(name, tags={EXPERIMENTS: f",{experiment},"})
    page: str | None = None
    while page != "":
        found = client.search_prompt_versions(name, page_token=page)
        for version in found:
            if version.tags.get(VERDICT) == marks[VERDICT]:
                return RegisteredPrompt(name, int(version.version))
        page = found.token or ""
    made = client.create_prompt_version(name, text, tags=marks)
    return RegisteredPrompt(name, int(made.version))


def prompt_tags(body: Mapping[str, Any]) -> dict[str, Any]:
    """Tags of a version: what the verdict says of the prompt."""
    verdict = body["verdict"]
    found = verdict["heldout"]["omissions"]
    return {
        "verdict_hash": body["verdict_hash"],
        "prompt_file": body["prompt"],
        "candidate": verdict["winner"],
        **{f"{name}_hash": value for name, value in verdict["hashes"].items()},
        **{name: found[name] for name in ("difference", "low", "high", "level")},
        "threshold": verdict["accept"]["winner"]["threshold"],
        "simulated": verdict["simulated"],
    }
