"""The part of a corpus that a judging run judges: a split, or a selection of a corpus without a lock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage.canonical import canonical_json
from lineage.errors import PlanError
from optimize.judging.plan import JudgingPlan
from splits.corpus import Corpus, Example
from splits.lock import SplitLock, split_examples, split_structure, without_text


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """What is judged.

    Attributes:
        split: name of the split, or ``all``.
        rows: its examples without their texts, in order of their ids.
        corpus_hash: hash of the whole corpus.
        lock: the split lock, where there is one.
        without_facts: groups that have no facts.
        examples: the examples; none of a held-out split, which the seal alone hands out.
    """

    split: str
    rows: tuple[Mapping[str, Any], ...]
    corpus_hash: str
    lock: SplitLock | None
    without_facts: tuple[str, ...]
    examples: tuple[Example, ...] = field(repr=False)

    @property
    def structure(self) -> str:
        """The examples without their texts, as JSON lines."""
        return "".join(canonical_json(dict(row)) + "\n" for row in self.rows)

    @property
    def ids(self) -> list[str]:
        """Ids of the examples, sorted."""
        return [str(row["id"]) for row in self.rows]

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of the examples, sorted."""
        return tuple(sorted({str(row["group"]) for row in self.rows}))


def judged_part(plan: JudgingPlan, corpus: Corpus, lock: SplitLock | None) -> JudgedPart:
    """The part of a corpus that a plan judges.

    Raises:
        PlanError: there is nothing in it.
        SplitError: the selection asks for more groups than there are.
    """
    examples: tuple[Example, ...] = ()
    if lock is not None:
        rows = [row for row in split_structure(lock, corpus) if row["split"] == plan.split]
        if plan.split != "heldout":
            examples = split_examples(lock, corpus, plan.split)
    else:
        selected = corpus.groups if plan.selection is None else plan.selection.selection.apply(corpus)
        found = (example for group in selected.values() for example in group)
        examples = tuple(sorted(found, key=lambda example: example.id))
        rows = [_row(without_text(example, corpus)) for example in examples]
    if not rows:
        raise PlanError(f"there is no example to judge in split: {plan.split}; give another, or another selection")
    groups = sorted({str(row["group"]) for row in rows})
    lacking = tuple(group for group in groups if not corpus.facts.get(group))
    return JudgedPart(plan.split, tuple(rows), corpus.hash, lock, lacking, examples)


def _row(example: Example) -> dict[str, Any]:
    """An example without its texts, as a list of examples has it."""
    fields = ("id", "group", "stratum", "label", "kind", "severity", "trace", "twin", "cohort", "fact")
    mark = {"meta": dict(example.meta)} if example.meta else {}
    return {**{name: getattr(example, name) for name in fields}, **mark, "split": "all"}
