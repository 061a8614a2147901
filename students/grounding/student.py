"""The gate as a student: what a document affirms is put to the model, a statement a call; the rest is looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar, Final, Literal, get_args

from lineage.errors import PlanError
from lineage.records import FactVerdict
from splits.corpus import Example, Fact
from students.answers import Reading, unread, unusable
from students.budget import ReasoningBudget
from students.dialogue import Dialogue, Question, ask, taken, text_of
from students.flag_rules import FlagRule, ScoreRule
from students.grounding.examination import Examined, asked_of, examine
from students.grounding.gate import PASS_MARK, Gated, decide
from students.parsing import Abstained, Unread, parse_score, parse_yes_no
from students.prompt import Prompt
from students.prompted import PromptedStudent
from students.sending import Sending
from students.student import CallsAtMost
from students.transport.base import CallFailure, CallResult

GROUNDING: Final = "grounding"
NAMES: Final = (GROUNDING, f"{GROUNDING}-score", f"{GROUNDING}-whole", f"{GROUNDING}-whole-score")
"""Names of the designs: sentence by sentence or the whole document, by probability or by a score in words."""
AnswerForm = Literal["probability", "score"]
ANSWER_FORMS: Final[tuple[AnswerForm, ...]] = get_args(AnswerForm)
Unit = Literal["sentence", "answer"]
UNITS: Final[tuple[Unit, ...]] = get_args(Unit)
MOST_SENTENCES: Final = 40
"""Most statements of a document that are put to the model; a longer document is not judged."""
_SCORE: Final = 10
_ROUNDED: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundingGate(PromptedStudent):
    """A student that scores a document by its least supported claim, from 0 to 1.

    What a sentence denies is never put to the model (see :func:`~students.grounding.gate.gate`). A document of which
    every claim is restated has no claim left to score, and the judgement abstains. One unread answer fails it.

    Args:
        model: identity of the model, part of the hash.
        answer: ``probability``, that of *yes* against *no* as the first token, or ``score``, from 0 to 10 in words.
        per: ``sentence``, or ``answer``: one call on the whole document and nothing else, as the gate is measured
            against.
        pass_mark: least rating that passes; a document with less is flagged.
        budget: reasoning budget and answer cap.
        temperature: sampling temperature of a score; None sends none.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts; for a probability it must state log-probabilities.

    Raises:
        PlanError: a setting is out of range, or the model does not take it.
    """

    answer: AnswerForm = "probability"
    per: Unit = "sentence"
    pass_mark: float = PASS_MARK
    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=1))
    temperature: float | None = 0.0

    scale: ClassVar[float] = 1.0
    samples: ClassVar[int] = 1
    seed_instruction: ClassVar[str] = "grounding"

    def __post_init__(self) -> None:
        if self.answer not in ANSWER_FORMS or self.per not in UNITS:
            raise PlanError(f"answer must be {' or '.join(ANSWER_FORMS)}, and per {' or '.join(UNITS)}")
        if not 0 < self.pass_mark <= 1:
            raise PlanError(f"pass_mark must be in (0, 1], got {self.pass_mark:g}; use {PASS_MARK}")
        if self.answer == "probability":
            temperature = self.capabilities.unsampled(reasoning=self.budget.reasons(self.capabilities))
            sending = Sending.of(self.budget, self.capabilities, temperature=temperature, logprobs=True)
            object.__setattr__(self, "prompt", Prompt.load("grounding", sending))
        else:
            sending = Sending.of(self.budget, self.capabilities, temperature=self.temperature)
            object.__setattr__(self, "prompt", Prompt.load("grounding-score", sending))

    @property
    def name(self) -> str:
        """``grounding``, with what is not as usual."""
        return "-".join(
            [GROUNDING, *(["whole"] if self.per == "answer" else []), *(["score"] if self.answer == "score" else [])]
        )

    @property
    def flag_rule(self) -> FlagRule:
        """A document is flagged below the pass mark."""
        return ScoreRule("least support", "<", self.pass_mark)

    def own_settings(self) -> dict[str, Any]:
        """Answer form, unit, pass mark and temperature."""
        scored = {"temperature": self.temperature} if self.answer == "score" else {}
        return {"answer": self.answer, "per": self.per, "pass_mark": self.pass_mark, **scored}

    def calls_at_most(self, facts: int) -> CallsAtMost:
        """One answer a sentence, of which there is a most; or one in all."""
        del facts
        return CallsAtMost((MOST_SENTENCES if self.per == "sentence" else 1) * self.calls_an_answer)

    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        """One question a sentence that affirms; the source comes first, so that they share their beginning."""
        del facts  # the gate reads the document itself
        if self.per == "answer":
            (verdict,) = yield from self._rated((example.document,), example.source)
            return Reading("scored", verdict.p_yes, facts=(verdict,))
        examined = examine(example.document, example.source)
        asked = asked_of(examined)
        if not examined or len(asked) > MOST_SENTENCES:
            why = f"{len(asked)} sentences, most is {MOST_SENTENCES}" if examined else "the document has no sentence"
            return unread(Unread("empty" if not examined else "refused", why))
        verdicts = (yield from self._rated(asked, example.source)) if asked else ()
        ratings = [verdict.p_yes for verdict in verdicts]
        gated = decide(examined, ratings, answer=example.document, pass_mark=self.pass_mark)
        if gated.score is None:
            return unread(Abstained("no claim is left to score: the source states nothing of them either way"))
        found = _verdicts(examined, verdicts, example.source)
        return Reading("scored", round(gated.score, _ROUNDED), facts=found, parts=_parts(gated, found))

    def _rated(self, asked: Sequence[str], source: str) -> Dialogue[tuple[FactVerdict, ...]]:
        """A rating of each statement; one that is not read fails the judgement."""
        abouts = [f"statement {number}" for number in range(1, len(asked) + 1)]
        questions = [
            Question(self.prompt, {"source": source, "statement": text}, about=about)
            for text, about in zip(asked, abouts, strict=True)
        ]
        answers = yield from ask(*questions)
        return tuple(
            self._verdict(answer, text, about) for answer, text, about in zip(answers, asked, abouts, strict=True)
        )

    def _verdict(self, answer: CallResult | CallFailure, text: str, about: str) -> FactVerdict:
        margin: float | None = None
        if self.answer == "score":
            p_yes = float(taken(parse_score(text_of(answer, about=about), scale=_SCORE), about=about) / _SCORE)
        else:
            bad = unusable(answer, one_token=True)
            found = taken(bad or parse_yes_no(answer.top if isinstance(answer, CallResult) else ()), about=about)
            p_yes, margin = found.p_yes, round(found.margin, _ROUNDED)
        p_yes = round(p_yes, _ROUNDED)
        return FactVerdict(about, p_yes, margin, p_yes >= self.pass_mark, text=text)


def ratings_of(verdicts: Sequence[FactVerdict]) -> Mapping[str, float]:
    """The model's ratings in a stored judgement, by the statement that it was asked about."""
    return {str(verdict.text): verdict.p_yes for verdict in verdicts if verdict.fact.startswith("statement")}


def _verdicts(examined: Sequence[Examined], rated: Sequence[FactVerdict], source: str) -> tuple[FactVerdict, ...]:
    """What was found of every scored claim, in order of the sentences, with the words of the source."""
    left, found = iter(rated), []
    for number, each in enumerate(examined, start=1):
        if each.asked:
            verdict = next(left)
            quote = None if each.nearest is None else each.nearest.of(source)
            found.append(
                FactVerdict(verdict.fact, verdict.p_yes, verdict.margin, verdict.present, verdict.text, quote=quote)
            )
        for place, (_, finding) in enumerate(each.denials, start=1):
            if finding.standing != "silent":
                denied = finding.standing == "denied"
                text = each.claims.sentence.text
                quote = None if finding.span is None else finding.span.of(source)
                found.append(
                    FactVerdict(f"denial {number}.{place}", float(denied), None, denied, text=text, quote=quote)
                )
        for place, (reason, span) in enumerate(each.against, start=1):
            text = f"{each.claims.sentence.text}: {reason}"
            found.append(
                FactVerdict(f"refutation {number}.{place}", 0.0, None, False, text=text, quote=span.of(source))
            )
    return tuple(found)


def _parts(gated: Gated, found: Sequence[FactVerdict]) -> dict[str, float]:
    standings = [each.standing for each in gated.sentences]
    return {
        "mean": round(fmean(verdict.p_yes for verdict in found), _ROUNDED) if found else 0.0,
        "sentences": float(len(standings)),
        "restated": float(standings.count("restated")),
        "rejected": float(standings.count("rejected")),
    }
