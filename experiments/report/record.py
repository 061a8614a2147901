"""The search, and everything a reader needs to trace a report back to its run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.report.blocks import (
    Block,
    Folded,
    Pairs,
    Paragraph,
    Pictures,
    Section,
    Simple,
    Table,
    Verbatim,
)
from experiments.report.data import ReportData, versions
from experiments.report.proposals import Proposal, family, generation
from experiments.report.selection import ROWS, TEXTS, shown
from experiments.report.tree import tree_picture
from experiments.report.wording import measure, model_words, split_words
from optimize.reflector_plan import OFFLINE


def family_section(data: ReportData) -> Section:
    """The family tree as a table, and every proposal with its text."""
    choice = data.choice
    counts = ", ".join(f"{choice[outcome]} {outcome}" for outcome in ("accepted", "rejected", "invalid"))
    winner = data.verdict["winner"]
    listed = shown(data.proposals, winner=winner, most=ROWS)
    rows = []
    for depth, proposal in family(listed.proposals):
        on_accept = data.accept.get(proposal.candidate) if proposal.outcome != "invalid" else None
        rows.append(
            (
                generation(depth) + proposal.name,
                ", ".join(proposal.parents) or "none",
                proposal.operator or "none",
                _outcome(data, proposal),
                "not scored" if proposal.gain is None else f"{proposal.gain:+.4f} on {proposal.scored}",
                "not measured" if on_accept is None else measure(on_accept.measures["omissions"]),
                proposal.reason or "where the search starts",
            )
        )
    texts = shown(data.proposals, winner=winner, most=TEXTS)
    paired = {candidate: one.measures["omissions"]["value"] for candidate, one in data.accept.items()}
    parts: list[Block] = [
        Paragraph(
            f"{len(data.proposals) - 1:,} proposals beside the baseline: {counts}. Minibatch gain is the summed reward "
            "of the child less that of its parent over the examples scored for both; arrows show the generation. A "
            "merge has two parents; it stands below the first, with which it was compared."
        ),
        Pictures((tree_picture(data.proposals, winner=winner, paired=paired),)),
        Table(
            "Family of the candidates, each below its parent; paired discrimination on accept omissions. "
            f"{listed.words('candidates')}".strip(),
            ("Name", "Parents", "Operator", "Outcome", "Minibatch gain", "Accept, paired", "Reason"),
            tuple(rows),
        ),
        Paragraph(
            "Every proposal with its text, rejected and invalid ones too:"
            if len(texts.proposals) == texts.of
            else f"Texts. {texts.words('texts')}"
        ),
        *(_folded(data, proposal) for proposal in texts.proposals),
    ]
    return Section("family", "Family of candidates", tuple(parts))


def _outcome(data: ReportData, proposal: Proposal) -> str:
    chosen = proposal.standing is not None and proposal.candidate == data.verdict["winner"]
    return proposal.outcome + (", winner" if chosen else "")


def _folded(data: ReportData, proposal: Proposal) -> Folded:
    parts: list[Simple] = [Pairs((("Candidate", proposal.candidate),))]
    if proposal.why:
        parts.append(Paragraph(f"The reflector: {proposal.why}"))
    if proposal.reason:
        parts.append(Paragraph(f"The outcome: {proposal.outcome}, {proposal.reason}"))
    if proposal.text:
        parts.append(Verbatim("Instruction", proposal.text))
    else:
        parts.append(Paragraph("The answer held no instruction."))
        if proposal.answer:
            parts.append(Verbatim("Answer of the reflector", proposal.answer))
    words = len(proposal.text.split())
    return Folded(f"{proposal.name}: {_outcome(data, proposal)}, {words} words", tuple(parts))


def record_section(data: ReportData) -> Section:
    """Who judged and reflected, seeds, hashes, versions and the ledger's head."""
    plan, body, verdict = data.plan["plan"], data.plan, data.verdict
    student, reflector = plan["student"], plan["reflector"]
    budget = student["budget"]
    if (words := OFFLINE.get(reflector["kind"])) is not None:
        reads = f"{words}; no reflector model"
    else:
        reads = f"{model_words(reflector['model'])}, effort {reflector['budget']['effort']}"
    seen = versions(data)
    packages = ", ".join(f"{name} {number}" for name, number in sorted(seen["packages"].items()))
    items = [
        ("Campaign", plan["name"]),
        ("Student", f"{student['shape']}, {model_words(student['model'])}"),
        ("Reasoning budget", budget_words(budget)),
        ("Reflector", reads),
        ("Search", _search_words(plan["search"])),
        ("Run seed", f"{plan['search']['seed']}"),
        ("Held-out replicates", f"{plan['replicates']}"),
        (
            "Groups",
            ", ".join(f"{split_words(name)} {count}" for name, count in sorted(data.splits["groups"].items())),
        ),
        ("Plan hash", body["plan_hash"]),
        ("Split lock hash", body["lock_hash"]),
        ("Corpus hash", body["corpus_hash"]),
        ("Student hash", verdict["hashes"]["student"]),
        ("Verdict hash", data.verdict_hash),
        ("Prompt file", data.prompt or "none was written"),
        ("Ledger head", f"{data.head['hash']} after {data.head['count']} events"),
        ("Begun", data.begun),
        ("Finished", data.finished),
        ("Resumptions", f"{data.resumptions}"),
        ("Versions", f"holdgate {seen['holdgate']}, Python {seen['python']}, {packages}"),
        ("Platform", seen["platform"]),
    ]
    openings = Table(
        "Openings of the held-out seal.",
        ("Opening", "For", "Opened by", "Groups", "Comparison"),
        tuple(
            (
                row["opening"],
                row["purpose"],
                row["caller"],
                f"{row['groups']}",
                f"{row['comparison']['k']} of {row['comparison']['of']}" if row["comparison"] else "none spent",
            )
            for row in data.openings
        ),
    )
    note = Paragraph(
        "A rewrite of the whole ledger shows only against a copy of its head kept elsewhere: keep the head above."
    )
    return Section("record", "Record", (Pairs(tuple(items)), openings, note))


def _search_words(search: Mapping[str, Any]) -> str:
    """Engine and extent of a search."""
    parallel = search.get("parallel", 1)
    each = f" of {parallel} proposals" if parallel > 1 else ""
    seeds = f", {1 + len(search['seeds'])} seeds" if search.get("seeds") else ""
    return f"{search['engine']}, {search['iterations']} iterations{each}{seeds}"


def budget_words(budget: Mapping[str, Any]) -> str:
    """A reasoning budget in words."""
    thinking = "" if budget["thinking_tokens"] is None else f", thinking {budget['thinking_tokens']} tokens"
    return f"effort {budget['effort']}{thinking}, answer cap {budget['answer_tokens']} tokens"
