"""Simulated results as tables and as JSON, each marked simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

from rich.table import Table

from lineage.errors import InputError
from optimize.simulation import (
    ACCEPT_ONLY,
    JUDGES,
    RULES,
    CampaignShape,
    PromptEffect,
    SimulatedMean,
    SimulatedRate,
    Simulation,
    coverage,
    emission,
    optimism,
    power,
    world,
)
from optimize.verdict_words import in_points

What = Literal["emission", "power", "optimism", "coverage"]

DEFAULT_RULE: Final = "lower-bound"
EFFECTS: Final = (0.02, 0.05, 0.1)
"""Effects at which power is shown where none is asked for."""
COVERED: Final = (10, 20, 47, 100)
"""Held-out groups at which coverage is shown where none are asked for."""
POOLS: Final = (1, 2, 5, 10, 20, 50)
"""Numbers of candidates at which optimism is shown where none are asked for."""


@dataclass(frozen=True, slots=True)
class SimulationRequest:
    """What is asked of a simulation.

    Args:
        what: the question.
        judge: name of a simulated judge.
        shape: of the campaigns.
        effect: of the prompts.
        effects: gains for ``power``.
        heldout: numbers of held-out groups for ``power`` and ``coverage``.
        candidates: numbers of candidates for ``optimism``.
        rules: names of rules for ``emission`` and ``power``.
    """

    what: What
    judge: str = "per-fact"
    shape: CampaignShape = field(default_factory=CampaignShape)
    effect: PromptEffect = field(default_factory=PromptEffect)
    effects: Sequence[float] = EFFECTS
    heldout: Sequence[int] = COVERED
    candidates: Sequence[int] = POOLS
    rules: Sequence[str] = tuple(RULES)

    def __post_init__(self) -> None:
        if self.judge not in JUDGES:
            raise InputError(f"judge must be one of {', '.join(JUDGES)}, got {self.judge!r}")


@dataclass(frozen=True, slots=True)
class SimulatedAnswer:
    """One table, what else is to be said, and the same as JSON."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[str, ...]
    data: Mapping[str, Any]

    def table(self) -> Table:
        """The table."""
        table = Table()
        for place, column in enumerate(self.columns):
            table.add_column(column, justify="right" if place else "left")
        for row in self.rows:
            table.add_row(*row)
        return table


def answer(request: SimulationRequest, run: Simulation) -> SimulatedAnswer:
    """Simulate what was asked.

    Raises:
        InputError: the shape, the judge and the effect do not go together, or a number is out of range.
    """
    found = {"emission": _emission, "power": _power, "optimism": _optimism, "coverage": _coverage}[request.what](
        request, run
    )
    data = {
        "simulated": True,
        "what": request.what,
        "campaigns": run.campaigns,
        "seed": run.seed,
        "alpha": run.alpha,
        "simulated_judge": asdict(JUDGES[request.judge]),
        "shape": asdict(request.shape),
        "effect": asdict(request.effect),
        **found.data,
    }
    return replace(found, words=(*found.words, LIMITS), data=data)


LIMITS: Final = (
    "Every number here is of a formula: it shows what the protocol does with such a judge, and nothing of any model."
)


def _emission(request: SimulationRequest, run: Simulation) -> SimulatedAnswer:
    seen = emission(world(request.shape, JUDGES[request.judge], request.effect), request.rules, run)
    names = (ACCEPT_ONLY, *request.rules)
    null = request.effect.at(request.shape.effort).null
    words = [
        f"The judge: paired discrimination {seen.paired.value:.3f}, {seen.ties.value:.1%} ties, winner and baseline "
        f"differ on {seen.discordant.value:.1%} of held-out pairs; {seen.proposals.value:.0f} proposals a search.",
        f"Accept shows a gain in {_percent(seen.emitted[ACCEPT_ONLY])} of campaigns, of {_points(seen.accept_gain)} on "
        f"average; the true gain is {_points(seen.true_gain)}, so accept is optimistic by {_points(seen.optimism)}. "
        f"Held-out shows {_points(seen.heldout_difference)}.",
        "Guardrails and the coverage floor are not simulated: they could only refuse more.",
    ]
    if DEFAULT_RULE in seen.false and null:
        words.insert(0, f"False emission of the default rule: {_percent(seen.false[DEFAULT_RULE])}.")
    return SimulatedAnswer(
        f"emission by rule, {_campaigns(request, run)}",
        ("rule", "emits", "emits falsely", "Wilson 95%"),
        tuple(
            (name, f"{seen.emitted[name].value:.2%}", f"{seen.false[name].value:.2%}", _wilson(seen.false[name]))
            for name in names
        ),
        tuple(words),
        seen.row(),
    )


def _power(request: SimulationRequest, run: Simulation) -> SimulatedAnswer:
    here = world(request.shape, JUDGES[request.judge], request.effect)
    cells = power(here, request.effects, request.heldout, request.rules, run)
    return SimulatedAnswer(
        f"power of whole campaigns, {_campaigns(request, run)}",
        ("effect", "held-out groups", "rule", "emits the better", "Wilson 95%", "emits falsely"),
        tuple(
            (
                f"{100 * cell.gain:+z.1f} points",
                str(cell.heldout),
                cell.rule,
                f"{cell.emitted.value:.1%}",
                _wilson(cell.emitted),
                f"{cell.false.value:.1%}",
            )
            for cell in cells
        ),
        ("A campaign fails where the search finds nothing better, where accept chooses wrongly, or at the gate.",),
        {"rows": [cell.row() for cell in cells]},
    )


def _optimism(request: SimulationRequest, run: Simulation) -> SimulatedAnswer:
    here = world(request.shape, JUDGES[request.judge], request.effect)
    cells = optimism(here, request.candidates, run)
    return SimulatedAnswer(
        f"optimism of accept by the number of candidates, {_campaigns(request, run)}",
        ("candidates", "accept shows a gain", "Wilson 95%", "gain it shows", "optimism"),
        tuple(
            (
                str(cell.candidates),
                f"{cell.shows_gain.value:.1%}",
                _wilson(cell.shows_gain),
                _points(cell.accept_gain),
                _points(cell.optimism),
            )
            for cell in cells
        ),
        ("Each row sees the first candidates of the same searches.",),
        {"rows": [cell.row() for cell in cells]},
    )


def _coverage(request: SimulationRequest, run: Simulation) -> SimulatedAnswer:
    here = world(request.shape, JUDGES[request.judge], request.effect)
    cells = coverage(here, request.heldout, run)
    return SimulatedAnswer(
        f"coverage of nominal {1 - run.alpha:.0%} intervals, {run.campaigns:,} held-out comparisons a row, judge "
        f"{request.judge}",
        ("groups", "interval of", "method", "covers", "Wilson 95%", "low end too high", "undefined"),
        tuple(
            (
                str(cell.groups),
                cell.quantity,
                cell.method,
                f"{cell.covers.value:.2%}",
                _wilson(cell.covers),
                f"{cell.too_high.value:.2%}",
                str(cell.undefined),
            )
            for cell in cells
        ),
        ("Under the null a low end above 0 is a false emission, before any choice of a winner.",),
        {"rows": [cell.row() for cell in cells]},
    )


def _campaigns(request: SimulationRequest, run: Simulation) -> str:
    """How many campaigns of which shape."""
    shape, effect = request.shape, request.effect
    sizes = f"{shape.reflect}/{shape.accept}" + ("" if request.what in ("power", "optimism") else f"/{shape.heldout}")
    pool = "" if request.what == "optimism" else f", {shape.candidates} candidates"
    true = "" if request.what == "power" else f", true effect {100 * effect.at(shape.effort).gain:+z.1f} points"
    return f"{run.campaigns:,} campaigns of {sizes} groups{pool}{true}, judge {request.judge}"


def _percent(found: SimulatedRate) -> str:
    return f"{found.value:.1%} {_wilson(found)}"


def _wilson(found: SimulatedRate) -> str:
    return f"[{100 * found.interval.low:.2f}, {100 * found.interval.high:.2f}]%" if found.n else "undefined"


def _points(found: SimulatedMean) -> str:
    return f"{in_points(found.value)} points" if found.n else "undefined (nothing was found)"
