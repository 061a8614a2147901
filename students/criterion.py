"""The eight designs: a criterion, one verdict or a score from 0 to 10, and one sample or eight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, get_args

from lineage.errors import PlanError
from splits.corpus import Example, Fact
from students.answers import Reading
from students.budget import ReasoningBudget
from students.combining import Combination, mean, winsorised_mean
from students.dialogue import Dialogue, Question, ask, taken, text_of
from students.flag_rules import EIGHT_SCORES, EIGHT_VERDICTS, SINGLE_SCORE, SINGLE_VERDICT, FlagRule
from students.parsing import parse_score
from students.pass_fail import parse_pass_fail
from students.prompt import Prompt
from students.prompted import PromptedStudent
from students.sending import Sending

Criterion = Literal["faithfulness", "complete-and-faithful"]
AnswerForm = Literal["yes-no", "score"]
CRITERIA: Final[tuple[Criterion, ...]] = get_args(Criterion)
ANSWER_FORMS: Final[tuple[AnswerForm, ...]] = get_args(AnswerForm)
SAMPLES: Final = (1, 8)

_RULES: Final[Mapping[tuple[AnswerForm, int], FlagRule]] = {
    ("yes-no", 1): SINGLE_VERDICT,
    ("yes-no", 8): EIGHT_VERDICTS,
    ("score", 1): SINGLE_SCORE,
    ("score", 8): EIGHT_SCORES,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionJudge(PromptedStudent):
    """A student that reads source and document and says whether, or how well, the document meets a criterion.

    The criterion is the block that evolves: its name says which bundled text that begins at. A verdict scores 10 for
    PASS and 0 for FAIL. Eight samples are combined by their winsorised mean, and one unread sample fails the judgement.
    The flag rule is fixed by answer form and samples.

    Args:
        criterion: ``faithfulness``, or ``complete-and-faithful``.
        answer: ``yes-no``, the verdict PASS or FAIL, or ``score``, from 0 to 10.
        samples: 1 or 8.
        model: identity of the model, part of the hash.
        budget: reasoning budget and answer cap.
        temperature: sampling temperature, above 0 for eight samples; None sends none.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts.

    Raises:
        PlanError: a setting is out of range, or the model does not take it.
    """

    criterion: Criterion
    answer: AnswerForm
    samples: int
    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=16))
    temperature: float | None = 0.0

    scale: ClassVar[float] = 10.0

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA or self.answer not in ANSWER_FORMS or self.samples not in SAMPLES:
            raise PlanError(
                f"there is no design {self.name}: criterion is {' or '.join(CRITERIA)}, answer "
                f"{' or '.join(ANSWER_FORMS)}, samples 1 or 8"
            )
        if self.samples > 1 and self.temperature == 0:
            raise PlanError(
                f"temperature must be above 0 for {self.name}, got 0: its samples would be the same; give 1, or null"
            )
        sending = Sending.of(self.budget, self.capabilities, temperature=self.temperature)
        object.__setattr__(self, "prompt", Prompt.load(f"criterion-{self.answer}", sending))

    @property
    def name(self) -> str:
        """Criterion, answer form and samples."""
        return f"{self.criterion}-{self.answer}-{self.samples}"

    @property
    def seed_instruction(self) -> str:
        """The criterion's bundled text."""
        return f"criterion-{self.criterion}"

    @property
    def flag_rule(self) -> FlagRule:
        """The rule of this answer form and number of samples."""
        return _RULES[self.answer, self.samples]

    @property
    def combination(self) -> Combination:
        """The winsorised mean of eight samples."""
        return mean if self.samples == 1 else winsorised_mean

    def own_settings(self) -> dict[str, Any]:
        """Temperature, samples and flag rule."""
        return {"temperature": self.temperature, "samples": self.samples, "flag_rule": self.flag_rule.row()}

    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        """One question on source and document."""
        del facts  # these designs see no fact list
        (answer,) = yield from ask(Question(self.prompt, {"source": example.source, "document": example.document}))
        text = text_of(answer)
        if self.answer == "yes-no":
            return Reading("scored", self.scale if taken(parse_pass_fail(text)) else 0.0)
        return Reading("scored", float(taken(parse_score(text, scale=int(self.scale)))))
