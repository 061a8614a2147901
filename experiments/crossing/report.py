"""What an experiment's report says: comparisons first, then cells, costs, prompts and the record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from experiments.crossing.data import ExperimentData, Row
from experiments.crossing.pictures import crossed_picture
from experiments.crossing.record import record_section, searches_section
from experiments.report.blocks import (
    Block,
    Bullets,
    Difference,
    Document,
    Notice,
    Paragraph,
    Pictures,
    Section,
    Table,
    Verbatim,
)
from experiments.report.wording import change, measure, points, share, word_difference
from lineage.records import VOLATILE

DECISIONS = {
    "shown": "shown",
    "not-shown": "not shown",
    "undecided": "undecided: too little was scored",
    "void": "nothing to compare: one prompt",
}


def experiment_document(data: ExperimentData) -> Document:
    """The whole report."""
    lead: list[Block] = [Notice(text) for text in _notices(data)]
    lead.append(Bullets(tuple(data.result["words"])))
    sections = (
        _comparisons(data),
        _cells(data),
        _costs(data),
        _prompts(data),
        searches_section(data),
        record_section(data),
    )
    name = data.result["name"]
    return Document(name, _title(data), tuple(lead), sections, over=f"Holdgate report of experiment {name}")


def prompt_words(prompt: str) -> str:
    """A prompt in words."""
    return "seed" if prompt == "seed" else f"searched at {prompt}"


def _title(data: ExperimentData) -> str:
    shown = [row["name"] for row in data.result["targets"] if row["decision"] == "shown"]
    if data.result["exploratory"] is not None:
        return "An exploratory experiment: it confirms nothing"
    if shown:
        return f"Shown: {', '.join(shown)}"
    void = all(row["decision"] == "void" for row in data.result["targets"])
    return "Nothing was found to compare" if void else "None of the registered comparisons is shown"


def _notices(data: ExperimentData) -> Iterator[str]:
    if data.result["simulated"]:
        yield "SIMULATED: the judge is a formula, not a model. No number here says anything of a real judge."
    if data.result["exploratory"] is not None:
        yield f"EXPLORATORY, confirms nothing. The reason given: {data.result['exploratory']}"


def _comparisons(data: ExperimentData) -> Section:
    result = data.result
    rows = tuple(_target(data, row) for row in result["targets"])
    level = f"{100 * result['level']:.4g}%"
    note = (
        f"{result['comparisons']} comparisons were registered before any search. Intervals are simultaneous, each of "
        f"level {level}; p is of the one-sided sign-flip test by group, adjusted by Holm over all registered "
        f"comparisons, and must be below {result['family_alpha'] / 2:g}. An interaction is a difference of "
        "differences: how much better each prompt is where it was searched than the other prompt is there."
    )
    return Section(
        "comparisons",
        "Registered comparisons",
        (
            Paragraph(note),
            Table(
                "Differences in paired discrimination on held-out omissions, in points.",
                ("Comparison", "Difference", "p", "Adjusted p", "Failed against it", "Pairs", "Place", "Decision"),
                rows,
            ),
        ),
    )


def _target(data: ExperimentData, row: Row) -> tuple[str, ...]:
    place = data.result["places"].get(row["name"])
    placed = "none taken" if place is None else f"{place}"
    if row["comparison"] is None:
        return (row["name"], "none", "none", "none", "none", "0", placed, DECISIONS[row["decision"]])
    found, worst = row["comparison"], row["worst"]
    return (
        row["name"],
        change(found),
        _p(found["sign_flip_p"]),
        _p(row["adjusted_p"]),
        "none failed"
        if worst is None
        else f"{points(worst['difference'])} points, adjusted p = {_p(worst['adjusted_p'])}",
        f"{found['pairs']} in {found['groups']} groups",
        placed,
        DECISIONS[row["decision"]],
    )


def _cells(data: ExperimentData) -> Section:
    if not data.cells:
        why = "Every search chose the seed, so nothing was crossed and held-out data were opened for the seed alone."
        return Section("cells", "Prompts crossed over settings", (Paragraph(why),))
    prompts = ["seed", *data.order]
    parts: list[Block] = [
        Paragraph(
            "Every prompt is judged under every setting, on the same held-out examples. Intervals are of one cell "
            "each, at 95%; what is compared of cells stands above. 0.5 is a coin flip."
        ),
        Pictures((crossed_picture(data),)),
        _table(
            data,
            prompts,
            "Paired discrimination on held-out omissions.",
            lambda cell: measure(cell["measures"]["omissions"]),
        ),
        _table(
            data,
            prompts,
            "Paired discrimination on held-out commissions.",
            lambda cell: measure(cell["measures"]["commissions"]),
        ),
    ]
    traces = sorted({trace for cell in data.cells.values() for trace in cell["measures"]["by_trace"]})
    parts.append(
        Table(
            "Omissions by trace, not tested.",
            ("Cell", *traces),
            tuple(
                (
                    f"{prompt_words(prompt)}, judged at {setting}",
                    *(_share(data.cells[prompt, setting]["measures"]["by_trace"].get(trace)) for trace in traces),
                )
                for prompt in prompts
                for setting in data.order
            ),
        )
    )
    return Section("cells", "Prompts crossed over settings", tuple(parts))


def _table(data: ExperimentData, prompts: list[str], caption: str, shown: Any) -> Table:
    head = ("Prompt", *(f"judged at {setting}" for setting in data.order))
    rows = tuple(
        (prompt_words(prompt), *(shown(data.cells[prompt, setting]) for setting in data.order)) for prompt in prompts
    )
    return Table(caption, head, rows)


def _costs(data: ExperimentData) -> Section:
    parts: list[Block] = []
    if data.cells:
        rows = tuple(
            (f"{prompt_words(prompt)}, judged at {setting}", *_usage(data.cells[prompt, setting]["a_document"]))
            for prompt in ("seed", *data.order)
            for setting in data.order
        )
        caption = "Mean cost of judging one held-out document in each cell, cached calls counted as if paid."
        parts.append(
            Table(caption, ("Cell", "Calls", "Prompt tokens", "Answer tokens", "Reasoning tokens", "US dollars"), rows)
        )
    paid = [
        (f"search at {body['setting']}, {phase}", *_counts(usage))
        for body in data.searches
        for phase, usage in body[VOLATILE]["spend"]["paid"].items()
    ]
    paid += [(f"crossing, {phase}", *_counts(usage)) for phase, usage in data.spend["paid"].items()]
    head = ("What", "Calls", "Prompt tokens", "Answer tokens", "US dollars")
    parts.append(Table("Paid by each search and by the crossing, by role and phase.", head, tuple(paid)))
    return Section("costs", "Costs", tuple(parts))


def _prompts(data: ExperimentData) -> Section:
    parts: list[Block] = [Verbatim("Seed", data.texts["seed"])]
    for setting in data.order:
        text = data.texts[setting]
        if text == data.texts["seed"]:
            parts.append(Paragraph(f"The search at {setting} found nothing better than the seed on accept."))
            continue
        parts.append(Verbatim(f"Searched at {setting}", text))
        parts.append(Difference(f"From the seed to it ({setting})", word_difference(data.texts["seed"], text)))
    return Section("prompts", "Prompts", tuple(parts))


def _share(row: Mapping[str, Any] | None) -> str:
    return "no pairs" if row is None or row["value"] is None else f"{share(row['value'])}, n = {row['pairs']}"


def _p(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.4f}"


def _usage(row: Row) -> tuple[str, ...]:
    counted = tuple(f"{row[name]:.1f}" for name in ("calls", "prompt_tokens", "completion_tokens", "reasoning_tokens"))
    return (*counted, "no price" if row["cost_usd"] is None else f"{row['cost_usd']:.6f}")


def _counts(row: Row) -> tuple[str, ...]:
    counted = tuple(f"{row[name]:,}" for name in ("calls", "prompt_tokens", "completion_tokens"))
    return (*counted, "no price" if row["cost_usd"] is None else f"{row['cost_usd']:.4f}")
