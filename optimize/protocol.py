"""The protocol: calibrate, baseline, search, choose, confirm, gate; every step through the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lineage.canonical import digest
from lineage.errors import CampaignError
from lineage.ledger import Ledger
from lineage.records import Candidate
from optimize.calibration import fact_threshold
from optimize.choice import Standing, choice_row, choose, standing
from optimize.engine import run_search
from optimize.evaluation import Evaluation, Evaluator
from optimize.gate import Arm
from optimize.objectives import coverage
from optimize.plan import Plan
from optimize.planned_gate import gate_of
from optimize.search import PoolEntry, SearchResult, SearchSpace, candidate_row
from optimize.verdict import Setting, noise_floor, nothing_found_row, prompt_text, record_measures, verdict_row
from optimize.watching import Watcher
from optimize.word_overlap import overlap_row
from reflectors import Reflector
from splits.contamination import NgramIndex
from splits.corpus import Corpus
from splits.lock import SplitLock, split_examples
from splits.seal import Seal
from students import INSTRUCTION, PerFactChecker, Student, student_hash

TARGET: Final = "instruction"
"""What a campaign compares, one confirmatory comparison each."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A verdict, and the text of the prompt file if the gate passed."""

    verdict: Mapping[str, Any]
    prompt: str | None


@dataclass(frozen=True, slots=True)
class Protocol:
    """The steps of one campaign, in the order that keeps held-out data out of the search.

    Args:
        plan: the plan.
        corpus: the whole corpus; only its reflect and accept parts reach the search.
        lock: the committed split.
        baseline: text of the incumbent instruction.
        exploratory: why the campaign confirms nothing, or None.
        ledger: where every step is recorded, and found again on resumption.
        evaluator: judges candidates.
        watcher: is told of the phases.
    """

    plan: Plan
    corpus: Corpus
    lock: SplitLock
    baseline: str
    exploratory: str | None
    ledger: Ledger
    evaluator: Evaluator
    watcher: Watcher

    def run(self, student: Student, reflector: Callable[[], Reflector]) -> Decided:
        """All steps, to the verdict."""
        plan = self.plan
        seal = Seal(self.corpus, self.lock, self.ledger, target=TARGET, exploratory=self.exploratory)
        reflect, accept = (
            self.corpus.part(split_examples(self.lock, self.corpus, split)) for split in ("reflect", "accept")
        )
        seed = Candidate({INSTRUCTION: self.baseline}, "seed")
        self.ledger.perform("candidate", candidate_row(seed, None), dict)

        self.watcher.phase("calibrate")
        student, on_accept = self._calibrate(student, seed, accept)

        self.watcher.phase("baseline")
        before = seal.open("baseline", lambda heldout: self._measure_baseline(student, seed, heldout))

        self.watcher.phase("search")
        space = SearchSpace(
            student=student,
            seed_candidate=seed,
            reflect=reflect,
            accept=accept,
            reflector=reflector(),
            forbidden=_forbidden(seal, accept),
            iterations=plan.search.iterations,
            minibatch_groups=plan.search.minibatch_groups,
            seed=plan.search.seed,
            margin=plan.objective.margin,
            clean_weight=plan.objective.clean_weight,
            coverage=plan.gate.coverage,
        )
        result = run_search(space, evaluator=self.evaluator, ledger=self.ledger, seed_evaluation=on_accept)

        self.watcher.phase("choose")
        winner, ranked = choose(result.pool)
        self.ledger.perform("choice", choice_row(result, winner, ranked), dict)
        setting = self._setting(student, result, before)
        if winner.entry.candidate.id == seed.id:
            return Decided(nothing_found_row(setting), None)

        self.watcher.phase("confirm")
        candidate = winner.entry.candidate
        arms = seal.open("confirm", lambda heldout: self._confirm(student, candidate, seed, heldout, before))

        self.watcher.phase("gate")
        return self._gate(student, winner, arms, seal, setting)

    def _calibrate(self, student: Student, seed: Candidate, accept: Corpus) -> tuple[Student, Evaluation]:
        """The student with its per-fact threshold set on accept, and the seed's evaluation there."""
        if isinstance(student, PerFactChecker):
            (raw,) = self.evaluator.evaluate(student, [seed], accept, purpose="calibrate", split="accept")
            found = fact_threshold(raw)
            self.ledger.perform("calibration", found.row(), dict)
            student = student.at_threshold(found.threshold)
        (on_accept,) = self.evaluator.evaluate(student, [seed], accept, purpose="accept", split="accept", iteration=0)
        record_measures(self.ledger, "accept", on_accept)
        share = coverage(len(on_accept.judgements) - len(on_accept.unscored), len(on_accept.judgements))
        if share < self.plan.gate.coverage:
            reasons = sorted({judgement.reason or "" for judgement in on_accept.unscored})
            raise CampaignError(
                f"only {share:.0%} of the baseline's judgements on accept have a score ({reasons[0]}); nothing can be "
                "searched on that: mend the student (prompt, budget.answer_tokens, model) and use another --out"
            )
        return student, on_accept

    def _measure_baseline(self, student: Student, seed: Candidate, heldout: Corpus) -> Evaluation:
        """The incumbent on held-out data before the search, and plain word overlap beside it."""
        (evaluation,) = self.evaluator.evaluate(
            student, [seed], heldout, purpose="baseline", split="heldout", replicates=range(self.plan.replicates)
        )
        record_measures(self.ledger, "baseline", evaluation)
        if heldout.facts:
            row = {"split": "heldout", "omissions": overlap_row(heldout, self.plan.student.max_facts)}
            self.ledger.perform("word_overlap", row, dict)
        return evaluation

    def _confirm(
        self, student: Student, winner: Candidate, seed: Candidate, heldout: Corpus, before: Evaluation
    ) -> tuple[Evaluation, Evaluation]:
        """Winner and baseline on the same examples; where answers may drift, both anew and interleaved."""
        count = self.plan.replicates
        drifts = not (self.plan.simulated or self.plan.student.prompt_cache == "exact")
        found = self.evaluator.evaluate(
            student,
            [winner, seed] if drifts else [winner],
            heldout,
            purpose="confirm",
            split="heldout",
            replicates=range(count, 2 * count) if drifts else range(count),
        )
        arms = (found[0], found[1] if drifts else before)
        for evaluation in arms:
            record_measures(self.ledger, "confirm", evaluation)
        return arms

    def _gate(
        self,
        student: Student,
        winner: Standing,
        arms: tuple[Evaluation, Evaluation],
        seal: Seal,
        setting: Setting,
    ) -> Decided:
        candidate_arm = Arm(arms[0], winner.detection.threshold, _words(winner.entry))
        baseline_arm = Arm(arms[1], setting.baseline.detection.threshold, _words(setting.baseline.entry))
        rng = np.random.default_rng(int(digest(["gate", self.plan.hash])[:16], 16))
        gate = gate_of(self.plan.gate, self.plan.guardrails.model_dump(), alpha=self.lock.spend)
        reading = gate.read(candidate_arm, baseline_arm, rng=rng)
        verdict = verdict_row(reading, winner=winner, place=seal.comparison, setting=setting)
        if verdict["decision"] != "emit":
            return Decided(verdict, None)
        front = {
            "plan": setting.hashes["plan"],
            "split_lock": setting.hashes["lock"],
            "corpus": setting.hashes["corpus"],
            "student": student.settings(),
            "student_hash": setting.hashes["student"],
            "simulated": self.plan.simulated,
        }
        prompt = prompt_text(verdict, winner=winner.entry.candidate, front=front, arm=candidate_arm)
        return Decided(verdict, prompt)

    def _setting(self, student: Student, result: SearchResult, before: Evaluation) -> Setting:
        return Setting(
            baseline=standing(result.pool[0]),
            lock=self.lock,
            exploratory=self.exploratory,
            simulated=self.plan.simulated,
            proposed=result.proposals,
            accepted=len(result.pool) - 1,
            noise=noise_floor(before),
            hashes={
                "plan": self.plan.hash,
                "lock": self.lock.hash,
                "corpus": self.corpus.hash,
                "student": student_hash(student),
            },
        )


def _forbidden(seal: Seal, accept: Corpus) -> NgramIndex:
    """N-grams that no prompt may repeat: those of held-out and of accept text."""
    heldout = seal.ngrams()
    texts = {text for example in accept.examples for text in (example.document, example.source)}
    return NgramIndex(heldout.size, heldout.hashes | NgramIndex.of(texts, size=heldout.size).hashes)


def _words(entry: PoolEntry) -> int:
    return sum(len(text.split()) for text in entry.candidate.texts.values())
