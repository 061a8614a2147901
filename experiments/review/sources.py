"""What a pack may be drawn from: the judges of a run, what each said of its examples, and the texts, where allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from experiments.explore.frontier import is_campaign
from lineage.errors import InputError, SealError
from lineage.ledger import OPERATIONAL, Event, Head, read_events
from lineage.tree import tree_rows
from optimize.evaluation import Evaluation
from optimize.judging.flags import own_flagging, swept_flagging
from optimize.judging.judges import NO_MODEL
from optimize.judging.recorded import is_judging, load_judging
from optimize.objectives import scored_evaluation
from optimize.recompute.recorded import load_run
from splits.corpus import Corpus

Row = Mapping[str, Any]
SPLITS: Final = ("reflect", "accept", "heldout")


@dataclass(frozen=True, slots=True)
class ReviewedJudge:
    """One judge, or one candidate of a campaign.

    Attributes:
        name: of the judge, or of the candidate.
        rule: by which it flags, in words; empty where it flags nothing.
        flags: whether it flags each example; examples on which it is undecided are left out.
        evaluation: its judgements.
    """

    name: str
    rule: str
    flags: Mapping[str, bool]
    evaluation: Evaluation


@dataclass(frozen=True, slots=True)
class ReviewedRun:
    """A run that people may look at.

    Attributes:
        name: of its plan.
        kind: ``judging`` or ``campaign``.
        split: which examples.
        head: of its ledger.
        corpus_hash: of the corpus that it judged.
        exploratory: why its numbers confirm nothing; None where nothing says so.
        simulated: whether a judge of it answers from a formula.
        judges: the judges, in order.
        corpus: the examples with their texts, and the facts of their groups.
    """

    name: str
    kind: str
    split: str
    head: Head
    corpus_hash: str
    exploratory: str | None
    simulated: bool
    judges: tuple[ReviewedJudge, ...]
    corpus: Corpus

    def __repr__(self) -> str:
        return f"ReviewedRun({self.name!r}, {self.split!r}, {len(self.judges)} judges)"


def read_reviewed(
    directory: Path, corpus: Corpus, *, split: str | None = None, decided: Path | None = None
) -> ReviewedRun:
    """A run for people to look at.

    Args:
        directory: the run directory of a campaign or of a judging run.
        corpus: the whole corpus that it judged.
        split: the split of a campaign to draw from; accept where none is named.
        decided: of a judging run on held-out examples: a decided campaign on the same split.

    Raises:
        InputError: the corpus is another, or there is nothing to draw from.
        SealError: held-out examples are asked for before the decision.
        LedgerError: the run is not what its ledger says.
    """
    events = read_events(directory / "ledger.jsonl")
    registered = events[0].body if events else {}
    if not is_judging(directory) and not is_campaign(events):
        raise InputError(f"{directory}: is no judging run and no campaign that judged here; there is nothing to review")
    if registered.get("corpus_hash") != corpus.hash:
        raise InputError(
            f"the corpus has the hash {corpus.hash[:12]}, and {directory} judged "
            f"{str(registered.get('corpus_hash'))[:12]}; name the corpus that it judged: --corpus"
        )
    reader = _judging if is_judging(directory) else _campaign
    where, judges = reader(directory, events, split, decided)
    ids = sorted({example.id for judge in judges for example in judge.evaluation.examples})
    return ReviewedRun(
        name=registered["plan"]["name"],
        kind="judging" if is_judging(directory) else "campaign",
        split=where,
        head=Head(len(events), events[-1].hash),
        corpus_hash=corpus.hash,
        exploratory=registered.get("exploratory"),
        simulated=bool(registered.get("simulated")),
        judges=judges,
        corpus=corpus.part([corpus.by_id[example] for example in ids]),
    )


def corpus_named(directory: Path) -> str | None:
    """The bundled corpus of a run; None where its corpus is one of the user's, and empty where it has none."""
    events = read_events(directory / "ledger.jsonl")
    plan = events[0].body.get("plan", {}) if events else {}
    name: str | None = plan.get("corpus", {}).get("bundled", "")
    return name


def _judging(
    directory: Path, events: tuple[Event, ...], split: str | None, decided: Path | None
) -> tuple[str, tuple[ReviewedJudge, ...]]:
    run = load_judging(directory)
    where = str(run.registered["about"]["split"])
    if split not in (None, where):
        raise InputError(f"--split {split}: {directory} judged {where} and nothing else; leave it out")
    if where == "heldout":
        _check_decided(directory, run.registered["lock_hash"], decided)
    elif decided is not None:
        raise InputError(f"--decided has no effect on split {where}, which is not sealed; leave it out")
    judged = {event.body["purpose"] for event in events if event.type == "evaluation"}
    found = []
    for name in run.judges:
        if name not in judged:
            raise InputError(f"{directory}: {name} has not judged yet; finish the run, so that all judges have")
        one = run.judged(name)
        if one.judge["family"] == NO_MODEL:
            continue
        flagging = own_flagging(one.evaluation, None if one.judge["rule"] is None else one.judge["rule"]["rule"])
        if flagging.reason:
            flagging = swept_flagging(scored_evaluation(one.evaluation), swept=one.judge["swept"])
        flags = zip(one.evaluation.examples, flagging.flags, strict=True)
        known = {example.id: bool(flag) for example, flag in flags if not np.isnan(flag)}
        found.append(ReviewedJudge(name, flagging.rule, known, one.evaluation))
    return where, tuple(found)


def _check_decided(directory: Path, lock_hash: str, decided: Path | None) -> None:
    """Refuse to show held-out examples before the campaign that they judge is decided."""
    if decided is None:
        raise SealError(
            f"{directory} judged held-out examples, which people may read only after the campaign that is judged by "
            "them is decided: who has read them could let it into a prompt; name that campaign's run directory: "
            "--decided RUN"
        )
    events = read_events(decided / "ledger.jsonl")
    if not events or events[0].body.get("lock_hash") != lock_hash:
        raise SealError(f"{decided} is no campaign on the split lock of {directory}; name one that is")
    if not any(event.type == "verdict" for event in events):
        raise SealError(f"{decided} is not decided yet; its held-out examples stay sealed until it has a verdict")


def _campaign(
    directory: Path, events: tuple[Event, ...], split: str | None, decided: Path | None
) -> tuple[str, tuple[ReviewedJudge, ...]]:
    where = split or "accept"
    if decided is not None:
        raise InputError("--decided is for a judging run; a campaign says itself whether it is decided; leave it out")
    if where == "heldout" and not any(event.type == "verdict" for event in events):
        raise SealError(
            f"{directory} is not decided yet: its held-out examples stay sealed until it has a verdict, as who has "
            "read them could let them into a prompt; finish the campaign, or draw from --split accept"
        )
    choice = next((event.body for event in events if event.type == "choice"), None)
    if choice is None:
        raise InputError(
            f"{directory}: no winner is chosen yet, so that there is nothing to compare; finish the search"
        )
    run = load_run(directory)
    names = {row.candidate: row.name for row in reversed(tree_rows(run.events))}
    thresholds = {place["candidate"]: place["threshold"] for place in choice["ranking"]}
    purposes = ("accept",) if where == "accept" else ("baseline", "confirm")
    latest: dict[str, Evaluation] = {}
    for event in (event for event in events if event.type not in OPERATIONAL and event.type == "evaluation"):
        if event.body["split"] == where and event.body["purpose"] in purposes:
            latest |= {evaluation.candidate: evaluation for evaluation in run.evaluations(event)}
    baseline = next(event.body["candidate"] for event in events if event.type == "candidate")
    wanted = [candidate for candidate in dict.fromkeys((baseline, choice["winner"])) if candidate in latest]
    if not wanted:
        raise InputError(f"{directory}: has no judgements of split {where} that can be shown; draw from --split accept")
    return where, tuple(_candidate(names[one], latest[one], thresholds.get(one)) for one in wanted)


def _candidate(name: str, evaluation: Evaluation, threshold: float | None) -> ReviewedJudge:
    """A candidate flags below its threshold from accept, by the first replicate."""
    if threshold is None:
        return ReviewedJudge(name, "", {}, evaluation)
    first = evaluation.replicates[0]
    scores = {example.id: evaluation.score(example.id, first) for example in evaluation.examples}
    flags = {example: score < threshold for example, score in scores.items() if score is not None}
    return ReviewedJudge(name, f"score < {threshold:g}", flags, evaluation)
