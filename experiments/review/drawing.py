"""Drawing a pack: what could be asked, in strata, and a seeded draw of as many from each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from experiments.review.questions import DOCUMENTS, FLAGS, QUESTIONS, SEVERITY
from experiments.review.sources import ReviewedRun
from lineage.errors import InputError
from splits.corpus import SEVERITIES, Example

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PackSizes:
    """Most items of each section; 0 leaves a section out."""

    documents: int = 20
    severity: int = 20
    flags: int = 20

    def __post_init__(self) -> None:
        for name in QUESTIONS:
            if getattr(self, name) < 0:
                raise InputError(f"{name} must be at least 0, got {getattr(self, name)}; 0 leaves the section out")
        if not any(getattr(self, name) for name in QUESTIONS):
            raise InputError("a pack needs items: give --documents, --severity or --flags")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a person may be asked.

    Attributes:
        section: which question.
        stratum: what it is drawn as, in words; never shown.
        group: its source's group.
        identity: what it is, to order and to tell apart.
        source: text that is shown.
        document: text that is shown, or None where the question is about the source alone.
        statement: the fact or the claim that is shown, or None.
        truth: what the key keeps of it.
    """

    section: str
    stratum: str
    group: str
    identity: tuple[str, ...]
    source: str = field(repr=False)
    document: str | None = field(repr=False)
    statement: str | None = field(repr=False)
    truth: Row = field(repr=False)


@dataclass(frozen=True, slots=True)
class Draw:
    """Items of all sections in the order in which they are shown, and how many each stratum had to draw from."""

    items: tuple[Item, ...]
    strata: Mapping[str, Mapping[str, int]]

    def shared(self, section: str) -> int:
        """Items of a section whose source stands in another item too, by which a reader may learn of the other."""
        groups = Counter(item.group for item in self.items)
        return sum(item.section == section and groups[item.group] > 1 for item in self.items)


def draw_items(run: ReviewedRun, *, sizes: PackSizes, rng: np.random.Generator) -> Draw:
    """Draw a pack.

    Strata of a section are drawn from in turn, so that rare ones are seen; groups that no item has are preferred, as
    two documents of one source tell on each other.

    Args:
        run: the run.
        sizes: how many items.
        rng: decides everything; the same state draws the same items in the same order.

    Raises:
        InputError: there is nothing to ask.
    """
    pools = {
        DOCUMENTS.section: list(_documents(run)),
        SEVERITY.section: list(_severity(run)),
        FLAGS.section: list(_flags(run)),
    }
    used: Counter[str] = Counter()
    drawn: list[Item] = []
    strata: dict[str, dict[str, int]] = {}
    for section, pool in pools.items():
        if not (n := getattr(sizes, section)):
            continue
        items = _drawn(pool, n, used, rng)
        if items:
            strata[section] = dict(sorted(Counter(item.stratum for item in pool).items()))
        drawn += [items[place] for place in rng.permutation(len(items))]
    if not drawn:
        raise InputError(
            f"{run.name}: there is nothing to ask: its judges flag nothing, and neither they nor the corpus have facts "
            "(or the sections that would have items were left out); draw from another run"
        )
    return Draw(tuple(drawn), strata)


def _drawn(pool: Sequence[Item], n: int, used: Counter[str], rng: np.random.Generator) -> list[Item]:
    by_stratum: dict[str, list[Item]] = {}
    for item in sorted(pool, key=lambda item: (item.stratum, item.identity)):
        by_stratum.setdefault(item.stratum, []).append(item)
    waiting = [[items[place] for place in rng.permutation(len(items))] for items in by_stratum.values()]
    found: list[Item] = []
    while len(found) < n and (waiting := [items for items in waiting if items]):
        for items in waiting[: n - len(found)]:
            chosen = min(items, key=lambda item: used[item.group])  # the first of those least used
            items.remove(chosen)
            used[chosen.group] += 1
            found.append(chosen)
    return found


def _documents(run: ReviewedRun) -> Iterator[Item]:
    """Documents that some judge decides on, by what the judges said of them together and whether they are flawed."""
    flagging = [judge for judge in run.judges if judge.rule]
    for example in run.corpus.examples:
        said = {judge.name: judge.flags.get(example.id) for judge in flagging}
        votes = {flag for flag in said.values() if flag is not None}
        if not votes:
            continue
        judges = "judges differ" if len(votes) > 1 else "all flag it" if votes == {True} else "none flags it"
        made = "clean" if example.label == "clean" else "flawed"
        yield Item(
            section=DOCUMENTS.section,
            stratum=f"{judges}, {made}",
            group=example.group,
            identity=(example.id,),
            source=example.source,
            document=example.document,
            statement=None,
            truth={**_structure(example), "flags": said},
        )


def _severity(run: ReviewedRun) -> Iterator[Item]:
    """Facts with a grade on record: the corpus's own, and those that judges graded."""
    sources = {example.group: example.source for example in run.corpus.examples}
    graded: dict[tuple[str, str, str], tuple[str, str]] = {}
    for group, facts in run.corpus.facts.items():
        for fact in facts:
            graded[group, "corpus", fact.id] = (fact.fact, fact.severity)
    groups = {example.id: example.group for example in run.corpus.examples}
    for judge in run.judges:
        for judgement in judge.evaluation.judgements:
            for verdict in judgement.facts:
                if verdict.severity is not None and verdict.text is not None:
                    place = (groups[judgement.example], judge.name, verdict.fact)
                    graded.setdefault(place, (verdict.text, verdict.severity))
    for (group, grader, name), (text, grade) in graded.items():
        if grade not in SEVERITIES or group not in sources:
            continue
        yield Item(
            section=SEVERITY.section,
            stratum=f"{grade}, graded by {grader}",
            group=group,
            identity=(group, grader, name),
            source=sources[group],
            document=None,
            statement=text,
            truth={"group": group, "fact": name, "grader": grader, "grade": grade},
        )


def _flags(run: ReviewedRun) -> Iterator[Item]:
    """Facts that a judge found missing, and facts that it found stated: both are shown as claims of absence."""
    by_id = run.corpus.by_id
    known = {(group, fact.id): fact.fact for group, facts in run.corpus.facts.items() for fact in facts}
    for judge in run.judges:
        for judgement in judge.evaluation.judgements:
            if judgement.replicate != judge.evaluation.replicates[0]:
                continue
            example = by_id[judgement.example]
            for verdict in judgement.facts:
                text = verdict.text or known.get((example.group, verdict.fact))
                if text is None:
                    continue
                fired = not verdict.present
                yield Item(
                    section=FLAGS.section,
                    stratum=f"{judge.name} {'claimed it' if fired else 'found it stated'}",
                    group=example.group,
                    identity=(judge.name, example.id, verdict.fact),
                    source=example.source,
                    document=example.document,
                    statement=text,
                    truth={**_structure(example), "judge": judge.name, "missing": verdict.fact, "fired": fired},
                )


def _structure(example: Example) -> dict[str, Any]:
    fields = ("group", "label", "kind", "severity", "trace")
    return {"example": example.id, **{name: getattr(example, name) for name in fields}}
