"""What every student must hold, as checks that a test of any student can run.

Subclass :class:`StudentContract` in a test module, give it a student and the answers of a model that finds documents
good and of one that finds them bad, and pytest collects a test for each promise::

    class TestMyJudge(StudentContract):
        student = MyJudge(model={"name": "m"})

        def good(self, request):
            return said("Score: 10")

        def poor(self, request):
            return said("Score: 0")
"""

from __future__ import annotations

import asyncio
import json
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final

from lineage.errors import CallError
from lineage.records import REASONS, Candidate, Judgement, Usage, stable
from splits.blindness import check_blind
from splits.corpus import Corpus, Example, Fact, Residual
from students.answers import Reading
from students.judging import Bench
from students.student import Draw, Student, student_hash
from students.transport.base import CallFailure, CallRequest, CallResult
from students.transport.cache import CallCache
from students.transport.calls import Calls
from students.transport.retry import Retry
from students.transport.spend import Limits, Spend

Answer = Callable[[CallRequest], CallResult]

USAGE: Final = Usage(calls=1, prompt_tokens=10, completion_tokens=5)
BAD: Final[dict[str, CallResult]] = {
    "truncated": CallResult("an answer cut", "length", replace(USAGE, reasoning_tokens=5)),
    "empty": CallResult("", "stop", USAGE),
    "reasoning only": CallResult(None, "stop", USAGE, reasoning="all of it was thought"),
    "refused": CallResult(None, "content_filter", USAGE),
    "prose": CallResult("Well, that depends on how one looks at it.", "stop", USAGE),
    "two numbers": CallResult("It is 3, or perhaps 8.", "stop", USAGE),
}
"""Answers that say nothing that could be read, by what is wrong with them."""


def said(text: str, **more: Any) -> CallResult:
    """An answer with this text."""
    return CallResult(text, "stop", USAGE, **more)


def yes_no(p_yes: float) -> CallResult:
    """A first token with the log-probabilities of *yes* and *no*."""
    top = (("Yes", math.log(p_yes)), ("No", math.log1p(-p_yes)))
    return CallResult("Yes" if p_yes >= 0.5 else "No", "length", USAGE, top=top)


class ScriptedTransport:
    """A transport in memory that answers by a function and remembers what it was asked; an exception is raised.

    Args:
        answer: gives the answer to a call.
        serial: whether it takes one call at a time.
    """

    simulated = False

    def __init__(self, answer: Callable[[CallRequest], CallResult | Exception], *, serial: bool = False) -> None:
        self.identity = {"scripted": True}
        self.serial = serial
        self.asked: list[CallRequest] = []
        self.primed: list[CallRequest] = []
        self._answer = answer

    async def complete(self, request: CallRequest) -> CallResult:
        """Answer one call."""
        self.asked.append(request)
        await asyncio.sleep(0)
        answer = self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def prime(self, request: CallRequest) -> None:
        """Remember it."""
        self.primed.append(request)

    async def aclose(self) -> None:
        """Nothing to release."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """Judgements, and the calls that were sent for them."""

    judgements: tuple[Judgement, ...]
    asked: list[CallRequest]


def sitting(
    student: Student,
    corpus: Corpus,
    answer: Callable[[CallRequest], CallResult | Exception],
    cache: Path,
    *,
    serial: bool = False,
    candidates: Sequence[Candidate] = (),
    replicates: Sequence[int] = (0,),
) -> Sitting:
    """Judge a corpus on scripted answers; by default with the instructions that the student begins at.

    Args:
        student: the judge.
        corpus: what it judges.
        answer: gives the answer to a call.
        cache: path of the call cache; sittings with the same one share their answers.
        serial: whether one call is made at a time.
        candidates: candidates to judge with.
        replicates: replicate numbers.
    """
    transport = ScriptedTransport(answer, serial=serial)
    with CallCache(cache) as kept:
        calls = Calls(transport, cache=kept, spend=Spend(Limits()), retry=Retry(tries=1, wait_s=0.001))
        bench = Bench(calls, run_seed=3, campaign="contract")
        try:
            found = bench.judge(
                student,
                corpus,
                candidates or [Candidate(dict(student.seed_texts), "seed")],
                phase="test",
                replicates=replicates,
            )
        finally:
            bench.close()
    return Sitting(found, transport.asked)


def contract_corpus() -> Corpus:
    """Two groups of a clean note and two flawed ones with facts, in which all that must not be said is marked."""
    examples: list[Example] = []
    facts: dict[str, tuple[Fact, ...]] = {}
    for number, topic in enumerate(("knee", "chest")):
        group = f"GROUPMARK{number}"
        source = f"Doctor: Tell me about the {topic}.\nPatient: It has hurt for a week, and penicillin gave me a rash."
        kept = f"HISTORY\nPain in the {topic} for a week.\nALLERGIES\nRash with penicillin."
        lost = f"HISTORY\nPain in the {topic} for a week.\nALLERGIES\nNothing known."
        other = f"HISTORY\nPain in the {topic} for a month.\nALLERGIES\nRash with penicillin."
        common: dict[str, Any] = {"group": group, "stratum": "STRATUMMARK", "source": source}
        flaw: dict[str, Any] = {"twin": f"CLEANMARK{number}", "severity": "critical", "fact": "FACTMARK"}
        meta = {"note": "METAMARK"}
        examples += [
            Example(f"CLEANMARK{number}", document=kept, label="clean", kind="clean", meta=meta, **common),
            Example(
                f"LOSTMARK{number}",
                document=lost,
                label="omission",
                kind="omit",
                trace="complete",
                residual=(Residual(0, "HEADINGMARK", "explicit"),),
                cohort="COHORTMARK",
                meta=meta,
                **common,
                **flaw,
            ),
            Example(
                f"CHANGEDMARK{number}", document=other, label="commission", kind="change", meta=meta, **common, **flaw
            ),
        ]
        facts[group] = (
            Fact(f"IDMARK{number}a", group, f"The {topic} has hurt for a week.", ("a week",), "supporting", True),
            Fact(f"IDMARK{number}b", group, "Penicillin caused a rash.", ("gave me a rash",), "critical", True),
        )
    return Corpus(tuple(examples), facts)


_CORPUS: Final = contract_corpus()
_DERIVED: Final = ("facts", "items", "statements")
"""Slots of prompts that hold what earlier answers about the source said."""


class StudentContract:
    """Promises of every student, a test each; a subclass names the student and the answers."""

    student: ClassVar[Student]

    def good(self, request: CallRequest) -> CallResult:
        """The answer of a model that finds nothing wrong with any document."""
        raise NotImplementedError

    def poor(self, request: CallRequest) -> CallResult:
        """The answer of a model that finds everything wrong."""
        raise NotImplementedError

    def test_the_same_answers_give_the_same_judgements_in_any_order_and_from_the_cache(self) -> None:
        """Determinism under replay: order, concurrency and the cache change nothing, and replay pays nothing."""
        with _room() as room:
            parallel = sitting(self.student, _CORPUS, self.good, room / "a.sqlite")
            turned = Corpus(tuple(reversed(_CORPUS.examples)), _CORPUS.facts)
            serial = sitting(self.student, turned, self.good, room / "b.sqlite", serial=True)
            again = sitting(self.student, _CORPUS, self.poor, room / "a.sqlite")
        assert _rows(parallel) == _rows(serial)
        assert _rows(again) == _rows(parallel), "a replay answers from the cache"
        assert again.asked == []
        assert [judgement.paid for judgement in again.judgements] == [0] * len(again.judgements)

    def test_a_good_document_scores_above_a_bad_one_on_the_stated_scale(self) -> None:
        """Direction: higher is better, from 0 to the scale."""
        with _room() as room:
            good = sitting(self.student, _CORPUS, self.good, room / "a.sqlite").judgements
            poor = sitting(self.student, _CORPUS, self.poor, room / "b.sqlite").judgements
        for better, worse in zip(good, poor, strict=True):
            assert better.score is not None, f"the good answers were not read: {better.reason}"
            assert worse.score is not None, f"the poor answers were not read: {worse.reason}"
            assert 0 <= worse.score < better.score <= self.student.scale

    def test_the_flag_rule_flags_what_is_found_wrong_and_nothing_else(self) -> None:
        """A rule of its own, where there is one, flags the bad documents and not the good ones."""
        with _room() as room:
            good = sitting(self.student, _CORPUS, self.good, room / "a.sqlite").judgements
            poor = sitting(self.student, _CORPUS, self.poor, room / "b.sqlite").judgements
        assert not any(judgement.flags for judgement in good)
        assert all(bool(judgement.flags) == (self.student.flag_rule is not None) for judgement in poor)

    def test_a_bad_answer_to_any_call_leaves_no_score(self) -> None:
        """States for bad answers: whichever call it is, the judgement fails or abstains with its reason."""
        for wrong, answer in BAD.items():
            for place in range(self._calls_of_one()):
                reading = self._with_bad(place, answer)
                assert reading.score is None, f"{wrong} at call {place + 1} became {reading.score}"
                assert (reading.reason or "").partition(":")[0] in (*REASONS, "abstained")
                assert not reading.flags

    def test_a_call_that_fails_leaves_no_score_and_is_not_kept(self) -> None:
        """A transport failure fails the judgement, and is asked again by the next process."""
        failed = self._with_bad(0, CallFailure("transport", "nothing answers"))
        assert (failed.score, failed.status) == (None, "failed")
        assert (failed.reason or "").startswith("transport")
        tries = 0

        def gone_once(request: CallRequest) -> CallResult | Exception:
            nonlocal tries
            tries += 1
            return CallError("gone", reason="transport", transient=True) if tries == 1 else self.good(request)

        with _room() as room:
            (first,) = sitting(self.student, _one(), gone_once, room / "a.sqlite").judgements
            (later,) = sitting(self.student, _one(), self.good, room / "a.sqlite").judgements
        assert first.score is None
        assert later.score is not None

    def test_no_call_says_anything_of_label_twin_flaw_or_name(self) -> None:
        """Blindness: what is known of an example beside source, document and facts is in no call, and changes none."""
        with _room() as room:
            told = sitting(self.student, _CORPUS, self.good, room / "a.sqlite")
        for request in told.asked:
            text = json.dumps([*map(dict, request.messages), dict(request.parameters), dict(request.inputs)])
            assert "MARK" not in text, f"prompt {request.prompt} names {text[text.index('MARK') - 12 :][:30]}"
        plain: dict[str, Any] = {"label": "clean", "kind": "clean", "severity": None, "trace": None, "twin": None}
        for example in _CORPUS.examples:
            blank = replace(example, id="x", fact=None, residual=(), cohort=None, meta={}, stratum="", **plain)
            facts = _CORPUS.facts[example.group]
            first = self.student.chain(example, facts, self.student.seed_texts, Draw(1))
            assert first == self.student.chain(blank, facts, self.student.seed_texts, Draw(1))

    def test_calls_about_the_source_hold_no_document_and_are_paid_for_once_a_group(self) -> None:
        """Extraction never sees the document under judgement, and its cost is counted once."""
        with _room() as room:
            found = sitting(self.student, _CORPUS, self.good, room / "a.sqlite")
        shared = [request for request in found.asked if request.shared]
        for request in shared:
            text = "\n".join(message["content"] for message in request.messages)
            derived = [request.inputs.get(slot, "") for slot in _DERIVED]
            for example in _CORPUS.examples:
                known = "\n".join([example.source, request.inputs["instruction"], *derived])
                check_blind(text, {example.id: example.document}, source=known)
        keys = [request.key({}) for request in shared]
        assert len(set(keys)) == len(keys), "no call about a source is paid for twice"
        for judgement in found.judgements:
            assert judgement.shared.calls <= judgement.usage.calls
            assert judgement.shared.prompt_tokens <= judgement.usage.prompt_tokens

    def test_cost_is_counted_once(self) -> None:
        """Every call sent is counted in one judgement as paid, and every judgement knows all that it rests on."""
        with _room() as room:
            found = sitting(self.student, _CORPUS, self.good, room / "a.sqlite")
        assert sum(judgement.paid for judgement in found.judgements) == len(found.asked)
        for judgement in found.judgements:
            assert judgement.usage.calls == len(judgement.finish) == len(judgement.raw)
            assert judgement.usage.prompt_tokens == USAGE.prompt_tokens * judgement.usage.calls
        facts = max(len(facts) for facts in _CORPUS.facts.values())
        most = self.student.calls_at_most(facts)
        assert all(j.usage.calls - j.shared.calls <= most.document for j in found.judgements)
        assert all(j.shared.calls <= most.group for j in found.judgements)

    def test_the_reasoning_budget_is_recorded_with_every_judgement(self) -> None:
        """Budget recorded: with the parameters really sent."""
        with _room() as room:
            found = sitting(self.student, _CORPUS, self.good, room / "a.sqlite")
        for judgement in found.judgements:
            assert judgement.sent["budget"] == self.student.budget.row()
            assert judgement.sent["answer"] == dict(self.student.sending.answer)
        sent = [dict(request.parameters) for request in found.asked]
        sending = self.student.sending
        known = [dict(each) for each in (sending.answer, sending.scratchpad or {}, *sending.others.values())]
        assert all(parameters in known for parameters in sent)

    def test_settings_do_not_depend_on_the_candidate_and_replicates_are_calls_of_their_own(self) -> None:
        """The same settings score every candidate; a replicate is asked anew, even where no seed is sent."""
        before = student_hash(self.student)
        texts = {block: f"Another text for {block}." for block in self.student.seed_texts}
        candidates = [Candidate(dict(self.student.seed_texts), "seed"), Candidate(texts, "seed")]
        with _room() as room:
            found = sitting(
                self.student, _one(), self.good, room / "a.sqlite", candidates=candidates, replicates=(0, 1)
            )
        assert student_hash(self.student) == before
        assert {judgement.student for judgement in found.judgements} == {before}
        assert len({judgement.key for judgement in found.judgements}) == 4
        assert {request.replicate for request in found.asked} == {0, 1}
        heard = "\n".join(message["content"] for request in found.asked for message in request.messages)
        assert all(text in heard for text in texts.values()), "every evolving block reaches the model"

    def _calls_of_one(self) -> int:
        """Calls that one document needs."""
        return self._played(lambda request, _: self.good(request))[1]

    def _with_bad(self, place: int, bad: CallResult | CallFailure) -> Reading:
        """The judgement of one document where the call at a place, and each repeat of it, gets a bad answer."""
        spoiled: list[str] = []

        def answer(request: CallRequest, at: int) -> CallResult | CallFailure:
            if at == place:
                spoiled.append(request.prompt)
            return bad if (request.prompt in spoiled and not request.thinks) or at == place else self.good(request)

        return self._played(answer)[0]

    def _played(self, answer: Callable[[CallRequest, int], CallResult | CallFailure]) -> tuple[Reading, int]:
        """The judgement of one flawed document, and the calls made for it, without a bench."""
        (example,) = _one().examples
        facts, texts = _CORPUS.facts[example.group], dict(self.student.seed_texts)
        readings, asked = [], 0
        for sample in range(self.student.samples):
            answers: list[CallResult | CallFailure] = []
            stage = self.student.chain(example, facts, texts, Draw(7, sample, 0, 11))
            while stage:
                answers += [answer(request, asked + number) for number, request in enumerate(stage)]
                asked += len(stage)
                stage = self.student.follow(example, facts, texts, Draw(7, sample, 0, 11), answers)
            readings.append(self.student.read(example, facts, answers))
        return self.student.combined(readings), asked


def _one() -> Corpus:
    """One flawed document, with the facts of its group."""
    return _CORPUS.part([example for example in _CORPUS.examples if example.label == "omission"][:1])


def _rows(found: Sitting) -> list[Any]:
    return [stable(judgement.row()) for judgement in found.judgements]


@contextmanager
def _room() -> Iterator[Path]:
    """A directory for a moment."""
    with tempfile.TemporaryDirectory() as held:
        yield Path(held)
