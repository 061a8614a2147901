"""The facts that a pipeline checks: taken from the source alone and audited there, or given by the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from splits.corpus import SEVERITIES, Fact
from students.dialogue import Dialogue, Question, ask, taken, text_of
from students.facts import checked_facts
from students.keyed import Keyed, parse_keyed
from students.keyed_questions import ask_each, keys_of
from students.lists import parse_list
from students.parsing import Abstained, Unread
from students.pipeline.quotes import stands_in
from students.prompt import Prompt

DROPPED: Final = ("unsupported", "duplicate", "trivial")
"""Why an audit drops a fact."""
_BAR: Final = "||"


@dataclass(frozen=True, slots=True)
class SourceFact:
    """One fact of a source; ``quote`` are words of the source that it rests on, None where none were found there."""

    text: str
    quote: str | None = None
    severity: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class FactList:
    """The facts of a source, and how many an audit dropped."""

    facts: tuple[SourceFact, ...]
    dropped: int = 0


def given_facts(facts: Sequence[Fact], most: int | None) -> FactList:
    """The facts of the corpus, with severity and the first words of evidence."""
    return FactList(
        tuple(
            SourceFact(fact.fact, fact.evidence[0] if fact.evidence else None, fact.severity, fact.id)
            for fact in checked_facts(facts, most)
        )
    )


def extracted_facts(prompt: Prompt, source: str, *, most: int) -> Dialogue[FactList]:
    """The facts that the source gives, each with a quote if it was copied exactly. The source is all that is in scope.

    Raises:
        UnreadError: the answer is no list of facts, or an empty one.
    """
    about = "list of facts"
    (answer,) = yield from ask(Question(prompt, {"source": source, "count": str(most)}, about))
    lines = taken(parse_list(text_of(answer, about=about), most=most), about=about)
    facts: dict[str, SourceFact] = {}
    for line in lines:
        text, _, said = line.partition(_BAR)
        text, said = text.strip(), said.strip().strip("\"'\u201c\u201d ")
        if text:
            quote = said if stands_in(said, source, least=1) else None
            facts.setdefault(text.casefold().rstrip(". "), SourceFact(text, quote))
    if not facts:
        taken(Unread("empty", "no fact, so that there is nothing to check"), about=about)
    return FactList(tuple(facts.values()))


def audited_facts(prompt: Prompt, source: str, listed: FactList, *, graded: bool) -> Dialogue[FactList]:
    """The facts that stay after an audit against the source, with their severity if they are graded.

    Raises:
        UnreadError: a fact has no word after a second request, or no fact stays.
    """
    about = "audit of the facts"
    keyed = dict(zip(keys_of("f", len(listed.facts)), listed.facts, strict=True))
    texts = {key: fact.text for key, fact in keyed.items()}
    question = Question(prompt, {"source": source}, about, derived="\n".join(texts.values()))
    words = yield from ask_each(question, texts, slot="facts", parse=_audit)
    kept = [
        replace(fact, severity=words[key] if graded else None)
        for key, fact in keyed.items()
        if words[key] not in DROPPED
    ]
    if not kept:
        taken(Unread("empty", "every fact was dropped, so that there is nothing to check"), about=about)
    return FactList(tuple(kept), len(keyed) - len(kept))


def _audit(text: str, keys: Sequence[str]) -> Keyed[str] | Unread | Abstained:
    return parse_keyed(text, keys, {word: word for word in (*SEVERITIES, *DROPPED)})
