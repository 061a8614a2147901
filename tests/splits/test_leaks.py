"""Held-out text: every way out of a campaign that we know of, tried.

Where it may be, because judging is impossible without it:

- In the corpus file, and in the memory of whoever loaded it: the seal keeps it from the search, not from its owner.
- Inside an opening: the evaluation that it is given to, the requests made of it, and whoever answers them.
- In ``judgements/*.jsonl`` of held-out evaluations: a judge's raw answers, and what it said instead of one, may quote
  what it judged, and are kept whole to be read again by the audit.
- In the call cache, which keeps every request and its answer so that nothing is paid for twice.

Nowhere else: not in what the search holds, nor in what any public function gives to whoever holds that; not in a
pickle, a copy, a representation or a traceback of a campaign's objects (below an opening a student's frames hold its
requests, and nothing here prints the variables of frames); not in the ledger, the report, MLflow or what is printed,
which the recorded campaign beside this module is about. Every group's texts hold a marker of their own.
"""

from __future__ import annotations

import collections.abc as collections_abc
import copy
import functools
import gc
import importlib
import inspect
import itertools
import pickle
import pkgutil
import re
import shutil
import traceback
import types
import typing
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optimize.protocol
from lineage.errors import CallError, CampaignError, HoldgateError, SealError
from lineage.ledger import Event, Head, Ledger, read_events
from lineage.records import Candidate, Judgement
from optimize import Campaign, parse_plan
from optimize.evaluation import Evaluation, Evaluator
from optimize.protocol import Protocol
from optimize.search import SearchSpace
from splits import Corpus, Example, Fact, NgramIndex, Seal, SplitLock, commit_lock, load_lock, plan_lock
from splits.lock import split_examples
from splits.register import register_path
from students import load_instruction

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("lineage", "splits", "students", "reflectors", "optimize")
MARK = re.compile(r"zq(g\d{3})marker|A fact of (g\d{3})\.")


def marked(text: str) -> set[str]:
    """Groups whose texts are quoted."""
    return {first or second for first, second in MARK.findall(text)}


def texts_within(root: object, seen: dict[int, object] | None = None) -> Iterator[str]:
    """Every text that can be reached from an object: items, attributes, slots, closures, bound and partial arguments.

    Modules, classes and the code of functions are not entered: they hold nothing of one campaign. What ``seen`` holds
    was entered before; it keeps its objects, so that none takes the place of another.
    """
    seen = {} if seen is None else seen
    waiting = [root]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, bytes | bytearray):
            yield bytes(found).decode("utf-8", "replace")
        if id(found) in seen or isinstance(found, types.ModuleType | type | types.CodeType):
            continue
        seen[id(found)] = found
        if isinstance(found, types.FunctionType):
            inside: list[object] = [cell.cell_contents for cell in found.__closure__ or () if cell_filled(cell)]
            inside += [found.__defaults__, found.__kwdefaults__]
        else:
            inside = [item for item in gc.get_referents(found) if not isinstance(item, type)]
        waiting += inside


def cell_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty cell raises
    except ValueError:
        return False
    return True


def quoted_within(root: object, seen: dict[int, object] | None = None) -> set[str]:
    return {group for text in texts_within(root, seen) for group in marked(text)}


# -- what a campaign holds ---------------------------------------------------------------------------------------------


@dataclass
class Held:
    """What was held at one time or another by a simulated campaign that ran to its verdict."""

    corpus: Corpus
    lock: SplitLock
    directory: Path
    campaign: Campaign
    protocols: list[Protocol] = field(default_factory=list)
    spaces: list[SearchSpace] = field(default_factory=list)
    search: dict[str, Any] = field(default_factory=dict)
    seals: list[Seal] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    verdict: Mapping[str, Any] = field(default_factory=dict)

    @property
    def heldout(self) -> set[str]:
        return set(self.lock.splits["heldout"])


@pytest.fixture(scope="module")
def held(grow: Callable[..., Corpus], tmp_path_factory: pytest.TempPathFactory) -> Held:
    place = tmp_path_factory.mktemp("leaks")
    corpus = grow([6, 6], lambda number: ("complete", "partial-weak", "add" if number % 2 else "change"))
    path = place / "split.lock.json"
    commit_lock(plan_lock(corpus, sizes={"reflect": 4, "accept": 3, "heldout": 5}, seed=2), path)
    plan = {
        "name": "leaks",
        "corpus": {"path": "corpus.jsonl", "facts": "facts.jsonl"},
        "splits": {"lock": "split.lock.json"},
        "student": {"shape": "per-fact", "model": {"simulated": {"noise": 2.0}}, "budget": {"answer_tokens": 1}},
        "baseline": "stated-in-note",
        "search": {"iterations": 4, "minibatch_groups": 1, "seed": 3},
        "gate": {"rule": "point"},
        "guardrails": {"false_alarm_margin": None, "commission_margin": None, "prompt_words": None},
    }
    lock = load_lock(path, corpus)
    baseline = load_instruction("stated-in-note")
    campaign = Campaign(parse_plan(plan, where="test"), corpus, lock, place / "run", baseline=baseline)
    found = Held(corpus, lock, place / "run", campaign)
    patch = pytest.MonkeyPatch()
    with patch.context() as patched:
        watch(patched, found)
        found.verdict = campaign.run().verdict
    assert found.verdict["decision"] == "emit", "every step of a campaign is taken"
    return found


def watch(patched: pytest.MonkeyPatch, found: Held) -> None:
    """Keep hold of everything that a campaign makes."""
    run, search, evaluate = Protocol.run, optimize.protocol.run_search, Evaluator.evaluate

    def running(self: Protocol, *arguments: Any) -> Any:
        found.protocols.append(self)
        return run(self, *arguments)

    def searching(space: SearchSpace, **others: Any) -> Any:
        found.spaces.append(space)
        found.search = others
        return search(space, **others)

    def evaluating(self: Evaluator, *arguments: Any, **options: Any) -> Any:
        made = evaluate(self, *arguments, **options)
        found.evaluations += made if options["split"] == "heldout" else ()
        return made

    class Watched(Seal):
        __slots__ = ()

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            found.seals.append(self)

    patched.setattr(Protocol, "run", running)
    patched.setattr(optimize.protocol, "run_search", searching)
    patched.setattr(Evaluator, "evaluate", evaluating)
    patched.setattr(optimize.protocol, "Seal", Watched)


def test_the_markers_are_where_they_may_be_so_that_not_finding_them_means_something(held: Held) -> None:
    assert quoted_within(held.corpus) == set(held.corpus.groups)
    assert held.heldout <= quoted_within(held.campaign)
    assert quoted_within(held.seals[0].open_exploratory) >= held.heldout
    assert quoted_within(lambda: held) == set(held.corpus.groups)
    assert len(held.evaluations) >= 1
    (space,) = held.spaces
    assert quoted_within(space) == set(held.lock.splits["reflect"]) | set(held.lock.splits["accept"])


def test_nothing_that_the_search_holds_leads_to_held_out_text(held: Held) -> None:
    for name, found in {"space": held.spaces[0], **held.search}.items():
        assert not quoted_within(found) & held.heldout, name


def test_no_evaluation_of_held_out_examples_holds_any_text(held: Held) -> None:
    for evaluation in held.evaluations:
        assert {example.group for example in evaluation.examples} == held.heldout
        assert quoted_within(evaluation) == set()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_whoever_holds_the_corpus_or_the_seal_of_a_campaign_cannot_be_pickled(held: Held, protocol: int) -> None:
    for found in (held.campaign, held.protocols[0], held.seals[0]):
        for holder in (found, [found], {"of": found}):
            with pytest.raises(SealError, match="cannot be pickled or copied"):
                pickle.dumps(holder, protocol)


def test_whoever_holds_the_corpus_or_the_seal_of_a_campaign_cannot_be_copied(held: Held) -> None:
    for found in (held.campaign, held.protocols[0], held.seals[0]):
        for copied in (copy.copy, copy.deepcopy):
            with pytest.raises(SealError, match="cannot be pickled or copied"):
                copied(found)


def test_what_can_be_pickled_or_copied_of_a_campaign_holds_no_held_out_text(held: Held) -> None:
    kept = 0
    for found in (held.lock, *held.evaluations, held.spaces[0], *held.search.values(), held.verdict):
        for made in (pickle.dumps, copy.copy, copy.deepcopy):
            try:
                gone = made(found)
            except (TypeError, HoldgateError, pickle.PicklingError, AttributeError):
                continue  # what cannot be pickled does not get away
            kept += 1
            assert not quoted_within(gone) & held.heldout
    assert kept >= 3 * (2 + len(held.evaluations)), "locks, evaluations and verdicts are there to be kept"


def test_representations_and_attributes_show_no_held_out_text(held: Held) -> None:
    shown = []
    for found in (held.campaign, held.protocols[0], held.seals[0], held.spaces[0], held.lock, *held.evaluations):
        shown += [repr(found), str(found), f"{found}", repr([found])]
        shown += [repr(vars(found))] if hasattr(found, "__dict__") else []
        shown += [repr(inspect.getattr_static(found, name)) for name in dir(found)]
        shown += [repr(getattr(found, name)) for name in dir(found) if not name.startswith("__")]
    shown += [repr(example) for example in held.corpus.examples]
    shown += [repr(facts) for facts in held.corpus.facts.values()]
    assert not {group for text in shown for group in marked(text)} & held.heldout


@pytest.mark.parametrize("after", ["baseline", "confirm"])
def test_a_traceback_from_within_an_opening_shows_no_held_out_text(held: Held, after: str, tmp_path: Path) -> None:
    def fail(self: Evaluator, student: Any, candidates: Any, corpus: Corpus, **options: Any) -> Any:
        if options["purpose"] == after:
            example = corpus.examples[0]
            raise CallError(f"no answer about {example.id}", reason="transport", transient=True)
        return evaluate(self, student, candidates, corpus, **options)

    evaluate = Evaluator.evaluate
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Evaluator, "evaluate", fail)
        campaign = Campaign(
            held.campaign.plan, held.corpus, held.lock, tmp_path / "run", baseline=load_instruction("stated-in-note")
        )
        with pytest.raises(CallError) as raised:
            campaign.run()
    shown = traceback.TracebackException.from_exception(raised.value, capture_locals=True)
    text = "".join(shown.format())
    assert "in open" in text
    assert "heldout = Corpus(" in text
    assert not marked(text) & held.heldout
    assert not marked((tmp_path / "run" / "ledger.jsonl").read_text()) & held.heldout


def test_an_error_that_quotes_held_out_text_loses_its_words(held: Held, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        ledger.perform("plan", {}, dict)
        seal = Seal(held.corpus, held.lock, ledger, target="instruction", caller="test")

        def refuse(part: Corpus) -> None:
            cause = ValueError(f"the request was: {part.examples[0].source}")
            raise CallError("refused", reason="refused", transient=False) from cause

        with pytest.raises(CallError, match=r"\(refused\); what the endpoint said .* is withheld") as raised:
            seal.open_exploratory("a look", refuse, reason="a test")
    assert (raised.value.reason, raised.value.transient) == ("refused", False)
    assert not marked("".join(traceback.format_exception(raised.value)))
    assert raised.value.__cause__ is raised.value.__context__ is None


@pytest.mark.parametrize("quoting", [True, False])
def test_an_error_of_a_judges_own_code_is_kept_unless_it_quotes(quoting: bool, held: Held, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        ledger.perform("plan", {}, dict)
        seal = Seal(held.corpus, held.lock, ledger, target="instruction", caller="test")

        def fail(part: Corpus) -> None:
            raise KeyError(part.examples[0].source if quoting else part.examples[0].id)

        kind, said = (CampaignError, "KeyError while .* is withheld") if quoting else (KeyError, "g0")
        with pytest.raises(kind, match=said) as raised:
            seal.open_exploratory("a look", fail, reason="a test")
    assert not marked("".join(traceback.format_exception(raised.value)))


# -- public functions --------------------------------------------------------------------------------------------------

NOT_TRIED: Mapping[str, str] = {
    "splits.Seal": "the door itself: what it opens goes to an evaluation, and is logged",
    "splits.load_hub_dataset": "asks a hub of data sets, and knows no campaign",
    "lineage.mirror": "writes to MLflow's store, which is looked through below",
    "students.known_capabilities": "reads a table of models",
    "students.transport.price_of": "reads a table of prices",
    "students.local": "fetches models and starts servers",
    "optimize.simulation": "draws judges of its own",
    "optimize.power": "works on counts",
    "optimize.stats": "works on numbers",
}
"""What is not called, and why that loses nothing."""


def public() -> Iterator[tuple[str, Any]]:
    """Every public callable of every package, by its name."""
    names = list(PACKAGES)
    for package in PACKAGES:
        module = importlib.import_module(package)
        names += [found.name for found in pkgutil.iter_modules(module.__path__, f"{package}.") if found.ispkg]
    for name in names:
        module = importlib.import_module(name)
        for public_name in getattr(module, "__all__", ()):
            whole = f"{name}.{public_name}"
            if callable(found := getattr(module, public_name)) and not {name, whole} & NOT_TRIED.keys():
                yield whole, found


class Pool:
    """What whoever runs a search holds, by type; and the calls that can be made with it."""

    def __init__(self, held: Held, place: Path, ledger: Ledger) -> None:
        run = Path(shutil.copytree(held.directory, place / "copy"))
        parts = [held.corpus.part(split_examples(held.lock, held.corpus, name)) for name in ("reflect", "accept")]
        path = register_path(held.lock)
        group = held.lock.splits["heldout"][0]
        events = read_events(run / "ledger.jsonl")
        self.of: dict[Any, list[Any]] = defaultdict(list)
        self.of[str] = ["heldout", "confirm", f"{group}.clean", group]
        self.of[int], self.of[float], self.of[bool] = [1, 10], [0.5], [True]
        self.of[Path] = [run, run / "ledger.jsonl", run / "split.lock.json", run / "examples.jsonl", path]
        self.of[Corpus], self.of[SplitLock], self.of[Ledger] = parts, [held.lock], [ledger]
        self.of[Evaluation] = held.evaluations
        self.of[Event], self.of[Head] = list(events[-2:]), [ledger.head]
        self.of[SearchSpace], self.of[NgramIndex] = held.spaces, [held.spaces[0].forbidden]
        self.of[Example], self.of[Fact] = list(parts[0].examples[:2]), [parts[0].facts[parts[0].examples[0].group][0]]
        self.of[Candidate] = [held.spaces[0].seed_candidate]
        self.of[Judgement] = [held.evaluations[0].judgements[0]]
        self.of[np.random.Generator] = [np.random.default_rng(0)]

    def values(self, hint: Any) -> list[Any]:
        """Values for an annotation; none where nothing that a search holds would do."""
        origin, inside = typing.get_origin(hint), typing.get_args(hint)
        if hint is Any or isinstance(hint, typing.TypeVar):
            return [*self.of[Corpus], *self.of[SplitLock]]
        if origin in (typing.Union, types.UnionType):
            return [value for one in inside for value in ([None] if one is type(None) else self.values(one))]
        if origin is typing.Literal:
            return list(inside)
        if origin is collections_abc.Callable:
            return [lambda *arguments, **_: arguments[0] if arguments else None]
        if origin in (tuple, list, set, frozenset, *SEQUENCES):
            one = self.values(inside[0]) if inside else []
            return [one] if one else []
        if origin in (dict, collections_abc.Mapping):
            key, value = (self.values(part) for part in inside)
            keys = [one for one in key if isinstance(one, str | int | float)]
            return [dict.fromkeys(keys, value[0])] if keys and value else []
        if isinstance(hint, type):
            return [value for kind, found in self.of.items() if is_a(kind, hint) for value in found]
        return []

    def calls(self, function: Callable[..., Any], *, most: int = 16) -> Iterator[functools.partial[Any]]:
        """Calls of a function with what there is for each of its parameters."""
        try:
            hints, parameters = typing.get_type_hints(function), inspect.signature(function).parameters
        except (NameError, TypeError, ValueError, AttributeError):
            return
        wanted: dict[str, list[Any]] = {}
        for name, parameter in parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or name == "self":
                continue
            values = self.values(hints.get(name, str))
            if not values and parameter.default is parameter.empty:
                return
            if values:
                wanted[name] = values
        for chosen in itertools.islice(itertools.product(*wanted.values()), most):
            yield functools.partial(function, **dict(zip(wanted, chosen, strict=True)))


SEQUENCES = (
    collections_abc.Sequence,
    collections_abc.Iterable,
    collections_abc.Collection,
    collections_abc.Set,
    collections_abc.Iterator,
)


def is_a(kind: type, hint: type) -> bool:
    """Whether a type will do for an annotation; a protocol that cannot be asked never does."""
    try:
        return issubclass(kind, hint)
    except TypeError:
        return False


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or says in vain."""
    try:
        made = call()
        if inspect.iscoroutine(made):
            made.close()
            return None
        return list(itertools.islice(made, 50)) if isinstance(made, types.GeneratorType) else made
    except Exception as error:
        return "".join(traceback.format_exception(error))


def test_no_public_function_gives_held_out_text_to_whoever_holds_what_a_search_holds(
    held: Held, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tried: set[str] = set()
    seen: dict[int, object] = {}
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        ledger.perform("plan", {}, dict)
        pool = Pool(held, tmp_path, ledger)
        for name, found in public():
            made = [outcome(call) for call in pool.calls(found)]
            if made:
                tried.add(name)
            assert not quoted_within(made, seen) & held.heldout, name
            instances = [one for one in made if isinstance(found, type) and is_a(type(one), found)][:2]
            instances += pool.of.get(found, [])[:2] if isinstance(found, type) else []
            for instance in instances:
                for member in (member for member in dir(instance) if not member.startswith("_")):
                    value = outcome(lambda: getattr(instance, member))  # noqa: B023 - called at once
                    if callable(value):
                        value = [outcome(call) for call in pool.calls(value)]
                    tried.add(f"{name}.{member}")
                    assert not quoted_within(value, seen) & held.heldout, f"{name}.{member}"
    assert {
        *("splits.split_examples", "splits.load_lock", "splits.plan_lock", "splits.read_exclusion"),
        *("splits.Corpus.part", "splits.SplitLock.row", "splits.NgramIndex.copied", "lineage.read_events"),
        *("lineage.audit.audit_ledger", "optimize.recompute.load_run", "reflectors.build_traces"),
    } <= tried
