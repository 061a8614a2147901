"""Where everything lies in MLflow: what each run's tags, parameters, metrics and artifacts carry.

All tags of ours begin with ``holdgate.``, left out below. The two that every run has identify it: ``campaign`` is the
hash of the ledger's first event, ``key`` the run's place in the campaign, and ``kind`` says what the run is of.

**A run directory's own run**, key ``campaign``, kind ``campaign``, ``trial``, ``experiment``, ``imported`` or
``judging``:

- tags: ``plan_hash``, ``lock_hash``, ``corpus_hash``, ``models_hash``, ``version`` (of this package); ``simulated``,
  ``exploratory`` (the reason, or none), ``replayed``, ``imported`` and ``control`` (true or false), ``confirmatory``
  (from the verdict, or false as soon as it is known); ``ledger.count`` and ``ledger.hash`` (the head mirrored last),
  ``winner``, ``decision``, ``reason``, ``verdict_hash``, ``prompt`` (name and version in the prompt registry),
  ``stopped`` (which limit stopped the process that ended last), ``study`` and ``trial`` of a trial.
- params: the plan, flattened with dots.
- metrics: ``accepted``, ``rejected``, ``invalid``; ``accept.gain``, ``accept.optimism``;
  ``heldout.<comparison>.{difference,low,high,sign_flip_p}``; ``heldout.<purpose>.<arm>.<measure>`` as below, arm
  ``baseline`` or ``winner``; ``spend.{calls,tokens,usd}`` in all and ``spend.<role>.<phase>.{calls,tokens,usd}``.
- artifacts: ``plan.json``, ``splits.json``, ``environment.json``, ``contamination.json`` (of the splits),
  ``calibration.json``, ``choice.json``, ``spend.json`` (with limits and prices), ``verdict.json``, ``crossed.json``.

**A candidate**, key the ``seq`` of its event, kind ``candidate``, child of the run above:

- tags: ``candidate`` (its id), ``name``, ``candidate_kind`` (``seed``, ``mutation``, ``merge``), ``operator``,
  ``iteration``, ``parents`` (ids, comma-separated), ``parent_runs`` (run ids, likewise), ``outcome`` (``seed``,
  ``accepted``, ``rejected``, ``invalid``, ``pending``), ``reason``, ``winner``, ``contamination`` (findings), and
  ``simulated``, ``exploratory``, ``imported``, ``control`` of the campaign. The description links to the parents' runs.
- metrics: ``words``; ``minibatch.{gain,examples}``; ``<split>.<measure>``, ``.low``, ``.high``, ``.failed``, ``.pairs``
  with split ``accept`` or ``heldout.<purpose>`` and measure ``omissions``, ``commissions`` or ``omissions.<trace>``;
  ``accept.{paired,detection,false_alarm,threshold,rank,leads,failed}``; ``spend.{calls,tokens,usd}``.
- artifacts: ``<block>.md`` (each named text, whole), ``diff/<parent name>.txt``, ``reflection/prompt.md``,
  ``reflection/answer.md``, ``reflection/reflection.json``, ``contamination.json``, ``reflection/contamination.json``,
  ``outcome.json``, ``measures/<purpose>.json`` (with every count), ``scores/minibatch.json``, ``scores/accept.json``
  and ``judgements/<segment>.json``.

An imported lineage, kind ``imported``, has ``imported.json`` and ``published.json`` (comparisons and decisions as its
source states them) in place of the plan's and the verdict's files, and its candidates ``hashes.json`` and the tag
``target``. Nothing of it is registered.

**A judge** of a judging run, key ``judge:<name>``, kind ``judge``, child likewise:

- tags: ``judge``, ``design``, ``family``, ``candidate``, ``student``; metrics ``<measure>``, ``.low``, ``.high``,
  ``scored``, ``judgements`` and ``cost.*``; artifacts ``<block>.md``, ``table.json`` and ``judgements/<segment>.json``.

**A study**, key ``campaign``, kind ``study``, parent of the runs of its trials: tags ``fingerprint``, ``corpus_hash``,
``lock_hash``; the study's plan as params; metrics ``trials`` and ``trials.<state>``; artifacts ``plan.json``,
``base.json``, ``trials.json``. A trial's run has the metrics ``objective.<measure>`` and ``outcome.json`` as well.

``scores/`` and ``judgements/`` are tables as MLflow's own ``log_table`` writes them. Judgements are numbers, ids and
the structure of their examples. **No answer of a student and no document of accept or held-out is ever mirrored**:
answers quote documents, so they stay in the run directory. What a reflector was asked may quote reflect examples, which
it is there to read. Judgements and measures of held-out examples are mirrored after the campaign's decision and never
before it. What is undefined has no metric, and is null in tables and files. A tag or parameter that is too long for
MLflow ends with :data:`CUT`; it is whole in an artifact.

**The prompt registry** has the prompts of passing verdicts alone, one version a verdict, under the plan's name. Version
tags: ``verdict_hash``, ``prompt_file`` (SHA-256 of ``prompt.md``), ``candidate``, ``campaign``, ``run_id``,
``student_hash``, ``plan_hash``, ``lock_hash``, ``corpus_hash``, ``difference``, ``low``, ``high``, ``level``,
``threshold``, ``simulated``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

PREFIX: Final = "holdgate."
TOP: Final = "campaign"
"""Key of the run that a run directory has itself."""
LONGEST: Final = 5_000
"""Characters of a tag or a parameter; MLflow takes a little more, and cuts without a word what is longer."""
CUT: Final = " … (cut)"
STRUCTURE: Final = ("group", "label", "kind", "severity", "trace")
JUDGEMENT: Final = (
    "example",
    *STRUCTURE,
    "replicate",
    "sample",
    "status",
    "score",
    "reason",
    "finish",
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cached_tokens",
    "cost_usd",
)
"""Columns of a table of judgements."""


def word(value: Any) -> str:
    """A value as a tag or a parameter has it."""
    if value is None:
        return "none"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + CUT


def metric_name(*parts: str) -> str:
    """Parts of a metric's name, with what MLflow does not take in one replaced."""
    return re.sub(r"[^\w.\- /:]", "_", ".".join(parts))


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf of nested mappings, under its dotted path; a list is a leaf."""
    if isinstance(value, Mapping) and (value or not path):
        for name, item in value.items():
            yield from flat(item, f"{path}.{name}" if path else str(name))
    else:
        yield metric_name(path), value


def measure_metrics(split: str, measures: Mapping[str, Any]) -> dict[str, float | None]:
    """Metrics of a ``measured`` event's measures; undefined ones are None."""
    named = {"omissions": measures["omissions"], "commissions": measures["commissions"]}
    named |= {f"omissions.{trace}": found for trace, found in measures["by_trace"].items()}
    return {
        metric_name(split, name + suffix): found.get(number)
        for name, found in named.items()
        for suffix, number in (
            ("", "value"),
            (".low", "low"),
            (".high", "high"),
            (".failed", "failed"),
            (".pairs", "pairs"),
        )
    }


def usage_metrics(path: str, usages: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Metrics of what some calls used; without a price there is no sum of money."""
    costs = [usage["cost_usd"] for usage in usages if usage["cost_usd"] is not None]
    return {
        metric_name(path, "calls"): sum(usage["calls"] for usage in usages),
        metric_name(path, "tokens"): sum(usage["prompt_tokens"] + usage["completion_tokens"] for usage in usages),
        metric_name(path, "usd"): sum(costs) if costs else None,
    }
