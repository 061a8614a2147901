"""The plan that evaluates a verifier on what a build kept from its training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from lineage.canonical import write_atomic
from students.local import DEFAULT_MODEL

EVAL_PLAN: Final = "eval.yaml"


def write_eval_plan(directory: Path, manifest: Mapping[str, Any]) -> Path:
    """Write a judging plan of one step verifier on the last part of a build; one that is there is left alone.

    Args:
        directory: of the build.
        manifest: of the build.
    """
    path = directory / EVAL_PLAN
    part = list(manifest["counts"])[-1]
    facts = f"\n  facts: {part}.facts.jsonl" if f"{part}.facts.jsonl" in manifest["files"] else ""
    if not path.is_file():
        write_atomic(
            path,
            f"""# A step verifier on the {part} notes of this build: holdgate steps eval {EVAL_PLAN}
# For a trained verifier give its endpoint: model: {{endpoint: "http://127.0.0.1:8000/v1", name: NAME}}, which then
# takes no prompt_cache.
name: built-{part}
corpus:
  path: {part}.corpus.jsonl{facts}
model:
  local: {DEFAULT_MODEL.name}
  deadline_s: 600
students:
  - name: verifier
    shape: step-verifier
    granularity: {manifest["granularity"]}
    budget: {{answer_tokens: 1}}
    prompt_cache: exact
seed: 1
""",
        )
    return path
