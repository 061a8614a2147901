"""What a foreign optimiser asks of us: judgements of examples, and a record of whatever it tries.

It judges on our bench and writes into our ledger, so that its candidates are scored by the same calls as anyone's,
found again by the same keys, and chosen from by our rule. Everything here runs in the thread of the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lineage.canonical import digest
from lineage.ledger import Ledger
from lineage.records import Candidate, candidate_id
from optimize.evaluation import Evaluation, Evaluator, n_rewarded
from optimize.measured import record_measures
from optimize.objectives import coverage
from optimize.search import PoolEntry, SearchResult, SearchSpace, candidate_row
from optimize.search_budget import SearchUse
from reflectors.reflector import Reflection
from reflectors.traces import build_traces
from reflectors.validation import invalid_reason
from splits.corpus import Corpus


@dataclass(frozen=True, slots=True)
class Seen:
    """What an optimiser is told of one example.

    Attributes:
        score: the student's score, None where there is none.
        reward: its reward, None where it or its twin has no score.
        answer: what the student answered, as text.
        feedback: what is true of the example and what the judge made of it.
    """

    score: float | None
    reward: float | None
    answer: str
    feedback: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a proposed text comes from: the prompt and the answer of the model that wrote it."""

    operator: str
    prompt: str | None = None
    answer: str | None = None
    problem: str | None = None


class Desk:
    """The bench and the ledger, as a foreign optimiser needs them.

    Args:
        space: what the search may see.
        evaluator: judges candidates through the ledger.
        ledger: the campaign's ledger.
        seed_evaluation: the seed's evaluation on accept.
        operator: name of the optimiser, for the record.
    """

    def __init__(
        self, space: SearchSpace, evaluator: Evaluator, ledger: Ledger, seed_evaluation: Evaluation, *, operator: str
    ) -> None:
        self.space, self.operator = space, operator
        self._evaluator, self._ledger = evaluator, ledger
        self.use = SearchUse(space.settings.budget)
        seed = space.seed_candidate
        self.result = SearchResult([PoolEntry(seed, seed_evaluation, self._rewards(seed_evaluation), "seed")])
        self.iteration = self._calls = 0
        self.batch: tuple[str, ...] = ()
        self._candidates = {seed.id: seed}
        self._invalid: set[str] = set()
        self._reflect: dict[str, dict[str, Seen]] = {}
        self._accept: dict[str, Evaluation] = {seed.id: seed_evaluation}
        self.unknown: Callable[[Mapping[str, str]], None] = _refused

    # -- judging -------------------------------------------------------------------------------------------------------

    def known(self, texts: Mapping[str, str]) -> bool:
        """Whether a candidate has been recorded."""
        return candidate_id(texts) in self._candidates or candidate_id(texts) in self._invalid

    def on_reflect(self, texts: Mapping[str, str], example: str) -> Seen:
        """What the student makes of a reflect example; a whole minibatch is judged at once, with its twins."""
        candidate = self._candidates[candidate_id(texts)]
        seen = self._reflect.setdefault(candidate.id, {})
        if example not in seen:
            wanted = self.batch if example in self.batch else (example,)
            seen.update(self._judged_on_reflect(candidate, [name for name in wanted if name not in seen]))
        return seen[example]

    def on_accept(self, texts: Mapping[str, str], example: str) -> Seen:
        """What the student makes of an accept example; the first of them judges all of accept."""
        chosen = candidate_id(texts)
        if not self.known(texts):
            self.unknown(texts)
        if chosen in self._invalid:
            return Seen(None, None, "", "the instruction is invalid, and was not judged")
        evaluation = self._accept.get(chosen) or self.evaluated(self._candidates[chosen])
        rewards = self._rewards(evaluation)
        return Seen(evaluation.score(example, 0), rewards.get(example), "", "")

    def evaluated(self, candidate: Candidate) -> Evaluation:
        """A candidate on all of accept."""
        if candidate.id not in self._accept:
            (evaluation,) = self._evaluator.evaluate(
                self.space.student,
                [candidate],
                self.space.accept,
                purpose="accept",
                split=self.space.accept_split,
                iteration=candidate.iteration,
            )
            self.use.add(evaluation)
            record_measures(self._ledger, "accept", evaluation)
            self._accept[candidate.id] = evaluation
        return self._accept[candidate.id]

    def _judged_on_reflect(self, candidate: Candidate, names: Collection[str]) -> dict[str, Seen]:
        by_id = self.space.reflect.by_id
        wanted = {*names, *(twin for name in names if (twin := by_id[name].twin) is not None)}
        part = self.space.reflect.part([example for example in self.space.reflect.examples if example.id in wanted])
        (evaluation,) = self._evaluator.evaluate(
            self.space.student, [candidate], part, purpose="minibatch", split="reflect", iteration=self.iteration
        )
        self.use.add(evaluation)
        return self._seen(part, evaluation)

    def _seen(self, part: Corpus, evaluation: Evaluation) -> dict[str, Seen]:
        traces = {trace.example: trace.text for trace in self._traces(part, evaluation)}
        rewards = self._rewards(evaluation)
        judged = {judgement.example: judgement for judgement in evaluation.judgements}
        return {
            example.id: Seen(
                judged[example.id].score,
                rewards.get(example.id),
                _answer(part, judged[example.id].raw, example.group),
                traces.get(example.id, f"no score: {judged[example.id].reason}"),
            )
            for example in part.examples
        }

    def _traces(self, part: Corpus, evaluation: Evaluation) -> Sequence[Any]:
        return build_traces(part, evaluation.judgements, scale=self.space.student.scale, feedback=self.space.feedback)

    def _rewards(self, evaluation: Evaluation) -> dict[str, float]:
        space = self.space
        return evaluation.rewards(scale=space.student.scale, margin=space.margin, clean_weight=space.clean_weight)

    # -- recording -----------------------------------------------------------------------------------------------------

    def proposed(self, parent: Mapping[str, str], texts: Mapping[str, str], origin: Origin) -> bool:
        """Record a proposal; whether it may be tried. An invalid one has its outcome with that.

        Args:
            parent: texts of the candidate that it was made from.
            texts: its own texts; equal to the parent's where the answer held none.
            origin: where it comes from.
        """
        changed = sorted(name for name in texts if texts[name] != parent.get(name))
        component = changed[0] if changed else sorted(texts)[0]
        self._calls += 1
        text = "" if origin.problem else texts[component]
        reflection = Reflection(text, origin.operator, f"written by {self.operator}", origin.prompt, origin.answer)
        known = candidate_id(parent)
        key = {
            "iteration": self.iteration,
            "call": self._calls,
            "component": component,
            "parent": known,
            "others": [],
            "reflector": {"engine": self.operator, **self.space.reflector.settings()},
            "minibatch": sorted(self.batch),
            "traces": digest([origin.prompt or ""]),
            "text": digest(text),
        }
        self._ledger.perform("reflection", key, lambda: {"reflection": {**reflection.row(), "problem": origin.problem}})
        child = Candidate({**texts, component: text}, "mutation", (known,), self.iteration)
        self._ledger.perform("candidate", candidate_row(child, origin.operator), dict)
        problem = origin.problem or invalid_reason(
            text,
            parents=[parent[component]],
            earlier={candidate.texts[component] for candidate in self._candidates.values()},
            forbidden=self.space.forbidden,
            overlaps=self.space.contamination.candidate(child, parents=list(parent.values())),
            contract=self.space.contract,
        )
        if problem is not None:
            if child.id not in self._candidates:  # a duplicate of a candidate leaves that as it is
                self._invalid.add(child.id)
            self.outcome(child, "invalid", problem)
            return False
        self._candidates[child.id] = child
        return True

    def decided(self, texts: Mapping[str, str], *, parent: Mapping[str, str], passed: bool) -> bool:
        """Record what became of a child on its minibatch, and evaluate one that passed; whether it stays."""
        child = self._candidates[candidate_id(texts)]
        before, after = (self._on_batch(candidate_id(each)) for each in (parent, texts))
        both = before.keys() & after.keys()
        rewards = {name: before[name] for name in sorted(both)}, {name: after[name] for name in sorted(both)}
        said = f"{self.operator} on its minibatch: {sum(after.values()):.4f} against {sum(before.values()):.4f}"
        if not passed:
            self.outcome(child, "rejected", said, *rewards)
            return False
        return self.entered(child, said, *rewards)

    def entered(
        self,
        child: Candidate,
        why: str,
        before: Mapping[str, float] | None = None,
        after: Mapping[str, float] | None = None,
    ) -> bool:
        """Evaluate a candidate on accept and take it into the pool; too little coverage makes it invalid."""
        evaluation = self.evaluated(child)
        rewards = self._rewards(evaluation)
        share = coverage(len(rewards), n_rewarded(self.space.accept.examples))
        if share < self.space.coverage:
            self._invalid.add(child.id)
            self.outcome(child, "invalid", f"only {share:.0%} of accept examples scored", before, after)
            return False
        self.result.pool.append(PoolEntry(child, evaluation, rewards, f"c{child.iteration:02d}"))
        self.outcome(child, "accepted", why, before, after)
        return True

    def outcome(
        self,
        child: Candidate,
        outcome: str,
        reason: str,
        before: Mapping[str, float] | None = None,
        after: Mapping[str, float] | None = None,
    ) -> None:
        """Record what became of a candidate."""
        if outcome != "accepted":
            setattr(self.result, outcome, getattr(self.result, outcome) + 1)
        self._ledger.perform(
            "outcome",
            {
                "iteration": child.iteration,
                "candidate": child.id,
                "parents": list(child.parents),
                "outcome": outcome,
                "reason": reason,
                "parent_rewards": dict(before or {}),
                "child_rewards": dict(after or {}),
            },
            dict,
        )

    def candidate(self, texts: Mapping[str, str]) -> Candidate | None:
        """The recorded candidate with these texts, if it may be judged."""
        return self._candidates.get(candidate_id(texts))

    def _on_batch(self, candidate: str) -> dict[str, float]:
        seen = self._reflect.get(candidate, {})
        return {name: one.reward for name in self.batch if (one := seen.get(name)) and one.reward is not None}


def _refused(texts: Mapping[str, str]) -> None:
    """Optimisers that propose before they judge never come to a candidate that is not recorded."""
    raise AssertionError(f"a candidate that was never proposed: {sorted(texts)}")


def _answer(part: Corpus, raw: Sequence[str], group: str) -> str:
    """What the student said: its answers in turn, each beside its fact where there is one a fact."""
    facts = [fact.fact for fact in part.facts.get(group, ())]
    if facts and 1 < len(raw) <= len(facts):
        return "\n".join(f"{fact}: {said}" for fact, said in zip(facts, raw, strict=False))
    return "\n".join(raw)
