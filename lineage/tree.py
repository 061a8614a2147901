"""The family tree of a campaign: every candidate under its parent, accepted or not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from lineage.ledger import Event
from lineage.openings import exploratory_reason
from lineage.records import minibatch_gain

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

PENDING: Final = "pending"
"""Outcome of a candidate whose search was interrupted before it was decided."""

STYLES: Final = {"seed": "bold", "accepted": "green", "rejected": "red", "invalid": "yellow", PENDING: "dim"}


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One proposal of a campaign; the same text proposed twice is two rows.

    ``outcome`` is ``accepted``, ``rejected``, ``invalid``, ``pending``, or ``seed`` for the baseline; a further seed of
    the plan has an outcome like any other.
    ``gain`` is the child's summed minibatch reward less its parent's: it decided acceptance and estimates nothing.
    ``paired`` (in [0, 1]) and ``detection`` are measures on accept, which are optimistic for whichever candidate is
    chosen by them; None for candidates that were not judged there, and detection also before the choice.

    Attributes:
        seq: place of the candidate in the ledger.
        name: ``seed``, or ``c`` and the iteration; a second proposal of an iteration has a suffix.
        candidate: candidate id.
        parents: names of the parents.
        parent_seqs: places of the parents in the ledger.
    """

    seq: int
    name: str
    candidate: str
    parents: tuple[str, ...]
    parent_seqs: tuple[int, ...]
    kind: str
    operator: str | None
    iteration: int
    words: int
    outcome: str
    reason: str | None = None
    gain: float | None = None
    paired: float | None = None
    detection: float | None = None
    false_alarm: float | None = None
    threshold: float | None = None
    winner: bool = False


def tree_rows(events: Iterable[Event]) -> list[TreeRow]:
    """Every proposal with its outcome, in the order in which they were made."""
    rows: dict[int, TreeRow] = {}
    for event in events:
        body = event.body
        if event.type == "candidate":
            rows[event.seq] = _row(event, list(rows.values()))
        elif event.type == "outcome":
            place = undecided(rows.values(), body["candidate"]).seq
            rows[place] = replace(
                rows[place],
                outcome=body["outcome"],
                reason=body["reason"],
                gain=minibatch_gain(body["parent_rewards"], body["child_rewards"]) if body["child_rewards"] else None,
            )
        elif event.type == "measured" and body["purpose"] == "accept":
            place = _standing(list(rows.values()), body["candidate"]).seq
            rows[place] = replace(rows[place], paired=body["measures"]["omissions"]["value"])
        elif event.type == "choice":
            for standing in body["ranking"]:
                place = _standing(list(rows.values()), standing["candidate"]).seq
                rows[place] = replace(
                    rows[place],
                    paired=standing["paired"],
                    detection=standing["detection"],
                    false_alarm=standing["false_alarm"],
                    threshold=standing["threshold"],
                    winner=standing["candidate"] == body["winner"],
                )
    return list(rows.values())


def undecided(rows: Iterable[TreeRow], candidate: str) -> TreeRow:
    """The proposal of a candidate that its next outcome is about: the latest that has none.

    A repetition is decided at once, so the latest is the one even where proposals are made in parallel.
    """
    found = [row for row in rows if row.candidate == candidate]
    return next((row for row in reversed(found) if row.outcome == PENDING), found[-1])


def _row(event: Event, earlier: Sequence[TreeRow]) -> TreeRow:
    body = event.body
    parents = [_standing(earlier, parent) for parent in body["parents"]]
    return TreeRow(
        seq=event.seq,
        name=proposal_name(body["kind"], body["iteration"], {row.name for row in earlier}),
        candidate=body["candidate"],
        parents=tuple(parent.name for parent in parents),
        parent_seqs=tuple(parent.seq for parent in parents),
        kind=body["kind"],
        operator=body["operator"],
        iteration=body["iteration"],
        words=sum(len(text.split()) for text in body["texts"].values()),
        outcome="seed" if not earlier else PENDING,
    )


def proposal_name(kind: str, iteration: int, taken: Collection[str]) -> str:
    """What people call a proposal: ``seed`` or ``c`` and its iteration, with a suffix where that is taken."""
    name = first = "seed" if kind == "seed" else f"c{iteration:02d}"
    count = 1
    while name in taken:
        count += 1
        name = f"{first}.{count}"
    return name


def _standing(rows: Sequence[TreeRow], candidate: str) -> TreeRow:
    """The row that a candidate id means: a repetition of it is invalid and never stands for it."""
    found = [row for row in rows if row.candidate == candidate]
    return next((row for row in found if row.outcome != "invalid"), found[0])


def render_tree(events: Sequence[Event]) -> Tree:
    """The family tree for a terminal; outcomes are marked by a word as well as by colour."""
    from rich.text import Text
    from rich.tree import Tree

    rows = tree_rows(events)
    plan: dict[str, Any] = dict(events[0].body) if events else {}
    title = Text(str(plan.get("plan", {}).get("name", "no campaign")), style="bold")
    for mark, shown in (("simulated", plan.get("simulated")), ("exploratory", exploratory_reason(events) is not None)):
        if shown:
            title.append(f"  {mark}", style="magenta")
    tree = Tree(title)
    branches: dict[int, Tree] = {}
    for row in rows:
        above = branches[row.parent_seqs[0]] if row.parent_seqs else tree
        branches[row.seq] = above.add(_label(row, Text()))
    if not rows:
        tree.add(Text("no candidates yet", style="dim"))
    return tree


def _label(row: TreeRow, text: Text) -> Text:
    style = STYLES.get(row.outcome, "")
    text.append(row.name, style="bold")
    if row.outcome != row.name:
        text.append(f" {row.outcome}", style=style)
    if row.operator is not None:
        text.append(f"  {row.operator}", style="cyan")
    if len(row.parents) > 1:
        text.append(f"  from {' and '.join(row.parents)}")
    if row.gain is not None:
        text.append(f"  minibatch {row.gain:+.3f}")
    if row.paired is not None:
        text.append(f"  accept {row.paired:.3f}")
    if row.detection is not None:
        text.append(f"  detection {row.detection:.3f}")
    text.append(f"  {row.words} words", style="dim")
    if row.winner:
        text.append("  ★ winner", style="bold green")
    if row.outcome in ("rejected", "invalid") and row.reason and not row.reason.startswith("minibatch reward"):
        text.append(f"  {row.reason}", style=style)
    return text
