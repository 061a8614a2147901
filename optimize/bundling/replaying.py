"""Running a recorded campaign again, from recorded answers alone, and comparing what it comes to."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from lineage._version import __version__
from lineage.bundle import Extracted, extract_bundle
from lineage.canonical import digest, write_atomic
from lineage.errors import BundleError, CallError, HoldgateError
from lineage.imported import IMPORTED
from lineage.ledger import ASIDE, Event, canonical_replay, read_events
from lineage.records import VOLATILE
from optimize.bundling.answers import UsedAnswers
from optimize.bundling.rebuilding import recorded_plan
from optimize.bundling.stated import check_stated
from optimize.campaign import Campaign
from optimize.model_plan import ModelPlan
from optimize.models import Model, open_transport, price_of_plan
from optimize.plan import Plan
from optimize.recompute import differences
from optimize.reflecting import REQUESTS
from splits import load_corpus, load_lock
from splits.corpus import Corpus
from splits.lock import SplitLock
from splits.register import register_opening
from students.transport import ReplayTransport

CALLS: Final = "calls.jsonl"
LOCK: Final = "split.lock.json"
SHOWN: Final = 3
"""Most differences that are told."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay came to.

    Attributes:
        directory: its run directory.
        equal: whether its canonical replay is the recorded one.
        recorded: hash of the recorded canonical replay.
        found: hash of its own.
        calls: recorded answers that it used.
        difference: the first differences, in words.
        versions: versions that wrote the run and replay it, where they differ.
    """

    directory: Path
    equal: bool
    recorded: str
    found: str
    calls: int
    difference: tuple[str, ...] = ()
    versions: tuple[str, str] | None = None


def replay_bundle(path: Path, directory: Path) -> Replayed:
    """Run the campaign of a bundle again in a new directory, without any key, model or network.

    Args:
        path: the bundle.
        directory: new, or empty; the run directory is ``run`` in it.

    Raises:
        BundleError: the bundle is damaged, withholds text, or is of no finished campaign.
        CallError: a call that the campaign comes to has no recorded answer; names the first.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise BundleError(f"{directory} holds something already; a replay takes a new directory: give another --out")
    with tempfile.TemporaryDirectory(prefix="holdgate-bundle-") as place:
        found = extract_bundle(path, Path(place))
        _refuse(path, found)
        corpus = load_corpus(found.directory / "corpus" / "corpus.jsonl", facts=_facts(found))
        return replay_run(found.run, directory, corpus=corpus, answers=found.directory / CALLS)


def _refuse(path: Path, found: Extracted) -> None:
    check_stated(found)
    if found.damage:
        first = found.damage[0]
        raise BundleError(f"{path}: {first.name} {first.words}; get the bundle again (holdgate audit {path})")
    if found.manifest.get("withheld") is not None:
        raise BundleError(
            f"{path}: withholds the texts that its calls were made of, so nothing can be run again: neither corpus nor "
            "answers are in it. Audit it (holdgate audit), or ask who packed it for a bundle with the texts"
        )
    if not found.manifest["replay"]["possible"]:
        raise BundleError(f"{path}: cannot be replayed: {found.manifest['replay']['reason']}")


def _facts(found: Extracted) -> Path | None:
    path = found.directory / "corpus" / "facts.jsonl"
    return path if path.is_file() else None


def no_replay(events: Sequence[Event]) -> str | None:
    """Why a run cannot be replayed whatever answers there are, in words; None where it can."""
    if not events or events[0].type == IMPORTED:
        return "it is an imported lineage, which made no calls"
    if (kind := events[0].body.get("kind")) is not None:
        return f"it is a {kind} run; campaigns alone are replayed"
    if not any(event.type == "finished" for event in events):
        return "the campaign is not finished; resume it, and pack it again"
    if events[0].body["plan"]["reflector"]["kind"] == "replay":
        return "its reflections are those of another recording, which is no part of it"
    return None


def replay_run(run: Path, directory: Path, *, corpus: Corpus, answers: Path | UsedAnswers) -> Replayed:
    """Run a recorded campaign again.

    Args:
        run: its run directory.
        directory: new, or empty.
        corpus: its whole corpus.
        answers: the recorded answers.

    Raises:
        HoldgateError: with what keeps it from being run again.
    """
    events = read_events(run / "ledger.jsonl")
    if (why := no_replay(events)) is not None:
        raise BundleError(f"{run}: cannot be replayed: {why}")
    registered = events[0].body
    plan = _replaying(recorded_plan(registered), registered["replayed"], run)
    lock = _lock(run, directory, corpus, events, simulated=registered["simulated"])
    if (run / REQUESTS).is_dir():
        shutil.copytree(run / REQUESTS, directory / "run" / REQUESTS)
    with _opened(answers) as recorded:
        Campaign(
            plan,
            corpus,
            lock,
            directory / "run",
            baseline=registered["baseline"],
            seeds=registered["seeds"],
            cache=directory / "calls.sqlite",
            exploratory=_stated_reason(plan, registered["exploratory"]),
            models_hash=registered["models_hash"],
            wait=False,
            opened=lambda model: _recorded_model(model, recorded),
        ).run()
        return _compared(events, directory / "run", calls=len(recorded.used))


@contextmanager
def _opened(answers: Path | UsedAnswers) -> Iterator[UsedAnswers]:
    if isinstance(answers, UsedAnswers):
        yield answers
        return
    with ExitStack() as stack:
        recorded = UsedAnswers(answers)
        stack.callback(recorded.release)
        yield recorded


def _recorded_model(plan: ModelPlan, answers: UsedAnswers) -> Model:
    """Recorded answers in the place of a model; nothing else is ever asked, and nothing has to be reached."""
    model = open_transport(plan.original)
    transport = ReplayTransport(answers, identity=model.identity, serial=model.serial, simulated=model.simulated)
    try:
        price = price_of_plan(plan.original)
    except HoldgateError:
        price = None  # answers have their cost with them
    return Model(transport, transport.identity, plan.concurrency, price, lambda: None, answers)


def _replaying(plan: Plan, roles: Sequence[str], run: Path) -> Plan:
    """The plan as it was given: a campaign that was itself a replay says so."""
    models = {role: ModelPlan(replay=str(run / CALLS), of=plan.roles[role]) for role in roles}
    return plan.with_models(models) if models else plan


def _stated_reason(plan: Plan, recorded: str | None) -> str | None:
    """The reason that the campaign was given, without that of its controls, which it states itself."""
    control = plan.controls.reason
    if recorded is None or control is None or recorded == control:
        return recorded
    return recorded.removeprefix(f"{control}; ")


def _lock(run: Path, directory: Path, corpus: Corpus, events: Sequence[Event], *, simulated: bool) -> SplitLock:
    """The split lock in a file of its own, beside a register with as many comparisons before as were recorded."""
    path = directory / "lock" / LOCK
    write_atomic(path, (run / LOCK).read_text(encoding="utf-8"))
    lock = load_lock(path, corpus)
    if simulated:
        return lock
    opened = [event.body for event in events if event.type == "seal_opened" and event.body["comparison"] is not None]
    for number in range(opened[0]["comparison"]["k"] - 1 if opened else 0):
        register_opening(
            lock,
            campaign=digest({"before": number}),
            target=opened[0]["target"],
            opening="confirm",
            purpose="stands for a comparison that the recorded campaign found there",
            caller="holdgate replay",
        )
    return lock


def _compared(events: Sequence[Event], run: Path, *, calls: int) -> Replayed:
    again = read_events(run / "ledger.jsonl")
    before, after = (list(canonical_replay(_steps(each))) for each in (events, again))
    hashes = digest(before), digest(after)
    version = str(events[0].body.get(VOLATILE, {}).get("holdgate", "unknown"))
    return Replayed(
        directory=run,
        equal=before == after,
        recorded=hashes[0],
        found=hashes[1],
        calls=calls,
        difference=tuple(_difference(before, after)),
        versions=None if version == __version__ else (version, __version__),
    )


def _steps(events: Sequence[Event]) -> list[Event]:
    """Without looks beside the steps, which nothing calls for."""
    return [event for event in events if not event.body.get(ASIDE)]


def _difference(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for place, (recorded, found) in enumerate(zip_longest(before, after)):
        if recorded == found:
            continue
        if recorded is None or found is None:
            yield f"step {place}: {len(before)} steps recorded, {len(after)} replayed"
            return
        words = list(differences(recorded, found))[:SHOWN]
        yield from (f"step {place} ({recorded['type']}): {word}" for word in words)
        return


def missing_call(error: HoldgateError) -> bool:
    """Whether a replay stopped at a call without a recorded answer."""
    return isinstance(error, CallError) and error.reason == "not_recorded"
