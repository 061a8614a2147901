"""The protocol: calibrate, baseline, search, choose, confirm, gate; every step through the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

from lineage.errors import CampaignError, SealError
from lineage.ledger import Ledger
from lineage.records import Candidate
from optimize.calibration import fact_threshold
from optimize.choice import Standing, choice_row, choose, standing
from optimize.contamination import ContaminationRecord, record_neighbours
from optimize.controls import accept_part
from optimize.deciding import ConfirmedArms, Deciding
from optimize.engine import run_search
from optimize.engines import Engine, rival
from optimize.equal_budget import PURPOSE as EQUAL_BUDGET
from optimize.equal_budget import EqualBudget, with_samples
from optimize.evaluation import Evaluation, Evaluator
from optimize.gate import clean_counts
from optimize.measured import record_measures
from optimize.noise import noise_floor
from optimize.objectives import coverage
from optimize.plan import Plan
from optimize.prompt_file import prompt_text
from optimize.reflecting import feedback_of
from optimize.search import SearchResult, SearchSpace, candidate_row
from optimize.texts import candidate_of
from optimize.verdict import Setting
from optimize.watching import Watcher
from optimize.word_overlap import overlap_row
from reflectors import Reflector
from splits.contamination import NgramIndex
from splits.corpus import Corpus
from splits.lock import SplitLock, split_examples
from splits.seal import Seal
from students import PerFactChecker, Student, student_hash

TARGET: Final = "instruction"
"""What a campaign compares, one confirmatory comparison each."""
CALLER: Final = "optimize.protocol"
"""Who opens the seal in a campaign, for the record."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A verdict, and the text of the prompt file if the gate passed."""

    verdict: Mapping[str, Any]
    prompt: str | None


@dataclass(frozen=True, slots=True)
class Searched:
    """A search that has chosen its winner; of held-out data the baseline alone has been measured.

    Attributes:
        student: as it judges every candidate, with its threshold set on accept.
        seed: the baseline.
        before: the baseline on held-out data, before the search.
        result: the pool, and what became of every proposal.
        winner: the choice, on accept.
        seal: with its baseline opening made.
    """

    student: Student
    seed: Candidate
    before: Evaluation
    result: SearchResult
    winner: Standing
    seal: Seal


@dataclass(frozen=True, slots=True)
class Protocol:
    """The steps of one campaign, in the order that keeps held-out data out of the search.

    Args:
        plan: the plan.
        corpus: the whole corpus; only its reflect and accept parts reach the search.
        lock: the committed split.
        baseline: text of the incumbent instruction.
        seeds: further texts that the search begins at, by the names that the plan has for them.
        exploratory: why the campaign confirms nothing, or None.
        ledger: where every step is recorded, and found again on resumption.
        evaluator: judges candidates.
        watcher: is told of the phases.
    """

    plan: Plan
    corpus: Corpus
    lock: SplitLock
    baseline: str
    seeds: Mapping[str, str]
    exploratory: str | None
    ledger: Ledger
    evaluator: Evaluator
    watcher: Watcher

    def run(self, student: Student, reflector: Callable[[], Reflector]) -> Decided:
        """All steps, to the verdict."""
        return self._decided(self.search(student, reflector))

    def search(self, student: Student, reflector: Callable[[], Reflector]) -> Searched:
        """The steps up to the choice of the winner."""
        plan = self.plan
        seal = Seal(self.corpus, self.lock, self.ledger, target=TARGET, caller=CALLER, exploratory=self.exploratory)
        reflect, unread = (
            self.corpus.part(split_examples(self.lock, self.corpus, split)) for split in ("reflect", "accept")
        )
        part = accept_part(plan.controls, self.lock, self.corpus)
        accept = self.corpus.part(part.examples)
        seed = candidate_of(student, self.baseline)
        record_neighbours(self.ledger, self.corpus, self.lock)
        self.ledger.perform("candidate", candidate_row(seed, None), dict)
        contamination = ContaminationRecord.of(self.ledger, reflect=reflect, accept=unread, seal=seal)
        contamination.candidate(seed)

        self.watcher.phase("calibrate")
        student, on_accept = self._calibrate(student, seed, accept, part.split)

        self.watcher.phase("baseline")
        before = seal.open("baseline", lambda heldout: self._measure_baseline(student, seed, heldout))

        self.watcher.phase("search")
        space = SearchSpace(
            student=student,
            seed_candidate=seed,
            reflect=reflect,
            accept=accept,
            reflector=reflector(),
            forbidden=_forbidden(seal, unread),
            contamination=contamination,
            settings=plan.search,
            seeds=tuple(candidate_of(student, text) for text in self.seeds.values()),
            accept_split=part.split,
            feedback=feedback_of(plan),
            margin=plan.objective.margin,
            clean_weight=plan.objective.clean_weight,
            coverage=plan.gate.coverage,
        )
        engine: Engine = run_search if plan.search.engine == "gepa" else rival(plan.search.engine)
        result = engine(space, evaluator=self.evaluator, ledger=self.ledger, seed_evaluation=on_accept)

        self.watcher.phase("choose")
        winner, ranked = choose(result.pool)
        self.ledger.perform("choice", choice_row(result, winner, ranked), dict)
        return Searched(student, seed, before, result, winner, seal)

    def _decided(self, searched: Searched) -> Decided:
        """The steps after the choice."""
        plan, student, before, seal = self.plan, searched.student, searched.before, searched.seal
        winner, seed = searched.winner, searched.seed
        deciding = Deciding(
            gate=plan.gate,
            guardrails=plan.guardrails.model_dump(),
            shape=plan.student.shape,
            samples=plan.student.samples,
            plan_hash=plan.hash,
            setting=self._setting(student, searched.result, before, seal.tainted),
            winner=winner,
        )
        if (verdict := deciding.shut()) is not None:
            return Decided(verdict, None)

        self.watcher.phase("confirm")
        candidate, budget = winner.entry.candidate, deciding.budget()
        arms = seal.open("confirm", lambda heldout: self._confirm(student, candidate, seed, heldout, before, budget))

        self.watcher.phase("gate")
        return self._gate(student, deciding, arms, seal)

    def __reduce__(self) -> NoReturn:
        raise SealError("a protocol cannot be pickled or copied: it holds the corpus, held-out text with it")

    def _calibrate(self, student: Student, seed: Candidate, accept: Corpus, split: str) -> tuple[Student, Evaluation]:
        """The student with its per-fact threshold set on accept, and the seed's evaluation there."""
        if isinstance(student, PerFactChecker):
            (raw,) = self.evaluator.evaluate(student, [seed], accept, purpose="calibrate", split=split)
            found = fact_threshold(raw)
            self.ledger.perform("calibration", found.row(), dict)
            student = student.at_threshold(found.threshold)
        (on_accept,) = self.evaluator.evaluate(student, [seed], accept, purpose="accept", split=split, iteration=0)
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
        self,
        student: Student,
        winner: Candidate,
        seed: Candidate,
        heldout: Corpus,
        before: Evaluation,
        budget: EqualBudget | None,
    ) -> ConfirmedArms:
        """Winner and baseline on the same examples; where answers may drift, both anew and interleaved.

        Where the plan asks for it, the baseline is judged once more with samples that give it the winner's tokens.
        """
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
        if budget is None or budget.samples is None:
            return ConfirmedArms(*arms)
        (more,) = self.evaluator.evaluate(
            with_samples(student, budget.samples),
            [seed],
            heldout,
            purpose=EQUAL_BUDGET,
            split="heldout",
            replicates=arms[0].replicates,
        )
        record_measures(self.ledger, EQUAL_BUDGET, more)
        return ConfirmedArms(*arms, more)

    def _gate(self, student: Student, deciding: Deciding, arms: ConfirmedArms, seal: Seal) -> Decided:
        deciding = replace(deciding, setting=replace(deciding.setting, exploratory=seal.tainted))
        verdict = deciding.verdict(arms, seal.comparison)
        if verdict["decision"] != "emit":
            return Decided(verdict, None)
        winner, setting = deciding.winner, deciding.setting
        front = {
            "plan": setting.hashes["plan"],
            "split_lock": setting.hashes["lock"],
            "corpus": setting.hashes["corpus"],
            "student": student.settings(),
            "student_hash": setting.hashes["student"],
            "simulated": self.plan.simulated,
        }
        arm = deciding.arm(winner, arms.winner)
        return Decided(verdict, prompt_text(verdict, winner=winner.entry.candidate, front=front, arm=arm))

    def _setting(self, student: Student, result: SearchResult, before: Evaluation, exploratory: str | None) -> Setting:
        baseline = standing(result.pool[0])
        return Setting(
            baseline=baseline,
            lock=self.lock,
            exploratory=exploratory,
            simulated=self.plan.simulated,
            proposed=result.proposals,
            accepted=len(result.pool) - 1,
            noise=noise_floor(before),
            clean={
                "accept": clean_counts(baseline.entry.accept.examples),
                "heldout": clean_counts(before.examples),
            },
            hashes={
                "plan": self.plan.hash,
                "lock": self.lock.hash,
                "corpus": self.corpus.hash,
                "student": student_hash(student),
            },
            studied=self.plan.studied,
        )


def _forbidden(seal: Seal, accept: Corpus) -> NgramIndex:
    """N-grams that no prompt may repeat: those of held-out and of accept text."""
    heldout = seal.ngrams()
    texts = {text for example in accept.examples for text in (example.document, example.source)}
    return NgramIndex(heldout.size, heldout.hashes | NgramIndex.of(texts, size=heldout.size).hashes)
