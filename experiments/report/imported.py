"""The report of an imported lineage: what was published of it, and what its published scores give measured here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from experiments.report.blocks import Block, Bullets, Document, Notice, Pairs, Paragraph, Pictures, Section, Table
from experiments.report.proposals import family, generation
from experiments.report.published import PublishedData, Target
from experiments.report.published_scores import optimism_blocks, score_blocks
from experiments.report.selection import ROWS, shown
from experiments.report.tree import tree_picture
from experiments.report.wording import split_words
from optimize.verdict_words import count_of, in_points

_FIGURES: Final = {
    "paired": "Paired discrimination, omissions",
    "wins": "Pairs ordered rightly",
    "ties": "Pairs level",
    "losses": "Pairs ordered wrongly",
    "det10": "Detection at the swept threshold",
    "fa10": "False alarms there",
    "threshold": "Threshold: flag below",
    "wilson95": "Detection, 95% Wilson interval",
    "det_vs_fa_z": "Detection against false alarms, z",
    "n_omissions": "Omissions",
    "n_clean": "Clean documents",
    "n_consultations": "Groups",
    "delta_paired": "Difference, paired discrimination",
    "cluster_bootstrap95": "Its 95% bootstrap interval by group",
    "sign_test": "Sign test by pair",
    "mcnemar_flags": "McNemar's test of flags",
}
"""What published figures are called here; others keep the source's name."""


def published_document(data: PublishedData) -> Document:
    """The whole report."""
    name = str(data.body["name"])
    lead: list[Block] = [
        Notice(
            "IMPORTED: a published lineage, read-only. Nothing of it was measured, opened or decided here; figures are "
            "as its source prints them, and what the source lacks is said to be missing."
        ),
        Bullets(tuple(words for target in data.targets for words in _findings(target)) or ("It has no comparison.",)),
    ]
    several = len(data.targets) > 1
    sections: list[Section] = []
    for number, target in enumerate(data.targets):
        sections += _sections(target, number, f" ({target.name})" if several else "")
    sections += [_absent(data), _record(data)]
    return Document(name, _title(data), tuple(lead), tuple(sections), over=f"Holdgate report of imported {name}")


def _title(data: PublishedData) -> str:
    decided = [(target.name, target.emitted) for target in data.targets if target.emitted is not None]
    if not decided:
        return f"A published lineage of {count_of(_candidates(data), 'candidate')}, without a decision"
    emitted = [name for name, emitted in decided if emitted]
    if not emitted:
        return f"As published, no prompt was emitted: {', '.join(name for name, _ in decided)}"
    return f"As published, a prompt was emitted for {', '.join(emitted)}"


def _candidates(data: PublishedData) -> int:
    return sum(len(target.proposals) for target in data.targets)


def _findings(target: Target) -> Iterator[str]:
    outcomes = [proposal.outcome for proposal in target.proposals]
    counts = ", ".join(
        f"{outcomes.count(kind)} {kind}" for kind in ("seed", "accepted", "rejected", "invalid") if kind in outcomes
    )
    yield f"{target.name}: {count_of(len(outcomes), 'candidate')} ({counts})."
    for split, row in target.comparisons.items():
        figures, winner = row["figures"], target.name_of(target.id_of("winner"))
        ours, theirs = (figures.get(arm, {}).get("paired") for arm in ("winner", "baseline"))
        if ours is None or theirs is None:
            continue
        spread = figures.get("cluster_bootstrap95")
        interval = "" if spread is None else f", 95% interval [{in_points(spread[0])}, {in_points(spread[1])}]"
        yield (
            f"{target.name}, {split_words(split)}: the winner {winner} has {ours:.4f} against {theirs:.4f} of the "
            f"baseline, {in_points(figures.get('delta_paired', ours - theirs))} points{interval}."
        )
    gains = {split: row["figures"].get("delta_paired") for split, row in target.comparisons.items()}
    if gains.get("accept") is not None and gains.get("heldout") is not None:
        yield (
            f"{target.name}: accept, where the winner was chosen, was optimistic by "
            f"{100 * (gains['accept'] - gains['heldout']):.1f} points."
        )
    if target.emitted is not None:
        yield f"{target.name}: {'a prompt was emitted' if target.emitted else 'no prompt was emitted'}."


def _sections(target: Target, number: int, of: str) -> Iterator[Section]:
    if target.comparisons:
        yield Section(f"published-{number}", f"Published comparison{of}", tuple(_comparison(target)))
    yield Section(f"optimism-{number}", f"Optimism{of}", tuple(optimism_blocks(target, number)))
    yield Section(f"scores-{number}", f"Measured from the published scores{of}", tuple(score_blocks(target, number)))
    yield Section(f"family-{number}", f"Family of candidates{of}", tuple(_family(target, number)))


def _comparison(target: Target) -> Iterator[Block]:
    """Figures of both arms by split, and of their difference, as printed."""
    splits = list(target.comparisons)
    names = list(
        dict.fromkeys(key for split in splits for arm in ("baseline", "winner") for key in _arm(target, split, arm))
    )
    names.sort(key=_place)
    yield Table(
        "Baseline and winner as published.",
        (
            "Figure",
            *(f"{arm.capitalize()}, {split_words(split)}" for split in splits for arm in ("baseline", "winner")),
        ),
        tuple(
            (
                _FIGURES.get(name, name),
                *(_figure(_arm(target, split, arm).get(name)) for split in splits for arm in ("baseline", "winner")),
            )
            for name in names
        ),
    )
    both = {split: _shared(target.comparisons[split]["figures"]) for split in splits}
    names = sorted(dict.fromkeys(key for figures in both.values() for key in figures), key=_place)
    yield Table(
        "Their difference and their numbers as published.",
        ("Figure", *(split_words(split).capitalize() for split in splits)),
        tuple(
            (_FIGURES.get(name, name.replace("_", " ")), *(_figure(both[split].get(name)) for split in splits))
            for name in names
        ),
    )


def _arm(target: Target, split: str, arm: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = target.comparisons[split]["figures"].get(arm) or {}
    return {key: value for key, value in found.items() if key != "name"}


def _place(name: str) -> tuple[int, str]:
    """Known figures in their own order, others after them."""
    known = list(_FIGURES)
    return (known.index(name) if name in known else len(known), name)


def _shared(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in figures.items() if key not in ("baseline", "winner")}


def _figure(value: Any) -> str:
    """A published figure as it is; a list is an interval or a series, an object its named numbers."""
    if value is None:
        return "not published"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_figure(item)}" for name, item in value.items())
    if isinstance(value, list):
        return f"[{', '.join(_figure(item) for item in value)}]"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _family(target: Target, number: int) -> Iterator[Block]:
    winner = target.id_of("winner")
    values = {one.candidate: _standing(one.standing) for one in target.proposals}
    known = any(one.standing is not None and one.standing["paired"] is not None for one in target.proposals)
    what = "paired discrimination on accept omissions" if known else "mean accept scores"
    yield Pictures((tree_picture(target.proposals, winner=winner, paired=values, what=what, key=f"tree-{number}"),))
    listed = shown(target.proposals, winner=winner, most=ROWS)
    yield Table(
        f"Candidates, each below its parent; numbers as published. {listed.words('candidates')}".strip(),
        ("Name", "Parents", "Outcome", "Minibatch means, child less parent", "Accept, paired", "Detection", "Reason"),
        tuple(
            (
                generation(depth) + one.name,
                ", ".join(one.parents) or "none",
                one.outcome + (", winner" if one.candidate == winner else ""),
                "not published" if one.gain is None else f"{one.gain:+.5f}",
                _published(one.standing, "paired"),
                _published(one.standing, "detection"),
                one.reason or "none stated",
            )
            for depth, one in family(listed.proposals)
        ),
    )


def _standing(row: Mapping[str, Any] | None) -> float | None:
    if row is None:
        return None
    value = row["paired"] if row["paired"] is not None else row.get("score")
    return None if value is None else float(value)


def _published(row: Mapping[str, Any] | None, name: str) -> str:
    return "not published" if row is None or row.get(name) is None else f"{row[name]:.4f}"


def _absent(data: PublishedData) -> Section:
    """What a report of ours would have besides."""
    ours = (
        "The gate's conditions, budget and cost ladders, accuracy by type of question, rejected documents, spend and "
        "deviations from a plan: an imported lineage has no judgements of ours and no plan of ours."
    )
    return Section(
        "absent",
        "What is missing",
        (
            Paragraph(ours),
            Bullets(tuple(f"The source lacks {words}." for words in data.body["lacks"]) or ("Nothing.",)),
        ),
    )


def _record(data: PublishedData) -> Section:
    body = data.body
    files = Table(
        "Files that it was imported from.",
        ("File", "Bytes", "SHA-256"),
        tuple((row["name"], f"{row['bytes']:,}", row["sha256"]) for row in body["files"]),
    )
    items = [
        ("Format", str(body["format"])),
        *((name.capitalize(), _figure(value)) for name, value in sorted(body["settings"].items())),
        ("Candidates", f"{_candidates(data)}"),
        ("Accept documents with a published list", f"{data.examples}"),
        ("Imported", data.imported_at),
        ("Ledger head", f"{data.head['hash']} after {data.head['count']} events"),
    ]
    has = Bullets(tuple(f"The source has {words}." for words in body["has"]) or ("It says nothing of what it has.",))
    return Section("record", "Record", (Pairs(tuple(items)), has, files))
