"""The family tree of a campaign: every candidate under its parent, accepted or not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from lineage.errors import LedgerError
from lineage.imported import IMPORTED, PUBLISHED, is_imported
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
        words: length of its texts, or None where an imported lineage has none.
        score: mean accept score as an imported lineage states it.
    """

    seq: int
    name: str
    candidate: str
    parents: tuple[str, ...]
    parent_seqs: tuple[int, ...]
    kind: str
    operator: str | None
    iteration: int
    words: int | None
    outcome: str
    reason: str | None = None
    gain: float | None = None
    paired: float | None = None
    detection: float | None = None
    false_alarm: float | None = None
    threshold: float | None = None
    score: float | None = None
    winner: bool = False


def tree_rows(events: Iterable[Event]) -> list[TreeRow]:
    """Every proposal with its outcome, in the order in which they were made.

    Raises:
        LedgerError: an event names a candidate that no earlier event proposed.
    """
    rows: dict[int, TreeRow] = {}
    places: dict[str, list[int]] = {}
    names: set[str] = set()

    def meant(candidate: str) -> TreeRow:
        """The row that a candidate id means: a repetition of it is invalid and never stands for it."""
        found = [rows[place] for place in places.get(candidate, ())]
        if not found:
            raise LedgerError(f"seq {event.seq}: {event.type} names {candidate[:12]}, which is no candidate before it")
        return next((row for row in found if row.outcome != "invalid"), found[0])

    def undecided(candidate: str) -> int:
        """Place of the proposal that an outcome is about: the latest without one; a repetition is decided at once."""
        found = places.get(candidate, ())
        return next((place for place in reversed(found) if rows[place].outcome == PENDING), meant(candidate).seq)

    for event in events:
        body = event.body
        if event.type == "candidate":
            name = body.get("name") or proposal_name(body["kind"], body["iteration"], names)
            names.add(name)
            rows[event.seq] = _row(
                event, name, "seed" if not rows else PENDING, [meant(parent) for parent in body["parents"]]
            )
            places.setdefault(body["candidate"], []).append(event.seq)
        elif event.type == "outcome":
            place = undecided(body["candidate"])
            rows[place] = replace(
                rows[place],
                outcome=body["outcome"],
                reason=body["reason"],
                gain=minibatch_gain(body["parent_rewards"], rewards)
                if (rewards := body.get("child_rewards"))
                else None,
            )
        elif event.type == "measured" and body["purpose"] == "accept":
            place = meant(body["candidate"]).seq
            rows[place] = replace(rows[place], paired=body["measures"]["omissions"]["value"])
        elif event.type == PUBLISHED and body["of"] == "accept":
            place = meant(body["candidate"]).seq
            rows[place] = replace(rows[place], **body["measures"])
        elif event.type == PUBLISHED and body["of"] == "comparison" and body["winner"] is not None:
            place = meant(body["winner"]).seq
            rows[place] = replace(rows[place], winner=True)
        elif event.type == "choice":
            for standing in body["ranking"]:
                place = meant(standing["candidate"]).seq
                rows[place] = replace(
                    rows[place],
                    paired=standing["paired"],
                    detection=standing["detection"],
                    false_alarm=standing["false_alarm"],
                    threshold=standing["threshold"],
                    winner=standing["candidate"] == body["winner"],
                )
    return list(rows.values())


def _row(event: Event, name: str, outcome: str, parents: Sequence[TreeRow]) -> TreeRow:
    body = event.body
    return TreeRow(
        seq=event.seq,
        name=name,
        candidate=body["candidate"],
        parents=tuple(parent.name for parent in parents),
        parent_seqs=tuple(parent.seq for parent in parents),
        kind=body["kind"],
        operator=body["operator"],
        iteration=body["iteration"],
        words=sum(len(text.split()) for text in body["texts"].values()) if body["texts"] else None,
        outcome=outcome,
    )


def proposal_name(kind: str, iteration: int, taken: Collection[str]) -> str:
    """What people call a proposal: ``seed`` or ``c`` and its iteration, with a suffix where that is taken."""
    name = first = "seed" if kind == "seed" else f"c{iteration:02d}"
    count = 1
    while name in taken:
        count += 1
        name = f"{first}.{count}"
    return name


def render_tree(events: Sequence[Event]) -> Tree:
    """The family tree for a terminal; outcomes are marked by a word as well as by colour."""
    from rich.text import Text
    from rich.tree import Tree

    rows = tree_rows(events)
    plan: dict[str, Any] = dict(events[0].body) if events else {}
    imported = is_imported(events)
    title = Text(str(plan["name"] if imported else plan.get("plan", {}).get("name", "no campaign")), style="bold")
    for mark, shown in (
        (IMPORTED, imported),
        ("simulated", plan.get("simulated")),
        ("exploratory", exploratory_reason(events) is not None),
    ):
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
    if row.score is not None:
        text.append(f"  score {row.score:.3f}")
    text.append("  text not published" if row.words is None else f"  {row.words} words", style="dim")
    if row.winner:
        text.append("  ★ winner", style="bold green")
    if row.outcome in ("rejected", "invalid") and row.reason and not row.reason.startswith("minibatch reward"):
        text.append(f"  {row.reason}", style=style)
    return text
