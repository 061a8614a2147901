"""``holdgate grounding``: the negation-aware gate on a case set, on one answer, and the stress test of any design."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click
from pydantic import ValidationError
from rich.console import Console

from experiments.grounding_screen import show_gated, show_result, show_stress
from experiments.judging.screen import say
from lineage.canonical import pretty_json, write_atomic
from lineage.errors import InputError, PlanError
from optimize.grounding import (
    GroundingSettings,
    load_cases,
    load_equivalents,
    run_grounding,
    run_stress,
)
from optimize.grounding.cases import BUNDLED
from optimize.grounding.checking import check_answer
from optimize.model_lock import load_model_lock
from optimize.model_plan import ModelPlan
from optimize.plan import RoleLimitsPlan
from students import Progress, load_instruction
from students.grounding import PASS_MARK
from students.local import DEFAULT_MODEL

QUIET_S: Final = 20.0
"""Seconds between lines where the output is not a terminal."""
FILE: Final = "grounding.json"

_OPTIONS: Final = (
    click.option("--local", metavar="NAME", help=f"An embedded model (default: {DEFAULT_MODEL.name})."),
    click.option("--hosted", metavar="PROVIDER/MODEL", help="A hosted model, named as in litellm."),
    click.option("--endpoint", metavar="ADDRESS", help="An OpenAI-compatible endpoint, up to and with /v1."),
    click.option("--name", help="The model that the endpoint is asked for."),
    click.option("--key-env", metavar="VARIABLE", help="Environment variable that holds the endpoint's key."),
    click.option("--models", type=click.Path(path_type=Path), metavar="LOCK", help="A model lock; goes with --role."),
    click.option("--role", help="Role whose pinned model judges (see holdgate models pin)."),
    click.option(
        "--word-overlap", is_flag=True, help="Judge by shared words: free, the same every time, and no model."
    ),
    click.option("--score", "scored", is_flag=True, help="Ask for a score in words, not for log-probabilities."),
    click.option("--pass-mark", type=float, default=PASS_MARK, show_default=True, help="Least rating that passes."),
    click.option("--instruction", help="Text of the evolving block: a bundled seed's name or a file."),
    click.option("--calls", type=click.IntRange(min=0), help="Most calls to pay for."),
    click.option("--tokens", type=click.IntRange(min=0), help="Most tokens to pay for."),
    click.option("--usd", type=click.FloatRange(min=0), help="Most US dollars to pay."),
    click.option(
        "--cache",
        type=click.Path(path_type=Path),
        default=Path("runs") / "calls.sqlite",
        show_default=True,
        help="Call cache; what it holds is not paid for again.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
)


def _with_judge(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say which judge rates what is affirmed, and what it may cost."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group("grounding")
def grounding_group() -> None:
    """The gate that holds an answer against its source, and understands "no": holdgate grounding eval."""


@grounding_group.command("eval")
@click.option("--cases", type=click.Path(path_type=Path), help="Directory of a case set of your own.")
@click.option("--family", type=click.Choice(("nine", "kinds", "limit")), help="Only this family of cases.")
@click.option("--no-stress", is_flag=True, help="Leave the equivalent phrasings out.")
@click.option("--out", type=click.Path(path_type=Path), help=f"Directory that gets {FILE}.")
@_with_judge
def eval_command(cases: Path | None, family: str | None, no_stress: bool, out: Path | None, **given: Any) -> None:
    """Judge a case set with one call on the whole answer (before) and with the gate (after).

    Precision and recall are by question type and kind, with intervals, and what the gate rejected is listed. The stress
    test measures how far each arm's score falls between phrasings that say the same.
    """
    settings = _settings(given)
    directory = cases or BUNDLED
    found = load_cases(directory)
    if family is not None:
        found = tuple(case for case in found if case.family == family)
        if not found:
            raise InputError(f"{directory} holds no case of family {family}; leave --family out")
    equivalents = () if no_stress else load_equivalents(directory)
    console = _console(given["as_json"])
    say(console, f"{len(found)} cases on {len({case.group for case in found})} notes; judge: {_judge_name(given)}")
    follower = _Lines(console)
    try:
        result = run_grounding(found, equivalents, settings, cache=given["cache"], progress=follower.judged)
    finally:
        follower.close()
    row = {"judge": _judge_name(given), "pass_mark": settings.pass_mark, **result.row()}
    if out is not None:
        write_atomic(out / FILE, pretty_json(row))
    if given["as_json"]:
        click.echo(json.dumps(row, indent=2, ensure_ascii=False))
        return
    show_result(console, result, judge=_judge_name(given))
    if out is not None:
        say(console, f"written: {out / FILE}")


@grounding_group.command("check")
@click.option("--source", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Source.")
@click.option("--answer", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Answer.")
@click.option("--question", default="", help="What the answer answers, where a bare no may stand in it.")
@_with_judge
def check_command(source: Path, answer: Path, question: str, **given: Any) -> None:
    """Hold one answer against one source: exit 0 where it is delivered, 4 where it is rejected or undecided."""
    settings = _settings(given)
    texts = {path: _text(path) for path in (source, answer)}
    console = _console(given["as_json"])
    gated = check_answer(texts[answer], texts[source], settings, question=question, cache=given["cache"])
    if given["as_json"]:
        click.echo(json.dumps(gated.row(texts[source]), indent=2, ensure_ascii=False))
    else:
        show_gated(console, gated, texts[source])
    if gated.text is None:
        sys.exit(4)


@grounding_group.command("stress")
@click.option("--shape", required=True, help="Design to test, as a plan names it.")
@click.option("--cases", type=click.Path(path_type=Path), help="Directory with phrasings of your own.")
@_with_judge
def stress_command(shape: str, cases: Path | None, **given: Any) -> None:
    """Measure how far any design's score falls from true statements to denials that say the same."""
    settings = _settings(given)
    families = load_equivalents(cases or BUNDLED)
    console = _console(given["as_json"])
    follower = _Lines(console)
    try:
        stress = run_stress(families, shape, settings, cache=given["cache"], progress=follower.judged)
    finally:
        follower.close()
    if given["as_json"]:
        click.echo(json.dumps({"judge": _judge_name(given), "shape": shape, **stress.row()}, indent=2))
        return
    show_stress(console, {shape: stress})


def _settings(given: dict[str, Any]) -> GroundingSettings:
    instruction = given["instruction"]
    pass_mark = given["pass_mark"]
    if not 0 < pass_mark <= 1:
        raise InputError(f"--pass-mark must be in (0, 1], got {pass_mark:g}; use {PASS_MARK}")
    return GroundingSettings(
        _model(given),
        given["scored"],
        pass_mark,
        None if instruction is None else load_instruction(instruction),
        RoleLimitsPlan(calls=given["calls"], tokens=given["tokens"], usd=given["usd"]),
    )


def _model(given: dict[str, Any]) -> ModelPlan:
    """The judge's model; the embedded one where none is named.

    Raises:
        PlanError: several are named, or a part of one is missing.
    """
    named = [name for name in ("local", "hosted", "endpoint", "role") if given[name] is not None]
    if given["word_overlap"]:
        named.append("word-overlap")
    if len(named) > 1:
        raise PlanError(f"name one judge, got {', '.join(f'--{name}' for name in named)}")
    if (given["models"] is None) != (given["role"] is None):
        raise PlanError("--models and --role go together: the lock, and the role in it")
    if given["word_overlap"]:
        return ModelPlan.model_validate({"simulated": {"noise": 0.0}})
    if given["role"] is not None:
        lock = load_model_lock(given["models"])
        if given["role"] not in lock.pins:
            raise PlanError(
                f"{given['models']}: role {given['role']!r} is not pinned; there are {', '.join(lock.pins)}"
            )
        return lock.pins[given["role"]].resolved
    data = {name: given[name] for name in ("local", "hosted", "endpoint", "name", "key_env") if given[name] is not None}
    if not named:
        data["local"] = DEFAULT_MODEL.name
    if "local" in data:
        data["deadline_s"] = 600.0
    try:
        return ModelPlan.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise PlanError(f"the judge's model: {first['msg'].removeprefix('Value error, ')}") from error


def _judge_name(given: dict[str, Any]) -> str:
    if given["word_overlap"]:
        return "word overlap (no model)"
    if given["role"] is not None:
        return f"role {given['role']} of {given['models']}"
    return str(given["hosted"] or given["name"] or given["local"] or DEFAULT_MODEL.name)


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 ({error.reason}); save it as UTF-8") from error
    if not text.strip():
        raise InputError(f"{path}: is empty")
    return text


def _console(as_json: bool) -> Console:
    return Console(width=None if sys.stdout.isatty() else 160, stderr=as_json)


class _Lines:
    """Progress: one status line on a terminal, and otherwise a line now and then."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = console.status("reading the cases") if console.is_terminal else None
        self._turn, self._last = "", time.monotonic()
        if self._status is not None:
            self._status.start()

    def judged(self, name: str, progress: Progress) -> None:
        """An arm has come further."""
        line = (
            f"{name} · judged {progress.done} of {progress.of} · {progress.paid} calls paid, {progress.cached} cached"
        )
        if self._status is not None:
            self._status.update(line)
        elif name != self._turn or time.monotonic() - self._last > QUIET_S:
            self._turn, self._last = name, time.monotonic()
            say(self._console, f"  {line}")

    def close(self) -> None:
        """Take the status line away."""
        if self._status is not None:
            self._status.stop()
