"""Tables of compared campaigns, for a terminal and as a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from experiments.crossing.against import What, against, reference_of
from experiments.crossing.members import Skipped
from experiments.crossing.readings import LEVEL, MemberReading
from experiments.report.blocks import Block, Bullets, Document, Notice, Paragraph, Section, Table
from experiments.report.wording import NONE, points
from optimize.choice import number
from optimize.engines import ENGINES, departures_of
from optimize.measured import comparison_row

SIMULATED = "SIMULATED: the judge is a formula, not a model. No number here says anything of a real judge."
UNUSED: Final = 0.95
"""Share of its budget below which a search is said to have ended before it."""


@dataclass(frozen=True, slots=True)
class ComparedTable:
    """Compared campaigns as rows of words, with what is to be known of them."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notices: tuple[str, ...]
    words: tuple[str, ...]


def compared_table(what: What, found: Sequence[MemberReading], skipped: Sequence[Skipped]) -> ComparedTable:
    """The table of a set."""
    head: tuple[str, ...] = ("name", "accept gain", "held-out gain", "optimism", "search calls", "proposals", "found")
    if what == "optimisers":
        head = (*head, "search tokens", "US dollars", "points for each")
    if (reference := reference_of(what, found)) is not None:
        head = (*head[:3], f"against {reference.name}", *head[3:])
    rows = tuple(_row(what, reading, reference) for reading in found)
    notices = [SIMULATED] if any(reading.simulated for reading in found) else []
    notices += sorted({f"EXPLORATORY, confirms nothing: {r.exploratory}" for r in found if r.exploratory is not None})
    runs = max((reading.runs for reading in found), default=0)
    words = [
        "Gains are of the winner over the baseline in paired discrimination on omissions, in points; where nothing was "
        f"found the baseline stays and the gain is 0. Held-out intervals are of level {100 * LEVEL:g}%, over groups, "
        "for the prompts that were found; optimism is the gain on accept less that on held-out data.",
        f"Each row is the mean over {runs} search seed(s)."
        + (" One search says little of the next: give more --seeds." if runs == 1 else ""),
        "Search calls are the student's in minibatches and on accept, the baseline's left out, cached or not.",
    ]
    if what == "optimisers":
        words.append(
            "Points for each: points of held-out gain for a US dollar of the search, student and reflector; for a "
            "million of its tokens where no price applies."
        )
        words += [
            f"{reading.name} used {reading.budget_used:.0%} of its budget: its iterations ended it before. For equal "
            "budgets give search.iterations more."
            for reading in found
            if reading.budget_used < UNUSED
        ]
    if reference is not None:
        words.append(
            f"Against {reference.name}: held-out points of the winner less those of the winner of {reference.name}, "
            "pair by pair. These intervals are not corrected for how many there are."
        )
    words += [f"{each.member.name} was not run: {each.why}" for each in skipped]
    title = {
        "ablations": "Ablations",
        "accept sizes": "Optimism against the size of accept",
        "optimisers": "Optimisers",
    }
    return ComparedTable(title[what], head, rows, tuple(notices), tuple(words))


def compared_document(table: ComparedTable, found: Sequence[MemberReading], *, name: str) -> Document:
    """The same as a page."""
    lead: list[Block] = [*(Notice(text) for text in table.notices), Bullets(table.words)]
    shows = tuple((reading.name, reading.shows) for reading in found)
    sections = [
        Section("table", "Gains and costs", (Table(f"{table.title}.", table.head, table.rows),)),
        Section("shows", "What each is there to show", (*(Paragraph(f"{a}: {b}") for a, b in shows),)),
        *(
            Section(f"departures-{engine}", f"How {ENGINES[engine]} was run", (Bullets(departures_of(engine)),))
            for engine in sorted({reading.engine for reading in found})
            if departures_of(engine)
        ),
    ]
    return Document(name, table.title, tuple(lead), tuple(sections), over=f"Holdgate comparison of campaigns {name}")


def compared_row(what: What, found: Sequence[MemberReading], skipped: Sequence[Skipped]) -> dict[str, Any]:
    """The JSON form."""
    reference = reference_of(what, found)
    compared = [None if reference is None else against(reading, reference) for reading in found]
    return {
        "what": what,
        "simulated": any(reading.simulated for reading in found),
        "level": LEVEL,
        "reference": None if reference is None else reference.name,
        "campaigns": [
            {**reading.row(), "against_reference": None if other is None else comparison_row(other)}
            for reading, other in zip(found, compared, strict=True)
        ],
        "skipped": [{"name": each.member.name, "why": each.why} for each in skipped],
    }


def _row(what: What, reading: MemberReading, reference: MemberReading | None) -> tuple[str, ...]:
    found = comparison_row(reading.heldout)
    compared = () if reference is None else (_against(reading, reference),)
    row = (
        reading.name,
        points(number(reading.accept)),
        _with_interval(found),
        *compared,
        points(number(reading.optimism)),
        f"{reading.searched['calls']:.0f}",
        f"{reading.proposals:.0f}",
        f"{reading.found} of {reading.runs}",
    )
    if what != "optimisers":
        return row
    cost, gain = reading.cost_usd, found["difference"]
    money = "no price" if cost is None else f"{cost:.4f}"
    return (*row, f"{reading.tokens:.0f}", money, _rate(gain, cost, reading.tokens))


def _against(reading: MemberReading, reference: MemberReading) -> str:
    if reading.name == reference.name:
        return ""
    found = against(reading, reference)
    return NONE if found is None else _with_interval(comparison_row(found))


def _with_interval(found: Mapping[str, Any]) -> str:
    interval = "" if found["low"] is None else f" [{points(found['low'])}, {points(found['high'])}]"
    return f"{points(found['difference'])}{interval}"


def _rate(gain: float | None, cost: float | None, tokens: float) -> str:
    of, unit = (tokens / 1e6, "million tokens") if cost is None else (cost, "dollar")
    return NONE if gain is None or not of else f"{100 * gain / of:+.1f} a {unit}"
