"""Judging: a student, a candidate and examples in; judgements out, the same in any order and on any replay."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from lineage.records import Candidate, Judgement, Usage
from splits.corpus import Corpus, Example
from students.answers import Reading
from students.student import Draw, PromptCache, Student, draw_seed, group_draw_seed, student_hash
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


@dataclass(frozen=True, slots=True)
class Lister:
    """The way to another model, which answers the calls about the source alone: with it only the checker is swapped.

    Args:
        calls: the way to it.
        prompt_cache: how its server's prompt cache is used.
    """

    calls: Calls
    prompt_cache: PromptCache = "unset"


@dataclass(frozen=True, slots=True)
class _Sitting:
    """What was asked so far in a longer chain of calls, and the answers about its source alone, by key.

    ``listed`` is what another model was asked about the source.
    """

    asked: list[CallRequest] = field(default_factory=list)
    listed: list[CallRequest] = field(default_factory=list)
    shared: dict[str, CallResult] = field(default_factory=dict)


class Bench:
    """Where students judge: runs the calls of many judgements on one event loop.

    Args:
        calls: the way to the student's model.
        run_seed: first part of every seed (see :func:`~students.student.draw_seed`).
        campaign: whom calls are charged to.
        progress: called after each judgement.
        lister: where another model answers the calls about the source alone, the way to it.
    """

    def __init__(
        self,
        calls: Calls,
        *,
        run_seed: int,
        campaign: str,
        progress: Callable[[Progress], None] | None = None,
        lister: Lister | None = None,
    ) -> None:
        self.calls, self.lister = calls, lister
        self._run_seed, self._campaign = run_seed, campaign
        self._progress = progress
        self._runner = asyncio.Runner()

    def close(self) -> None:
        """Release connections and the event loop."""
        for calls in self._ways:
            self.run(calls.transport.aclose())
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

    @property
    def _ways(self) -> tuple[Calls, ...]:
        """The ways to all models that are called."""
        return (self.calls,) if self.lister is None else (self.calls, self.lister.calls)

    async def _judge_all(
        self, student: Student, corpus: Corpus, work: Sequence[tuple[Example, Candidate, int]], phase: str
    ) -> tuple[Judgement, ...]:
        done: list[Judgement] = []
        settings = student_hash(student)  # once: it is the same for every judgement

        async def one(example: Example, candidate: Candidate, replicate: int, sitting: _Sitting) -> None:
            tags = Tags(self._campaign, "student", phase, candidate.id)
            done.append(await self._judgement(student, settings, corpus, candidate, example, replicate, tags, sitting))
            if self._progress is not None:
                paid, found = (sum(getattr(calls, name) for calls in self._ways) for name in ("paid", "found"))
                self._progress(Progress(len(done), len(work), paid, found))

        try:
            if any(calls.transport.serial for calls in self._ways):
                sittings: dict[tuple[int, str, str], _Sitting] = {}
                for example, candidate, replicate in sorted(work, key=_serial_order):
                    sitting = sittings.setdefault((replicate, candidate.id, example.group), _Sitting())
                    await one(example, candidate, replicate, sitting)
            else:
                # As many as may call at once take from one queue, so that no prompt is made before it is sent.
                waiting = iter(work)

                async def take() -> None:
                    for item in waiting:
                        await one(*item, _Sitting())

                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self.calls.concurrency, len(work))):
                        group.create_task(take())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        finally:
            for calls in self._ways:
                await calls.finish()
        return tuple(sorted(done, key=lambda judgement: judgement.key))

    async def _answers(
        self, stage: Sequence[CallRequest], prompt_cache: PromptCache, tags: Tags, sitting: _Sitting
    ) -> list[CallResult | CallFailure]:
        """The answers to one stage.

        What the sitting knows about its source is not asked again: with an exact prompt cache it would be another call,
        as it comes after others.
        """
        calls, history = self.calls, sitting.asked
        if self.lister is not None and stage[0].shared:
            calls, prompt_cache, history = self.lister.calls, self.lister.prompt_cache, sitting.listed
        identity = calls.transport.identity
        keys = [request.key(identity) if request.shared else "" for request in stage]
        known = {key: sitting.shared[key] for key in keys if key in sitting.shared}
        asked = [request for key, request in zip(keys, stage, strict=True) if key not in known]
        chain = tuple(asked) if prompt_cache == "unset" else _cached_prompts(asked, history, prompt_cache, identity)
        came = iter(await calls.run(chain, tags, history=history) if chain else ())
        history.extend(chain)
        answers: list[CallResult | CallFailure] = []
        for key in keys:
            answer = known[key] if key in known else next(came)
            if key and isinstance(answer, CallResult):
                sitting.shared[key] = replace(answer, cached=True)
            answers.append(answer)
        return answers

    async def _judgement(
        self,
        student: Student,
        settings: str,
        corpus: Corpus,
        candidate: Candidate,
        example: Example,
        replicate: int,
        tags: Tags,
        sitting: _Sitting,
    ) -> Judgement:
        facts = corpus.facts.get(example.group, ())
        readings: list[Reading] = []
        answers: list[CallResult | CallFailure] = []
        usage = shared = Usage()
        seeds = [draw_seed(self._run_seed, corpus.rank[example.id], sample) for sample in range(student.samples)]
        sent = student.sending
        for sample, seed in enumerate(seeds):
            group_seed = group_draw_seed(self._run_seed, example.group)
            draw = Draw(seed if sent.seeded else None, sample, replicate, group_seed)
            some: list[CallResult | CallFailure] = []
            stage = student.chain(example, facts, candidate.texts, draw)
            while stage:
                came = await self._answers(stage, student.prompt_cache, tags, sitting)
                usage = usage + _used(stage, came)
                shared = shared + _used(stage, came, shared_only=True)
                some += came
                stage = student.follow(example, facts, candidate.texts, draw, some)
            readings.append(student.read(example, facts, some))
            answers += some
        results = [answer for answer in answers if isinstance(answer, CallResult)]
        reading = student.combined(readings)
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
            flags=reading.flags,
            usage=usage,
            shared=shared,
            parts=reading.parts,
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


def _cached_prompts(
    chain: Sequence[CallRequest],
    history: Sequence[CallRequest],
    prompt_cache: PromptCache,
    identity: Mapping[str, Any],
) -> tuple[CallRequest, ...]:
    """The chain with llama.cpp's prompt-cache parameter.

    ``exact`` reads the first prompt of a group's chain afresh and lets every later one reuse what it shares with the
    prompts before: on one slot and in sequence, answers then depend on the group's chain alone, and not on what the
    server did before. Each call names the one it comes after, which makes that part of its cache key.
    """
    made: list[CallRequest] = []
    last = history[-1].key(identity) if history else None
    for request in chain:
        reuse = prompt_cache == "on" or (prompt_cache == "exact" and last is not None)
        request = replace(
            request,
            parameters={**request.parameters, "cache_prompt": reuse},
            after=last if prompt_cache == "exact" else None,
        )
        last = request.key(identity)
        made.append(request)
    return tuple(made)


def _used(
    stage: Sequence[CallRequest], answers: Sequence[CallResult | CallFailure], *, shared_only: bool = False
) -> Usage:
    """What a stage used, or its calls about the source alone; the tokens of a scratchpad are reasoning tokens."""
    found = (
        replace(answer.usage, reasoning_tokens=answer.usage.completion_tokens) if request.thinks else answer.usage
        for request, answer in zip(stage, answers, strict=True)
        if isinstance(answer, CallResult) and (request.shared or not shared_only)
    )
    return sum(found, Usage())


def _serial_order(work: tuple[Example, Candidate, int]) -> tuple[int, str, str, bool, str]:
    """Group by group, the clean document first: its flawed twins then share its beginning."""
    example, candidate, replicate = work
    return replicate, candidate.id, example.group, example.twin is not None, example.id
