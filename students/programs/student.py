"""Any ``dspy.Module`` as a student: its predictors' instructions are the blocks that evolve."""

from __future__ import annotations

import importlib
import inspect
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import dspy

from lineage.canonical import digest
from lineage.errors import PlanError
from lineage.records import Candidate
from splits.corpus import Example, Fact
from students.answers import Answers, Reading, unread, unusable
from students.budget import ReasoningBudget
from students.capabilities import Capabilities
from students.combining import combined_reading, mean
from students.facts import checked_facts
from students.flag_rules import FlagRule, ScoreRule
from students.parsing import Abstained, Unread, parse_score
from students.programs.replaying import NextQuestion, play
from students.sending import Sending
from students.student import CallsAtMost, Draw, PromptCache
from students.transport.base import CallRequest, CallResult

GIVEN: Final = ("source", "document", "facts")
"""All of an example that a program can be given; its label, its twin and what is wrong with it are not among them."""
MOST_QUESTIONS: Final = 20
"""Questions after which a program is taken to go round in circles."""
_PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramStudent:
    """A student that is a dspy program.

    Its calls are made as any student's are: cached, counted, limited and resumed. The program is played from its start
    after each answer, so it must ask the same questions whenever it is given the same answers, one at a time, and call
    no tools. What dspy cannot read in an answer fails the judgement. Budget and temperature are the plan's: what a
    predictor sets itself is refused.

    Args:
        program: the module, with the instructions that it begins at.
        title: name of the design.
        model: identity of the model, part of the hash.
        inputs: which of ``source``, ``document`` and ``facts`` each argument of the program is; facts are a list of
            texts.
        output: field of its prediction that holds the score: a number, a text such as ``8/10``, or true for a good
            document.
        scale: score of a flawless document.
        flag_below: scores below this are flagged; None has no rule of its own.
        budget: reasoning budget and answer cap of each call.
        temperature: sampling temperature; None sends none.
        samples: answers a judgement; their mean is its score.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts.

    Raises:
        PlanError: the program has no predictor, carries a model or settings of its own, or the inputs are not its.
    """

    program: Any
    title: str
    model: Mapping[str, Any]
    inputs: Mapping[str, str] = field(default_factory=lambda: {"source": "source", "document": "document"})
    output: str = "score"
    scale: float = 10.0
    flag_below: float | None = None
    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=512))
    temperature: float | None = 0.0
    samples: int = 1
    prompt_cache: PromptCache = "unset"
    capabilities: Capabilities = field(default_factory=Capabilities)
    sending: Sending = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.program, dspy.Module) or not self.program.named_predictors():
            raise PlanError(f"{self.title}: a program is a dspy.Module with at least one predictor")
        if not self.inputs or (wrong := sorted(set(self.inputs.values()) - set(GIVEN))):
            raise PlanError(f"{self.title}: inputs can be {', '.join(GIVEN)}, got {', '.join(wrong) or 'none'}")
        if not (math.isfinite(self.scale) and self.scale > 0) or self.samples < 1:
            raise PlanError(f"{self.title}: scale must be above 0 and samples at least 1")
        for name, predictor in self.program.named_predictors():
            if predictor.lm is not None or predictor.config:
                own = "a model" if predictor.lm is not None else f"settings ({', '.join(sorted(predictor.config))})"
                raise PlanError(f"{self.title}: predictor {name} has {own} of its own; leave that to the plan")
        self._check_arguments()
        sending = Sending.of(self.budget, self.capabilities, temperature=self.temperature)
        if sending.scratchpad is not None:
            raise PlanError(
                f"{self.title}: this model thinks in a scratchpad, which a program has no place for; set "
                "budget.thinking_tokens to null, or let the program ask for its reasoning"
            )
        object.__setattr__(self, "sending", sending)

    @property
    def name(self) -> str:
        """Name of the design."""
        return self.title

    @property
    def flag_rule(self) -> FlagRule | None:
        """The rule on its score."""
        return None if self.flag_below is None else ScoreRule("score", "<", self.flag_below)

    @property
    def seed_texts(self) -> Mapping[str, str]:
        """The instruction of each predictor, by the predictor's name."""
        return {name: predictor.signature.instructions for name, predictor in self.program.named_predictors()}

    def settings(self) -> dict[str, Any]:
        """Everything but the instructions that can change a judgement: fields and demonstrations of all predictors.

        The source of the module's class is part of it, where it can be had; what that calls is not.
        """
        state = self.program.dump_state()
        for name, predictor in self.program.named_predictors():
            state[name]["signature"].pop("instructions")
            state[name]["types"] = {field: str(info.annotation) for field, info in predictor.signature.fields.items()}
        return {
            "student": self.name,
            "program": digest([_source(type(self.program)), state]),
            "dspy": dspy.__version__,
            "model": dict(self.model),
            "inputs": dict(self.inputs),
            "output": self.output,
            "scale": self.scale,
            "rule": None if self.flag_rule is None else self.flag_rule.row(),
            "budget": self.budget.row(),
            "sent": self.sending.row(),
            "samples": self.samples,
            "prompt_cache": self.prompt_cache,
        }

    def calls_at_most(self, facts: int) -> CallsAtMost:
        """The questions of a program cannot be counted beforehand; there are at most ``MOST_QUESTIONS`` a sample."""
        del facts
        return CallsAtMost(MOST_QUESTIONS * self.samples)

    def program_of(self, texts: Mapping[str, str]) -> Any:
        """A copy of the program with a candidate's instructions; ``program.save`` writes it in dspy's own format.

        Raises:
            PlanError: the candidate's blocks are not the program's predictors.
        """
        if set(texts) != set(self.seed_texts):
            raise PlanError(
                f"{self.title}: its blocks are {sorted(self.seed_texts)}, the candidate has {sorted(texts)}"
            )
        copy = self.program.deepcopy()
        for name, predictor in copy.named_predictors():
            predictor.signature = predictor.signature.with_instructions(texts[name])
        return copy

    def save(self, candidate: Candidate, path: Path) -> None:
        """Write the program with a candidate's instructions in dspy's own format; ``dspy.Module.load`` reads it.

        Raises:
            PlanError: the candidate's blocks are not the program's predictors, or the path does not end in ``.json``.
        """
        if path.suffix != ".json":
            raise PlanError(f"{path}: dspy's own format that holds no code is .json; give such a path")
        path.parent.mkdir(parents=True, exist_ok=True)
        self.program_of(candidate.texts).save(str(path))

    def chain(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw
    ) -> tuple[CallRequest, ...]:
        """The program's first question."""
        return self.follow(example, facts, texts, draw, ())

    def follow(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw, answers: Answers
    ) -> tuple[CallRequest, ...]:
        """The program's next question after these answers, all of which could be used."""
        if len(answers) == MOST_QUESTIONS or any(unusable(answer) for answer in answers):
            return ()
        found = play(self.program_of(texts), self._values(example, facts), _texts(answers))
        return (draw.request(found.messages, self.sending.answer, {}),) if isinstance(found, NextQuestion) else ()

    def read(self, example: Example, facts: Sequence[Fact], answers: Answers) -> Reading:
        """The score of the program's prediction."""
        for number, answer in enumerate(answers, start=1):
            if (bad := unusable(answer)) is not None:
                return unread(bad, about=f"answer {number}")
        found = play(self.program, self._values(example, facts), _texts(answers))
        if isinstance(found, NextQuestion):
            return unread(Unread("unparseable", f"no prediction after {MOST_QUESTIONS} questions"))
        score = found if isinstance(found, Unread) else self._score(found)
        return Reading("scored", float(score)) if isinstance(score, Fraction) else unread(score)

    def combined(self, readings: Sequence[Reading]) -> Reading:
        """The mean of all samples, with what the flag rule found."""
        reading = combined_reading(readings, mean)
        return reading if self.flag_rule is None else replace(reading, flags=self.flag_rule.flags(reading))

    def _values(self, example: Example, facts: Sequence[Fact]) -> dict[str, Any]:
        """What the program is given; the rest of the example is not within its reach."""
        given: dict[str, Any] = {"source": example.source, "document": example.document}
        if "facts" in self.inputs.values():
            given["facts"] = [fact.fact for fact in checked_facts(facts, None)]
        return {argument: given[what] for argument, what in self.inputs.items()}

    def _score(self, prediction: Any) -> Fraction | Unread | Abstained:
        value = getattr(prediction, self.output, None)
        if isinstance(value, bool):
            return Fraction(str(self.scale)) if value else Fraction(0)
        if isinstance(value, str) and float(self.scale).is_integer():
            return parse_score(value, scale=int(self.scale))
        if isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= self.scale:
            return Fraction(str(value))
        return Unread("unparseable", f"{self.output} is {value!r}, not a score from 0 to {self.scale:g}"[:200])

    def _check_arguments(self) -> None:
        """Whether the program takes what it will be given."""
        try:
            inspect.signature(type(self.program).forward).bind(self.program, **dict.fromkeys(self.inputs))
        except TypeError as error:
            raise PlanError(
                f"{self.title}: its forward does not take the inputs {', '.join(self.inputs)} ({error})"
            ) from error


def load_program(place: str, *, state: Path | None = None) -> Any:
    """A program from a function of yours that makes it.

    Args:
        place: ``package.module:function``; the function takes nothing and returns a ``dspy.Module``.
        state: a file that dspy's ``save`` wrote, with the program's instructions and demonstrations.

    Raises:
        PlanError: there is no such function, it returns something else, or the state is not its program's.
    """
    if not _PLACE.fullmatch(place):
        raise PlanError(f"program must be written package.module:function, got {place!r}")
    module, _, name = place.partition(":")
    try:
        make = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise PlanError(f"program {place}: {error}; install its package, or correct the name") from error
    program = make()
    if not isinstance(program, dspy.Module):
        raise PlanError(f"program {place}: returns {type(program).__name__}, not a dspy.Module")
    if state is not None:
        try:
            program.load(str(state))
        except (OSError, ValueError, KeyError, AttributeError) as error:
            raise PlanError(f"{state}: is no saved state of {place} ({type(error).__name__}: {error})") from error
    return program


def _texts(answers: Answers) -> list[str]:
    return [str(answer.text) for answer in answers if isinstance(answer, CallResult)]


def _source(kind: type) -> str:
    """The source of a class; its name where it was made at a prompt."""
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):
        return f"{kind.__module__}.{kind.__qualname__}"
