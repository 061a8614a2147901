"""A campaign of many candidates and judgements that an audit takes for one, written as fast as the disk takes it.

Its events go through the ledger, its openings through the seal, its measures, choice and verdict through the protocol,
all without waiting for the disk; only the search is a short loop, and its judgements are drawn rather than asked for.
It is a simulation of a record: the scores are noise with a drift, and say nothing of any judge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from experiments.benchmarks.drawn import FACTS, DrawnEvaluator
from lineage.canonical import canonical_json, digest, digest_bytes, pretty_json, write_atomic
from lineage.ledger import Event, Ledger, head_file
from lineage.records import VOLATILE, Candidate, minibatch_gain
from optimize import parse_plan
from optimize.choice import choice_row, choose
from optimize.contamination import record_neighbours
from optimize.evaluation import Evaluation
from optimize.measured import record_measures
from optimize.models import build_student, open_model
from optimize.plan import Plan
from optimize.protocol import CALLER, TARGET, Protocol, Searched
from optimize.registering import register
from optimize.search import PoolEntry, SearchResult, candidate_row
from optimize.texts import candidate_of
from optimize.watching import Unwatched
from reflectors import OperatorReflector, Reflection, Reflector
from splits import Corpus, Selection, commit_lock, load_bundled, load_lock, plan_lock
from splits.lock import split_examples
from splits.seal import Seal
from students import Student, load_instruction

SIZES: Final = {"reflect": 8, "accept": 40, "heldout": 12}
"""Groups of each split, of five notes each."""
MINIBATCH_GROUPS: Final = 4
CLAUSES: Final = (
    "A fact in other words is stated.",
    "A fact that follows from another is not stated.",
    "Read the plan of the note as carefully as its history.",
    "Numbers and doses must agree.",
    "What the note leaves open is not stated.",
)
"""What instructions are made of."""
ACCEPTED: Final = 0.31
"""Share of the proposals that beat their parent."""
RECENT: Final = 40
"""Parents are drawn of so many latest members of the pool."""


@dataclass(frozen=True, slots=True)
class LargeRun:
    """What was written."""

    directory: Path
    candidates: int
    judgements: int
    pool: int
    decision: str


def plan_of(candidates: int, seed: int) -> Plan:
    """A simulated per-fact campaign with so many candidates."""
    data = {
        "name": f"large-{candidates}",
        "corpus": {"bundled": "consults"},
        "splits": {"lock": "split.lock.json"},
        "student": {
            "shape": "per-fact",
            "model": {"simulated": {"noise": 2.0}},
            "budget": {"answer_tokens": 1},
            "max_facts": FACTS,
        },
        "baseline": "stated-in-note",
        "search": {"iterations": candidates - 1, "minibatch_groups": MINIBATCH_GROUPS, "seed": seed},
        "gate": {"rule": "point"},
        "guardrails": {"false_alarm_margin": None, "commission_margin": None, "prompt_words": None},
    }
    return parse_plan(data, where="the benchmark")


def write_large_run(directory: Path, *, candidates: int, seed: int = 1) -> LargeRun:
    """Write the run directory of a finished campaign of so many candidates, the baseline among them.

    About a hundred judgements a candidate; its split lock and nothing else lies beside it.
    """
    corpus, plan = load_bundled("consults"), plan_of(candidates, seed)
    beside = directory.parent / f"{directory.name}.lock.json"
    beside.unlink(missing_ok=True)
    selection = Selection(groups=sum(SIZES.values()), flawed_per_group=4, seed=seed)
    commit_lock(plan_lock(corpus, sizes=SIZES, seed=seed, selection=selection), beside)
    lock = load_lock(beside, corpus)
    baseline = load_instruction(plan.baseline)
    with _UnsyncedLedger(directory / "ledger.jsonl") as ledger:
        register(
            ledger,
            directory,
            plan=plan,
            corpus=corpus,
            lock=lock,
            baseline=baseline,
            seeds={},
            exploratory=None,
            models_hash=None,
        )
        judged = DrawnEvaluator(ledger, directory / "judgements", corpus, seed)
        kept = load_lock(directory / "split.lock.json", corpus)
        protocol = _QuickSearch(plan, corpus, kept, baseline, {}, None, ledger, judged, Unwatched())
        decided = protocol.run(
            build_student(plan, open_model(plan.student.model)), lambda: OperatorReflector("per-fact")
        )
        verdict = dict(decided.verdict)
        prompt = None if decided.prompt is None else digest_bytes(decided.prompt.encode("utf-8"))
        body = {"verdict": verdict, "verdict_hash": digest(verdict), "prompt": prompt}
        ledger.perform("verdict", body, dict)
        ledger.perform("spend", {}, lambda: {VOLATILE: judged.spend(plan)})
        ledger.perform("finished", {"decision": verdict["decision"]}, dict)
        head = {"count": ledger.head.count, "hash": ledger.head.hash}
        pool = sum(event.type == "outcome" and event.body["outcome"] == "accepted" for event in ledger.events)
    write_atomic(directory / "verdict.json", pretty_json({**verdict, "ledger_head": head}))
    if decided.prompt is not None:
        write_atomic(directory / "prompt.md", decided.prompt)
    return LargeRun(directory, candidates, judged.judgements, 1 + pool, verdict["decision"])


class _UnsyncedLedger(Ledger):
    """A ledger that waits for no disk and writes its head at the end: nothing here is worth a power failure."""

    def _append(self, kind: str, body: Mapping[str, Any]) -> Event:
        content = {"seq": len(self._events), "at": f"{_at(len(self._events))}", "type": kind, "prev": self.head.hash}
        row = {**content, "body": json.loads(canonical_json(body))}
        event = Event(**row, hash=digest(row))
        self._file.write(canonical_json(event.row()).encode("utf-8") + b"\n")
        self._events.append(event)
        return event

    def close(self) -> None:
        """Write the head, and release the file."""
        write_atomic(head_file(self.path), pretty_json({"count": self.head.count, "hash": self.head.hash}))
        super().close()


def _at(seq: int) -> str:
    minutes, seconds = divmod(seq, 60)
    hours, minutes = divmod(minutes, 60)
    return f"2026-01-{1 + hours // 24:02d}T{hours % 24:02d}:{minutes:02d}:{seconds:02d}.000+00:00"


class _QuickSearch(Protocol):
    """The protocol with a search that decides by the rewards of drawn judgements and keeps nothing else in mind."""

    __slots__ = ()

    def search(self, student: Student, reflector: Callable[[], Reflector]) -> Searched:
        """See :meth:`Protocol.search`."""
        seal = Seal(self.corpus, self.lock, self.ledger, target=TARGET, caller=CALLER, exploratory=self.exploratory)
        reflect, accept = (
            self.corpus.part(split_examples(self.lock, self.corpus, split)) for split in ("reflect", "accept")
        )
        seed = candidate_of(student, self.baseline)
        record_neighbours(self.ledger, self.corpus, self.lock)
        self.ledger.perform("candidate", candidate_row(seed, None), dict)
        student, on_accept = self._calibrate(student, seed, accept, "accept")
        before = seal.open("baseline", lambda heldout: self._measure_baseline(student, seed, heldout))
        result = SearchResult([PoolEntry(seed, on_accept, self._rewards(student, on_accept), "seed")])
        rng = np.random.default_rng(self.plan.search.seed)
        groups, settings = sorted(reflect.groups), reflector().settings()
        for iteration in range(1, self.plan.search.iterations + 1):
            drawn = sorted(str(name) for name in rng.choice(groups, MINIBATCH_GROUPS, replace=False))
            minibatch = reflect.part(example for name in drawn for example in reflect.groups[name])
            latest = result.pool[-RECENT:]
            parent = latest[int(rng.integers(len(latest)))].candidate
            self._proposed(student, result, parent, minibatch, accept, iteration, settings, rng)
        winner, ranked = choose(result.pool)
        self.ledger.perform("choice", choice_row(result, winner, ranked), dict)
        return Searched(student, seed, before, result, winner, seal)

    def _proposed(
        self,
        student: Student,
        result: SearchResult,
        parent: Candidate,
        minibatch: Corpus,
        accept: Corpus,
        iteration: int,
        settings: Mapping[str, Any],
        rng: np.random.Generator,
    ) -> None:
        """One iteration: a proposal that beats its parent in so many of ten cases, and what comes of it."""
        before = self._judge(student, parent, minibatch, "minibatch", iteration)
        text = f"{self.baseline} {_clauses(rng)} This is the wording of proposal {iteration}."
        reflection = Reflection(text, "example", "example for false absence")
        self.ledger.perform(
            "reflection",
            {
                "iteration": iteration,
                "call": 1,
                "parent": parent.id,
                "others": [],
                "component": "instruction",
                "reflector": settings,
                "minibatch": sorted(example.id for example in minibatch.examples),
                "traces": digest([iteration]),
                "reflection": reflection.row(),
            },
            dict,
        )
        child = Candidate({"instruction": text}, "mutation", (parent.id,), iteration)
        self.ledger.perform("candidate", candidate_row(child, reflection.operator), dict)
        theirs = self._rewards(student, before)
        self._draw(student, child, parent, minibatch, theirs, better=bool(rng.random() < ACCEPTED))
        ours = self._rewards(student, self._judge(student, child, minibatch, "minibatch", iteration))
        gain = minibatch_gain(theirs, ours)
        if gain > 0:
            on_accept = self._judge(student, child, accept, "accept", iteration)
            record_measures(self.ledger, "accept", on_accept)
            name = f"c{iteration:02d}"
            result.pool.append(PoolEntry(child, on_accept, self._rewards(student, on_accept), name))
        else:
            result.rejected += 1
        body = {
            "iteration": iteration,
            "candidate": child.id,
            "parents": [parent.id],
            "outcome": "accepted" if gain > 0 else "rejected",
            "reason": f"minibatch reward {gain:+.4f}",
            "parent_rewards": theirs,
            "child_rewards": ours,
        }
        self.ledger.perform("outcome", body, dict)

    def _draw(
        self,
        student: Student,
        child: Candidate,
        parent: Candidate,
        minibatch: Corpus,
        theirs: Mapping[str, float],
        *,
        better: bool,
    ) -> None:
        """Draw a child until it is better than its parent on the minibatch, or is not, as it is to be."""
        for draw in range(100):
            quality = self._drawn.quality(parent.id) + (0.002 if better else -0.2)
            self._drawn.draw(child.id, quality, 1000 * child.iteration + draw)
            gain = minibatch_gain(theirs, self._rewards(student, self._drawn.drawn(child.id, minibatch)))
            if (gain > 0) == better:
                return

    @property
    def _drawn(self) -> DrawnEvaluator:
        assert isinstance(self.evaluator, DrawnEvaluator), "it is made with it"
        return self.evaluator

    def _judge(self, student: Student, one: Candidate, corpus: Corpus, purpose: str, iteration: int) -> Evaluation:
        split = "accept" if purpose == "accept" else "reflect"
        (found,) = self.evaluator.evaluate(student, [one], corpus, purpose=purpose, split=split, iteration=iteration)
        return found

    def _rewards(self, student: Student, evaluation: Evaluation) -> dict[str, float]:
        objective = self.plan.objective
        return evaluation.rewards(scale=student.scale, margin=objective.margin, clean_weight=objective.clean_weight)


def _clauses(rng: np.random.Generator) -> str:
    """Some sentences of an instruction, in some order."""
    return " ".join(str(clause) for clause in rng.permutation(CLAUSES)[:3])
