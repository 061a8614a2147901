"""Judges that give reasons with their score: a deployed faithfulness check, and an engineered one for omissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, get_args

from lineage.errors import PlanError
from splits.corpus import Example, Fact
from students.answers import Reading
from students.budget import ReasoningBudget
from students.dialogue import Dialogue, Question, ask, taken, text_of
from students.flag_rules import SINGLE_SCORE, FlagRule
from students.prompt import Prompt
from students.prompted import PromptedStudent
from students.reports import SEVERITIES, listed_omissions, parse_report
from students.sending import Sending

Wording = Literal["omissions-excluded", "exclusion-deleted", "omissions-counted"]
WORDINGS: Final[tuple[Wording, ...]] = get_args(Wording)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportingJudge(PromptedStudent):
    """A student that reads source and document and answers with a score from 0 to 10 and what it rests on.

    Args:
        model: identity of the model, part of the hash.
        budget: reasoning budget, and the cap of reasons and score together.
        temperature: sampling temperature; None sends none.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts.

    Raises:
        PlanError: the model does not take a setting.
    """

    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=512))
    temperature: float | None = 0.0

    scale: ClassVar[float] = 10.0
    samples: ClassVar[int] = 1
    shape_name: ClassVar[str]

    def __post_init__(self) -> None:
        sending = Sending.of(self.budget, self.capabilities, temperature=self.temperature)
        object.__setattr__(self, "prompt", Prompt.load(self.shape_name, sending))

    @property
    def seed_instruction(self) -> str:
        """The bundled text of this judge's name."""
        return self.name

    @property
    def flag_rule(self) -> FlagRule:
        """The rule of a single score."""
        return SINGLE_SCORE

    def own_settings(self) -> dict[str, Any]:
        """Temperature and flag rule."""
        return {"temperature": self.temperature, "flag_rule": self.flag_rule.row()}

    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        """One question on source and document."""
        del facts  # these judges see no fact list
        (answer,) = yield from ask(Question(self.prompt, {"source": example.source, "document": example.document}))
        text = text_of(answer)
        score = float(taken(parse_report(text, scale=int(self.scale))))
        return Reading("scored", score, parts=self.parts(text))

    def parts(self, text: str) -> Mapping[str, float]:
        """Named numbers in an answer; none here."""
        del text
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedJudge(ReportingJudge):
    """A faithfulness check as products run it, in three wordings.

    Args:
        wording: ``omissions-excluded`` says that what the document leaves out is none of its concern,
            ``exclusion-deleted`` is the same text without that, and ``omissions-counted`` asks to look for omissions.
    """

    wording: Wording

    shape_name: ClassVar[str] = "deployed"

    def __post_init__(self) -> None:
        if self.wording not in WORDINGS:
            raise PlanError(f"wording must be one of {', '.join(WORDINGS)}, got {self.wording!r}")
        ReportingJudge.__post_init__(self)

    @property
    def name(self) -> str:
        """``deployed`` and the wording."""
        return f"deployed-{self.wording}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineeredJudge(ReportingJudge):
    """A judge engineered for omissions: a severity procedure with worked examples, a list of omissions, then a score.

    The numbers of omissions that it lists, of each severity, stand beside its score. They are its own words: nothing
    checks them against the source.
    """

    shape_name: ClassVar[str] = "engineered"
    name: ClassVar[str] = "engineered"

    def parts(self, text: str) -> Mapping[str, float]:
        """Omissions listed, by severity."""
        count = Counter(omission.severity for omission in listed_omissions(text))
        return {f"listed {severity}": float(count[severity]) for severity in SEVERITIES}
