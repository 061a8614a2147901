"""The step verifier: a note judged step by step, each by the probability of ``+`` against ``-``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Literal, get_args

from lineage.errors import InputError, PlanError
from lineage.records import FactVerdict
from splits.corpus import Example, Fact
from splits.steps.cutting import Step, SteppedNote, cut
from splits.steps.granularity import Granularity
from students.answers import Reading, unusable
from students.blocks import block_texts
from students.budget import ReasoningBudget
from students.dialogue import Dialogue, Question, ask, taken, text_of
from students.flag_rules import FlagRule
from students.prompt import Prompt
from students.prompted import PromptedStudent
from students.sending import Sending
from students.steps.aggregating import AGGREGATIONS, Aggregation, aggregated, beside
from students.steps.asking import BLOCK_OF, BLOCKS, step_values
from students.steps.flagging import StepRule
from students.steps.reading import StepRead, log_logistic, of_votes, parse_sign, parse_vote
from students.student import CallsAtMost
from students.transport.base import CallFailure, CallResult

Read = Literal["auto", "votes"]
READS: Final[tuple[Read, ...]] = get_args(Read)
P_ROUNDED: Final = 6
VOTES: Final = "votes"
"""Name of the number beside a score that was made of votes: how many each step got."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepVerifier(PromptedStudent):
    """A student that cuts a document into steps and asks of each whether it is right.

    A step is judged by the source and by what is written before it, never by what comes after.

    Where the model states log-probabilities a step's P(+) is read from its first token, in one sample. Elsewhere it is
    estimated from votes, and settings, judgements and reports say so. The score of the document is the sum of the logs
    of P(+), mapped to 0 to 1; other aggregations stand beside it. One unread step leaves the document without a score.

    A verifier trained for the purpose is served by naming its endpoint; the prompts are those of its training data.

    Args:
        block: the prompt whose instruction evolves: ``content``, ``complete`` or ``end``.
        granularity: which kinds of steps there are, as in :meth:`Granularity.of`.
        aggregation: how steps make the score.
        threshold: least P(+) of a step that is not bad, in (0, 1).
        reading: ``auto``, or ``votes`` for an endpoint that is known to give no log-probabilities.
        votes: samples of each step where there are no log-probabilities.
        most_steps: most steps of a document; a longer one fails, as a score of its beginning would be another's.
        model: identity of the model, part of the hash.
        budget: reasoning budget and answer cap.
        temperature: of the votes, above 0 for several; None sends none. Log-probabilities are read at 0.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts.

    Raises:
        PlanError: a setting is out of range, or the model does not take it.
    """

    block: str = "content"
    granularity: str = "fine"
    aggregation: Aggregation = "sum"
    threshold: float = 0.5
    reading: Read = "auto"
    votes: int = 8
    most_steps: int = 200
    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=4))
    temperature: float | None = 1.0
    prompts: Mapping[str, Prompt] = field(init=False)
    kinds: Granularity = field(init=False)

    name: ClassVar[str] = "step-verifier"
    scale: ClassVar[float] = 1.0
    blocks: ClassVar[tuple[str, ...]] = BLOCKS

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "kinds", Granularity.of(self.granularity))
        except InputError as error:
            raise PlanError(str(error)) from error
        if self.aggregation not in AGGREGATIONS:
            raise PlanError(f"aggregation must be one of {', '.join(AGGREGATIONS)}, got {self.aggregation!r}")
        if self.reading not in READS:
            raise PlanError(f"reading must be one of {', '.join(READS)}, got {self.reading!r}")
        if not 0 < self.threshold < 1:
            raise PlanError(f"threshold must be a probability in (0, 1), got {self.threshold}")
        if self.votes < 1 or self.most_steps < 1:
            raise PlanError(f"samples and most_steps must be at least 1, got {self.votes} and {self.most_steps}")
        if self.samples > 1 and self.temperature == 0:
            raise PlanError(f"temperature must be above 0 for {self.samples} votes, which would be the same")
        able = self.capabilities
        temperature = able.unsampled(reasoning=self.budget.reasons(able)) if self.weighted else self.temperature
        sending = Sending.of(self.budget, able, temperature=temperature, logprobs=self.weighted)
        if self.weighted and sending.scratchpad is None:
            # Nothing is drawn: without a seed, the steps that twins share before a flaw are one call, and equal.
            sending = replace(sending, seeded=False)
        texts = block_texts("step", self.blocks, self.block)
        prompts = {block: Prompt.load(f"step-{block}", sending, fixed=text) for block, text in texts.items()}
        object.__setattr__(self, "prompts", prompts)
        object.__setattr__(self, "prompt", prompts[self.block])

    @property
    def weighted(self) -> bool:
        """Whether P(+) is read from log-probabilities."""
        able = self.capabilities
        stated = able.top_logprobs >= 2 and (able.reasoning_logprobs or not self.budget.reasons(able))
        return self.reading == "auto" and stated

    @property
    def samples(self) -> int:
        """One where log-probabilities are read."""
        return 1 if self.weighted else self.votes

    @property
    def seed_instruction(self) -> str:
        """The bundled text of the prompt that evolves."""
        return f"step-{self.block}"

    @property
    def flag_rule(self) -> FlagRule:
        """A note is flagged at its first bad step."""
        return StepRule(self.threshold)

    def own_settings(self) -> dict[str, Any]:
        """How steps are cut, read and put together, and the prompts."""
        return {
            "samples": self.samples,
            "read": "log-probabilities" if self.weighted else VOTES,
            "granularity": str(self.kinds),
            "aggregation": self.aggregation,
            "threshold": self.threshold,
            "most_steps": self.most_steps,
            "block": self.block,
            "prompts": {name: prompt.row() for name, prompt in self.prompts.items()},
        }

    def calls_at_most(self, facts: int) -> CallsAtMost:
        """One answer a step and sample; how many steps a document has is known only when it is cut."""
        del facts
        steps = 1 if len(self.kinds.kinds) == 1 else self.most_steps
        return CallsAtMost(steps * self.samples * self.calls_an_answer)

    def calls_of(self, document: str) -> int:
        """Most calls of one judgement of this document."""
        return min(len(cut(document, self.kinds).steps), self.most_steps) * self.samples * self.calls_an_answer

    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        """One question a step: first about what the steps say, then completeness, then the end; each shares a start."""
        del facts  # a verifier sees no fact list
        note = cut(example.document, self.kinds)
        if len(note.steps) > self.most_steps:
            words = f"unparseable: the document has {len(note.steps)} steps, most_steps is {self.most_steps}"
            return Reading("failed", None, words)
        ordered = sorted(note.steps, key=lambda step: (BLOCKS.index(BLOCK_OF[step.kind]), step.number))
        answers = yield from ask(*(self._question(example, note, step) for step in ordered))
        by_number = dict(zip((step.number for step in ordered), answers, strict=True))
        reads = [self._read(by_number[step.number], step) for step in note.steps]
        return self._reading([(step.id, step.place) for step in note.steps], reads)

    def combined(self, readings: Sequence[Reading]) -> Reading:
        """The judgement: with votes, each step's are counted over all samples before steps are put together."""
        for status in ("failed", "abstained"):
            for reading in readings:
                if reading.status == status:
                    return reading
        reading = readings[0] if self.weighted else self._counted(readings)
        return replace(reading, flags=self.flag_rule.flags(reading))

    def _question(self, example: Example, note: SteppedNote, step: Step) -> Question:
        prompt = self.prompts[BLOCK_OF[step.kind]]
        return Question(prompt, step_values(example, note, step), about=f"step {step.id}")

    def _read(self, answer: CallResult | CallFailure, step: Step) -> StepRead:
        about = f"step {step.id}, {step.place}"
        if not self.weighted:
            vote = taken(parse_vote(text_of(answer, about=about)), about=about)
            return of_votes([vote])
        top = answer.top if isinstance(answer, CallResult) else ()
        return taken(unusable(answer, one_token=True) or parse_sign(top), about=about)

    def _counted(self, readings: Sequence[Reading]) -> Reading:
        """One reading out of the votes of all samples."""
        named = [(verdict.fact, verdict.text or "") for verdict in readings[0].facts]
        votes = [[reading.facts[place].p_yes > 0.5 for reading in readings] for place in range(len(named))]
        reading = self._reading(named, [of_votes(each) for each in votes])
        return replace(reading, parts={**reading.parts, VOTES: float(len(readings))})

    def _reading(self, named: Sequence[tuple[str, str]], reads: Sequence[StepRead]) -> Reading:
        """The reading of steps, each with its id and its place."""
        verdicts = []
        for (step, place), read in zip(named, reads, strict=True):
            p = round(read.p, P_ROUNDED)
            margin = None if read.margin is None else round(read.margin, P_ROUNDED)
            verdicts.append(FactVerdict(step, p, margin, p >= self.threshold, text=place))
        stored = [stored_read(verdict) for verdict in verdicts]
        return Reading("scored", aggregated(stored, self.aggregation), facts=tuple(verdicts), parts=beside(stored))


def stored_read(verdict: FactVerdict) -> StepRead:
    """A step as it is read back from a judgement: scores are made of what is stored, so that they can be made again."""
    if verdict.margin is not None:
        return StepRead(verdict.p_yes, log_logistic(verdict.margin), verdict.margin)
    return StepRead(verdict.p_yes, math.log(verdict.p_yes), None)
