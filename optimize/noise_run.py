"""The measurement of the noise floor: the plan's baseline judged over and over on one split, in a run directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NoReturn, Protocol

from lineage.canonical import pretty_json, write_atomic
from lineage.errors import BudgetError, CallError, InputError, PlanError, SealError
from lineage.ledger import Ledger
from lineage.records import Candidate
from optimize.calibration import fact_threshold
from optimize.calling import check_limits
from optimize.evaluation import Evaluation, Evaluator
from optimize.models import build_student, open_model
from optimize.noise import NoiseFloor, noise_floor
from optimize.opening import Opened, open_bench
from optimize.plan import Plan
from optimize.registering import register
from optimize.search import candidate_row
from splits.corpus import Corpus
from splits.lock import SplitLock, split_examples
from students import INSTRUCTION, PerFactChecker, Progress, Student

NoiseSplit = Literal["reflect", "accept"]

MARK: Final = "noise: the baseline against itself; nothing is compared, and no held-out example is judged"
"""What the ledger of a measurement says of itself; a campaign is never resumed in its directory."""
PURPOSES: Final[Mapping[NoiseSplit, str]] = {"accept": "noise", "reflect": "noise-reflect"}


class Follower(Protocol):
    """Follows a measurement."""

    def replicate(self, number: int, of: int) -> None:
        """A replicate begins, counted from 1."""
        ...

    def judged(self, progress: Progress) -> None:
        """Its evaluation has come further."""
        ...


class Unfollowed:
    """A follower that looks away."""

    def replicate(self, number: int, of: int) -> None:
        """Look away."""

    def judged(self, progress: Progress) -> None:
        """Look away."""


@dataclass(frozen=True, slots=True)
class MeasuredNoise:
    """A measured noise floor.

    Attributes:
        directory: the run directory, which ``holdgate power --pilot`` reads.
        split: the split that was judged.
        evaluation: the baseline's judgements in every replicate.
        floor: the noise floor.
        asked: replicates asked for; fewer are measured where the first two are identical.
        paid: calls paid for in this process.
        cached: calls found in the cache.
    """

    directory: Path
    split: NoiseSplit
    evaluation: Evaluation
    floor: NoiseFloor
    asked: int
    paid: int
    cached: int

    @property
    def spared(self) -> int:
        """Replicates that were asked for and not bought, as they would be the same again."""
        return self.asked - self.floor.replicates


class NoiseRun:
    """A plan's baseline against itself, on reflect or accept groups.

    Every replicate is a step of a ledger: a killed measurement goes on where it stopped, and one with more replicates
    adds to what is there. Calls are found in the cache that campaigns beside the directory share.

    Args:
        plan: the plan, whose limits hold.
        corpus: the whole corpus; held-out groups are not judged.
        lock: its split lock.
        directory: the run directory of the measurement.
        baseline: text of the incumbent instruction.
        split: which groups to judge.
        replicates: at least 3; of identical ones two are enough.
        cache: path of the call cache; by default beside the run directory.
        follower: follows the measurement.
        models_hash: hash of the model lock that the plan's models were resolved through, or None.

    Raises:
        InputError: the split is held-out or unknown, or there are too few replicates.
        PlanError: plan, corpus and lock do not fit together.
    """

    def __init__(
        self,
        plan: Plan,
        corpus: Corpus,
        lock: SplitLock,
        directory: Path,
        *,
        baseline: str,
        split: NoiseSplit = "accept",
        replicates: int = 3,
        cache: Path | None = None,
        follower: Follower | None = None,
        models_hash: str | None = None,
    ) -> None:
        if split not in PURPOSES:
            raise InputError(f"split must be reflect or accept, got {split!r}; held-out groups stay behind the seal")
        if replicates < 3:
            raise InputError(f"replicates must be at least 3, got {replicates}: two give one difference, and no spread")
        self.plan, self.directory, self.split, self.replicates = plan, directory, split, replicates
        self._corpus, self._lock, self._baseline = corpus, lock, baseline
        self._cache = cache or directory.parent / "calls.sqlite"
        self._follower, self._models_hash = follower or Unfollowed(), models_hash
        self._model = open_model(plan.student.model)
        check_limits(plan, {"student": self._model})
        self._student = build_student(plan, self._model)
        if plan.student.needs_facts:
            groups = sorted({*lock.splits["accept"], *lock.splits[split]} - set(corpus.facts))
            if groups:
                raise PlanError(f"a per-fact student needs facts for every group; none for {', '.join(groups[:5])}")

    def __reduce__(self) -> NoReturn:
        raise SealError("a measurement cannot be pickled or copied: it holds the corpus, held-out text with it")

    def run(self) -> MeasuredNoise:
        """Measure, or go on measuring.

        Raises:
            HoldgateError: with what stopped it; everything paid for is kept.
        """
        with Ledger(self.directory / "ledger.jsonl") as ledger:
            register(
                ledger,
                self.directory,
                plan=self.plan,
                corpus=self._corpus,
                lock=self._lock,
                baseline=self._baseline,
                seeds={},
                exploratory=MARK,
                models_hash=self._models_hash,
            )
            models = {"student": self._model}
            with open_bench(
                self.plan, models, cache=self._cache, campaign=ledger.campaign, progress=self._follower.judged
            ) as opened:
                try:
                    evaluation = self._judged(ledger, opened)
                except (BudgetError, CallError) as error:
                    ledger.operational("stopped", {"reason": str(error), **opened.layer.record()})
                    raise
                floor = noise_floor(evaluation)
                head = {"count": ledger.head.count, "hash": ledger.head.hash}
                row = {"split": self.split, "simulated": self.plan.simulated, "floor": floor.row(), "ledger_head": head}
                write_atomic(self.directory / "noise.json", pretty_json(row))
                return MeasuredNoise(
                    self.directory,
                    self.split,
                    evaluation,
                    floor,
                    self.replicates,
                    opened.calls.paid,
                    opened.calls.found,
                )

    def _judged(self, ledger: Ledger, opened: Opened) -> Evaluation:
        """The baseline in every replicate, or in two that are identical."""
        evaluator = Evaluator(ledger, self.directory / "judgements", opened.bench)
        seed = Candidate({INSTRUCTION: self._baseline}, "seed")
        ledger.perform("candidate", candidate_row(seed, None), dict)
        student = self._calibrated(ledger, evaluator, seed)
        part = self._part(self.split)
        found: list[Evaluation] = []
        for replicate in range(self.replicates):
            self._follower.replicate(replicate + 1, self.replicates)
            self._reach(ledger)
            found += evaluator.evaluate(
                student, [seed], part, purpose=PURPOSES[self.split], split=self.split, replicates=[replicate]
            )
            so_far = Evaluation(seed.id, found[0].examples, tuple(j for one in found for j in one.judgements))
            if replicate == 1 and noise_floor(so_far).deterministic:
                break
        return so_far

    def _calibrated(self, ledger: Ledger, evaluator: Evaluator, seed: Candidate) -> Student:
        """The student as a campaign would have it: its per-fact threshold is set on accept, whatever is judged."""
        student = self._student
        if isinstance(student, PerFactChecker):
            self._reach(ledger)
            (raw,) = evaluator.evaluate(student, [seed], self._part("accept"), purpose="calibrate", split="accept")
            threshold = fact_threshold(raw)
            ledger.perform("calibration", threshold.row(), dict)
            student = student.at_threshold(threshold.threshold)
        return student

    def _part(self, split: NoiseSplit) -> Corpus:
        return self._corpus.part(split_examples(self._lock, self._corpus, split))

    def _reach(self, ledger: Ledger) -> None:
        """Make sure of the model where it is about to be asked."""
        if not ledger.replaying:
            self._model.check()
