"""Judging by drawing: what a benchmark takes for judgements where nobody has the time to judge a million notes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from lineage.canonical import canonical_json, digest, digest_bytes
from lineage.ledger import Ledger
from lineage.records import VOLATILE, Candidate, Judgement, Usage
from optimize.evaluation import Evaluation, Evaluator
from optimize.plan import Plan
from splits.corpus import Corpus, Example
from splits.lock import without_text
from students import Student, student_hash
from students.student import draw_seed

FACTS: Final = 5
"""Most facts a document."""
_SENT: Final = canonical_json(
    {
        "answer": {"logprobs": True, "max_tokens": 1, "temperature": 0, "top_logprobs": 20},
        "budget": {"answer_tokens": 1, "effort": "none", "thinking_tokens": None},
        "prompt_cache": "unset",
        "samples": 1,
        "scratchpad": None,
        "seeded": True,
        "version": "simulated",
    }
)
_NO_USAGE: Final = canonical_json(Usage().row())


class DrawnEvaluator(Evaluator):
    """Judges by drawing: a candidate's answers on a document are the same whenever it is judged on it.

    Args:
        ledger: as of an evaluator.
        directory: as of an evaluator; made here.
        corpus: every document that there is.
        seed: of all draws.

    Attributes:
        judgements: how many have been written.
    """

    def __init__(self, ledger: Ledger, directory: Path, corpus: Corpus, seed: int) -> None:
        self._ledger, self._directory, self._count = ledger, directory, 0
        self._seed = seed
        self._places = {example.id: place for place, example in enumerate(corpus.examples)}
        self._facts = {g: tuple(fact.id for fact in facts[:FACTS]) for g, facts in corpus.facts.items()}
        self._drift = np.array([self._drift_of(example) for example in corpus.examples])
        self._stripped = {example.id: without_text(example, corpus) for example in corpus.examples}
        self._ranks = {example: rank for rank, example in enumerate(sorted(self._places))}
        self._qualities: dict[str, tuple[float, int]] = {}
        self._asked: dict[str, set[str]] = {}
        self._paid: dict[tuple[str, str], list[int]] = {}
        self.judgements = 0
        directory.mkdir(parents=True)

    def _drift_of(self, example: Example) -> list[float]:
        """How far a flaw moves the verdict of each fact."""
        facts = self._facts[example.group]
        return [-1.0 if fact == example.fact else (-0.1 if example.label != "clean" else 0.0) for fact in facts]

    def draw(self, candidate: str, quality: float, number: int) -> None:
        """Say how good a candidate is, and which draw it is."""
        self._qualities[candidate] = quality, number

    def quality(self, candidate: str) -> float:
        """How good a candidate is."""
        return self._qualities.get(candidate, (1.0, 0))[0]

    def scores(self, candidate: str, examples: Iterable[str]) -> tuple[Any, Any]:
        """Log-odds of every fact of the documents, and the documents' scores."""
        quality, number = self._qualities.get(candidate, (1.0, 0))
        noise = np.random.default_rng([self._seed, number]).normal(2.0, 1.5, self._drift.shape)
        places = [self._places[example] for example in examples]
        margins = np.round(noise[places] + quality * self._drift[places], 6)
        return margins, np.round(np.round(1 / (1 + np.exp(-margins)), 6).mean(axis=1), 3)

    def drawn(self, candidate: str, corpus: Corpus) -> Evaluation:
        """A candidate's scores on some documents, without a judgement being recorded."""
        examples = sorted(example.id for example in corpus.examples)
        return self._evaluation(candidate, examples, "", self.scores(candidate, examples)[1])

    def _evaluation(self, candidate: str, examples: Sequence[str], student: str, scores: Any) -> Evaluation:
        judged = tuple(
            Judgement(example, candidate, student, "scored", score)
            for example, score in zip(examples, scores.tolist(), strict=True)
        )
        return Evaluation(candidate, tuple(self._stripped[example] for example in examples), judged)

    def evaluate(
        self,
        student: Student,
        candidates: Sequence[Candidate],
        corpus: Corpus,
        *,
        purpose: str,
        split: str,
        replicates: Collection[int] = (0,),
        iteration: int | None = None,
    ) -> tuple[Evaluation, ...]:
        """See :meth:`Evaluator.evaluate`; one candidate in one replicate."""
        (candidate,), (replicate,) = candidates, replicates
        self._count += 1
        examples = sorted(example.id for example in corpus.examples)
        margins, scores = self.scores(candidate.id, examples)
        threshold, hashed = float(getattr(student, "threshold", 0.5)), student_hash(student)
        lines: list[str] = []
        content = hashlib.sha256()
        for place, example in enumerate(examples):
            facts = self._facts[self._stripped[example].group]
            kept, paid = self._line(candidate.id, example, hashed, facts, margins[place], scores[place], threshold)
            content.update((("," if lines else "[") + kept).encode("ascii"))
            lines.append(f'{kept[:-1]},"volatile":{{"latency_s":0.0,"paid":{paid}}}}}\n')
            self._add(candidate.id, purpose, example, paid)
        content.update(b"]")
        data = "".join(lines).encode("ascii")
        name = f"{self._count:04d}-{purpose}"
        (self._directory / f"{name}.jsonl").write_bytes(data)
        self.judgements += len(lines)
        body = {
            "purpose": purpose,
            "split": split,
            "candidates": [candidate.id],
            "student": hashed,
            "replicates": [replicate],
            "iteration": iteration,
            "examples": {"count": len(examples), "hash": digest(examples)},
            "segment": {
                "name": name,
                "judgements": len(lines),
                "content": content.hexdigest(),
                VOLATILE: {"sha256": digest_bytes(data)},
            },
            "failed": 0,
            "abstained": 0,
            "failures": [],
        }
        self._ledger.perform("evaluation", body, dict)
        if purpose in ("calibrate", "baseline", "confirm"):  # of a million, facts and usage would not fit
            judged = tuple(Judgement.from_row(json.loads(line)) for line in lines)
            return (Evaluation(candidate.id, tuple(self._stripped[example] for example in examples), judged),)
        return (self._evaluation(candidate.id, examples, hashed, scores),)

    def _line(
        self, candidate: str, example: str, student: str, facts: Sequence[str], margins: Any, score: Any, at: float
    ) -> tuple[str, int]:
        """A judgement's canonical JSON but for its volatile part, and the calls that it paid for."""
        verdicts, answers = [], []
        for fact, margin in zip(facts, margins.tolist(), strict=True):
            p = round(float(1 / (1 + np.exp(-margin))), 6)
            present = p >= at
            answers.append('"Yes"' if present else '"No"')
            verdicts.append(
                f'{{"fact":"{fact}","margin":{margin!r},"p_yes":{p!r},"present":{"true" if present else "false"}}}'
            )
        asked = self._asked.setdefault(candidate, set())
        paid = 0 if example in asked else len(facts)
        asked.add(example)
        stops = ",".join(['"stop"'] * len(facts))
        return (
            f'{{"candidate":"{candidate}","example":{json.dumps(example)},"facts":[{",".join(verdicts)}],'
            f'"finish":[{stops}],"flags":[],"parts":{{}},"raw":[{",".join(answers)}],"reason":null,"replicate":0,'
            f'"sample":0,"score":{float(score)!r},"seed":{draw_seed(self._seed, self._ranks[example], 0)},'
            f'"sent":{_SENT},"shared":{_NO_USAGE},"status":"scored","student":"{student}",'
            f'"usage":{_usage(len(facts), self._prompt_tokens(example))}}}',
            paid,
        )

    def _prompt_tokens(self, example: str) -> int:
        return 600 + 2 * self._places[example]

    def _add(self, candidate: str, purpose: str, example: str, paid: int) -> None:
        if paid:
            found = self._paid.setdefault((purpose, candidate), [0, 0])
            found[0] += paid
            found[1] += self._prompt_tokens(example)

    def spend(self, plan: Plan) -> dict[str, Any]:
        """What was paid for, as a call layer states it."""
        phases: dict[str, list[int]] = {}
        for (phase, _), (calls, tokens) in self._paid.items():
            together = phases.setdefault(phase, [0, 0])
            together[0] += calls
            together[1] += tokens
        return {
            "paid": {f"student {phase}": json.loads(_usage(*phases[phase])) for phase in sorted(phases)},
            "candidates": [
                {"role": "student", "phase": phase, "candidate": candidate, "usage": json.loads(_usage(*found))}
                for (phase, candidate), found in self._paid.items()
            ],
            "unanswered": Usage().row(),
            "limits": plan.limits.model_dump(mode="json"),
            "prices": {"student": None},
        }


def _usage(calls: int, tokens: int) -> str:
    return (
        f'{{"cached_tokens":0,"calls":{calls},"completion_tokens":{calls},"cost_usd":null,'
        f'"prompt_tokens":{tokens},"reasoning_tokens":0}}'
    )
