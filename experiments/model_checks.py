"""What the doctor asks of each role's model: is it there, what does it cost, does it accept and hold what is sent."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from experiments.costing import Range
from lineage.errors import CallError, HoldgateError
from optimize.model_lock import Pin
from optimize.model_plan import ModelPlan
from optimize.models import capabilities_of, key_of, open_transport, price_of_plan, reach
from optimize.pinning import differences, pin_model, place_of, stated_context
from students.local import confirm_model, known_model, require_model
from students.transport import Price, RecordedAnswers

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: its state, the place in the plan or on disk, what was found, and the fix."""

    name: str
    state: State
    place: str
    words: str
    fix: str = ""


def looked_at(name: str, place: str, look: Callable[[], str], *, fix: str) -> Check:
    """A check that is in order unless ``look`` raises; it returns what it found."""
    try:
        return Check(name, "ok", place, look())
    except HoldgateError as error:
        return Check(name, "fail", place, str(error), fix)


def check_reach(role: str, model: ModelPlan) -> Check:
    """Whether a role's model can be called; nothing that costs anything is."""
    name, place = "model", f"{role}.model"
    if model.replay is not None:
        found = Path(model.replay)
        return looked_at(name, place, lambda: _recorded(found, model), fix="name a calls.sqlite, or an export of one")
    if model.local is not None:
        fix = f"holdgate model fetch {model.local}"
        return looked_at(name, place, lambda: _local(str(model.local)), fix=fix)
    if model.endpoint is not None:
        try:
            key_of(model)
            listed = reach(model)
        except (CallError, HoldgateError) as error:
            fix = "start the endpoint, set its key variable, or correct its address"
            return Check(name, "fail", place, str(error), fix)
        if listed:
            return Check(name, "ok", place, f"{model.endpoint} answers, and lists {model.name}")
        words = f"{model.endpoint} answers, but does not list a model {model.name!r}"
        return Check(name, "warn", place, words, "see that the name is the endpoint's own")
    if model.hosted is not None:
        return _hosted(name, place, model.hosted)
    return Check(name, "ok", place, "simulated: a formula, which says nothing about a model")


def check_price(role: str, model: ModelPlan, *, in_usd: bool) -> Check:
    """Whether it is known what a role's tokens cost; ``in_usd``: whether a limit in US dollars counts on it."""
    place = f"{role}.model.price"
    if model.replay is not None:
        return Check("price", "ok", place, "a replay pays for nothing")
    if model.local is not None or model.simulated is not None:
        return Check("price", "ok", place, "no price applies")
    fix = "state it: price: {prompt_usd_per_million: …, completion_usd_per_million: …}"
    try:
        price = price_of_plan(model)
    except HoldgateError as error:
        return Check("price", "fail", place, str(error), fix)
    if price is None:
        words = "no price is stated for this endpoint: no cost will be counted"
        return Check("price", "fail" if in_usd else "warn", place, words, fix)
    return Check("price", "ok", place, f"{_dollars(price)} ({'stated' if model.price else 'litellm'})")


def check_parameters(role: str, model: ModelPlan, sent: Callable[[], Mapping[str, Any]]) -> Check:
    """Whether a role's model accepts what will be sent; ``sent`` raises where it is known not to."""
    place = f"{role}.budget"
    try:
        names = sorted(sent())
    except HoldgateError as error:
        return Check("parameters", "fail", place, str(error), "change the plan as the message says")
    known = capabilities_of(model)
    words = f"sends {', '.join(names)}" + ("" if known.seed else "; no seed, which this model does not take")
    if not known.sources and model.original.endpoint is not None:
        words += "; what this endpoint accepts is not known"
        return Check(
            "parameters", "warn", place, words, "none needed: what it refuses stops the first call, and is named"
        )
    return Check("parameters", "ok", place, words)


def check_context(role: str, model: ModelPlan, longest: str, needed: Range) -> Check:
    """Whether the longest call fits into the context of a role's model."""
    place = f"{role}.model"
    if model.original.simulated is not None:
        return Check("context", "ok", place, "a formula reads prompts of any length")
    limit = stated_context(model.original) if model.replay is None else None
    limit = limit or capabilities_of(model).context_tokens
    what = f"the longest call (example {longest}) needs about {needed.low:,.0f} to {needed.high:,.0f} tokens"
    if limit is None:
        return Check("context", "warn", place, f"{what}; the context length is not known", "compare it yourself")
    words = f"{what} of {limit:,}"
    fix = "take a model with a longer context, a smaller answer cap, or shorter documents"
    if needed.low > limit:
        return Check("context", "fail", place, words, fix)
    return Check("context", "warn", place, words, fix) if needed.high > limit else Check("context", "ok", place, words)


def check_pin(role: str, pin: Pin, settings: Mapping[str, Any], *, place: str) -> Iterator[Check]:
    """Whether a pinned model still is what it was on the day it was pinned."""
    fix = f"holdgate models pin --role {pin.role} … --update, if the change is meant"
    try:
        now = pin_model(pin.role, pin.model, settings=pin.settings)
    except HoldgateError as error:
        yield Check("pin", "warn", place, f"{role}: {error}", fix)
        return
    if now.context_tokens is None:
        now = replace(now, context_tokens=pin.context_tokens)  # an endpoint that is silent now has its own check
    drifted = list(differences(pin, replace(now, version=pin.version)))
    if pin.settings and dict(pin.settings) != dict(settings):
        drifted.append(f"{pin.role} is used with {dict(settings)}, and was pinned with {dict(pin.settings)}")
    if drifted:
        yield Check("pin", "warn", place, f"since it was pinned {pin.pinned_at}: {'; '.join(drifted)}", fix)
    else:
        yield Check("pin", "ok", place, f"{role} is {' '.join(place_of(pin.model))}, as pinned {pin.pinned_at}")


def _recorded(path: Path, model: ModelPlan) -> str:
    answers = RecordedAnswers(path)
    count = answers.count(open_transport(model.original).identity)
    answers.close()
    if count == 0:
        raise CallError(f"{path} holds no answer of this model", reason="not_recorded", transient=False)
    return f"replay of {path}" + ("" if count is None else f", {count} answers of this model")


def _local(name: str) -> str:
    path = require_model(name)
    found = confirm_model(path, known_model(name))
    return f"{found.path}, hash verified"


def _hosted(name: str, place: str, model: str) -> Check:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm  # imported on use: it takes seconds

    litellm.suppress_debug_info = True  # it prints advice of its own where a provider is unknown
    try:
        provider = litellm.get_llm_provider(model)[1]
    except litellm.exceptions.BadRequestError:
        words = f"{model!r} begins with no provider that litellm knows"
        return Check(name, "fail", place, words, "write provider/model, such as openai/gpt-4.1-mini")
    keys = litellm.validate_environment(model=model)
    if not keys["keys_in_environment"]:
        missing = " or ".join(sorted(keys["missing_keys"]))
        return Check(name, "fail", place, f"{provider}: {missing} is not set", f"export {missing}=…")
    return Check(name, "ok", place, f"{provider} is known and its key is set; the provider itself is not called")


def _dollars(price: Price) -> str:
    prompt, cached, completion = (each * 1e6 for each in (price.prompt, price.cached, price.completion))
    return f"US$ {prompt:g} for a million prompt tokens ({cached:g} cached), {completion:g} completion tokens"
