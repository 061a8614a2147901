"""The per-fact pipelines: facts from the source alone, checked on the document by key, perhaps looked for once more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

from lineage.errors import PlanError
from lineage.records import FactVerdict
from splits.corpus import Example, Fact
from students.answers import Reading
from students.blocks import block_texts
from students.budget import ReasoningBudget
from students.capabilities import Capabilities
from students.dialogue import Dialogue, of_the_source, taken
from students.flag_rules import FlagRule
from students.keyed_questions import keys_of
from students.parsing import Unread
from students.pipeline.checking import Checked, SecondLook, check_facts, check_sections, look_again
from students.pipeline.facts import FactList, SourceFact, audited_facts, extracted_facts, given_facts
from students.pipeline.rules import FactRule, FactRuleName
from students.pipeline.scoring import CREDITS, WEIGHTS, Capture
from students.pipeline.sections import MOST_SECTIONS, sections_of
from students.prompt import Prompt
from students.prompted import PromptedStudent
from students.sending import Sending
from students.student import CallsAtMost

FactSource = Literal["source", "corpus"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPipeline(PromptedStudent):
    """A student that makes a list of facts from the source, once for a group, and checks each on the document.

    With two stages a fact is present or absent and the score is the share present. With three stages the list is
    audited and graded on the way, a fact may be stated in part, and the score is severity-weighted capture, with the
    unweighted one beside it. The checker sees no severity. Where sections are checked apart, the score counts
    mentions, so that a fact that is restated elsewhere is worth more than one that is said once.

    Args:
        stages: 2 or 3.
        facts_from: ``source`` extracts them; ``corpus`` takes the corpus's own, with their severity.
        audit: whether an extracted list is audited; with three stages it always is.
        second_look: whether facts that are absent are looked for once more; only a quote that stands in the document
            makes one present.
        sections: whether the sections of a document are checked apart.
        rule: the decision rule, or None; ``critical-absent`` needs graded facts.
        rule_count: facts that ``count-absent`` needs.
        weights: weight of each severity (three stages).
        credits: credit of each grade (three stages).
        max_facts: facts that are asked for or kept.
        list_tokens: cap of the list in tokens.
        block: which prompt's instruction evolves.
        lister: identity of the model that lists and audits the facts, where that is another than the checker's.
        lister_capabilities: what that model accepts.
        model: identity of the model, part of the hash.
        budget: reasoning budget, and the cap of the answers about all facts.
        temperature: sampling temperature; None sends none.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts.

    Raises:
        PlanError: a setting is out of range or has no effect, or the model does not take it.
    """

    stages: Literal[2, 3] = 2
    facts_from: FactSource = "source"
    audit: bool = False
    second_look: bool = False
    sections: bool = False
    rule: FactRuleName | None = None
    rule_count: int | None = None
    weights: Mapping[str, float] = field(default_factory=lambda: dict(WEIGHTS))
    credits: Mapping[str, float] = field(default_factory=lambda: dict(CREDITS))
    max_facts: int | None = 25
    list_tokens: int = 1024
    block: str = "check"
    lister: Mapping[str, Any] | None = None
    lister_capabilities: Capabilities = field(default_factory=Capabilities)
    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=512))
    temperature: float | None = 0.0
    prompts: Mapping[str, Prompt] = field(init=False)
    capture: Capture = field(init=False)

    scale: ClassVar[float] = 1.0
    samples: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.stages not in (2, 3):
            raise PlanError(f"stages must be 2 or 3, got {self.stages!r}")
        if self.facts_from not in ("source", "corpus"):
            raise PlanError(f"facts_from must be source or corpus, got {self.facts_from!r}")
        if self.facts_from == "corpus" and self.audit:
            raise PlanError("audit has no effect on facts_from: corpus; remove it")
        if self.facts_from == "corpus" and self.lister is not None:
            raise PlanError("lister has no effect on facts_from: corpus, where nothing is listed; remove it")
        if self.max_facts is None and self.facts_from == "source":
            raise PlanError("max_facts must say how many facts are asked for")
        if self.max_facts is not None and self.max_facts < 1:
            raise PlanError(f"max_facts must be at least 1, got {self.max_facts}")
        if self.rule == "critical-absent" and not self.graded_facts:
            raise PlanError(
                "rule critical-absent needs facts with a severity: take three stages, or facts_from: corpus"
            )
        if self.rule is None and self.rule_count is not None:
            raise PlanError("rule_count has no effect without a rule; remove it")
        if self.rule is not None:
            FactRule(self.rule, self.rule_count)  # refuses a count that does not go with it
        if self.stages == 2 and (dict(self.weights) != dict(WEIGHTS) or dict(self.credits) != dict(CREDITS)):
            raise PlanError("weights and credits have no effect on two stages; remove them")
        object.__setattr__(self, "prompts", self._prompts())
        object.__setattr__(self, "prompt", self.prompts["check"])
        weights = self.weights if self.stages == 3 else None
        object.__setattr__(self, "capture", Capture(weights, self.credits))

    @property
    def name(self) -> str:
        """Name of the design."""
        return "two-stage" if self.stages == 2 else "three-stage"

    @property
    def graded_facts(self) -> bool:
        """Whether the facts have a severity."""
        return self.facts_from == "corpus" or self.stages == 3

    @property
    def audited(self) -> bool:
        """Whether the list is audited."""
        return self.facts_from == "source" and (self.audit or self.stages == 3)

    @property
    def blocks(self) -> tuple[str, ...]:
        """Names of the instructions that this pipeline has."""
        listing = ("facts",) if self.facts_from == "source" else ()
        return ("check", *listing, *(("audit",) if self.audited else ()), *(("look",) if self.second_look else ()))

    @property
    def flag_rule(self) -> FlagRule | None:
        """The decision rule over verdicts."""
        return None if self.rule is None else FactRule(self.rule, self.rule_count)

    @property
    def seed_instruction(self) -> str:
        """The bundled text of the block that evolves."""
        return f"pipeline-{self._files[self.block]}"

    @property
    def _files(self) -> dict[str, str]:
        check = "check" if self.stages == 2 else "check-graded"
        return {"check": check, "facts": "facts", "audit": "audit", "look": "second-look"}

    def _prompts(self) -> dict[str, Prompt]:
        texts = block_texts("pipeline", self.blocks, self.block, files=self._files)
        able = self.capabilities if self.lister is None else self.lister_capabilities
        sending = Sending.of(self.budget, self.capabilities, temperature=self.temperature)
        auditing = Sending.of(self.budget, able, temperature=self.temperature)
        listing = Sending.of(replace(self.budget, answer_tokens=self.list_tokens), able, temperature=self.temperature)
        sent = {block: {"facts": listing, "audit": auditing}.get(block, sending) for block in self.blocks}
        if "facts" in sent:
            sent["check"] = replace(sending, others={"pipeline-facts": listing.answer})
        return {
            block: Prompt.load(f"pipeline-{self._files[block]}", sent[block], fixed=texts[block])
            for block in self.blocks
        }

    def own_settings(self) -> dict[str, Any]:
        """Everything that shapes the pipeline, and its prompts."""
        return {
            "temperature": self.temperature,
            "stages": self.stages,
            "facts_from": self.facts_from,
            "sections": self.sections,
            "rule": None if self.flag_rule is None else self.flag_rule.row(),
            "capture": self.capture.row(),
            "max_facts": self.max_facts,
            "block": self.block,
            "prompts": {block: prompt.row() for block, prompt in self.prompts.items()},
            **({} if self.lister is None else {"lister": dict(self.lister)}),
        }

    def calls_at_most(self, facts: int) -> CallsAtMost:
        """Check and second look, each with a request for what it leaves out; list and audit, for the group."""
        del facts
        checks = MOST_SECTIONS if self.sections else 1
        document = (checks + self.second_look) * (self.calls_an_answer + 1)
        group = (self.facts_from == "source") * self.calls_an_answer + self.audited * (self.calls_an_answer + 1)
        return CallsAtMost(document, group)

    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        """The list, its check on the document, the second look, and the score."""
        listed = (
            given_facts(facts, self.max_facts)
            if self.facts_from == "corpus"
            else (yield from of_the_source(self.listed(example.source)))
        )
        keyed = dict(zip(keys_of("f", len(listed.facts)), listed.facts, strict=True))
        texts, graded = {key: fact.text for key, fact in keyed.items()}, self.stages == 3
        checked: Mapping[str, Checked]
        if self.sections:
            parts = sections_of(example.document)
            checked = yield from check_sections(self.prompt, texts, parts, graded=graded)
        else:
            checked = yield from check_facts(self.prompt, texts, example.document, graded=graded)
        seen = SecondLook(checked, 0)
        if self.second_look:
            seen = yield from look_again(self.prompts["look"], texts, example.document, checked)
        verdicts = tuple(self._verdict(key, keyed[key], found) for key, found in seen.checked.items())
        score = self.capture.mentions(verdicts) if self.sections else self.capture.score(verdicts)
        if score is None:
            score = taken(Unread("empty", "every fact has weight 0, so that there is no capture"))
        return Reading("scored", float(score), facts=verdicts, parts=self._parts(verdicts, seen, listed))

    def listed(self, source: str) -> Dialogue[FactList]:
        """The facts that the source gives."""
        assert self.max_facts is not None, "checked when the student was made"
        listed = yield from extracted_facts(self.prompts["facts"], source, most=self.max_facts)
        if self.audited:
            listed = yield from audited_facts(self.prompts["audit"], source, listed, graded=self.stages == 3)
        return listed

    def _verdict(self, key: str, fact: SourceFact, found: Checked) -> FactVerdict:
        present = found.grade != "absent"
        return FactVerdict(
            fact.id or key,
            1.0 if present else 0.0,
            None,
            present,
            text=None if fact.id else fact.text,
            severity=fact.severity,
            grade=found.grade if self.stages == 3 else None,
            mentions=found.mentions,
            quote=fact.quote,
            rescue=found.rescue,
        )

    def _parts(self, verdicts: Sequence[FactVerdict], seen: SecondLook, listed: FactList) -> dict[str, float]:
        """Counts beside the score, and the unweighted capture."""
        found = seen.checked.values()
        parts = {
            "facts": len(verdicts),
            "present": sum(verdict.present for verdict in verdicts),
            "unweighted": float(self.capture.unweighted(verdicts)),
        }
        if self.audited:
            parts["dropped"] = listed.dropped
        if self.stages == 2:
            parts["coerced"] = sum(each.coerced for each in found)
        if self.second_look:
            parts |= {"rescued": sum(each.rescue is not None for each in found), "quotes_refused": seen.refused}
        if self.sections:
            stated = [sum(grade != "absent" for grade in verdict.mentions) for verdict in verdicts]
            parts["restated"] = sum(count > 1 for count in stated)
            for place in range(max(len(verdict.mentions) for verdict in verdicts)):
                told = sum(verdict.mentions[place] != "absent" for verdict in verdicts)
                parts[f"section_{place + 1}"] = float(Fraction(told, len(verdicts)))
        return {name: float(value) for name, value in parts.items()}
