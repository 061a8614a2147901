"""From a plan file to everything a campaign needs, with every defect found before any work."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from lineage.errors import PlanError
from lineage.spelling import suggestion
from optimize.corpus_plan import CorpusPlan
from optimize.model_lock import ModelLock, load_model_lock, resolve_models
from optimize.plan import Plan, parse_plan, parse_section
from splits import (
    Columns,
    Corpus,
    HubDataset,
    SplitLock,
    import_corpus,
    load_bundled,
    load_corpus,
    load_hub_dataset,
    load_lock,
    load_table,
)
from students import load_instruction

PLANS: Final = Path(__file__).parent / "plans"
"""Directory of the bundled plans."""

_VARIABLE = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class LoadedPlan:
    """A plan whose roles are resolved, with its corpus, its verified locks and the texts of its baseline and seeds."""

    path: Path
    plan: Plan
    corpus: Corpus
    lock: SplitLock
    baseline: str
    models: ModelLock | None = None
    seeds: Mapping[str, str] = field(default_factory=dict)

    @property
    def models_hash(self) -> str | None:
        """Hash of the model lock that the plan's models were resolved through."""
        return None if self.models is None else self.models.hash


def find_plan(name: str) -> Path:
    """A plan file, or the bundled plan of that name.

    Raises:
        PlanError: there is neither; suggests the near name.
    """
    for path in (Path(name), PLANS / name, PLANS / f"{name}.yaml", PLANS / Path(name).name):
        if path.is_file():
            return path
    bundled = sorted(path.stem for path in PLANS.glob("*.yaml"))
    raise PlanError(f"there is no plan {name!r}, and no bundled one; {suggestion(Path(name).stem, bundled)}")


def is_plan(path: Path) -> bool:
    """Whether a path is meant as that of a plan, by what it ends in."""
    return path.suffix in (".yaml", ".yml")


def read_plan(path: Path) -> Plan:
    """Read and check a plan; ``${NAME}`` and ``${NAME:-default}`` in its values are taken from the environment.

    Raises:
        PlanError: naming file, key and rule.
    """
    return parse_plan(read_filled(path), where=str(path))


def read_filled(path: Path) -> Any:
    """A YAML file with its variables filled from the environment.

    Raises:
        PlanError: it cannot be read, or a variable is not set.
    """
    return _filled(_read(path), str(path))


def read_corpus_plan(path: Path) -> CorpusPlan:
    """The corpus section of a plan of any kind, which need not be finished yet: its lock may be what is to be made.

    Raises:
        PlanError: the file cannot be read, or has no such section; or naming the section's key and rule.
    """
    data = _read(path)
    if not isinstance(data, Mapping) or "corpus" not in data:
        raise PlanError(f"{path}: has no section corpus, which names the corpus; see holdgate plan --schema")
    where = f"{path}: corpus"
    return parse_section(_filled(data["corpus"], where), CorpusPlan, where=where, schema="holdgate plan --schema")


def _read(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise PlanError(f"{path}: is not a readable YAML file: {error}") from error


def load_plan(name: str) -> LoadedPlan:
    """Load a plan and all it names.

    Raises:
        InputError: the first defect of plan, corpus, lock or baseline.
    """
    path = find_plan(name)
    plan, models = load_plan_models(read_plan(path), path)
    corpus = load_plan_corpus(plan, path)
    lock = load_lock(_beside(path, plan.splits.lock), corpus)
    seeds = {name: _instruction(path, name) for name in plan.search.seeds}
    return LoadedPlan(path, plan, corpus, lock, _instruction(path, plan.baseline), models, seeds)


def load_plan_models(plan: Plan, path: Path) -> tuple[Plan, ModelLock | None]:
    """The plan with its models by role resolved and its recordings found, and the model lock that it names.

    Raises:
        PlanError: the lock was edited, or a role is not pinned.
    """
    lock = None if plan.models is None else load_model_lock(_beside(path, plan.models))
    plan = resolve_models(plan, lock, where=str(path))
    replays = {
        role: model.model_copy(update={"replay": str(_beside(path, str(model.replay)))})
        for role, model in plan.roles.items()
        if model.replay is not None
    }
    plan = plan.with_models(replays) if replays else plan
    return (plan if plan.reflector.ledger is None else plan.with_ledger(_beside(path, plan.reflector.ledger))), lock


def load_plan_corpus(plan: Plan, path: Path) -> Corpus:
    """The corpus that a plan names.

    Raises:
        CorpusError: it is not there, or breaks a rule; with its place.
    """
    return load_named_corpus(plan.corpus, path)


def load_named_corpus(named: CorpusPlan, path: Path) -> Corpus:
    """The corpus that a plan's section names.

    Args:
        named: the section.
        path: of the plan, whose directory other paths are relative to.

    Raises:
        CorpusError: it is not there, or breaks a rule; with its place.
    """
    if named.bundled is not None:
        return load_bundled(named.bundled)
    facts = None if named.facts is None else _beside(path, named.facts)
    columns = Columns(named.columns, named.values, named.labels, named.meta)
    if named.table is not None:
        return load_table(_beside(path, named.table), columns=columns, file_format=named.format, facts=facts)
    if named.huggingface is not None:
        hub = named.huggingface
        local = _beside(path, hub.name)
        dataset = HubDataset(str(local) if local.is_dir() else hub.name, hub.split, hub.subset, hub.revision)
        return load_hub_dataset(dataset, columns=columns, facts=facts)
    assert named.path is not None
    if named.adapter is not None:
        return import_corpus(named.adapter, _beside(path, named.path)).corpus
    return load_corpus(_beside(path, named.path), facts=facts)


def _instruction(path: Path, name: str) -> str:
    """The text of a file beside the plan, or of the bundled seed of that name."""
    file = _beside(path, name)
    return load_instruction(str(file) if file.is_file() else name)


def _beside(plan: Path, name: str) -> Path:
    """A path that a plan names, from the plan's own directory."""
    return (plan.parent / name).resolve()


def _filled(value: Any, where: str) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, where) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, where) for item in value]
    if not isinstance(value, str) or not _VARIABLE.search(value):
        return value

    def lookup(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if (given := os.environ.get(name, default)) is None:
            raise PlanError(f"{where}: the environment variable {name} is not set, and the plan gives no default")
        return given

    return _VARIABLE.sub(lookup, value)
