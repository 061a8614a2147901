"""Does a search find an improvement that is there, and nothing where none is? Simulated, over 500 fixed seeds.

The student is simulated: it takes fragments and vaguer restatements of facts for the facts, until its instruction holds
one clause against each and it reasons. The reflector is simulated too: it reads the feedback and draws fitting clauses
from a bank, told nothing else. The control makes blind edits from the same bank. A campaign succeeds if it emits a
prompt that holds both clauses.

Search, choice, seal and gate are the real ones, with default guardrails. In memory are the ledger and the judgements,
which are made at once from the student's formula; one campaign is run through the whole of Holdgate as well, and is the
same. The checks for contamination are left out of the many: no two groups share a word.
"""

from __future__ import annotations

import gc
import math
import multiprocessing
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.stats import binomtest

import optimize.protocol
from experiments import write_report
from lineage.ledger import Event, Ledger, read_events
from lineage.records import Candidate, FactVerdict, Judgement, Usage
from optimize import Campaign, parse_plan
from optimize.contamination import ContaminationRecord
from optimize.evaluation import Evaluation, Evaluator
from optimize.models import build_student, open_model
from optimize.plan import Plan
from optimize.power import Discordance, PlannedRule, detected
from optimize.protocol import Protocol
from optimize.reflecting import build_offline
from optimize.stats import wilson
from optimize.watching import Unwatched
from splits import Corpus, Example, Fact, NgramIndex, SplitLock, commit_lock, load_lock, plan_lock
from splits.lock import split_examples, without_text
from students import INSTRUCTION, load_instruction
from students.per_fact import PerFactChecker
from students.student import Draw, draw_seed, student_hash
from students.transport.planted import FRAGMENT, RESTATED, STATED, PlantedTransport, overlap_of

SEEDS = 500
SIZES = {"reflect": 12, "accept": 40, "heldout": 60}
ITERATIONS = 14
NOISE = 0.4
BASELINE = load_instruction("stated-in-note")
REFLECTION, CONTROL = "simulated-diagnosis", "random-edits"


# -- the world ---------------------------------------------------------------------------------------------------------


def invented(count: int) -> Iterator[str]:
    """Words of three syllables that share no beginning of six letters."""
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    rng = np.random.default_rng(7)
    drawn = rng.permutation(len(syllables) ** 3)[:count]
    for number in drawn.tolist():
        yield "".join(syllables[number // len(syllables) ** place % len(syllables)] for place in range(3))


@cache
def corpus() -> Corpus:
    """Groups of two facts: a clean note, one with a fragment of the first fact, and one with the second made vaguer."""
    words = invented(sum(SIZES.values()) * 10)
    examples: list[Example] = []
    facts: dict[str, tuple[Fact, ...]] = {}
    for number in range(sum(SIZES.values())):
        group = f"p{number:03}"
        said = [[next(words) for _ in range(5)] for _ in range(2)]
        facts[group] = tuple(
            Fact(f"f{place}", group, f"{' '.join(each).capitalize()}.", (" ".join(each),), "critical", True)
            for place, each in enumerate(said, start=1)
        )
        for name, kept, trace, fact in (
            ("clean", (5, 5), None, None),
            ("fragment", (2, 5), "partial-weak", "f1"),
            ("restated", (5, 4), "partial-strong", "f2"),
        ):
            clean = trace is None
            examples.append(
                Example(
                    id=f"{group}.{name}",
                    group=group,
                    stratum="all",
                    source="\n".join(f"Patient: {' '.join(each)}." for each in said),
                    document="\n".join(["PLAN", *(f"- {' '.join(e[:k])}." for e, k in zip(said, kept, strict=True))]),
                    label="clean" if clean else "omission",
                    kind="clean" if clean else "omit",
                    severity=None if clean else "critical",
                    trace=trace,
                    twin=None if clean else f"{group}.clean",
                    fact=fact,
                )
            )
    return Corpus(tuple(examples), facts)


@dataclass(frozen=True)
class Arm:
    """One kind of campaign; only the seed differs between its campaigns."""

    kind: str = REFLECTION
    effect: float = 3.0
    effort: str = "low"

    def plan(self, seed: int) -> Plan:
        data: dict[str, Any] = {
            "name": "planted",
            "corpus": {"path": "corpus.jsonl", "facts": "facts.jsonl"},
            "splits": {"lock": "split.lock.json"},
            "student": {
                "shape": "per-fact",
                "budget": {"effort": self.effort, "answer_tokens": 1},
                "model": {"simulated": {"noise": NOISE, "planted": {"effect": self.effect}}},
            },
            "baseline": "stated-in-note",
            "reflector": {"kind": self.kind},
            "search": {"iterations": ITERATIONS, "minibatch_groups": 3, "seed": seed},
        }
        return parse_plan(data, where="test")


@dataclass(frozen=True)
class Came:
    """What a campaign came to; ``calls`` are those of the student by phase, found in a cache or not."""

    decision: str
    both: bool
    calls: Mapping[str, int]
    proposals: int

    @property
    def success(self) -> bool:
        return self.decision == "emit" and self.both

    @property
    def searched(self) -> int:
        return self.calls["minibatch"] + self.calls["accept"]


# -- in memory ---------------------------------------------------------------------------------------------------------


class MemoryLedger(Ledger):
    """Steps that are carried out and kept as they are: nothing is chained, and nothing written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._events: list[Event] = []
        self._past: list[Event] = []
        self._done = 0
        self._listen = lambda _: None

    def close(self) -> None:
        pass

    def _append(self, kind: str, body: Mapping[str, Any]) -> Event:
        self._events.append(Event(len(self._events), "", kind, body, "", f"{len(self._events):064}"))
        return self._events[-1]


class InstantBench:
    """Judges as the per-fact checker does with the planted transport, from the same formula and without its calls."""

    def __init__(self, transport: PlantedTransport, run_seed: int) -> None:
        self._planted, self._run_seed = transport.planted, run_seed
        self.asked: Counter[str] = Counter()

    def judge(
        self,
        student: PerFactChecker,
        part: Corpus,
        candidates: Sequence[Candidate],
        *,
        phase: str,
        replicates: Collection[int] = (0,),
    ) -> tuple[Judgement, ...]:
        settings, reasons = student_hash(student), student.budget.effort != "none"
        done = []
        for candidate in candidates:
            name, instruction = candidate.id, candidate.texts[INSTRUCTION]
            seen = self._planted.seen(instruction, reasons=reasons)
            words = counted(instruction) + fixed_words(student)
            for example in part.examples:
                seed = draw_seed(self._run_seed, part.rank[example.id], 0)
                facts = part.facts[example.group]
                usage = Usage(
                    calls=len(facts),
                    prompt_tokens=len(facts) * words + asked_words(example.id),
                    completion_tokens=len(facts) * (41 if reasons else 1),
                    reasoning_tokens=len(facts) * (40 if reasons else 0),
                )
                for replicate in replicates:
                    verdicts = tuple(
                        self._verdict(student, instruction, example, fact, seen, seed, replicate) for fact in facts
                    )
                    score = round(fmean(verdict.p_yes for verdict in verdicts), 3)
                    done.append(
                        Judgement(
                            example.id,
                            name,
                            settings,
                            "scored",
                            score,
                            seed=seed,
                            replicate=replicate,
                            facts=verdicts,
                            usage=usage,
                        )
                    )
        self.asked[phase] += sum(judgement.usage.calls for judgement in done)
        return tuple(sorted(done, key=lambda judgement: judgement.key))

    def _verdict(
        self,
        student: PerFactChecker,
        instruction: str,
        example: Example,
        fact: Fact,
        seen: tuple[float, float],
        seed: int,
        replicate: int,
    ) -> FactVerdict:
        margin = self._planted.margin(overlap_of(fact.fact, example.document), seen)
        margin += self._planted.drawn(instruction, example.document, fact.fact, seed=seed, replicate=replicate)
        p_yes = round(1.0 / (1.0 + math.exp(-margin)), 6)
        return FactVerdict(fact.id, p_yes, round(margin, 6), p_yes >= student.threshold)


@cache
def counted(text: str) -> int:
    return len(re.findall(r"\w+", text))


@cache
def asked_words(example: str) -> int:
    """Words of the document and of the fact in all calls about one example."""
    asked = corpus().by_id[example]
    facts = corpus().facts[asked.group]
    return sum(counted(asked.document) + counted(fact.fact) for fact in facts)


def fixed_words(student: PerFactChecker) -> int:
    """Words of a call besides instruction, document and fact."""
    example = corpus().examples[0]
    fact = corpus().facts[example.group][0]
    return _fixed_words(student.prompt.shape.hash, student, example, fact)


_KNOWN: dict[str, int] = {}


def _fixed_words(shape: str, student: PerFactChecker, example: Example, fact: Fact) -> int:
    if shape not in _KNOWN:
        (request,) = student.chain(example, [fact], {INSTRUCTION: "x"}, Draw(0))
        whole = sum(counted(message["content"]) for message in request.messages)
        _KNOWN[shape] = whole - 1 - counted(example.document) - counted(fact.fact)
    return _KNOWN[shape]


@cache
def textless(example: str) -> Example:
    """An example as evaluations hold it; its shape is that of every corpus with its group."""
    asked = corpus().by_id[example]
    return without_text(asked, corpus().part(corpus().groups[asked.group]))


class MemoryEvaluator(Evaluator):
    """Keeps no segments."""

    def __init__(self, ledger: Ledger, bench: InstantBench) -> None:
        self._ledger = ledger
        self._instant = bench

    def evaluate(
        self,
        student: Any,
        candidates: Sequence[Candidate],
        corpus: Corpus,
        *,
        purpose: str,
        split: str,
        replicates: Collection[int] = (0,),
        iteration: int | None = None,
    ) -> tuple[Evaluation, ...]:
        judged = self._instant.judge(student, corpus, candidates, phase=purpose, replicates=sorted(replicates))
        key = {"purpose": purpose, "split": split, "candidates": [candidate.id for candidate in candidates]}
        self._ledger.perform("evaluation", {**key, "iteration": iteration}, dict)
        ordered = sorted(corpus.examples, key=lambda example: example.id)
        examples = tuple(textless(example.id) for example in ordered)
        return tuple(
            Evaluation(candidate.id, examples, tuple(j for j in judged if j.candidate == candidate.id))
            for candidate in candidates
        )


class NothingShared:
    """Stands for the contamination check of a corpus in which no two groups share a word."""

    def overlaps(self, text: str) -> tuple[()]:
        return ()


# -- campaigns ---------------------------------------------------------------------------------------------------------


def run(arm: Arm, seed: int, lock: SplitLock, place: Path) -> tuple[Came, Ledger, Mapping[str, Any]]:
    """One campaign in memory, but for its two openings in a register."""
    plan = arm.plan(seed)
    model = open_model(plan.student.model)
    assert isinstance(model.transport, PlantedTransport)
    directory = place / f"{arm.kind}-{arm.effect:g}-{arm.effort}-{seed}"
    ledger = MemoryLedger(directory / "ledger.jsonl")
    ledger.perform("plan", {"plan_hash": plan.hash, "simulated": plan.simulated}, dict)
    bench = InstantBench(model.transport, seed)
    protocol = Protocol(
        plan=plan,
        corpus=corpus(),
        lock=replace(lock, path=directory / "split.lock.json"),
        baseline=BASELINE,
        seeds={},
        exploratory=None,
        ledger=ledger,
        evaluator=MemoryEvaluator(ledger, bench),
        watcher=Unwatched(),
    )
    decided = protocol.run(build_student(plan, model), lambda: build_offline(plan))
    (choice,) = (event.body for event in ledger.events if event.type == "choice")
    winner = next(
        event.body["texts"][INSTRUCTION]
        for event in ledger.events
        if event.type == "candidate" and event.body["candidate"] == choice["winner"]
    )
    planted = model.transport.planted
    both = planted.fragment in winner and planted.restated in winner
    proposals = sum(event.type == "reflection" for event in ledger.events)
    return Came(str(decided.verdict["decision"]), both, bench.asked, proposals), ledger, decided.verdict


def without_checks(patch: pytest.MonkeyPatch, lock: SplitLock) -> None:
    """Leave the checks for contamination out of every campaign of this process."""
    patch.setattr(optimize.protocol, "record_neighbours", lambda *_: None)
    patch.setattr(
        ContaminationRecord,
        "of",
        classmethod(lambda cls, ledger, **_: cls(ledger, NothingShared())),
    )
    patch.setattr(optimize.protocol, "_forbidden", lambda *_: NgramIndex(8, frozenset()))


def run_some(arm: Arm, seeds: Sequence[int], place: Path) -> list[Came]:
    lock = load_lock(place / "lock.json", corpus())
    with pytest.MonkeyPatch.context() as patch:
        without_checks(patch, lock)
        return [run(arm, seed, lock, place)[0] for seed in seeds]


def run_all(arms: Mapping[str, tuple[Arm, int]], place: Path) -> dict[str, list[Came]]:
    """The campaigns of each arm, with so many seeds from 0, in several processes."""
    gc.collect()
    gc.freeze()  # what is imported by now is not looked through again, in any process
    jobs = [
        (name, arm, range(start, min(start + 25, count)))
        for name, (arm, count) in arms.items()
        for start in range(0, count, 25)
    ]
    with multiprocessing.get_context("fork").Pool(max(2, min(os.cpu_count() or 2, 8))) as pool:
        done = pool.starmap(run_some, [(arm, seeds, place) for _, arm, seeds in jobs], chunksize=1)
    found: dict[str, list[Came]] = {name: [] for name in arms}
    for (name, *_), came in zip(jobs, done, strict=True):
        found[name] += came
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a committed lock."""
    directory = tmp_path_factory.mktemp("planted")
    commit_lock(plan_lock(corpus(), sizes=SIZES, seed=3), directory / "lock.json")
    return directory


# -- what is planted ---------------------------------------------------------------------------------------------------


def shown(arm: Arm, place: Path, *clauses: str, seeds: int = 60) -> tuple[float, float, float]:
    """The baseline with these clauses after it against the baseline: mean gain in credit, and how their pairs differ.

    Returns:
        The gain, the share of pairs that differ, and the share of those that swap fully.
    """
    lock = load_lock(place / "lock.json", corpus())
    part = corpus().part(split_examples(lock, corpus(), "accept"))
    plan = arm.plan(0)
    model = open_model(plan.student.model)
    assert isinstance(model.transport, PlantedTransport)
    student = build_student(plan, model)
    assert isinstance(student, PerFactChecker)
    texts = {name: " ".join([BASELINE, *more]) for name, more in (("baseline", ()), ("with", clauses))}
    gains, differ, swaps = [], [], []
    for seed in range(seeds):
        bench = InstantBench(model.transport, seed)
        credit = {}
        for name, text in texts.items():
            candidate = Candidate({INSTRUCTION: text}, "seed")
            judged = bench.judge(student, part, [candidate], phase="shown")
            pairs = Evaluation(candidate.id, part.examples, judged).pairs("omission")
            credit[name] = np.array([pair.credit for pair in pairs])
        moved = np.abs(credit["with"] - credit["baseline"])
        gains.append(float((credit["with"] - credit["baseline"]).mean()))
        differ.append(float((moved > 0).mean()))
        swaps.append(float((moved == 1).sum() / max((moved > 0).sum(), 1)))
    return fmean(gains), fmean(differ), fmean(swaps)


def clauses_of(arm: Arm) -> tuple[str, str]:
    simulated = arm.plan(0).student.model.simulated
    assert simulated is not None
    assert simulated.planted is not None
    return simulated.planted.fragment, simulated.planted.restated


def test_both_clauses_and_the_budget_are_needed_and_the_effect_is_twice_the_smallest_detectable_one(
    place: Path,
) -> None:
    lock = load_lock(place / "lock.json", corpus())
    fragment, restated = clauses_of(Arm())
    effect, _, _ = shown(Arm(), place, fragment, restated)
    neutral, share, swaps = shown(Arm(effect=0.0), place, fragment, restated)
    rule = PlannedRule("lower-bound", alpha=lock.spend)
    sizes = [2] * SIZES["heldout"]
    discordance = Discordance(share, swaps, correlation=1 / 3)  # of a < c and b < c, all three being alike
    smallest = detected(rule, discordance, sizes, rng=np.random.default_rng(1)).effects[0.8]
    assert effect >= 2 * smallest > 0.2
    assert abs(neutral) < 0.03
    for arm, clauses in ((Arm(), [fragment]), (Arm(), [restated]), (Arm(effort="none"), [fragment, restated])):
        alone, *_ = shown(arm, place, *clauses)
        assert alone < smallest / 2, "a gain that the held-out split could hardly show"


def test_the_facts_of_the_corpus_are_stated_restated_or_left_as_fragments() -> None:
    found = Counter()
    for example in corpus().examples:
        for fact in corpus().facts[example.group]:
            overlap = overlap_of(fact.fact, example.document)
            found[overlap >= STATED, RESTATED <= overlap < STATED, FRAGMENT <= overlap < RESTATED] += 1
    groups = sum(SIZES.values())
    assert found == {(True, False, False): 4 * groups, (False, True, False): groups, (False, False, True): groups}


@pytest.mark.integration
def test_a_campaign_in_memory_is_one_of_the_whole_of_holdgate_and_marked_simulated(place: Path, tmp_path: Path) -> None:
    lock = load_lock(place / "lock.json", corpus())
    arm, seed = Arm(), 4
    with pytest.MonkeyPatch.context() as patch:
        without_checks(patch, lock)
        came, memory, verdict = run(arm, seed, lock, tmp_path)
    plan = arm.plan(seed)
    out = tmp_path / "runs" / "planted"
    whole = Campaign(plan, corpus(), lock, out, baseline=BASELINE).run()
    assert whole.verdict["decision"] == came.decision == "emit"
    assert whole.verdict["comparison"] == verdict["comparison"]
    events = read_events(out / "ledger.jsonl")
    for kind in ("candidate", "reflection", "outcome", "measured", "choice", "calibration", "verdict"):
        ours, theirs = ([event.body for event in each if event.type == kind] for each in (memory.events, events))
        if kind == "verdict":
            assert theirs[0]["verdict"] == verdict
        else:
            assert [dict(body) for body in ours] == theirs, kind
    assert sum(event.type == "contamination" for event in events) == 1, "nothing was found"

    settings = next(event.body["reflector"] for event in events if event.type == "reflection")
    assert (settings["reflector"], settings["simulated"]) == ("simulated-diagnosis", True)
    (began,) = (event.body for event in events if event.type == "plan")
    assert began["simulated"] is True
    assert began["plan"]["reflector"]["kind"] == "simulated-diagnosis"
    assert whole.verdict["simulated"] is True
    page = write_report(out).markdown.read_text(encoding="utf-8")
    assert "simulated judge, noise 0.4 nats, planted improvement of 3 nats" in page
    assert "SIMULATED: a rule that reads the feedback" in page
    front = yaml.safe_load((out / "prompt.md").read_text(encoding="utf-8").split("---")[1])
    assert front["simulated"] is True


@pytest.mark.integration
def test_reflection_finds_what_is_planted_blind_edits_do_not_and_nothing_is_found_where_nothing_is(
    place: Path,
) -> None:
    arms = {
        "reflection": (Arm(), SEEDS),
        "control": (Arm(kind=CONTROL), SEEDS),
        "null": (Arm(effect=0.0), SEEDS),
        "no reasoning": (Arm(effort="none"), 100),
    }
    found = run_all(arms, place)
    reflection, control = found["reflection"], found["control"]
    assert wilson(sum(each.success for each in reflection), SEEDS).low >= 0.85
    assert sum(each.success for each in control) <= 0.30 * SEEDS
    # At equal cost: as many proposals, and no fewer calls for the control.
    assert {each.proposals for each in reflection + control} == {ITERATIONS}
    assert fmean(each.searched for each in control) >= fmean(each.searched for each in reflection)
    assert fmean(each.searched for each in reflection) <= 1_600
    assert max(each.searched for each in reflection) <= 3_000
    # The gate errs in 2.5% of the comparisons that are opened, and not every campaign opens one.
    emitted = sum(each.decision == "emit" for each in found["null"])
    assert emitted <= 0.025 * SEEDS or binomtest(emitted, SEEDS, 0.025, alternative="greater").pvalue > 0.05
    assert not any(each.success for each in found["no reasoning"])
