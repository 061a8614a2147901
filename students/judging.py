"""Judging: a student, a candidate and examples in; judgements out, the same in any order and on any replay."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from lineage.records import Candidate, Judgement, Usage
from splits.corpus import Corpus, Example
from students.student import Draw, PromptCache, Reading, Student, draw_seed, student_hash
from students.transport.base import CallFailure, CallRequest, CallResult
from students.transport.cache import Tags
from students.transport.calls import Calls

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one evaluation has come: judgements done of all, and the calls paid and cached so far."""

    done: int
    of: int
    paid: int
    cached: int


class Bench:
    """Where students judge: runs the calls of many judgements on one event loop.

    Args:
        calls: the way to the student's model.
        run_seed: first part of every seed (see :func:`~students.student.draw_seed`).
        campaign: whom calls are charged to.
        progress: called after each judgement.
    """

    def __init__(
        self,
        calls: Calls,
        *,
        run_seed: int,
        campaign: str,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.calls = calls
        self._run_seed, self._campaign = run_seed, campaign
        self._progress = progress
        self._runner = asyncio.Runner()

    def close(self) -> None:
        """Release connections and the event loop."""
        self.run(self.calls.transport.aclose())
        self._runner.close()

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine on the bench's event loop, as other roles that share its connections do."""
        return self._runner.run(coroutine)

    def judge(
        self,
        student: Student,
        corpus: Corpus,
        candidates: Sequence[Candidate],
        *,
        phase: str,
        replicates: Sequence[int] = (0,),
    ) -> tuple[Judgement, ...]:
        """Judge every example of ``corpus`` with each candidate in each replicate, candidates interleaved.

        Returns:
            One judgement an example, candidate and replicate, ordered by key; failed ones among them, with reasons.

        Raises:
            CallError: the endpoint refuses or is gone.
            BudgetError: a limit of the plan would be passed.
        """
        work = [
            (example, candidate, replicate)
            for replicate in replicates
            for example in corpus.examples
            for candidate in candidates
        ]
        return self.run(self._judge_all(student, corpus, work, phase))

    def _cached_prompts(
        self, chain: Sequence[CallRequest], history: Sequence[CallRequest], prompt_cache: PromptCache
    ) -> tuple[CallRequest, ...]:
        """The chain with llama.cpp's prompt-cache parameter.

        ``exact`` reads the first prompt of a group's chain afresh and lets every later one reuse what it shares with
        the prompts before: on one slot and in sequence, answers then depend on the group's chain alone, and not on
        what the server did before. Each call names the one it comes after, which makes that part of its cache key.
        """
        made: list[CallRequest] = []
        last = history[-1].key(self.calls.transport.identity) if history else None
        for request in chain:
            reuse = prompt_cache == "on" or (prompt_cache == "exact" and last is not None)
            request = replace(
                request,
                parameters={**request.parameters, "cache_prompt": reuse},
                after=last if prompt_cache == "exact" else None,
            )
            last = request.key(self.calls.transport.identity)
            made.append(request)
        return tuple(made)

    async def _judge_all(
        self, student: Student, corpus: Corpus, work: Sequence[tuple[Example, Candidate, int]], phase: str
    ) -> tuple[Judgement, ...]:
        done: list[Judgement] = []
        settings = student_hash(student)  # once: it is the same for every judgement

        async def one(example: Example, candidate: Candidate, replicate: int, history: list[CallRequest]) -> None:
            tags = Tags(self._campaign, "student", phase, candidate.id)
            done.append(await self._judgement(student, settings, corpus, candidate, example, replicate, tags, history))
            if self._progress is not None:
                self._progress(Progress(len(done), len(work), self.calls.paid, self.calls.found))

        try:
            if self.calls.transport.serial:
                histories: dict[tuple[int, str, str], list[CallRequest]] = {}
                for example, candidate, replicate in sorted(work, key=_serial_order):
                    history = histories.setdefault((replicate, candidate.id, example.group), [])
                    await one(example, candidate, replicate, history)
            else:
                # As many as may call at once take from one queue, so that no prompt is made before it is sent.
                waiting = iter(work)

                async def take() -> None:
                    for item in waiting:
                        await one(*item, [])

                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self.calls.concurrency, len(work))):
                        group.create_task(take())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        finally:
            await self.calls.finish()
        return tuple(sorted(done, key=lambda judgement: judgement.key))

    async def _judgement(
        self,
        student: Student,
        settings: str,
        corpus: Corpus,
        candidate: Candidate,
        example: Example,
        replicate: int,
        tags: Tags,
        history: list[CallRequest],
    ) -> Judgement:
        facts = corpus.facts.get(example.group, ())
        readings: list[Reading] = []
        answers: list[CallResult | CallFailure] = []
        usage = Usage()
        seeds = [draw_seed(self._run_seed, corpus.rank[example.id], sample) for sample in range(student.samples)]
        sent = student.sending
        for sample, seed in enumerate(seeds):
            draw = Draw(seed if sent.seeded else None, sample, replicate)
            some: list[CallResult | CallFailure] = []
            stage = student.chain(example, facts, candidate.texts, draw)
            while stage:
                if student.prompt_cache != "unset":
                    stage = self._cached_prompts(stage, history, student.prompt_cache)
                came = await self.calls.run(stage, tags, history=history)
                history += stage
                usage = usage + _used(came, scratchpad=sent.scratchpad is not None and not some)
                some += came
                stage = student.follow(example, facts, candidate.texts, draw, some)
            readings.append(student.read(example, facts, some))
            answers += some
        results = [answer for answer in answers if isinstance(answer, CallResult)]
        reading = _combined(readings)
        return Judgement(
            example=example.id,
            candidate=candidate.id,
            student=settings,
            status=reading.status,
            score=reading.score,
            seed=seeds[0] if sent.seeded else None,
            replicate=replicate,
            reason=reading.reason,
            facts=reading.facts,
            usage=usage,
            finish=tuple(result.finish for result in results),
            raw=tuple(result.text or "" for result in results),
            sent={
                **sent.row(),
                "budget": student.budget.row(),
                "prompt_cache": student.prompt_cache,
                "samples": student.samples,
                "version": next((result.version for result in results), None),
            },
            latency_s=round(sum(result.latency_s for result in results if not result.cached), 6),
            paid=sum(not result.cached for result in results),
        )


def _used(answers: Sequence[CallResult | CallFailure], *, scratchpad: bool) -> Usage:
    """What a stage used; the tokens of a scratchpad are reasoning tokens."""
    found = (answer.usage for answer in answers if isinstance(answer, CallResult))
    return sum(
        (replace(used, reasoning_tokens=used.completion_tokens) if scratchpad else used for used in found), Usage()
    )


def _serial_order(work: tuple[Example, Candidate, int]) -> tuple[int, str, str, bool, str]:
    """Group by group, the clean document first: its flawed twins then share its beginning."""
    example, candidate, replicate = work
    return replicate, candidate.id, example.group, example.twin is not None, example.id


def _combined(readings: Sequence[Reading]) -> Reading:
    """The mean of all samples as an exact fraction, rounded once.

    One unread sample fails the judgement; otherwise one that abstains makes it abstain.
    """
    for status in ("failed", "abstained"):
        for reading in readings:
            if reading.status == status:
                return reading
    if len(readings) == 1:
        return readings[0]
    scores = [Fraction(str(reading.score)) for reading in readings]
    return Reading("scored", float(sum(scores, Fraction(0)) / len(scores)), facts=readings[0].facts)
