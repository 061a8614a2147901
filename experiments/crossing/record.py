"""The searches of an experiment, and everything a reader needs to trace its report back."""

from __future__ import annotations

from experiments.crossing.data import ExperimentData
from experiments.report.blocks import Pairs, Paragraph, Section, Table
from experiments.report.record import budget_words
from experiments.report.wording import model_words, share, split_words


def searches_section(data: ExperimentData) -> Section:
    """What each search was given, and what it came to on accept."""
    rows = tuple(
        (
            body["setting"],
            budget_words(data.body["experiment"]["settings"][body["setting"]]),
            f"{body['proposals']}",
            f"{body['accepted']}",
            share(body["accept"]["paired"]),
            f"{body['accept']['words']}",
            f"searches/{body['setting']}",
        )
        for body in data.searches
    )
    budget = data.body["experiment"]["budget"]
    said = ", ".join(f"{value:g} {name}" for name, value in budget.items() if value is not None)
    return Section(
        "searches",
        "Searches",
        (
            Paragraph(
                f"Each search ends when its student has used {said}, or has made the plan's proposals; the same seeds, "
                "splits and rule of choice. Accept is optimistic for whatever was chosen by it."
            ),
            Table(
                "The searches, each a campaign directory of its own that ends at its choice.",
                ("Setting", "Reasoning budget", "Proposals", "Accepted", "Winner on accept", "Words", "Directory"),
                rows,
            ),
        ),
    )


def record_section(data: ExperimentData) -> Section:
    """Who judged, hashes, openings and the ledger's head."""
    base, body = data.body["experiment"]["campaign"], data.body
    student = base["student"]
    items = (
        ("Experiment", data.result["name"]),
        ("Base campaign", base["name"]),
        ("Student", f"{student['shape']}, {model_words(student['model'])}"),
        ("Reflector", base["reflector"]["kind"]),
        ("Run seed", f"{base['search']['seed']}"),
        ("Held-out replicates", f"{base['replicates']}"),
        ("Groups", ", ".join(f"{split_words(name)} {count}" for name, count in sorted(data.groups.items()))),
        ("Plan hash", body["plan_hash"]),
        ("Split lock hash", body["lock_hash"]),
        ("Corpus hash", body["corpus_hash"]),
        *((f"Student at {row['setting']}", row["student"]) for row in data.settings),
        ("Ledger head", f"{data.head['hash']} after {data.head['count']} events"),
        ("Begun", data.begun),
        ("Finished", data.finished),
    )
    openings = Table(
        "Openings of the held-out seal.",
        ("Opening", "Target", "For", "Comparison"),
        tuple(
            (
                row["opening"],
                row["target"],
                row["purpose"],
                f"{row['comparison']['k']} of {row['comparison']['of']}" if row["comparison"] else "none spent",
            )
            for row in data.openings
        ),
    )
    return Section("record", "Record", (Pairs(items), openings))
