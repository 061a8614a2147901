"""Pinning: taking down what a role's model is today, and putting it into a model lock, never silently over another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from lineage.canonical import canonical_json, pretty_json, write_atomic
from lineage.errors import CallError, PlanError
from optimize.model_lock import ModelLock, Pin, load_model_lock
from optimize.model_plan import ModelPlan, PricePlan
from optimize.models import open_transport, price_of_plan, reach
from students.capabilities import Place, known_capabilities
from students.transport import RecordedAnswers

ROLES: Final = ("student", "reflector", "extractor", "auditor")
"""Roles that can be pinned."""
_DATED: Final = frozenset({"hash", "pinned_at"})


def pin_model(
    role: str, model: ModelPlan, *, settings: Mapping[str, Any] | None = None, seen: Path | None = None
) -> Pin:
    """Take down what a role's model is, costs and accepts now. An endpoint is asked for its list of models.

    Args:
        role: the role.
        model: the model.
        settings: budget and temperature that it is used with.
        seen: a call cache in which a version that the provider stated is looked for.

    Raises:
        PlanError: the role is unknown, the model is a replay or another role, or its price is not known.
    """
    if role not in ROLES:
        raise PlanError(f"role must be one of {', '.join(ROLES)}, got {role!r}")
    if model.replay is not None or model.role is not None:
        raise PlanError(f"role {role}: a replay or another role cannot be pinned; name the model itself")
    place, name = place_of(model)
    capabilities = known_capabilities(name, place=place)
    price = price_of_plan(model)
    version = None
    if seen is not None and seen.is_file():
        recorded = RecordedAnswers(seen)
        version = recorded.version(open_transport(model).identity)
        recorded.close()
    return Pin(
        role=role,
        model=model,
        price=None if price is None else PricePlan(**price_row(price.prompt, price.completion, price.cached)),
        settings=settings or {},
        capabilities={key: value for key, value in capabilities.row().items() if key not in ("model", "sources")},
        context_tokens=stated_context(model) or capabilities.context_tokens,
        version=version,
        pinned_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def place_of(model: ModelPlan) -> tuple[Place, str]:
    """Where a model is, and its name there."""
    if model.hosted is not None:
        return "hosted", model.hosted
    if model.local is not None:
        return "local", model.local
    return ("endpoint", model.name) if model.name is not None else ("simulated", "simulated")


def stated_context(model: ModelPlan) -> int | None:
    """Context length in tokens that an endpoint states in its list of models; None where it does not answer, too."""
    try:
        said = reach(model)
    except (CallError, PlanError):
        return None  # whether it answers is the doctor's question, not the pin's
    meta = said.get("meta")
    places = (said, meta if isinstance(meta, Mapping) else {})
    keys = ("max_model_len", "context_length", "context_window", "n_ctx", "n_ctx_train")
    return next((place[key] for place in places for key in keys if isinstance(place.get(key), int)), None)


def price_row(prompt: float, completion: float, cached: float) -> dict[str, float]:
    """US dollars for a million tokens, out of dollars a token."""
    return {
        "prompt_usd_per_million": round(prompt * 1e6, 9),
        "completion_usd_per_million": round(completion * 1e6, 9),
        "cached_usd_per_million": round(cached * 1e6, 9),
    }


def differences(old: Pin, new: Pin) -> tuple[str, ...]:
    """What differs between two pins of a role but their dates, one line a value."""
    before, after = (_flat(pin.row()) for pin in (old, new))
    return tuple(
        f"{old.role}.{name}: {before.get(name, 'nothing')} → {after.get(name, 'nothing')}"
        for name in sorted(set(before) | set(after))
        if before.get(name) != after.get(name)
    )


def write_pin(path: Path, pin: Pin, *, update: bool = False) -> tuple[str, ...]:
    """Put a pin into a lock file, which is made where there is none.

    Returns:
        What changed; nothing if the role already had this pin, whose date then stays, or had none.

    Raises:
        PlanError: the role is pinned otherwise, and ``update`` was not given; shows the difference.
    """
    lock = load_model_lock(path) if path.exists() else ModelLock()
    changed: tuple[str, ...] = ()
    if (old := lock.pins.get(pin.role)) is not None:
        changed = differences(old, pin)
        if not changed:
            return ()
        if not update:
            raise PlanError(
                f"{path}: {pin.role} is already pinned, and would change in {'; '.join(changed)}. A lock is not "
                "overwritten silently: give --update. Campaigns that began under this lock then resume only with the "
                "old one"
            )
    write_atomic(path, pretty_json(replace(lock, pins={**lock.pins, pin.role: pin}).row()))
    return changed


def _flat(value: Mapping[str, Any], start: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, item in value.items():
        if key in _DATED:
            continue
        if isinstance(item, Mapping) and item:
            flat |= _flat(item, f"{start}{key}.")
        else:
            flat[f"{start}{key}"] = canonical_json(item)
    return flat
