"""A small campaign that a rival engine searches, with a judge and a writer behind a real endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments import load_plan
from lineage import read_events
from optimize import Campaign, CampaignResult
from optimize.plan import LimitsPlan
from tests.conftest import JudgeEndpoint

PRICE = {"prompt_usd_per_million": 1.0, "completion_usd_per_million": 2.0}
STRICT = "Answer Yes only if the note states the whole fact. Check numbers and sides. A fragment does not count."
PLAIN = "Say Yes when the fact is there. Otherwise say No. Ignore headings and style. Be strict about doses."
SHORT = "Judge."

Searched = Callable[..., CampaignResult]


def for_gepa(text: str) -> str:
    """An answer that dspy.GEPA's proposer reads."""
    return json.dumps({"new_instruction": text})


def for_mipro(text: str) -> str:
    """An answer that any of MIPROv2's signatures reads."""
    return (
        f"[[ ## observations ## ]]\nShort notes.\n\n[[ ## summary ## ]]\nNotes of visits.\n\n"
        f"[[ ## proposed_instruction ## ]]\n{text}\n\n[[ ## completed ## ]]"
    )


@pytest.fixture
def searched(make_plan: Callable[..., Path], judge_endpoint: JudgeEndpoint, tmp_path: Path) -> Searched:
    """Run, or resume, a campaign with an engine; its writer's answers are the endpoint's ``written``."""
    plans: dict[str, Path] = {}

    def search(
        engine: str, out: str = "run", *, iterations: int = 3, calls: int | None = None, **search_options: Any
    ) -> CampaignResult:
        key = json.dumps([engine, iterations, search_options])
        if key not in plans:
            model = {"endpoint": judge_endpoint.url, "price": PRICE}
            plans[key] = make_plan(
                f"plan-{len(plans)}",
                student={"shape": "per-fact", "model": {**model, "name": "judge"}, "max_facts": 3},
                reflector={"kind": "llm", "model": {**model, "name": "writer"}},
                search={"engine": engine, "iterations": iterations, "seed": 1, **search_options},
            )
        loaded = load_plan(str(plans[key]))
        plan = loaded.plan.model_copy(update={"limits": LimitsPlan(calls=calls)})
        return Campaign(
            plan,
            loaded.corpus,
            loaded.lock,
            tmp_path / "runs" / out,
            baseline=loaded.baseline,
            exploratory="one of several on the same lock",
        ).run()

    return search


def bodies(out: Path, kind: str) -> list[Any]:
    """Bodies of the events of one type."""
    return [event.body for event in read_events(out / "ledger.jsonl") if event.type == kind]
